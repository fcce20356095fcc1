public import FoundationEssentials
public import MetadataPredicates
internal import SystemInterface
internal import FileWatching

/// A file as it was when a query reported it.
///
/// A value: it doesn't change when the file does. Only comments, tags and the like, which are kept in extended
/// attributes, are read from the file at the moment they're asked for; so is the number of members of a directory that
/// isn't searched, and so are size, dates and owner in the first moments after a search with
/// `ScopeOptions.GatheringDepth.names`. Costs two words, and keeps the state of the index it's from alive.
///
/// - Note: <doc:AttributeNames> lists attributes and where they come from; rules R34 to R39 of <doc:QueryRules>.
public struct MetadataItem: Sendable, Identifiable, Hashable {
  /// Names a file as long as it's in the results of a query, also when it's renamed.
  public struct ID: Hashable, Sendable {
    /// The index that gave the number.
    let source: UInt64
    let number: FileNumber
    /// The file of an item that's not from a query.
    let file: FileIdentity?
  }

  private let snapshot: TableSnapshot
  private let number: FileNumber

  init(_ snapshot: TableSnapshot, _ number: FileNumber) {
    self.snapshot = snapshot
    self.number = number
  }

  /// Inspects a file, without a query.
  ///
  /// Blocks for a few system calls: to resolve the URL, and one statx(2). A symbolic link's item is its target.
  ///
  /// - Parameter url: Where the file is; `nil` is returned if there's none, or it isn't a file URL.
  /// - Note: Rule R35.
  public init?(url: URL) {
    guard let path = SystemPath(url) else { return nil }
    var index = FileIndex()
    do throws(SystemError) {
      let files = HostFileSystem()
      let canonical = try files.canonicalPath(of: path, resolvingLastComponent: true)
      let facts = FileFacts(try files.status(of: canonical, at: .workingDirectory, links: .noFollow))
      guard let number = index.addRoot(canonical, facts, reach: .item) else { return nil }
      self.init(TableSnapshot(index.table, isLone: true), number)
    } catch {
      return nil
    }
  }

  /// The identity of the file among those of the same scope; for an item that's made from a URL, among those.
  public var id: ID { ID(source: snapshot.source, number: number, file: snapshot.isLone ? facts.identity : nil) }

  /// Whether both say the same of the same file.
  public static func == (left: Self, right: Self) -> Bool {
    left.id == right.id
      && (left.snapshot === right.snapshot
        || (left.facts == right.facts && left.systemPath == right.systemPath))
  }

  /// Feeds the identity of the file.
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }

  var systemPath: SystemPath { snapshot.path(of: number) }
  private var facts: FileFacts { snapshot.table.knownFacts(of: number) ?? snapshot.table.facts(of: number) }
  private var kind: FileKind { snapshot.table.facts(of: number).kind }

  /// The absolute path, byte by byte.
  public var pathBytes: [UInt8] { systemPath.bytes }
  /// The absolute path; bytes that aren't UTF-8 show as U+FFFD.
  public var path: String { systemPath.description }
  /// The URL, which has every byte of the path.
  public var url: URL? { systemPath.url(isDirectory: isDirectory) }
  /// The name; bytes that aren't UTF-8 show as U+FFFD.
  public var name: String { snapshot.name(of: number).description }
  /// The size in bytes.
  public var size: Int64 { facts.size }
  /// When the contents changed last.
  public var contentChangeDate: Date { Self.date(facts.modificationTime) }
  /// When the file was made; `nil` where the file system doesn't keep it.
  public var creationDate: Date? { facts.creationTime.map(Self.date) }
  /// Whether it's a directory; a link to one isn't.
  public var isDirectory: Bool { kind == .directory }
  /// Whether it's a symbolic link.
  public var isSymbolicLink: Bool { kind == .symbolicLink }

  private static func date(_ time: Int64) -> Date { Date(timeIntervalSince1970: Double(time) / 1_000_000_000) }
}

extension MetadataItem: PredicateItem {
  /// The value of an attribute.
  ///
  /// If an ``AttributeProvider`` gives it and its value isn't remembered, it's read from the file, on this thread; it's
  /// missing if the file is another one by now.
  ///
  /// - Parameter name: The name of the attribute, such as `kMDItemFSSize`.
  /// - Returns: The value; `.null` if the file hasn't got the attribute, or a plain file system can't have it.
  /// - Note: Rule R36.
  public func value(forAttribute name: String) -> MetadataValue {
    guard let attribute = FileAttribute(rawValue: name) else {
      return snapshot.provided?.currentValue(of: name, for: number, snapshot.table) ?? .null
    }
    return snapshot.value(of: attribute, for: number)
  }

  /// The value of an attribute, for predicates.
  public func value(forAttribute name: String, index: Int) -> MetadataValue { value(forAttribute: name) }

  /// The names of all attributes that a file system can give, without those of providers.
  public static let fileSystemAttributeNames = FileAttribute.allCases.map(\.rawValue)

  /// The names of all attributes that the file has.
  ///
  /// - Note: Rule R36.
  public var attributeNames: [String] {
    (FileAttribute.allCases.map(\.rawValue) + (snapshot.provided?.names.sorted() ?? [])).filter {
      value(forAttribute: $0) != .null
    }
  }

  /// All attributes by name.
  public var wholeValue: MetadataValue {
    .dictionary(Dictionary(uniqueKeysWithValues: attributeNames.map { ($0, value(forAttribute: $0)) }))
  }

  /// The attributes of the index that differ from those of an earlier state.
  func alteredAttributes(since old: MetadataItem) -> Set<String> {
    FileAttribute.indexedNames.filter { value(forAttribute: $0) != old.value(forAttribute: $0) }
  }
}
