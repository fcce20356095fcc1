package import SystemInterface

/// Runs an ``ExchangeCore`` between the thread of a transport and the task of a reader.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state.core` | the lock of `state` | a producer, a reader and the clock send it events |
/// | `state.waiter` | the lock of `state` | taken by the one who resumes it |
/// | `state.timer` | the lock of `state` | there's one at most; a deadline that moves on leaves it, and it is set again when it fires early |
///
/// Continuations are resumed, and the producer is called, outside of the lock.
package final class Exchange: Sendable {
  private struct State: Sendable {
    var core: ExchangeCore
    var waiter: Waiter?
    var timer: (time: MonotonicTime, action: ScheduledAction)?
  }

  private struct Waiter: Sendable {
    let wantsHead: Bool
    let continuation: CheckedContinuation<ExchangeCore.Outcome, Never>
  }

  private let state: Guarded<State>
  private let clock: any CoordinationClock
  private let onOrder: @Sendable (ExchangeCore.Order) -> Void

  /// Begins an exchange.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - clock: The clock of its limits.
  ///   - onOrder: Carries out an order, on any thread and in any call of this object.
  package init(
    _ request: HTTPRequest, clock: any CoordinationClock, onOrder: @escaping @Sendable (ExchangeCore.Order) -> Void
  ) {
    state = Guarded(State(core: ExchangeCore(request, at: clock.now)))
    self.clock = clock
    self.onOrder = onOrder
    step { _ in nil }
  }

  /// Whether the producer has nothing to do any more.
  package var isEnded: Bool { state.withLock { $0.core.isEnded } }

  /// How many bytes wait for the reader.
  package var bufferedByteCount: Int { state.withLock { $0.core.bufferedByteCount } }

  /// The head has arrived.
  package func headArrived(_ head: HTTPHead) {
    step { core in
      core.headArrived(head, at: clock.now)
      return nil
    }
  }

  /// A piece has arrived; the result says whether it was taken, see ``ExchangeCore/pieceArrived(_:at:)``.
  package func pieceArrived(_ piece: [UInt8]) -> Bool {
    var isTaken = false
    step { core in
      isTaken = core.pieceArrived(piece, at: clock.now)
      return nil
    }
    return isTaken
  }

  /// The transfer has ended.
  package func end(_ failure: HTTPTransportError? = nil) {
    step { core in
      core.ended(failure)
      return nil
    }
  }

  /// The reader has lost interest.
  package func cancel() { step { $0.cancelled() } }

  /// Waits for the head; cancelling the task cancels the exchange.
  package func head() async throws(HTTPTransportError) -> HTTPHead {
    switch await outcome(wantsHead: true) {
    case .head(let head): return head
    case .failed(let failure): throw failure
    case .wait, .piece, .end: preconditionFailure("a head was awaited, and something else came")
    }
  }

  /// Waits for a piece; cancelling the task cancels the exchange.
  package func nextPiece() async throws(HTTPTransportError) -> [UInt8]? {
    switch await outcome(wantsHead: false) {
    case .piece(let piece): return piece
    case .end: return nil
    case .failed(let failure): throw failure
    case .wait, .head: preconditionFailure("a piece was awaited, and something else came")
    }
  }

  private func outcome(wantsHead: Bool) async -> ExchangeCore.Outcome {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        step { core in
          nil
        } waiting: {
          Waiter(wantsHead: wantsHead, continuation: continuation)
        }
      }
    } onCancel: {
      cancel()
    }
  }

  /// The only way to the core: an event, the order that follows, and what the reader gets.
  private func step(
    _ event: (inout ExchangeCore) -> ExchangeCore.Order?, waiting waiter: () -> Waiter? = { nil }
  ) {
    let now = clock.now
    var (order, resumed): (ExchangeCore.Order?, (Waiter, ExchangeCore.Outcome)?) = (nil, nil)
    var taken: ExchangeCore.Order?
    var former: ScheduledAction?
    var wanted: MonotonicTime?
    state.withLock { state in
      order = event(&state.core)
      if let waiter = waiter() {
        precondition(state.waiter == nil, "a body has one reader")
        state.waiter = waiter
      }
      if let waiter = state.waiter {
        let outcome: ExchangeCore.Outcome
        if waiter.wantsHead {
          outcome = state.core.awaitedHead
        } else {
          (outcome, taken) = state.core.takePiece(at: now)
        }
        if outcome != .wait {
          resumed = (waiter, outcome)
          state.waiter = nil
        }
      }
      let deadline = state.core.deadline
      if let deadline, state.timer.map({ deadline < $0.time }) ?? true { wanted = deadline }
      if deadline == nil || wanted != nil {
        former = state.timer?.action
        state.timer = nil
      }
    }
    former?.cancel()
    if let wanted { schedule(at: wanted) }
    if let order { onOrder(order) }
    if let taken { onOrder(taken) }
    if let (waiter, outcome) = resumed { waiter.continuation.resume(returning: outcome) }
  }

  private func schedule(at time: MonotonicTime) {
    let action = clock.schedule(at: time) { [weak self] in self?.timePassed() }
    let surplus = state.withLock { state -> ScheduledAction? in
      // Another thread may have come first, and its timer is the earlier one or the exchange is over.
      if state.core.deadline == nil { return action }
      if let timer = state.timer, timer.time <= time { return action }
      let former = state.timer?.action
      state.timer = (time, action)
      return former
    }
    surplus?.cancel()
  }

  private func timePassed() {
    state.withLock { $0.timer = nil }
    step { $0.timePassed(at: clock.now) }
  }
}
