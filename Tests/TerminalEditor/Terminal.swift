import Foundation
import Glibc

/// The terminal that standard input and output are: its mode, its size, its keys and what it shows.
enum Terminal {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// The mode before; set once, before the handler is that reads it.
  private nonisolated(unsafe) static var formerMode = termios()

  /// Reports each key at once, and shows none by itself, until ``restore()`` or the end by a signal.
  static func start() throws(Failure) {
    if tcgetattr(STDIN_FILENO, &formerMode) != 0 || isatty(STDOUT_FILENO) == 0 {
      throw Failure(description: "Standard input and output have to be a terminal.")
    }
    for number in [SIGTERM, SIGHUP] {
      signal(number) { number in
        // Only calls of signal-safety(7).
        Terminal.restore()
        _ = signal(number, SIG_DFL)
        _ = raise(number)
      }
    }
    var mode = formerMode
    cfmakeraw(&mode)
    if tcsetattr(STDIN_FILENO, TCSANOW, &mode) != 0 { throw Failure(description: "The terminal has no raw mode.") }
    // A screen of its own; the former one comes back with "l".
    put("\u{1B}[?1049h")
  }

  static func restore() {
    tcsetattr(STDIN_FILENO, TCSANOW, &formerMode)
    put("\u{1B}[?1049l")
  }

  private static func put(_ text: StaticString) { _ = write(STDOUT_FILENO, text.utf8Start, text.utf8CodeUnitCount) }

  /// The keys that are typed, as they come; ends with the terminal.
  static func keys() -> AsyncStream<[Key]> {
    let (stream, continuation) = AsyncStream<[Key]>.makeStream()
    Thread.detachNewThread {
      var reader = KeyReader()
      var buffer = [UInt8](repeating: 0, count: 4096)
      while true {
        let count = read(STDIN_FILENO, &buffer, buffer.count)
        if count < 0, errno == EINTR { continue }
        if count <= 0 { return continuation.finish() }
        continuation.yield(reader.keys(from: Array(buffer[..<count])))
      }
    }
    return stream
  }

  /// Draws everything anew: a title, and as much of the text as fits, around its cursor.
  static func show(title: String, _ page: EditedText) {
    var size = winsize()
    _ = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size)
    let (rows, columns) = (max(Int(size.ws_row), 2), max(Int(size.ws_col), 8))
    let (line, column) = page.position
    let (firstLine, firstColumn) = (max(line - rows + 2, 0), max(column - columns + 1, 0))
    var frame = "\u{1B}[H\u{1B}[J\u{1B}[7m\(printable(title.prefix(columns)))\u{1B}[0m"
    for line in EditedText.lines(of: page.text).dropFirst(firstLine).prefix(rows - 1) {
      frame += "\r\n" + printable(line.dropFirst(firstColumn).prefix(columns))
    }
    frame += "\u{1B}[\(line - firstLine + 2);\(column - firstColumn + 1)H"
    // A terminal that's gone ends the keys, too.
    try? FileHandle.standardOutput.write(contentsOf: Data(frame.utf8))
  }

  /// A file may have sequences that would control the terminal.
  private static func printable(_ text: Substring) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      scalars.append(scalar.properties.generalCategory == .control ? "\u{B7}" : scalar)
    }
    return String(scalars)
  }
}
