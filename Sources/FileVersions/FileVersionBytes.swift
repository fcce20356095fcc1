internal import FileCoordination
public import FoundationEssentials
internal import SystemInterface
internal import VersionStore

/// The contents of a version, piece by piece.
///
/// All of them are compared with the hash that was made when they were kept before the first piece is handed out; if there's none yet, it's
/// made then. Once that's done, the
/// version may be removed: the pieces are those of the open file.
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
    /// - Throws: ``FileVersionError`` with code `.versionIsGone`, `.damagedVersion`, `.isCurrent`, or `.notAFile` for a package.
    public mutating func next() async throws(FileVersionError) -> Data? {
      let (bytes, opened) = (bytes, file)
      let (file, piece) = try await bytes.versions.perform { keeper in
        let file = try opened ?? OpenVersion(bytes.version, keeper)
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
  ///   - version: A version that's kept, not of a package.
  ///   - pieceSize: How many bytes a piece has at most.
  /// - Returns: The pieces.
  /// - Complexity: O(bytes) twice: to compare them, and to read them.
  public func bytes(of version: FileVersion, pieceSize: Int = 1 << 20) -> FileVersionBytes {
    FileVersionBytes(versions: self, version: version, pieceSize: Swift.max(pieceSize, 1))
  }
}

/// The open file of a version.
private final class OpenVersion: Sendable {
  private let descriptor: FileDescriptor

  init(_ version: FileVersion, _ keeper: VersionKeeper) throws {
    let path = try keeper.path(of: version)
    if version.isPackage { throw VersionStoreError.notAFile(path) }
    do throws(SystemError) {
      descriptor = try HostFileSystem().open(path, at: .workingDirectory, flags: [.noFollow, .nonBlocking], mode: 0)
    } catch let error {
      if let stored = version.stored, error.isAbsence { throw VersionStoreError.versionIsGone(stored.id) }
      throw error
    }
    // Any file may be at the path from now on: this open file is the one that was compared.
    try keeper.verify(version)
  }

  deinit { try? HostFileSystem().close(descriptor) }

  /// At the end there are no bytes.
  func read(_ count: Int) throws -> Data? {
    var buffer = [UInt8](repeating: 0, count: count)
    let length = try HostFileSystem().read(descriptor, into: &buffer)
    return length == 0 ? nil : Data(buffer[..<length])
  }
}
