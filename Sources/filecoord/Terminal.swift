import FoundationEssentials
import Glibc
import Synchronization

/// Standard output or standard error, with colour where it's a terminal.
struct Terminal: Sendable {
  static let output = Terminal(descriptor: STDOUT_FILENO)
  static let error = Terminal(descriptor: STDERR_FILENO)

  enum Style: String, Sendable {
    case heading = "1"
    case actor = "36"
    case quiet = "2"
    case good = "32"
    case bad = "1;31"
  }

  /// The usual width of a terminal that doesn't report its own.
  private static let usualWidth = 80

  /// Why some of the output isn't where it should be, if not because its reader has gone.
  private static let lostOutput = Mutex<Int32?>(nil)

  private let descriptor: Int32
  /// Whether it's shown while it's written.
  let isTerminal: Bool
  private let isColored: Bool

  init(descriptor: Int32) {
    self.descriptor = descriptor
    let environment = ProcessInfo.processInfo.environment
    // https://no-color.org: any value but the empty one counts.
    let isRefused = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
    isTerminal = isatty(descriptor) == 1
    isColored = isTerminal && !isRefused && environment["TERM"] != "dumb"
  }

  func styled(_ text: String, _ style: Style) -> String {
    isColored ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
  }

  /// How many columns there are right now.
  var width: Int {
    var size = winsize()
    return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : Self.usualWidth
  }

  /// Writes at once and unbuffered: events are reported when they occur.
  ///
  /// - Parameter text: The text.
  /// - Returns: Whether there's still a reader.
  @discardableResult
  func write(_ text: String) -> Bool { write(Array(text.utf8)) }

  /// Checks that all output is where it should be.
  ///
  /// - Throws: ``Failure`` with code 74.
  static func checkOutput() throws(Failure) {
    guard let number = lostOutput.withLock({ $0 }) else { return }
    throw Failure(.inputOutput, "couldn't write all of the output: \(String(cString: strerror(number)))")
  }

  /// Writes bytes, likewise.
  @discardableResult
  func write(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      // The reader has gone, and can't be notified of that, or the disk is full, which is reported at the end.
      if count <= 0 {
        if errno != EPIPE, descriptor == STDOUT_FILENO { Self.lostOutput.withLock { [errno] in $0 = $0 ?? errno } }
        return false
      }
      rest = rest.dropFirst(count)
    }
    return true
  }
}
