import Foundation
import Glibc

/// The terminal that standard input and output are: its mode, its size, its keys and what it shows.
enum Terminal {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// The mode before and the one that an editor needs; set once, before the handlers are that read them.
  private nonisolated(unsafe) static var (formerMode, rawMode) = (termios(), termios())
  /// A byte comes when everything has to be drawn anew; made before the handlers are that write it.
  private nonisolated(unsafe) static var redrawing: (reader: Int32, writer: Int32) = (-1, -1)

  /// Reports each key at once, and shows none by itself, until ``restore()`` or the end by a signal.
  static func start() throws(Failure) {
    if tcgetattr(STDIN_FILENO, &formerMode) != 0 || isatty(STDOUT_FILENO) == 0 {
      throw Failure(description: "Standard input and output have to be a terminal.")
    }
    rawMode = formerMode
    cfmakeraw(&rawMode)
    var ends: [Int32] = [-1, -1]
    if pipe(&ends) != 0 { throw Failure(description: "There's no pipe: errno \(errno).") }
    // A handler must never wait.
    _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
    redrawing = (ends[0], ends[1])
    // All handlers make only calls of signal-safety(7).
    for number in [SIGTERM, SIGHUP, SIGINT] {
      signal(number) { number in
        Terminal.restore()
        _ = signal(number, SIG_DFL)
        _ = raise(number)
      }
    }
    signal(SIGTSTP) { _ in Terminal.stop() }
    signal(SIGCONT) { _ in Terminal.resume() }
    signal(SIGWINCH) { _ in Terminal.redraw() }
    if tcsetattr(STDIN_FILENO, TCSANOW, &rawMode) != 0 { throw Failure(description: "The terminal has no raw mode.") }
    // A screen of its own; the former one comes back with "l".
    put("\u{1B}[?1049h")
  }

  static func restore() {
    tcsetattr(STDIN_FILENO, TCSANOW, &formerMode)
    put("\u{1B}[?1049l")
  }

  /// Leaves the terminal to the shell until the process is continued; an orphan isn't stopped by the kernel, and goes on at once.
  private static func stop() {
    restore()
    _ = signal(SIGTSTP, SIG_DFL)
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGTSTP)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    _ = raise(SIGTSTP)
    _ = signal(SIGTSTP) { _ in Terminal.stop() }
    resume()
  }

  private static func resume() {
    tcsetattr(STDIN_FILENO, TCSANOW, &rawMode)
    put("\u{1B}[?1049h")
    redraw()
  }

  private static func redraw() {
    var byte: UInt8 = 0
    _ = write(redrawing.writer, &byte, 1)
  }

  private static func put(_ text: StaticString) { _ = write(STDOUT_FILENO, text.utf8Start, text.utf8CodeUnitCount) }

  /// The keys that are typed, as they come; ends with the terminal.
  static func keys() -> AsyncStream<[Key]> {
    let (stream, continuation) = AsyncStream<[Key]>.makeStream()
    Thread.detachNewThread {
      var reader = KeyReader()
      var buffer = [UInt8](repeating: 0, count: 4096)
      while true {
        var waiting = [STDIN_FILENO, redrawing.reader].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        if poll(&waiting, nfds_t(waiting.count), -1) < 0, errno == EINTR { continue }
        if waiting[1].revents != 0, read(redrawing.reader, &buffer, buffer.count) > 0 { continuation.yield([.redraw]) }
        if waiting[0].revents == 0 { continue }
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
    let lines = page.lines(before: rows - 2, rows - 1)
    let cursor = Cells.count(lines.cursor)
    let firstCell = max(cursor - columns + 1, 0)
    var frame = "\u{1B}[H\u{1B}[J\u{1B}[7m\(printable(Cells.part(of: title[...], 0..<columns)))\u{1B}[0m"
    for line in lines.all { frame += "\r\n" + printable(Cells.part(of: line[...], firstCell..<(firstCell + columns))) }
    frame += "\u{1B}[\(lines.line + 2);\(cursor - firstCell + 1)H"
    // A terminal that's gone ends the keys, too.
    try? FileHandle.standardOutput.write(contentsOf: Data(frame.utf8))
  }

  /// A file may have sequences that would control the terminal.
  private static func printable(_ text: Substring) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: scalars.append("\u{B7}")
      default: scalars.append(scalar)
      }
    }
    return String(scalars)
  }
}
