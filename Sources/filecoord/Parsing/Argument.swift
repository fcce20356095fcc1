import Glibc

/// One word of the command line as the kernel passed it: the name of a file need not be UTF-8.
struct Argument: Hashable, Sendable {
  let bytes: [UInt8]

  init(bytes: [UInt8]) { self.bytes = bytes }

  init(_ text: String) { bytes = Array(text.utf8) }

  /// For people, and for words that are ASCII anyway.
  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The words after the name of the tool.
  static var ofProcess: [Argument] {
    let words = UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
    return words.dropFirst().compactMap { word in
      word.map { Argument(bytes: Array(UnsafeRawBufferPointer(start: $0, count: strlen($0)))) }
    }
  }
}
