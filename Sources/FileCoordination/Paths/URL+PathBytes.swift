public import FoundationEssentials
internal import SystemInterface

extension URL {
  /// The file URL of a path that's given byte by byte, such as an argument of a program or a name from readdir(3).
  ///
  /// Names of files are bytes, and need not be UTF-8: `URL(filePath:)` takes text only. For text both make equal URLs. A relative path is
  /// placed in the working directory of this moment. Slashes at the end are dropped; `.` and `..` stay. Blocks for one system call at most.
  ///
  /// - Parameter bytes: The path, without a terminating NUL.
  /// - Throws: ``FileCoordinationError`` with code `.invalidPath` for an empty path or one with a NUL, and `.fileSystem` when the
  ///   working directory can't be found, see getcwd(3).
  /// - Complexity: O(*n*) in the number of bytes.
  public init(filePathBytes bytes: some Sequence<UInt8>) throws(FileCoordinationError) {
    let path = SystemPath(bytes: bytes)
    if path.bytes.isEmpty { throw .invalidPath("", because: "its path is empty") }
    if path.bytes.contains(0) { throw .invalidPath(path.description, because: "it contains a NUL") }
    if path.isAbsolute {
      self = FileURLCoding.url(of: path.bytes)
    } else {
      do throws(SystemError) {
        self = FileURLCoding.url(of: try HostFileSystem().workingDirectory().appending(path).bytes)
      } catch { throw .fileSystem(error) }
    }
  }

  /// The path of an absolute file URL, byte by byte, without slashes at its end.
  ///
  /// `URL.path` is a text, in which bytes that aren't UTF-8 have been replaced.
  ///
  /// - Returns: The bytes, at least one.
  /// - Throws: ``FileCoordinationError`` with code `.notAFileURL`, `.relativeURL` or `.invalidPath`, for URLs that coordination refuses.
  /// - Complexity: O(*n*) in the length of the URL.
  public func filePathBytes() throws(FileCoordinationError) -> [UInt8] {
    FileURLCoding.withoutTrailingSlashes(try FileURLCoding.path(of: self))
  }
}
