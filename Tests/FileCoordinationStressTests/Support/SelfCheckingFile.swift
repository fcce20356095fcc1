import Glibc
import SystemInterface

/// Contents that show whether they're whole: a number decides every byte.
enum SelfCheckingFile {
  struct Torn: Error, CustomStringConvertible {
    let description: String
  }

  static func contents(_ value: Int) -> [UInt8] {
    let text = "\(value)\n"
    let filler = [UInt8](repeating: UInt8(ascii: "a") + UInt8(value % 26), count: 40 + value % 5 * 60)
    return Array(text.utf8) + filler + Array("\n\(value &* 2_654_435_761)".utf8)
  }

  /// The number that the file holds; `nil` when there is no file.
  static func read(_ path: String) throws -> Int? {
    let bytes: [UInt8]
    do { bytes = try HostFileSystem().contents(of: SystemPath(path)) } catch {
      if error.errno == ENOENT { return nil }
      throw error
    }
    let line = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    guard let value = Int(line), bytes == contents(value) else {
      throw Torn(description: "torn read of \(path): \(bytes.count) bytes, beginning with '\(line.prefix(12))'")
    }
    return value
  }

  /// The steps of a write in place, with a broken file between any two of them.
  static func stepsToWrite(_ value: Int, to path: String) -> [@Sendable () throws -> Void] {
    let bytes = contents(value)
    let half = bytes.count / 2
    return [
      { try append(bytes[..<half], to: path, flags: [.create, .truncate, .writeOnly]) },
      { try append(bytes[half...], to: path, flags: [.writeOnly]) },
    ]
  }

  private static func append(_ bytes: ArraySlice<UInt8>, to path: String, flags: OpenFlags) throws {
    let files = HostFileSystem()
    let file = try files.open(SystemPath(path), at: .workingDirectory, flags: flags, mode: 0o644)
    defer { try? files.close(file) }
    if !flags.contains(.truncate) {
      let size = try files.status(of: file).size
      _ = try files.seek(file, to: size, .start)
    }
    var rest = bytes
    while !rest.isEmpty { rest = rest.dropFirst(try files.write(file, rest)) }
  }
}
