import FoundationEssentials
import Glibc

// File names are bytes. A URL keeps them all, percent-encoded; a String doesn't.

extension URL {
  /// The file of a path on the command line.
  init(file argument: Argument) throws(Failure) {
    let slash = UInt8(ascii: "/")
    let path = argument.bytes.first == slash ? argument.bytes : try Self.workingDirectory() + [slash] + argument.bytes
    // `.` means nothing on the way. `..` does: it goes back to where a symbolic link has led.
    let names = path.split(separator: slash).filter { $0 != [UInt8(ascii: ".")] }
    guard let url = URL(string: "file:///" + Self.percentEncoded(Array(names.joined(separator: [slash])))) else {
      throw .usage("'\(argument.text)' can't name a file")
    }
    self = url
  }

  private static func workingDirectory() throws(Failure) -> [UInt8] {
    guard let path = getcwd(nil, 0) else {
      throw Failure(.noInput, "the working directory can't be found: \(String(cString: strerror(errno)))")
    }
    defer { free(path) }
    return Array(UnsafeRawBufferPointer(start: path, count: strlen(path)))
  }

  private static func percentEncoded(_ path: [UInt8]) -> String {
    let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/".utf8)
    let digits = Array("0123456789ABCDEF".utf8)
    let encoded = path.flatMap { byte -> [UInt8] in
      plain.contains(byte) ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  /// The bytes of the file's path.
  var pathBytes: [UInt8] {
    var bytes: [UInt8] = []
    var rest = Array(path(percentEncoded: true).utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), rest.count >= 2,
        let decoded = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      {
        bytes.append(decoded)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    // A directory's URL may end in a slash, which is no part of its name.
    while bytes.count > 1, bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
    return bytes
  }

  /// The path for people.
  var pathText: String { String(decoding: pathBytes, as: UTF8.self) }
}

extension String {
  /// The text on one line, whatever it is: for names of files, which may contain line ends and escape sequences.
  var onOneLine: String {
    var text = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "\n": text += "\\n"
      case "\t": text += "\\t"
      case "\r": text += "\\r"
      case _ where scalar.properties.generalCategory == .control: text += "\\u{\(String(scalar.value, radix: 16))}"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}
