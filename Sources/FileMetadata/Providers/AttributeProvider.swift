public import FoundationEssentials
public import MetadataPredicates
internal import SystemInterface
internal import FileWatching

/// Gives attributes that file systems don't have, such as the width of a picture, by looking into files.
///
/// ```swift
/// let widths = AttributeProvider(["kMDItemPixelWidth"], for: ["public.png"]) { url in
///   ["kMDItemPixelWidth": .integer(try pngWidth(of: url))]
/// }
/// let query = try MetadataQuery(
///   MetadataPredicate(format: "kMDItemPixelWidth > 1000"), scopes: [.directory(folder)], providers: [widths])
/// ```
///
/// Such attributes may be in predicates and sort descriptors, and are among the values of items. The closure is called
/// for a file only when one of its attributes is asked for, on one of a few threads of the library's own, never on the
/// thread that follows the scopes; and for an item that's asked for a value, on the thread that asks. Its result is
/// remembered until the file is another one, or has another size or date. As long as a file is looked into, a query
/// keeps it as it was (but one that takes the place of another, as editors save, counts as new if a batch is reported
/// meanwhile); its first search isn't over, and ``MetadataQuery/waitUntilCurrent()`` doesn't return, before all are.
///
/// When the last query over the index ends, closures that run are cancelled as tasks are: those that take long should
/// check `Task.isCancelled`.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `cache` | its lock | several threads look into files, and any asks |
///
/// Two providers are equal if they're the same object. Queries with the same providers and scopes share an index.
public final class AttributeProvider: Sendable, Hashable {
  /// The names of the attributes that it gives; names of attributes of file systems have no effect.
  public let attributes: [String]
  /// The types of the files that it's asked about; none for all that aren't directories.
  public let contentTypes: [String]
  private let look: @Sendable (URL) throws -> [String: MetadataValue]
  private let cache: Guarded<VersionCache>

  /// Makes a provider.
  ///
  /// - Parameters:
  ///   - attributes: The names of the attributes that it gives.
  ///   - contentTypes: Identifiers of types; it's asked about files of these and of more special types. None for all
  ///     files.
  ///   - rememberedCountMax: How many files' values are remembered at least; up to twice as many are. With fewer than there are files, these
  ///     are looked into again and again.
  ///   - look: Looks into a file, and returns the values that it has by name; may block. A file about which it throws has none of them.
  public init(
    _ attributes: [String], for contentTypes: [String] = [], rememberedCountMax: Int = 100_000,
    _ look: @escaping @Sendable (URL) throws -> [String: MetadataValue]
  ) {
    self.attributes = attributes
    self.contentTypes = contentTypes
    self.look = look
    cache = Guarded(VersionCache(countMax: max(1, rememberedCountMax)))
  }

  /// Whether both are the same object.
  public static func == (left: AttributeProvider, right: AttributeProvider) -> Bool { left === right }

  /// Feeds the identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

  /// Whether it's asked about a file.
  func concerns(_ facts: FileFacts, named name: @autoclosure () -> String) -> Bool {
    if contentTypes.isEmpty { return facts.kind == .regular }
    let type = ContentTypes.type(of: facts.kind, named: name(), isExecutable: facts.isExecutable)
    return contentTypes.contains { UniformTypeTree.standard.conforms(type, to: $0) }
  }

  /// The remembered values of a file.
  func remembered(_ version: FileVersion) -> [String: MetadataValue]? { cache.withLock { $0[version] } }

  /// Looks into a file, unless it's remembered.
  ///
  /// Blocks for as long as the program's closure does.
  ///
  /// - Returns: The values; `nil` if there's another version of the file by now, or no file, or the task was cancelled.
  func values(of version: FileVersion, at path: SystemPath) -> [String: MetadataValue]? {
    if let known = remembered(version) { return known }
    do throws(SystemError) {
      guard try Self.version(at: path) == version else { return nil }
      let values = path.url.flatMap { try? look($0) } ?? [:]
      // The values may be of both versions if it has changed meanwhile; a cancelled closure may have left something
      // out.
      guard !Task.isCancelled, try Self.version(at: path) == version else { return nil }
      cache.withLock { $0[version] = values }
      return values
    } catch {
      // No process can look into it, now or later.
      return error.isDisplacement ? nil : [:]
    }
  }

  private static func version(at path: SystemPath) throws(SystemError) -> FileVersion {
    FileVersion(FileFacts(try HostFileSystem().status(of: path, at: .workingDirectory, links: .noFollow)))
  }
}

/// A file with the same contents and attributes, as far as can be determined without looking into it.
struct FileVersion: Hashable, Sendable {
  private let identity: FileIdentity
  private let size: Int64
  private let modificationTime: Int64
  private let changeTime: Int64

  init(_ facts: FileFacts) {
    identity = facts.identity
    size = facts.size
    modificationTime = facts.modificationTime
    changeTime = facts.changeTime
  }
}

/// Values of as many files as were asked for last: as many as fit, and those from before there was no room.
private struct VersionCache: Sendable {
  private var recent: [FileVersion: [String: MetadataValue]] = [:]
  private var older: [FileVersion: [String: MetadataValue]] = [:]
  private let countMax: Int

  init(countMax: Int) { self.countMax = countMax }

  subscript(version: FileVersion) -> [String: MetadataValue]? {
    mutating get {
      if let known = recent[version] { return known }
      guard let known = older[version] else { return nil }
      self[version] = known
      return known
    }
    set {
      if recent.count >= countMax {
        older = recent
        recent = [:]
      }
      recent[version] = newValue
    }
  }
}
