#if !canImport(ObjectiveC)
  internal import MetadataPredicates

  extension MetadataPredicate {
    /// Texts with asterisks that names and paths are compared with by `==` or `!=`, where they stand for themselves.
    var literalWildcards: [String] {
      switch self {
      case .constant: []
      case .and(let members), .or(let members): members.flatMap(\.literalWildcards)
      case .not(let member): member.literalWildcards
      case .comparison(let comparison): comparison.literalWildcards
      }
    }
  }

  extension PredicateComparison {
    private static let attributes: Set = [
      NSMetadataItemFSNameKey, NSMetadataItemDisplayNameKey, NSMetadataItemPathKey, NSMetadataItemURLKey,
    ]

    fileprivate var literalWildcards: [String] {
      guard comparator == .equal || comparator == .notEqual else { return [] }
      return [(left, right), (right, left)].compactMap { attribute, text in
        guard case .path(.itself, let steps) = attribute, case .key(let name)? = steps.first,
          Self.attributes.contains(name), case .constant(.string(let text)) = text, text.contains("*")
        else { return nil }
        return text
      }
    }
  }
#endif
