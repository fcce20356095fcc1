#if !canImport(ObjectiveC)
  internal import Foundation

  /// Runs things on the main thread if it runs anything, and otherwise where they were asked for.
  ///
  /// On Apple platforms the run loop of the main thread posts what queries without a queue have found. Here programs without a run loop are
  /// served as well. The main thread is taken for one that runs nothing when it hasn't come to a thing for ``patience``, and its run loop
  /// wasn't seen running meanwhile. As long as its loop runs it's waited for, however busy it is; and so it is once it has shown that
  /// it serves its queue without a run loop, as in programs with an asynchronous `main`.
  ///
  /// | state | guarded by | why |
  /// | --- | --- | --- |
  /// | all | `condition` | things are added on threads of queries, and run on the main thread |
  ///
  /// `@unchecked Sendable` for that reason. Nothing of the program runs under the lock.
  final class MainThreadTurns: @unchecked Sendable {
    static let shared = MainThreadTurns()

    /// How long the main thread may do something else before it's taken for one that runs nothing.
    static let patience: TimeInterval = 0.5

    private final class Turn {
      let body: () -> Void
      var isDone = false

      init(_ body: @escaping () -> Void) { self.body = body }
    }

    private let condition = NSCondition()
    private var turns: [Turn] = []
    /// An operation that runs turns is in the main queue.
    private var isAsked = false
    /// Since that operation came into the queue, somebody has given up waiting for it.
    private var isIdle = false
    private var servesItsQueue = false

    /// Runs `body`, on the main thread if that can, and returns when it has run.
    func run(_ body: @escaping () -> Void) {
      let turn = Turn(body)
      condition.withLock { turns.append(turn) }
      ask()
      var patienceEnd = Date(timeIntervalSinceNow: Self.patience)
      while true {
        let isRunning = RunLoop.main.currentMode != nil
        if isRunning { patienceEnd = Date(timeIntervalSinceNow: Self.patience) }
        if wait(for: turn, isRunning: isRunning, until: patienceEnd) == false { return body() }
        if condition.withLock({ turn.isDone }) { return }
      }
    }

    /// - Returns: `false` when the caller has to run the turn itself.
    private func wait(for turn: Turn, isRunning: Bool, until patienceEnd: Date) -> Bool {
      condition.withLock {
        if turn.isDone { return true }
        guard let position = turns.firstIndex(where: { $0 === turn }) else {
          // It's running.
          condition.wait()
          return true
        }
        if !isRunning, !servesItsQueue, isIdle || patienceEnd.timeIntervalSinceNow <= 0 {
          turns.remove(at: position)
          isIdle = true
          return false
        }
        // Nobody tells when a run loop begins or ends.
        _ = condition.wait(until: Date(timeIntervalSinceNow: Self.patience / 10))
        return true
      }
    }

    /// Puts an operation into the main queue, unless there's one.
    private func ask() {
      let mustAsk = condition.withLock {
        defer { isAsked = true }
        return !isAsked
      }
      if mustAsk { OperationQueue.main.addOperation(SteadfastOperation { [self] in serve() }) }
    }

    /// Runs all turns: on the main thread.
    private func serve() {
      let hasRunLoop = RunLoop.main.currentMode != nil
      condition.withLock {
        isAsked = false
        isIdle = false
        if !hasRunLoop { servesItsQueue = true }
      }
      while let turn = condition.withLock({ turns.isEmpty ? nil : turns.removeFirst() }) {
        turn.body()
        condition.withLock {
          turn.isDone = true
          condition.broadcast()
        }
      }
    }
  }
#endif
