internal import CSystemShims
internal import Glibc

/// The name in the file system of a socket that processes of one computer meet at.
///
/// - Note: unix(7).
package struct LocalAddress: Hashable, Sendable, CustomStringConvertible {
  /// How many bytes the kernel takes, see `sun_path` in unix(7).
  package static let lengthMax = Int(shim_local_path_length_max)

  /// The absolute path of the socket.
  package let path: SystemPath

  /// Checks that a socket can have this path.
  ///
  /// A listener first binds a temporary name of eight bytes beside the real one, so there must be room for it.
  ///
  /// - Parameter path: An absolute path that ends in a name.
  /// - Throws: EINVAL when the path is relative, has no name or contains a NUL; ENAMETOOLONG when it, or its directory with a
  ///   name of eight bytes, is longer than ``lengthMax``.
  package init(_ path: SystemPath) throws(SystemError) {
    let name = try path.itemName()
    guard path.isAbsolute, !path.bytes.contains(0) else {
      throw SystemError(
        call: "bind(2)", paths: [path], errno: EINVAL, advice: "Pass an absolute path without NUL bytes.")
    }
    self.path = path.parent.appending(name)
    let length = max(self.path.bytes.count, temporaryNeighbor().bytes.count)
    if length > Self.lengthMax {
      throw SystemError(
        call: "bind(2)", paths: [path], errno: ENAMETOOLONG,
        advice: "The path of a socket has at most \(Self.lengthMax) bytes, this one needs \(length). "
          + "Choose a directory with a shorter path.")
    }
  }

  /// The path.
  package var description: String { path.description }

  /// A path of a hidden file in the same directory that's probably unused.
  func temporaryNeighbor() -> SystemPath {
    let alphabet = Array("abcdefghijklmnopqrstuvwxyz0123456789".utf8)
    let random = (0..<7).map { _ in alphabet[Int.random(in: alphabet.indices)] }
    return path.parent.appending(SystemPath(bytes: ".".utf8 + random))
  }
}
