internal import FoundationEssentials
package import MetadataPredicates
internal import SystemInterface
internal import FileWatching

/// An attribute that a plain file system can give.
enum FileAttribute: String, CaseIterable, Sendable {
  case name = "kMDItemFSName"
  case displayName = "kMDItemDisplayName"
  case path = "kMDItemPath"
  case url = "kMDItemURL"
  case size = "kMDItemFSSize"
  case creationDate = "kMDItemFSCreationDate"
  case contentCreationDate = "kMDItemContentCreationDate"
  case contentChangeDate = "kMDItemFSContentChangeDate"
  case contentModificationDate = "kMDItemContentModificationDate"
  case attributeChangeDate = "kMDItemAttributeChangeDate"
  case isInvisible = "kMDItemFSInvisible"
  case nodeCount = "kMDItemFSNodeCount"
  case owner = "kMDItemFSOwnerUserID"
  case group = "kMDItemFSOwnerGroupID"
  case contentType = "kMDItemContentType"
  case contentTypeTree = "kMDItemContentTypeTree"
  case kind = "kMDItemKind"
  case isUbiquitous = "NSMetadataItemIsUbiquitousKey"
  case comment = "kMDItemComment"
  case finderComment = "kMDItemFinderComment"
  case whereFroms = "kMDItemWhereFroms"
  case userTags = "kMDItemUserTags"
  case lastUsedDate = "kMDItemLastUsedDate"

  /// Whether the index has it; anything else is read from the file when it's asked for.
  var isIndexed: Bool {
    switch self {
    case .comment, .finderComment, .whereFroms, .userTags, .lastUsedDate: false
    default: true
    }
  }

  /// Whether statx(2) has to have been asked of a file.
  var needsFacts: Bool {
    switch self {
    case .size, .creationDate, .contentCreationDate, .contentChangeDate, .contentModificationDate, .attributeChangeDate,
      .owner, .group:
      true
    default: false
    }
  }

  /// Whether it's a number or a date of each row.
  var isNumber: Bool {
    switch self {
    case .size, .creationDate, .contentCreationDate, .contentChangeDate, .contentModificationDate, .attributeChangeDate:
      true
    default: false
    }
  }

  /// Whether a file may have several values of it.
  var hasSeveralValues: Bool {
    switch self {
    case .contentTypeTree, .whereFroms, .userTags: true
    default: false
    }
  }

  fileprivate static let singleNames = Set(allCases.filter { !$0.hasSeveralValues }.map(\.rawValue))

  static let indexedNames = Set(allCases.filter(\.isIndexed).map(\.rawValue))
}

extension MetadataPredicate {
  /// The predicate as it's meant for files: a comparison with one value holds if it does for one of the values that an attribute has.
  package var comparingFiles: MetadataPredicate { comparingEachValue(exceptOf: FileAttribute.singleNames) }
}

extension FileRow {
  /// A number in whose order the values of an attribute are; 0 for a missing one.
  func order(of attribute: FileAttribute) -> UInt64 {
    let value =
      switch attribute {
      case .size: size
      case .creationDate, .contentCreationDate: creationTime
      case .contentChangeDate, .contentModificationDate: modificationTime
      case .attributeChangeDate: changeTime
      default: preconditionFailure("\(attribute) isn't a number")
      }
    return UInt64(bitPattern: value) ^ 1 << 63
  }
}

extension FileTable {
  /// The value of an attribute; `.null` where the file system doesn't have it.
  ///
  /// - Parameters:
  ///   - attribute: The attribute.
  ///   - number: The file.
  ///   - path: The path as it's reported.
  /// - Returns: The value.
  func value(of attribute: FileAttribute, for number: FileNumber, toldAs path: @autoclosure () -> SystemPath)
    -> MetadataValue
  {
    switch attribute {
    case .name, .displayName:
      .string((self[number].parent == .none ? path().lastComponent : name(of: number)).description)
    case .path: .string(path().description)
    case .url: .string(path().url(isDirectory: self[number].isDirectory)?.absoluteString ?? "")
    case .size: knownFacts(of: number).map { .integer($0.size) } ?? .null
    case .creationDate, .contentCreationDate: knownFacts(of: number)?.creationTime.map(Self.date) ?? .null
    case .contentChangeDate, .contentModificationDate:
      knownFacts(of: number).map { Self.date($0.modificationTime) } ?? .null
    case .attributeChangeDate: knownFacts(of: number).map { Self.date($0.changeTime) } ?? .null
    case .isInvisible: .bool(name(of: number).bytes.first == UInt8(ascii: "."))
    case .nodeCount: nodeCount(of: number)
    case .owner: Self.identifier(knownFacts(of: number)?.owner ?? .max)
    case .group: Self.identifier(knownFacts(of: number)?.group ?? .max)
    case .contentType: .string(contentType(of: number))
    case .contentTypeTree: .array(ContentTypes.tree(of: contentType(of: number)).map(MetadataValue.string))
    case .kind:
      ContentTypes.knownKind(of: facts(of: number).kind, named: name(of: number).description)
        .map(MetadataValue.string) ?? .null
    case .isUbiquitous: .bool(false)
    case .comment, .finderComment: text("user.xdg.comment", of: number).map(MetadataValue.string) ?? .null
    case .whereFroms: text("user.xdg.origin.url", of: number).map { .array([.string($0)]) } ?? .null
    case .userTags:
      text("user.xdg.tags", of: number).map { tags in
        .array(tags.split(separator: ",").map { .string(String($0)) })
      } ?? .null
    case .lastUsedDate: lastUsedDate(of: number)
    }
  }

  /// The recorded facts of a file; the present ones, as long as only its name has been read.
  ///
  /// - Returns: `nil` if the file is gone before anything else was read of it.
  func knownFacts(of number: FileNumber) -> FileFacts? {
    let known = facts(of: number)
    if known.isRead { return known }
    let files = HostFileSystem()
    guard let status = try? files.status(of: path(of: number), at: .workingDirectory, links: .noFollow) else {
      return nil
    }
    let facts = FileFacts(status)
    return facts.kind == known.kind && facts.identity == known.identity ? facts : nil
  }

  private func lastUsedDate(of number: FileNumber) -> MetadataValue {
    guard facts(of: number).kind == .regular,
      let time = try? HostFileSystem().accessTime(of: path(of: number))
    else { return .null }
    return Self.date(time)
  }

  private func nodeCount(of number: FileNumber) -> MetadataValue {
    if !self[number].isDirectory { return .null }
    if !isUnread(number) { return .integer(Int64(childCount(of: number))) }
    let files = HostFileSystem()
    do throws(SystemError) {
      let directory = try files.openDirectory(path(of: number))
      defer { try? files.close(directory) }
      var count = 0
      while let entries = try files.readDirectory(directory) { count += entries.count }
      return .integer(Int64(count))
    } catch {
      return .null
    }
  }

  private static func date(_ time: Int64) -> MetadataValue {
    .date(MetadataDate(secondsSince1970: Double(time) / 1_000_000_000))
  }

  private static func identifier(_ number: UInt32) -> MetadataValue {
    number == .max ? .null : .integer(Int64(number))
  }

  private func contentType(of number: FileNumber) -> String {
    ContentTypes.type(
      of: facts(of: number).kind, named: name(of: number).description,
      isExecutable: knownFacts(of: number)?.isExecutable == true)
  }

  /// An extended attribute of the file that is there now; see xattr(7).
  private func text(_ name: String, of number: FileNumber) -> String? {
    guard facts(of: number).kind == .regular || facts(of: number).kind == .directory else { return nil }
    let files = HostFileSystem()
    do throws(SystemError) {
      let file = try files.open(
        path(of: number), at: .workingDirectory, flags: [.noFollow, .nonBlocking], mode: 0)
      defer { try? files.close(file) }
      let bytes = try files.extendedAttribute(ExtendedAttributeName(name), of: file)
      return String(decoding: bytes, as: UTF8.self)
    } catch {
      return nil
    }
  }
}
