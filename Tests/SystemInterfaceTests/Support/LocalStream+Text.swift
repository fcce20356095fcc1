import Glibc

@testable import SystemInterface

/// The result of a test's read from a stream.
enum Reception: Hashable {
  case text(String)
  case nothing
  case end
}

extension LocalStream {
  func send(_ text: String) throws -> Int {
    try write(Array(text.utf8).span.bytes)
  }

  func receive(countMax: Int = 1024) throws -> Reception {
    var buffer = [UInt8](repeating: 0, count: countMax)
    let result = try buffer.withUnsafeMutableBytes { (bytes) throws(SystemError) in try read(into: bytes) }
    return switch result {
    case .bytes(let count): .text(String(decoding: buffer[..<count], as: UTF8.self))
    case .wouldBlock: .nothing
    case .end: .end
    }
  }

  /// Writes until nothing more fits, and returns how many bytes did.
  func fill() throws -> Int {
    let chunk = [UInt8](repeating: 7, count: 10_000)
    var total = 0
    while true {
      let count = try write(chunk.span.bytes)
      if count == 0 { return total }
      total += count
    }
  }
}
