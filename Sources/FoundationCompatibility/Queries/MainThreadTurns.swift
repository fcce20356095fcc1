#if !canImport(ObjectiveC)
  internal import Foundation

  /// Runs things on the main thread if it runs anything, and otherwise where they were asked for.
  ///
  /// On Apple platforms the run loop of the main thread posts the results of queries without a queue. Here programs
  /// without a run loop are served as well. The main thread counts as one that runs nothing under two conditions: it
  /// has slept for ``MainThreadPatience/sleepMax`` outside of a run loop, as in a wait for a semaphore, and it hasn't
  /// run an operation. A thread that computes is waited for, because it may be about to run its loop. Without a limit,
  /// two further kinds are waited for: a thread whose loop runs, and one that has served its queue without a run loop,
  /// as in programs with an asynchronous `main`.
  ///
  /// | state | guarded by | why |
  /// | --- | --- | --- |
  /// | all | `condition` | things are added on threads of queries, and run on the main thread |
  ///
  /// `@unchecked Sendable` for that reason. Nothing of the program runs under the lock.
  final class MainThreadTurns: @unchecked Sendable {
    static let shared = MainThreadTurns()

    /// How often it's polled: there's no event when a run loop begins or ends.
    private static let interval = MainThreadPatience.sleepMax / 10

    private let state: @Sendable () -> MainThreadState
    private let enqueue: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// - Parameters:
    ///   - state: Returns the activity of the main thread.
    ///   - enqueue: Puts something into its queue.
    init(
      state: @escaping @Sendable () -> MainThreadState = { .current },
      enqueue: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void = {
        OperationQueue.main.addOperation(SteadfastOperation($0))
      }
    ) {
      self.state = state
      self.enqueue = enqueue
    }

    private final class Turn {
      let body: () -> Void
      var isDone = false

      init(_ body: @escaping () -> Void) { self.body = body }
    }

    private let condition = NSCondition()
    private var turns: [Turn] = []
    /// An operation that runs turns is in the main queue.
    private var isAsked = false
    /// Since that operation came into the queue, a thread has given up waiting for it.
    private var isIdle = false
    private var servesItsQueue = false

    /// Runs `body`, on the main thread if that can, and returns when it has run.
    func run(_ body: @escaping () -> Void) {
      let turn = Turn(body)
      condition.withLock { turns.append(turn) }
      ask()
      var patience = MainThreadPatience()
      while true {
        let seen = state()
        if !wait(for: turn, seen, isOver: patience.isOver, &patience) { return body() }
        if condition.withLock({ turn.isDone }) { return }
      }
    }

    /// - Returns: `false` when the caller has to run the turn itself.
    private func wait(
      for turn: Turn, _ seen: MainThreadState, isOver: Bool, _ patience: inout MainThreadPatience
    ) -> Bool {
      condition.withLock {
        if turn.isDone { return true }
        guard let position = turns.firstIndex(where: { $0 === turn }) else {
          // It's running.
          condition.wait()
          return true
        }
        if seen != .runsLoop, !servesItsQueue, isIdle || isOver {
          turns.remove(at: position)
          isIdle = true
          return false
        }
        let begin = Date()
        _ = condition.wait(until: begin + Self.interval)
        // A machine that stood still in between doesn't count.
        patience.note(seen, for: min(Self.interval, max(0, -begin.timeIntervalSinceNow)))
        return true
      }
    }

    /// Puts an operation into the main queue, unless there's one.
    private func ask() {
      let mustAsk = condition.withLock {
        defer { isAsked = true }
        return !isAsked
      }
      if mustAsk { enqueue { [self] in serve() } }
    }

    /// Runs all turns: on the main thread.
    private func serve() {
      let hasRunLoop = state() == .runsLoop
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
