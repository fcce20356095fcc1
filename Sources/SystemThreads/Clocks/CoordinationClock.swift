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
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `pending` | its lock | taking the value out decides between starting and cancelling, and frees the closures' captures |
public final class ScheduledAction: Sendable {
  private struct Pending: Sendable {
    let action: @Sendable () -> Void
    let onCancel: @Sendable () -> Void
  }

  private let pending: Guarded<Pending?>

  /// Creates an action for a clock to start.
  ///
  /// - Parameters:
  ///   - action: The work to run.
  ///   - onCancel: Makes the clock forget the action. Runs at most once, inside ``cancel()``.
  public init(_ action: @escaping @Sendable () -> Void, onCancel: @escaping @Sendable () -> Void = {}) {
    pending = Guarded(Pending(action: action, onCancel: onCancel))
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
    pending.onCancel()
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
    pending.withLock { $0.take() }
  }
}
