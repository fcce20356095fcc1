internal import SystemInterface

/// The search for leftovers and versions of a file that was just opened: it goes on while the call that has opened the file returns.
///
/// Most of the time nothing is found. Then nobody is woken up for that: the document asks before its next event.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock | it runs on the thread of the operation, and the document asks on its actor |
final class DocumentSearch: Sendable {
  private struct State: Sendable {
    /// `nil` while it runs.
    var hasFound: Bool?
    /// The document waits for its end.
    var isAwaited = false
    /// Dropped when it begins: it refers to the document, which keeps the search.
    var find: (@Sendable () -> Bool)?
  }

  private let state: Guarded<State>

  /// - Parameter find: Returns whether there may be something. It may block.
  init(_ find: @escaping @Sendable () -> Bool) { state = Guarded(State(find: find)) }

  /// Searches.
  ///
  /// - Returns: Whether the document is to be notified now: something was found, or it waits for the end.
  func run() -> Bool {
    guard let find = state.withLock({ $0.find.take() }) else { preconditionFailure("a search runs once") }
    let hasFound = find()
    return state.withLock { state in
      state.hasFound = hasFound
      return hasFound || state.isAwaited
    }
  }

  /// Whether something was found; `nil` while it runs.
  var hasFound: Bool? { state.withLock { $0.hasFound } }

  /// How long the document stays awake for the end: a search of a usual directory takes no longer, and a thread that falls asleep and wakes up
  /// takes longer than most searches.
  static let yieldingMax = Duration.microseconds(20)

  /// Waits for the end, for ``yieldingMax`` at most; after that, lets the document be notified of the end.
  ///
  /// It yields meanwhile: the search may have lost its processor to this thread, which it has just woken up.
  ///
  /// - Returns: Whether the end has come.
  func expectEnd() -> Bool {
    let end = MonotonicTime.host().advanced(by: Self.yieldingMax)
    while hasFound == nil, MonotonicTime.host() < end { HostThread.yield() }
    return state.withLock { state in
      state.isAwaited = true
      return state.hasFound != nil
    }
  }
}
