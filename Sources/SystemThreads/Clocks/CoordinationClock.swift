internal import Synchronization

/// A source of the time that runs actions at a time.
///
/// Everything in this package that waits asks a clock, so that a test can let hours pass at once.
public protocol CoordinationClock: Sendable {
  /// The time on this clock. It never goes back.
  var now: MonotonicTime { get }

  /// Runs an action when a time has come.
  ///
  /// The action runs once, never early, never inside this call, and on a thread of the clock's choice. A deadline in the
  /// past is due at once. Actions are short: one that blocks delays those behind it.
  ///
  /// - Parameters:
  ///   - deadline: When to run the action.
  ///   - action: The work to run.
  /// - Returns: The means to call it off. Dropping it changes nothing.
  func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> ScheduledAction
}

/// An action that waits for its time.
///
/// Most deadlines are called off, one for each access that waits: so it's one object, without a lock of its own.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `isTaken` | itself: set once | decides between starting and cancelling |
/// | `pending` | `isTaken`: only the thread that sets it uses the value | taking it out frees the closures' captures |
public final class ScheduledAction: Sendable {
  private struct Pending: Sendable {
    let action: @Sendable () -> Void
    let cancelling: Cancelling
  }

  /// How the clock forgets the action.
  private enum Cancelling: Sendable {
    case call(@Sendable () -> Void)
    /// The clock of this computer needs no closure for that.
    case remove(HostClock.Token, HostClock)
  }

  private let isTaken = Atomic(false)
  // Unsafe because the compiler doesn't see that one thread alone uses it: the one that sets `isTaken`.
  nonisolated(unsafe) private var pending: Pending?

  /// Creates an action for a clock to start.
  ///
  /// - Parameters:
  ///   - action: The work to run.
  ///   - onCancel: Makes the clock forget the action. Runs at most once, inside ``cancel()``.
  public init(_ action: @escaping @Sendable () -> Void, onCancel: @escaping @Sendable () -> Void = {}) {
    unsafe pending = Pending(action: action, cancelling: .call(onCancel))
  }

  /// Creates an action of the clock of this computer.
  init(_ action: @escaping @Sendable () -> Void, _ token: HostClock.Token, in clock: HostClock) {
    unsafe pending = Pending(action: action, cancelling: .remove(token, clock))
  }

  /// Calls the action off.
  ///
  /// When it returns, an action that hasn't started never starts. It doesn't wait for one that has.
  ///
  /// - Returns: Whether the action was called off; `false` if it has started or was called off before.
  /// - Complexity: O(log *n*) in the number of actions that wait for ``HostClock``.
  @discardableResult
  public func cancel() -> Bool {
    guard let pending = take() else { return false }
    switch pending.cancelling {
    case .call(let onCancel): onCancel()
    case .remove(let token, let clock): clock.remove(token)
    }
    return true
  }

  /// Runs the action unless it was called off or has run.
  ///
  /// For implementations of ``CoordinationClock``.
  ///
  /// - Returns: Whether the action ran.
  @discardableResult
  public func start() -> Bool {
    guard let pending = take() else { return false }
    pending.action()
    return true
  }

  private func take() -> Pending? {
    if isTaken.exchange(true, ordering: .acquiringAndReleasing) { return nil }
    return unsafe pending.take()
  }
}
