public import FoundationEssentials
internal import ContentHashing
internal import FileWatching
internal import SystemInterface
package import VersionStore

/// The contents of a file or package at some time: those it has now, or kept ones.
///
/// A value: it says what was known when it was fetched. Versions are equal if their ``id`` is, also those of different files.
///
/// - Note: `NSFileVersion` of Apple's Foundation.
public struct FileVersion: Hashable, Identifiable, Sendable {
  /// Finds a version again, also in another process.
  ///
  /// The current version of a file has the same one as long as it's the same file: that of a file that a save has put there is another one.
  public struct ID: Hashable, Sendable, Codable, LosslessStringConvertible {
    let item: ItemID
    /// Absent for the contents that the file has now, and for those of a conflict copy beside it.
    let version: VersionID?
    /// The contents of a conflict copy.
    let copy: ContentHash?

    /// The identifier as text, without blanks.
    public var description: String { "\(item)/\(version?.description ?? copy?.description ?? "current")" }

    /// Reads an identifier.
    ///
    /// - Parameter description: The text of one.
    public init?(_ description: String) {
      let parts = description.split(separator: "/", omittingEmptySubsequences: false)
      guard parts.count == 2, let item = ItemID(String(parts[0])) else { return nil }
      let version = VersionID(String(parts[1]))
      let copy = ContentHash(parts[1])
      if version == nil, copy == nil, parts[1] != "current" { return nil }
      self.init(item, version, copy: copy)
    }

    init(_ item: ItemID, _ version: VersionID?, copy: ContentHash? = nil) {
      self.item = item
      self.version = version
      self.copy = copy
    }

    /// Reads an identifier.
    ///
    /// - Parameter decoder: Where from.
    /// - Throws: A `DecodingError` if the text isn't an identifier's.
    public init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      guard let id = try ID(container.decode(String.self)) else {
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "It isn't the identifier of a version.")
      }
      self = id
    }

    /// Writes the identifier as text.
    ///
    /// - Parameter encoder: Where to.
    /// - Throws: The error of `encoder`.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(description)
    }
  }

  /// Finds the version again.
  public let id: ID
  /// Where its contents are: the file itself, a read-only file whose path isn't for people, or a conflict copy.
  ///
  /// Nothing is compared here: a byte on the disk may have changed since the version was kept. ``FileVersions/FileVersions/contents(of:)`` and
  /// ``FileVersions/FileVersions/bytes(of:pieceSize:)`` hand out bytes that were compared. Before you pass the URL to another program, call
  /// ``FileVersions/FileVersions/verify(_:)``.
  ///
  /// It's the present path, as long as the version is kept. That of a version that was listed on a full volume changes when there's room again,
  /// so ask for it anew instead of keeping it.
  ///
  /// - Complexity: O(length of the path), each time, and two system calls for a version that was listed on a full volume.
  public var url: URL { Self.url(of: path, isDirectory: isPackage) }
  /// The name that the file had.
  public let name: String
  /// Whether it's a directory with everything in it.
  public let isPackage: Bool
  /// In bytes; of all members.
  public let size: Int64
  /// When its contents were changed last.
  public let modificationDate: Date
  /// When it was kept, by the clock of the machine; `nil` for the contents that the file has now.
  ///
  /// The order of versions is that in which they were kept, also if the clock was set meanwhile.
  public let additionDate: Date?
  /// The name of the machine that saved it.
  public let deviceName: String?
  /// Names that machine for good; its other names may change.
  public let deviceID: String?
  /// The user who saved it.
  public let author: String?
  /// The versions that its contents were made from.
  public let parents: [ID]
  /// The SHA-256 of its contents, as 64 hexadecimal digits; of a package, of the list of its members.
  ///
  /// A file of more than 256 KiB may not be hashed yet when this value is fetched, see ``FileVersions/FileVersions/waitForHashes()``: then it's
  /// `nil`. Of the contents that the file has now, it's known if the newest version has the same; otherwise it's `nil`, and
  /// ``FileVersions/contentHash(of:)`` reads them.
  ///
  /// - Complexity: O(1); the text is made each time.
  public var contentHash: String? { knownHash?.description }
  /// Whether it stems from two writers that collided.
  public let isConflict: Bool
  /// Whether it's no conflict, or one that was resolved.
  public let isResolved: Bool
  /// Whether it may be removed at any time to get space.
  public let isDiscardable: Bool
  /// Whether it's what two writers had in common, from which a merge begins.
  public let isBase: Bool
  /// The parsed name of the conflict copy beside the file that has these contents; `nil` if there's none.
  public let conflictCopy: ConflictCopyName?
  /// The kept version, for the store.
  package let stored: StoredVersion?
  /// The directory of the store that has it; for others, where their contents are.
  let place: SystemPath
  /// Where the contents of a version are that was removed.
  private(set) var removedPath: SystemPath?
  let knownHash: ContentHash?
  /// The conflict copies beside the file that have these contents, as canonical paths.
  var copies: [SystemPath] = []

  /// Where its contents are.
  var path: SystemPath { removedPath ?? stored.map { VersionStore.path(ofLooked: $0, inStoreAt: place) } ?? place }

  /// Whether its contents are where they were, or where they are by now; nothing is compared.
  package var hasContents: Bool { (try? HostFileSystem().statusIfPresent(of: path)).flatMap(\.self) != nil }

  /// Whether it's the current version: the present contents of the file.
  public var isCurrent: Bool { stored == nil && copies.isEmpty }

  /// Compares identifiers.
  ///
  /// - Parameters:
  ///   - first: A version.
  ///   - second: A version.
  /// - Returns: Whether they are the same version.
  public static func == (first: FileVersion, second: FileVersion) -> Bool { first.id == second.id }

  /// Feeds the identifier to a hasher.
  ///
  /// - Parameter hasher: The hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

extension FileVersion {
  /// A version that was removed.
  init(_ removed: RemovedVersion, in store: VersionStore) {
    self.init(removed.version, in: store)
    removedPath = store.path(of: removed)
  }

  init(_ stored: StoredVersion, in store: VersionStore, copies: [ConflictCopy] = []) {
    self.init(stored, inStoreAt: store.root, copies: copies)
  }

  init(_ stored: StoredVersion, inStoreAt root: SystemPath, copies: [ConflictCopy] = []) {
    id = ID(stored.item, stored.id)
    place = root
    name = stored.name.description
    isPackage = stored.isPackage
    size = stored.size
    modificationDate = Date(nanosecondsSince1970: stored.modificationTime)
    additionDate = Date(nanosecondsSince1970: stored.additionTime)
    deviceName = stored.attributes.deviceName.isEmpty ? nil : stored.attributes.deviceName
    deviceID = stored.attributes.deviceID.isEmpty ? nil : stored.attributes.deviceID
    author = stored.attributes.author
    parents = stored.attributes.parents.map { ID(stored.item, $0) }
    knownHash = stored.hash
    isConflict = stored.attributes.isConflict
    isResolved = stored.isResolved
    isDiscardable = stored.isDiscardable
    isBase = stored.attributes.isBase
    conflictCopy = copies.first?.name
    self.stored = stored
    self.copies = copies.map(\.path)
  }

  /// The present contents of a file, saved by `saver` unless the newest version is known to have the same.
  init(
    currentAt path: SystemPath, _ status: FileStatus, by saver: VersionAttributes,
    after newest: StoredVersion?, isKept: Bool
  ) {
    id = ID(ItemID(standingFor: status.identity), nil)
    place = path
    name = path.lastComponent.description
    isPackage = status.kind == .directory
    size = status.size
    modificationDate = Date(nanosecondsSince1970: status.modificationTime)
    additionDate = nil
    let saver = isKept ? newest?.attributes ?? saver : saver
    deviceName = saver.deviceName.isEmpty ? nil : saver.deviceName
    deviceID = saver.deviceID.isEmpty ? nil : saver.deviceID
    author = saver.author
    parents = newest.map { [ID($0.item, $0.id)] } ?? []
    knownHash = isKept ? newest?.hash : nil
    isConflict = false
    isResolved = true
    isDiscardable = false
    isBase = false
    conflictCopy = nil
    stored = nil
  }

  static func url(of path: SystemPath, isDirectory: Bool) -> URL {
    guard let url = path.url(isDirectory: isDirectory) else { preconditionFailure("not an absolute path: \(path)") }
    return url
  }
}

extension Date {
  init(nanosecondsSince1970 nanoseconds: Int64) { self.init(timeIntervalSince1970: Double(nanoseconds) / 1e9) }
}
