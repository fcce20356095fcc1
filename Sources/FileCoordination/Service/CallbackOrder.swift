internal import FileAccessArbiter

/// Keeps callbacks of one presenter one after the other also when one service takes the place of another, which doesn't know
/// what the presenters are doing.
///
/// Part of the host's state, under its lock.
struct CallbackOrder: Sendable {
  /// Callbacks that run.
  private var running: [MessageID: PresenterID] = [:]
  /// Those that an earlier service asked for.
  private var stale: Set<MessageID> = []
  /// What waits until they have returned, in its order.
  private var heldBack: [PresenterID: [ArbiterHost.Action]] = [:]
  private var released: [ArbiterHost.Action] = []

  var hasStale: Bool { !stale.isEmpty }

  func isBusy(_ presenter: PresenterID) -> Bool { running.values.contains(presenter) }

  /// The service has gone.
  mutating func forgetService() { stale = Set(running.keys) }

  /// A callback is to run.
  ///
  /// - Parameters:
  ///   - action: Runs it.
  ///   - message: What the callback answers.
  ///   - presenter: Whose callback it is.
  ///   - isAnyoneNested: Whether a callback may wait for an access that waits for this very callback.
  /// - Returns: Whether it has to wait.
  mutating func holdsBack(
    _ action: ArbiterHost.Action, _ message: MessageID, of presenter: PresenterID, isAnyoneNested: Bool
  ) -> Bool {
    running[message] = presenter
    if isAnyoneNested || !stale.contains(where: { running[$0] == presenter }) { return false }
    heldBack[presenter, default: []].append(action)
    return true
  }

  /// A callback has returned.
  mutating func noteEnd(of message: MessageID) {
    guard let presenter = running.removeValue(forKey: message), stale.remove(message) != nil,
      !stale.contains(where: { running[$0] == presenter })
    else { return }
    released += heldBack.removeValue(forKey: presenter) ?? []
  }

  /// A callback begins to wait for an access, which may wait for what was held back.
  mutating func letAllGo() {
    for presenter in heldBack.keys.sorted() { released += heldBack[presenter] ?? [] }
    heldBack = [:]
  }

  mutating func takeReleased() -> [ArbiterHost.Action] {
    if released.isEmpty { return [] }
    defer { released = [] }
    return released
  }
}
