internal import ContentHashing
internal import FileCoordination
internal import FileWatching
public import FoundationEssentials
internal import SystemInterface
internal import VersionStore

/// The contents of a version, piece by piece.
///
/// All of them are compared with the hash that was made when they were kept before the first piece is handed out; if there's none yet, it's
/// made then. Once that's done, the version may be removed: the pieces are those of the open file.
///
/// The present contents of a file, and a conflict copy beside it, are files of others. So they are compared once more, while the pieces are
/// handed out: if a program has written to that very file meanwhile, the call after the last piece throws, and all pieces are void. A save that
/// replaces the file doesn't matter. Presenters save before the present contents are opened.
public struct FileVersionBytes: AsyncSequence, Sendable {
  let versions: FileVersions
  let version: FileVersion
  let pieceSize: Int

  /// Reads from the beginning.
  ///
  /// - Returns: An iterator with an open file of its own.
  public func makeAsyncIterator() -> Iterator { Iterator(bytes: self) }

  /// Reads one piece after the other.
  public struct Iterator: AsyncIteratorProtocol {
    private let bytes: FileVersionBytes
    private var file: OpenVersion?

    init(bytes: FileVersionBytes) { self.bytes = bytes }

    /// Reads the next piece.
    ///
    /// - Returns: At most as many bytes as were stated; `nil` at the end.
    /// - Throws: ``FileVersionError`` with code `.versionIsGone`, also if a program has written to the file meanwhile, `.damagedVersion`, or
    ///   `.notAFile` for a package.
    public mutating func next() async throws(FileVersionError) -> Data? {
      let (bytes, opened) = (bytes, file)
      let (file, piece) = try await bytes.versions.perform { keeper in
        let file = try opened ?? OpenVersion.open(bytes.version, keeper)
        return (file, try file.read(bytes.pieceSize))
      }
      self.file = file
      return piece
    }
  }
}

extension FileVersions {
  /// The contents of a version of a file, piece by piece, for those that are too large for memory.
  ///
  /// - Parameters:
  ///   - version: A version, not of a package; also the current one, or that of a conflict copy.
  ///   - pieceSize: How many bytes a piece has at most.
  /// - Returns: The pieces.
  /// - Complexity: O(bytes) twice: to compare them, and to read them.
  public func bytes(of version: FileVersion, pieceSize: Int = 1 << 20) -> FileVersionBytes {
    FileVersionBytes(versions: self, version: version, pieceSize: Swift.max(pieceSize, 1))
  }
}

/// The open file of a version.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `hasher` | its own lock | copies of an iterator share the file and its position |
private final class OpenVersion: Sendable {
  private let descriptor: FileDescriptor
  private let path: SystemPath
  /// The hash of all pieces together, for a file that isn't the store's.
  private let expected: ContentHash?
  private let hasher = Guarded(ContentHasher())

  static func open(_ version: FileVersion, _ keeper: VersionKeeper) throws -> OpenVersion {
    if version.isPackage { throw VersionStoreError.notAFile(version.path) }
    if version.isCurrent {
      return try keeper.coordinator.blocking.read(version.url) { access in
        try FileVersionError.passing { try OpenVersion(foreign: access.canonicalPath) { _ in true } }
      }
    }
    if version.stored != nil { return try OpenVersion(kept: version, keeper) }
    for copy in version.copies {
      do throws(SystemError) {
        return try OpenVersion(foreign: copy) { $0 == version.knownHash }
      } catch {
        if !error.isAbsence, error.number != .changedMeanwhile { throw error }
      }
    }
    throw VersionKeeper.copyIsGone(version)
  }

  private init(kept version: FileVersion, _ keeper: VersionKeeper) throws {
    path = try keeper.path(of: version)
    expected = nil
    do throws(SystemError) { descriptor = try Self.opened(path) } catch let error {
      if let stored = version.stored, error.isAbsence { throw VersionStoreError.versionIsGone(stored.id) }
      throw error
    }
    // Any file may be at the path from now on: this open file is the one that was compared.
    try keeper.verify(version)
  }

  /// Opens a file to which any program may write: its contents are hashed first, and compared with what's read then.
  private init(foreign path: SystemPath, where isRight: (ContentHash) -> Bool) throws(SystemError) {
    let files = HostFileSystem()
    self.path = path
    descriptor = try Self.opened(path)
    do throws(SystemError) {
      var all = ContentHasher()
      var buffer = [UInt8](repeating: 0, count: 1 << 17)
      while case let count = try files.read(descriptor, into: &buffer), count > 0 { all.update(buffer[..<count]) }
      let hash = all.finalized()
      if !isRight(hash) { throw Self.changed(path) }
      _ = try files.seek(descriptor, to: 0, .start)
      expected = hash
    } catch {
      try? files.close(descriptor)
      throw error
    }
  }

  private static func opened(_ path: SystemPath) throws(SystemError) -> FileDescriptor {
    try HostFileSystem().open(path, at: .workingDirectory, flags: [.noFollow, .nonBlocking], mode: 0)
  }

  private static func changed(_ path: SystemPath) -> SystemError {
    SystemError(call: "read(2)", paths: [path], errno: SystemError.Number.changedMeanwhile.rawValue)
  }

  deinit { try? HostFileSystem().close(descriptor) }

  /// At the end there are no bytes.
  func read(_ count: Int) throws -> Data? {
    var buffer = [UInt8](repeating: 0, count: count)
    let length = try HostFileSystem().read(descriptor, into: &buffer)
    guard let expected else { return length == 0 ? nil : Data(buffer[..<length]) }
    let piece = buffer[..<length]
    if length > 0 {
      hasher.withLock { $0.update(piece) }
      return Data(piece)
    }
    if hasher.withLock({ $0.finalized() }) == expected { return nil }
    throw FileVersionError(
      .versionIsGone,
      "A program has written to '\(path)' while it was read, so the bytes that were read are no version. Read them again."
    )
  }
}
