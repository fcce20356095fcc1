internal import Glibc

/// A file in the making beside the one it will replace.
struct TemporaryFile {
  let descriptor: FileDescriptor
  /// The name in the directory; `nil` while the file has none and vanishes by itself if the process dies.
  var name: SystemPath?
}

extension SystemPath {
  private static let temporaryAlphabet = Array("abcdefghijklmnopqrstuvwxyz0123456789".utf8)
  private static let temporarySuffix = Array(".fcsave".utf8)
  private static let temporaryRandomCount = 8

  /// An unused name beside `name`: `.NAME.XXXXXXXX.fcsave`, cut to the length that a file system takes.
  package static func temporaryName(for name: SystemPath) -> SystemPath {
    let random = (0..<temporaryRandomCount).map { _ in temporaryAlphabet[Int.random(in: temporaryAlphabet.indices)] }
    return SystemPath(bytes: temporaryPrefix(for: name) + random + temporarySuffix)
  }

  private static func temporaryPrefix(for name: SystemPath) -> [UInt8] {
    Array(".".utf8 + name.bytes.prefix(uncutNameLengthMax) + ".".utf8)
  }

  /// Longer names are cut in temporary ones.
  static let uncutNameLengthMax = nameLengthMax - (2 + temporaryRandomCount + temporarySuffix.count)

  /// Whether this is a name that a save gives to what it makes or sets aside.
  package var isTemporaryName: Bool {
    bytes.first == UInt8(ascii: ".") && bytes.suffix(Self.temporarySuffix.count) == Self.temporarySuffix[...]
  }

  /// Whether this is such a name, made for a given one; names that are cut to the same part aren't distinguished.
  package func isTemporaryName(for name: SystemPath) -> Bool {
    let prefix = Self.temporaryPrefix(for: name)
    return isTemporaryName && bytes.starts(with: prefix)
      && bytes.count == prefix.count + Self.temporaryRandomCount + Self.temporarySuffix.count
  }
}

extension FileSystem {
  /// Creates a file that only its owner may use unless `mode` says otherwise, without a name where that is possible.
  func makeTemporaryFile(
    for name: SystemPath, in directory: FileDescriptor, mode: UInt32, unnamed: Bool
  ) throws(SystemError) -> TemporaryFile {
    if unnamed {
      do {
        let file = try open(SystemPath("."), at: directory, flags: [.unnamed, .writeOnly], mode: mode)
        return TemporaryFile(descriptor: file, name: nil)
      } catch let error where error.isUnsupported || error.errno == EISDIR {
        // Kernels and file systems that don't support O_TMPFILE (open(2)).
      }
    }
    return try withTemporaryName(for: name) { (temporary) throws(SystemError) in
      let file = try open(temporary, at: directory, flags: [.create, .exclusive, .writeOnly], mode: mode)
      return TemporaryFile(descriptor: file, name: temporary)
    }
  }

  /// Gives an unnamed file a temporary name, the step before it can be renamed over another one.
  func nameTemporaryFile(
    _ file: inout TemporaryFile, for name: SystemPath, in directory: FileDescriptor
  ) throws(SystemError) {
    if file.name != nil { return }
    let door = SystemPath("/proc/self/fd/\(file.descriptor.rawValue)")
    file.name = try withTemporaryName(for: name) { (temporary) throws(SystemError) in
      try link(door, at: .workingDirectory, to: temporary, at: directory, links: .follow)
      return temporary
    }
  }

  /// Calls `body` with temporary names until one isn't taken, for a bounded number of times.
  package func withTemporaryName<Result>(
    for name: SystemPath, _ body: (SystemPath) throws(SystemError) -> Result
  ) throws(SystemError) -> Result {
    for _ in 1..<16 {
      do {
        return try body(.temporaryName(for: name))
      } catch let error where error.errno == EEXIST {
        continue
      }
    }
    return try body(.temporaryName(for: name))
  }

  /// Closes a file in the making and removes its name, if it has one.
  func discard(_ file: TemporaryFile, in directory: FileDescriptor) {
    if let name = file.name { try? unlink(name, at: directory, .file) }
    try? close(file.descriptor)
  }
}
