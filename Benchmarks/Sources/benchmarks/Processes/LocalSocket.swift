import Glibc

/// A Unix-domain stream socket, on which 64 bytes go back and forth: nothing between processes can be faster.
struct LocalSocket: Sendable {
  static let messageSize = 64
  private let descriptor: Int32

  static func connected(to path: String) throws -> LocalSocket {
    try withSocket(path) { Glibc.connect($0, $1, $2) }
  }

  /// Waits for one connection.
  static func accepted(at path: String, while connect: () throws -> Void) throws -> LocalSocket {
    unlink(path)
    let listener = try withSocket(path) { Glibc.bind($0, $1, $2) }
    defer {
      close(listener.descriptor)
      unlink(path)
    }
    try check(listen(listener.descriptor, 1), "listen")
    try connect()
    let descriptor = Glibc.accept(listener.descriptor, nil, nil)
    try check(descriptor < 0 ? -1 : 0, "accept")
    return LocalSocket(descriptor: descriptor)
  }

  private static func withSocket(
    _ path: String, _ call: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) throws -> LocalSocket {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        call(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try check(result, "socket at \(path)")
    return LocalSocket(descriptor: descriptor)
  }

  func send() {
    var bytes = [UInt8](repeating: 1, count: Self.messageSize)
    _ = write(descriptor, &bytes, bytes.count)
  }

  /// - Returns: Whether the other end is still there.
  func receive() -> Bool {
    var bytes = [UInt8](repeating: 0, count: Self.messageSize)
    var count = 0
    while count < Self.messageSize {
      let more = read(descriptor, &bytes, Self.messageSize - count)
      if more <= 0 { return false }
      count += more
    }
    return true
  }

  func end() { close(descriptor) }
}
