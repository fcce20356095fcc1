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

    /// The value of this option when an earlier one of the same name has a value: it replaces that, or adds to it.
    func following(_ other: Value?) -> Value {
      guard case .texts(let texts) = self, case .texts(let others)? = other else { return self }
      return .texts(others + texts)
    }
  }

  let name: String
  let kind: Kind
  let help: String

  /// The word behind the name, for people; `nil` when there's none.
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

  /// Parses the text behind the name.
  func value(of text: String) throws(Failure) -> Value {
    switch kind {
    case .flag: return .flag
    case .text: return .text(text)
    case .texts: return .texts([text])
    case .seconds:
      // A thousand years, and far below the range of a Duration.
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
    help: "The longest wait for other accesses, and again for presenters' answers. The defaults are 300 and 60; with 0 "
      + "the command fails at once if it has to wait.")
  static let skipStopped = Option(
    name: "--skip-stopped", kind: .seconds,
    help:
      "Take the accesses of a process away after it has been stopped for this time (Control-Z, a debugger). By default "
      + "they stay, and the command waits five seconds for the presenters of such a process.")
  static let waitReport = Option(
    name: "--wait-report", kind: .seconds,
    help: "Print the accesses and presenters in the way at this interval. On a terminal one line shows them."
  )
  static let domain = Option(
    name: "--domain", kind: .domain,
    help: "The domain: user, process or socket:PATH. It overrides FILE_COORDINATION_DOMAIN.")
  static let label = Option(
    name: "--label", kind: .text("TEXT"), help: "The name of this access or presenter in reports.")
  static let help = Option(name: "--help", kind: .flag, help: "Print the help.")
  static let version = Option(name: "--version", kind: .flag, help: "Print the version.")

  /// The names of some options in other tools.
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
