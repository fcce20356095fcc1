import Synchronization

/// Reports events, one line at a time, and counts the claims that came true.
final class Narrator: Sendable {
  private struct Count {
    var claims = 0
    var failures = 0
  }

  private static let nameWidth = 10
  private static let lineWidth = 100

  private let terminal: Terminal
  private let count = Mutex(Count())

  init(_ terminal: Terminal) { self.terminal = terminal }

  var claimCount: Int { count.withLock { $0.claims } }
  var failureCount: Int { count.withLock { $0.failures } }

  func heading(_ text: String) { terminal.write("\n" + terminal.styled(text, .heading) + "\n") }

  /// A sentence about the present scene.
  func explain(_ text: String) { write(text, prefix: "  ", indentation: 2) }

  /// The action of an actor.
  func tell(_ name: String, _ text: String) {
    let padding = String(repeating: " ", count: max(1, Self.nameWidth - name.count))
    write(text, prefix: "  " + terminal.styled(name, .actor) + padding, indentation: 2 + Self.nameWidth)
  }

  /// Something printed by the library itself.
  func quote(_ text: String) {
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      terminal.write("    " + terminal.styled("| ", .quiet) + line + "\n")
    }
  }

  /// A claim, and whether it's so.
  func claim(_ text: String, _ isSo: Bool) {
    count.withLock { count in
      count.claims += 1
      if !isSo { count.failures += 1 }
    }
    let mark = isSo ? terminal.styled("✓", .good) : terminal.styled("✗ not so:", .bad)
    write(text, prefix: "  " + mark + " ", indentation: 4)
  }

  private func write(_ text: String, prefix: String, indentation: Int) {
    var lines = [""]
    var room = Self.lineWidth - indentation
    for word in text.split(separator: " ") {
      let isFirst = lines[lines.count - 1].isEmpty
      if !isFirst, word.count + 1 > room {
        lines.append(String(word))
        room = Self.lineWidth - indentation - word.count
      } else {
        lines[lines.count - 1] += (isFirst ? "" : " ") + word
        room -= word.count + (isFirst ? 0 : 1)
      }
    }
    let separator = "\n" + String(repeating: " ", count: indentation)
    terminal.write(prefix + lines.joined(separator: separator) + "\n")
  }
}
