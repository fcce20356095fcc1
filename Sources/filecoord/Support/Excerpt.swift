import FileMetadata

/// Shows where in a text something is.
enum Excerpt {
  /// The text on a line of its own, and a caret below a word; nothing if it isn't there, or there are several lines.
  static func pointing(at word: String, in text: String) -> String {
    guard !word.isEmpty, !text.contains(where: \.isNewline), let place = text.firstRange(of: word) else { return "" }
    // Tabs stay, so that the caret stands below the place however wide they are.
    let margin = text[..<place.lowerBound].unicodeScalars.map { $0 == "\t" ? "\t" : " " }.joined()
    return "\n  \(text)\n  \(margin)^"
  }

  /// Each warning about a predicate, with the place of its attribute and a word that may have been meant.
  static func lines(of warnings: [PredicateWarning], in text: String) -> [String] {
    warnings.map { warning in
      let hint =
        warning.code == .unknownAttribute
        ? Nearest.hint(for: warning.attribute, among: MetadataItem.fileSystemAttributeNames) : ""
      return "\(warning)\(hint)" + pointing(at: warning.attribute, in: text)
    }
  }
}
