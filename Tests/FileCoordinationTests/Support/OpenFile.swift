import Glibc
import Testing

/// An open file, independent of its name.
final class OpenFile: Sendable {
  private let descriptor: Int32

  init(_ path: String) throws {
    descriptor = open(path, O_RDONLY)
    try #require(descriptor >= 0)
  }

  deinit { close(descriptor) }

  func text() throws -> String {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    try #require(count >= 0)
    return String(decoding: bytes[..<count], as: UTF8.self)
  }
}
