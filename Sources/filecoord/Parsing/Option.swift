/// One option of the command line.
///
/// Parsing, help, error messages and completion are all made from this.
struct Option: Sendable {
  enum Kind: Sendable {
    case flag
    case seconds
    case count
    case text(String)
    /// May be there several times.
    case texts(String)
    case choice([String])
    case domain
  }

  enum Value: Sendable {
    case flag
    case duration(Duration)
    case count(Int)
    case text(String)
    case texts([String])

    /// What this one says after another one of the same option: it replaces it, or adds to it.
    func following(_ other: Value?) -> Value {
      guard case .texts(let texts) = self, case .texts(let others)? = other else { return self }
      return .texts(others + texts)
    }
  }

  let name: String
  let kind: Kind
  let help: String

  /// What follows the name, for people; `nil` when nothing does.
  var placeholder: String? {
    switch kind {
    case .flag: nil
    case .seconds: "SECONDS"
    case .count: "N"
    case .text(let placeholder), .texts(let placeholder): placeholder
    case .choice(let choices): choices.joined(separator: "|")
    case .domain: "DOMAIN"
    }
  }

  /// The words that may follow the name, as far as they can be listed.
  var choices: [String] {
    switch kind {
    case .choice(let choices): choices
    case .domain: ["user", "process", "socket:"]
    case .flag, .seconds, .count, .text, .texts: []
    }
  }

  /// Such as `--timeout SECONDS`.
  var usage: String { placeholder.map { "\(name) \($0)" } ?? name }

  /// Understands what was written behind the name.
  func value(of text: String) throws(Failure) -> Value {
    switch kind {
    case .flag: return .flag
    case .text: return .text(text)
    case .texts: return .texts([text])
    case .seconds:
      // A thousand years, and far below what a Duration holds.
      guard let seconds = Double(text), (0...3e10).contains(seconds) else {
        throw .usage("'\(name)' takes a number of seconds such as 2.5, not '\(text)'")
      }
      return .duration(.seconds(seconds))
    case .count:
      guard let count = Int(text), count > 0 else {
        throw .usage("'\(name)' takes a number above 0, not '\(text)'")
      }
      return .count(count)
    case .choice(let choices):
      if choices.contains(text) { return .text(text) }
      throw .usage("'\(name)' takes \(choices.listed), not '\(text)'" + Nearest.hint(for: text, among: choices))
    case .domain:
      if text == "user" || text == "process" || text.hasPrefix("socket:/") { return .text(text) }
      throw .usage("'\(name)' takes user, process, or socket: and an absolute path, not '\(text)'")
    }
  }
}

extension Option {
  static let timeout = Option(
    name: "--timeout", kind: .seconds,
    help: "Give up after so long: of waiting for other accesses, and again of waiting for presenters' answers. "
      + "Usually 300 and 60; 0 doesn't wait at all.")
  static let skipStopped = Option(
    name: "--skip-stopped", kind: .seconds,
    help:
      "Take away what a process holds that has been stopped for so long (Control-Z, a debugger). Usually it's waited "
      + "for; its presenters for five seconds.")
  static let waitReport = Option(
    name: "--wait-report", kind: .seconds,
    help: "Print who is in the way each time so long has passed. On a terminal it's one line, from the first second on."
  )
  static let domain = Option(
    name: "--domain", kind: .domain,
    help: "Whom to coordinate with: user, process or socket:PATH. Stronger than FILE_COORDINATION_DOMAIN.")
  static let label = Option(
    name: "--label", kind: .text("TEXT"), help: "The name under which others see this access or presenter.")
  static let help = Option(name: "--help", kind: .flag, help: "Print how it's used.")
  static let version = Option(name: "--version", kind: .flag, help: "Print the version.")

  /// What other tools call some options.
  static let shortNames = ["-h": help.name, "-0": null.name]

  /// The options that every command takes.
  static let common: [Option] = [.timeout, .skipStopped, .waitReport, .domain, .label, .help, .version]
}

extension [String] {
  /// `a`, `a or b`, `a, b or c`.
  var listed: String {
    guard let last, count > 1 else { return first ?? "" }
    return dropLast().joined(separator: ", ") + " or " + last
  }
}
