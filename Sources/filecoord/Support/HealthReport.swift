import Synchronization

/// Prints findings one after the other, and remembers whether something is wrong.
final class HealthReport: Sendable {
  private let problems = Mutex(0)

  var isHealthy: Bool { problems.withLock { $0 == 0 } }

  func good(_ text: String) { write("ok", .good, text, nil) }

  /// Not wrong, but worth knowing.
  func note(_ text: String, advice: String) { write("note", .actor, text, advice) }

  func bad(_ text: String, advice: String) {
    problems.withLock { $0 += 1 }
    write("wrong", .bad, text, advice)
  }

  private func write(_ mark: String, _ style: Terminal.Style, _ text: String, _ advice: String?) {
    let padding = String(repeating: " ", count: 7 - mark.count)
    let advice = advice.map { "       what to do: \($0)\n" } ?? ""
    Terminal.output.write(Terminal.output.styled(mark, style) + padding + text + "\n" + advice)
  }
}
