/// A command line that was understood.
struct Invocation: Sendable {
  let command: Command
  var values: [String: Option.Value] = [:]
  /// The words after the options.
  var operands: [Argument] = []
  /// `COMMAND [ARG…]`.
  var program: [Argument] = []

  func has(_ option: Option) -> Bool { values[option.name] != nil }

  func duration(_ option: Option) -> Duration? {
    if case .duration(let duration) = values[option.name] { return duration }
    return nil
  }

  func count(_ option: Option) -> Int? {
    if case .count(let count) = values[option.name] { return count }
    return nil
  }

  func texts(_ option: Option) -> [String] {
    if case .texts(let texts) = values[option.name] { return texts }
    return []
  }

  func text(_ option: Option) -> String? {
    if case .text(let text) = values[option.name] { return text }
    return nil
  }
}
