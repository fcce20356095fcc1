import FileCoordination
import Synchronization

/// Reports the parties in the way while the tool waits: one line that is rewritten on a terminal, new lines elsewhere.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock | nothing is written after `finish()`, whatever the reporting task is doing |
final class WaitReporter: Sendable {
  private struct State {
    var isFinished = false
    /// How many columns of the terminal's line are in use.
    var width = 0
  }

  /// A line that is rewritten so often is still easy to read.
  private static let usualInterval = Duration.seconds(1)

  private let terminal = Terminal.error
  private let state = Mutex(State())
  private let task: Mutex<Task<Void, Never>?>

  init(_ session: Session) {
    task = Mutex(nil)
    let asked = session.invocation.duration(.waitReport)
    guard let interval = asked ?? (terminal.isTerminal ? Self.usualInterval : nil) else { return }
    let reports = Task.detached { [self] in await report(session, each: max(interval, .milliseconds(10))) }
    task.withLock { $0 = reports }
  }

  /// Access was granted or refused: nothing is written any more, and the line is empty.
  func finish() {
    state.withLock { state in
      if !state.isFinished, state.width > 0 { rewrite("", &state) }
      state.isFinished = true
    }
    task.withLock { $0.take() }?.cancel()
  }

  private func report(_ session: Session, each interval: Duration) async {
    let start = ContinuousClock.now
    while (try? await Task.sleep(for: interval)) != nil {
      let waits = try? await session.snapshot().accesses.filter { access in
        !access.isGranted && ProcessName(access.party.process).isThisProcess
      }
      let omittedCount = (waits ?? []).map(\.omittedBlockerCount).reduce(0, +)
      write((waits ?? []).flatMap(\.blockers), omittedCount, after: start.duration(to: .now))
    }
  }

  private func write(_ blockers: [CoordinationParty], _ omittedCount: Int, after duration: Duration) {
    // Two files may be waited for because of the same access.
    var seen: Set<CoordinationParty> = []
    let names =
      blockers.filter { seen.insert($0).inserted }.map(\.description.onOneLine)
      + (omittedCount > 0 ? ["and \(omittedCount) more"] : [])
    state.withLock { state in
      if state.isFinished { return }
      let line = names.isEmpty ? "" : "waiting for \(duration.inTenths): " + names.joined(separator: "; ")
      if terminal.isTerminal { rewrite(line, &state) } else if !line.isEmpty { terminal.write(line + "\n") }
    }
  }

  private func rewrite(_ line: String, _ state: inout State) {
    let line = String(line.prefix(max(20, terminal.width - 1)))
    let blank = String(repeating: " ", count: max(0, state.width - line.count))
    // Without escape sequences, which not every terminal supports. An empty line leaves the cursor at its start.
    terminal.write("\r" + line + blank + (line.isEmpty ? "\r" : ""))
    state.width = line.count
  }
}

extension Duration {
  /// For people: `1.5 s`.
  var inTenths: String {
    let tenths = Int(self / .milliseconds(100))
    return "\(tenths / 10).\(tenths % 10) s"
  }
}
