#if !canImport(ObjectiveC)
  internal import FileCoordination
  internal import Foundation
  internal import SystemInterface

  /// The messages to presenters that wait for their turn on the presenters' queues.
  ///
  /// A message runs in an operation of its queue. A queue whose threads are blocked, because the program waits for
  /// access on them, runs no operation. Then the blocked thread runs two kinds of messages: questions, whose answers it
  /// perhaps waits for itself, and those that presenters need for a right answer: moves and reacquirers. Other news
  /// stay in the queue: the reactions of presenters to changes, such as reading, aren't for a thread that waits
  /// already.
  ///
  /// | state | guarded by | why |
  /// | --- | --- | --- |
  /// | `state` | its lock | messages come on threads of the library, and are run by threads of queues |
  ///
  /// Nothing of the program runs under the lock.
  final class PresenterTurns: Sendable {
    static let shared = PresenterTurns()

    /// How many notifications may be in a blocked queue beyond the one that others wait for.
    static let releasedTurnCountMax = 4096

    fileprivate struct Turn {
      let number: UInt64
      /// Whether a thread of the queue that waits runs it.
      let isServed: Bool
      let body: @Sendable () -> Void
      /// Lets the next message to the presenter come, before this one has run.
      var release: (@Sendable () -> Void)?
      var isReleased = false
    }

    fileprivate struct QueueState {
      /// The oldest comes first.
      var turns: [Turn] = []
      var servers: [Server] = []
      var releasedCount = 0
    }

    fileprivate struct State {
      var last: UInt64 = 0
      var queues: [ObjectIdentifier: QueueState] = [:]
    }

    private let state = Guarded(State())

    /// Adds a message that asks something.
    ///
    /// - Parameters:
    ///   - queue: The presenter's queue.
    ///   - body: The message.
    func ask(on queue: OperationQueue, _ body: @escaping @Sendable () -> Void) {
      add(on: queue, isServed: true, body, release: nil)
    }

    /// Adds a notification.
    ///
    /// - Parameters:
    ///   - queue: The presenter's queue.
    ///   - isServed: Whether a thread of the queue that waits runs it.
    ///   - body: The message.
    ///   - release: Called, perhaps before `body`, if the queue is blocked or suspended; `body` runs nevertheless.
    func tell(
      on queue: OperationQueue, isServed: Bool, _ body: @escaping @Sendable () -> Void,
      release: @escaping @Sendable () -> Void
    ) {
      add(on: queue, isServed: isServed, body, release: release)
    }

    private func add(
      on queue: OperationQueue, isServed: Bool,
      _ body: @escaping @Sendable () -> Void, release: (@Sendable () -> Void)?
    ) {
      let key = ObjectIdentifier(queue)
      let isSuspended = queue.isSuspended
      let (number, servers, released) = state.withLock { state in
        state.last += 1
        var entry = state.queues[key] ?? QueueState()
        entry.turns.append(
          Turn(
            number: state.last, isServed: isServed, body: body,
            release: release))
        let released = entry.servers.isEmpty && !isSuspended ? [] : entry.releaseAll()
        state.queues[key] = entry
        return (state.last, isServed ? entry.servers : [], released)
      }
      for release in released { release() }
      // The queue is kept until the operation has run, so its address isn't reused meanwhile.
      queue.addOperation(
        SteadfastOperation { [self] in
          take(number, key)?.body()
          _ = queue
        })
      for server in servers { server.wake() }
    }

    /// - Returns: The message, unless another thread has run it.
    private func take(_ number: UInt64, _ key: ObjectIdentifier) -> Turn? {
      state.withLock { state in state.take(key) { $0.firstIndex { $0.number == number } } }
    }

    /// - Returns: The first message that a waiting thread runs.
    fileprivate func takeQuestion(_ key: ObjectIdentifier) -> (@Sendable () -> Void)? {
      state.withLock { state in state.take(key) { $0.firstIndex(where: \.isServed) } }?.body
    }
  }

  extension PresenterTurns.State {
    fileprivate mutating func take(
      _ key: ObjectIdentifier, _ find: ([PresenterTurns.Turn]) -> Int?
    ) -> PresenterTurns.Turn? {
      guard var entry = queues[key], let index = find(entry.turns) else { return nil }
      let turn = entry.turns.remove(at: index)
      if turn.isReleased { entry.releasedCount -= 1 }
      queues[key] = entry.turns.isEmpty && entry.servers.isEmpty ? nil : entry
      return turn
    }
  }

  extension PresenterTurns.QueueState {
    /// Takes the closures that let the next messages come, as far as that's bounded.
    fileprivate mutating func releaseAll() -> [@Sendable () -> Void] {
      var releases: [@Sendable () -> Void] = []
      for index in turns.indices where releasedCount < PresenterTurns.releasedTurnCountMax {
        guard let release = turns[index].release else { continue }
        turns[index].release = nil
        turns[index].isReleased = true
        releasedCount += 1
        releases.append(release)
      }
      return releases
    }
  }

  // MARK: - Threads that wait

  extension OperationQueue {
    /// Whether its operations may all have to wait for one that's blocked.
    ///
    /// It can't be determined whether a dispatch queue below it is serial, as most are.
    var mayHaveNoOtherThread: Bool {
      if unsafe underlyingQueue != nil { return true }
      return maxConcurrentOperationCount != OperationQueue.defaultMaxConcurrentOperationCount
        || self === OperationQueue.main
    }
  }

  extension PresenterTurns {
    /// The work of a thread that's about to wait for access: it serves the presenters of its queue, if that can run
    /// nothing else.
    func serverOfThisThread() -> (any BlockedThreadServer)? {
      // There may be no presenter yet: one can come while this thread waits.
      guard let queue = OperationQueue.current ?? (MainTurns.isCurrent ? .main : nil), queue.mayHaveNoOtherThread else {
        return nil
      }
      return Server(self, queue)
    }

    fileprivate func begin(_ server: Server) {
      let released = state.withLock { state in
        var entry = state.queues[server.key] ?? QueueState()
        entry.servers.append(server)
        let released = entry.releaseAll()
        state.queues[server.key] = entry
        return released
      }
      for release in released { release() }
    }

    fileprivate func end(_ server: Server) {
      state.withLock { state in
        guard var entry = state.queues[server.key] else { return }
        entry.servers.removeAll { $0 === server }
        state.queues[server.key] = entry.turns.isEmpty && entry.servers.isEmpty ? nil : entry
      }
    }

    /// A thread of a serial queue while it waits for access.
    ///
    /// `@unchecked Sendable`: the state that changes is guarded by the condition.
    fileprivate final class Server: BlockedThreadServer, @unchecked Sendable {
      let key: ObjectIdentifier
      private let turns: PresenterTurns
      /// Kept, so that the key isn't reused.
      private let queue: OperationQueue
      private let condition = NSCondition()
      private var isOver = false
      private var hasWork = false

      init(_ turns: PresenterTurns, _ queue: OperationQueue) {
        self.turns = turns
        self.queue = queue
        key = ObjectIdentifier(queue)
      }

      func wake() {
        condition.withLock {
          hasWork = true
          condition.signal()
        }
      }

      func serve(until arrange: (@escaping @Sendable () -> Void) -> Void) {
        // The same call may wait twice: prepare() does, for presenters and for its completion handler.
        condition.withLock { isOver = false }
        turns.begin(self)
        defer { turns.end(self) }
        arrange { [self] in
          condition.withLock {
            isOver = true
            condition.signal()
          }
        }
        // Messages may have been in the queue before.
        condition.withLock { hasWork = true }
        while waitForWork() {
          // A suspended queue runs nothing, nor does its thread.
          while !queue.isSuspended, !condition.withLock({ isOver }), let body = turns.takeQuestion(key) { body() }
        }
      }

      /// - Returns: Whether there may be work; if not, the wait is over.
      private func waitForWork() -> Bool {
        condition.withLock {
          while !isOver, !hasWork { condition.wait() }
          hasWork = false
          return !isOver
        }
      }
    }
  }
#endif
