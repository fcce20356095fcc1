import FoundationEssentials
import Glibc

/// Standard output or standard error, with colour where somebody sees it.
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

  private let descriptor: Int32
  private let isColored: Bool

  init(descriptor: Int32) {
    self.descriptor = descriptor
    let environment = ProcessInfo.processInfo.environment
    // https://no-color.org: any value but the empty one counts.
    let isRefused = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
    isColored = isatty(descriptor) == 1 && !isRefused && environment["TERM"] != "dumb"
  }

  func styled(_ text: String, _ style: Style) -> String {
    isColored ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
  }

  /// Writes at once and unbuffered: a tour is told while it happens.
  func write(_ text: String) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      // Nobody reads any more: there's nobody to tell.
      if count <= 0 { return }
      rest = rest.dropFirst(count)
    }
  }
}
