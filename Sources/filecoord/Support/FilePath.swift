import FileCoordination
import FoundationEssentials

extension URL {
  /// The file of a path on the command line.
  init(file argument: Argument) throws(Failure) {
    let slash = UInt8(ascii: "/"), dot = [UInt8(ascii: ".")]
    do throws(FileCoordinationError) {
      let path = try URL(filePathBytes: argument.bytes.isEmpty ? dot : argument.bytes).filePathBytes()
      // `.` has no effect on the way. `..` does: it goes back to where a symbolic link has led.
      let names = path.split(separator: slash).filter { Array($0) != dot }
      try self.init(filePathBytes: [slash] + names.joined(separator: [slash]))
    } catch { throw Failure(error.code == .fileSystem ? .noInput : .usage, error.description) }
  }

  /// The bytes of the file's path.
  var pathBytes: [UInt8] { (try? filePathBytes()) ?? Array(path.utf8) }

  /// The path for people.
  var pathText: String { String(decoding: pathBytes, as: UTF8.self) }
}

extension String {
  /// The text on one line, with all control characters escaped: for names of files, which may contain line ends and
  /// escape sequences.
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
