internal import FileAccessArbiter

/// Keeps callbacks of one presenter one after the other also when one service takes the place of another.
///
/// The new service doesn't know the callbacks that run.
struct CallbackOrder: Hashable, Sendable {
  /// Callbacks that run.
  private(set) var running: [MessageID: PresenterID] = [:]
  /// Those that the present service doesn't know.
  private(set) var stale: Set<MessageID> = []
  /// The callbacks that wait until others have returned, in their order.
  private(set) var heldBack: [PresenterID: [HeldBack]] = [:]
  private var released: [ClientEffect] = []

  struct HeldBack: Hashable, Sendable {
    let delivery: Delivery
    /// Absent if no service knows of it.
    let origin: DeliveryOrigin?
    /// Whether the present service knows nothing of it.
    var isStale: Bool
    /// Whether it's a notification or a reacquirer that waits also while a callback waits for an access: the service has its answer.
    var isPostponed = false
  }

  var hasStale: Bool { !stale.isEmpty }

  /// Whether a callback runs that the present service knows, and no other one of its presenter.
  func runsAlone(_ message: MessageID) -> Bool {
    guard let presenter = running[message], !stale.contains(message), heldBack[presenter] == nil else { return false }
    return !running.contains { $0.value == presenter && $0.key != message }
  }

  /// Whether a message was to be served above a callback that has ended since, and another one of the presenter runs now, of which
  /// the service couldn't know.
  func isOutOfTurn(_ delivery: Delivery) -> Bool {
    guard let below = delivery.above, running[below] == nil else { return false }
    return running.values.contains(delivery.presenter)
  }

  func isBusy(_ presenter: PresenterID) -> Bool {
    heldBack[presenter] != nil || running.values.contains(presenter)
  }

  /// The service has gone.
  mutating func forgetService() {
    stale = Set(running.keys)
    for presenter in heldBack.keys {
      heldBack[presenter] = heldBack[presenter]?.map {
        HeldBack(delivery: $0.delivery, origin: $0.origin, isStale: true, isPostponed: $0.isPostponed)
      }
    }
  }

  /// A callback is to run.
  ///
  /// - Parameters:
  ///   - delivery: The callback.
  ///   - origin: The origin of the callback; `nil` if no service knows of it.
  ///   - isAnyoneNested: Whether a callback may wait for an access that waits for this very callback.
  /// - Returns: Whether it has to wait.
  mutating func holdsBack(_ delivery: Delivery, _ origin: DeliveryOrigin?, isAnyoneNested: Bool) -> Bool {
    let entry = HeldBack(delivery: delivery, origin: origin, isStale: origin == nil)
    if !isQueued(entry) && mayRun(entry) || origin != nil && isAnyoneNested && mayPassStale(entry) {
      begin(entry)
      return false
    }
    heldBack[delivery.presenter, default: []].append(entry)
    return true
  }

  /// The delivery, as one above the callback that runs and that the service doesn't know.
  func nested(_ delivery: Delivery) -> Delivery {
    var delivery = delivery
    if delivery.above == nil {
      delivery.above = stale.filter { running[$0] == delivery.presenter && $0 != delivery.message }.max()
    }
    return delivery
  }

  /// Keeps a notification or a reacquirer until the callbacks have returned that the service doesn't know, though one of them waits for an access.
  ///
  /// - Parameters:
  ///   - delivery: The message.
  ///   - origin: Its origin.
  /// - Returns: Whether it's kept; then the service needn't wait for it any more, nor does what comes behind it.
  mutating func postpones(_ delivery: Delivery, _ origin: DeliveryOrigin) -> Bool {
    let presenter = delivery.presenter
    switch delivery.kind {
    case .itemDidChange, .reacquire: break
    default: return false
    }
    guard stale.contains(where: { running[$0] == presenter }) else { return false }
    heldBack[presenter, default: []].append(
      HeldBack(delivery: delivery, origin: origin, isStale: true, isPostponed: true))
    return true
  }

  /// A message that was held back because it had been sent ahead has its turn now, above the callback for which it waits.
  ///
  /// It may have begun meanwhile.
  mutating func letGo(_ delivery: Delivery) {
    let presenter = delivery.presenter
    guard let index = heldBack[presenter]?.firstIndex(where: { $0.delivery.message == delivery.message }),
      let entry = heldBack[presenter]?.remove(at: index)
    else { return }
    if heldBack[presenter]?.isEmpty == true { heldBack[presenter] = nil }
    begin(entry)
    released.append(.deliver(delivery, entry.origin))
  }

  /// Whether messages wait that come before this one; those that were sent ahead don't, nor do those that are postponed: the
  /// service has their answers, and may ask above other callbacks.
  private func isQueued(_ entry: HeldBack) -> Bool {
    guard let waiting = heldBack[entry.delivery.presenter] else { return false }
    if entry.delivery.isAhead { return true }
    return waiting.contains { !$0.isPostponed && (!$0.delivery.isAhead || $0.isStale) }
  }

  /// Whether a message may wait for callbacks that the service doesn't know; otherwise it lets go the one that it sent ahead.
  private func mayPassStale(_ entry: HeldBack) -> Bool {
    !entry.delivery.isAhead || stale.contains { running[$0] == entry.delivery.presenter }
  }

  /// The service puts its own callbacks of a presenter one after the other, and doesn't know the others.
  private func mayRun(_ entry: HeldBack) -> Bool {
    let presenter = entry.delivery.presenter
    if entry.isStale || entry.delivery.isAhead { return !running.values.contains(presenter) }
    if isOutOfTurn(entry.delivery) { return false }
    return !stale.contains { running[$0] == presenter }
  }

  private mutating func begin(_ entry: HeldBack) {
    running[entry.delivery.message] = entry.delivery.presenter
    if entry.isStale { stale.insert(entry.delivery.message) }
  }

  /// A callback has returned.
  ///
  /// - Returns: Its presenter.
  @discardableResult
  mutating func noteEnd(of message: MessageID) -> PresenterID? {
    guard let presenter = running.removeValue(forKey: message) else { return nil }
    stale.remove(message)
    release(of: presenter) { $0.mayRun($1) }
    return presenter
  }

  /// A callback begins to wait for an access, which may wait for a callback that was held back.
  mutating func letAllGo() {
    for presenter in heldBack.keys.sorted() {
      release(of: presenter) { $1.origin != nil && !$1.isPostponed && $0.mayPassStale($1) }
    }
  }

  /// A presenter begins to wait for an access of its own, which may wait for a question that crossed the beginning of its callback.
  mutating func letQuestionsGo(of presenter: PresenterID) {
    release(of: presenter) { $1.origin != nil && $1.delivery.above != nil }
  }

  /// A presenter has unregistered: only its reacquirers run.
  ///
  /// - Returns: Messages that it doesn't receive.
  mutating func drop(of presenter: PresenterID) -> [MessageID] {
    guard let entries = heldBack.removeValue(forKey: presenter) else { return [] }
    let kept = entries.filter { entry in
      if case .reacquire = entry.delivery.kind { true } else { false }
    }
    if !kept.isEmpty { heldBack[presenter] = kept }
    return entries.filter { !kept.contains($0) }.map(\.delivery.message)
  }

  private mutating func release(of presenter: PresenterID, where mayGo: (Self, HeldBack) -> Bool) {
    // Others pass those that are postponed.
    while let index = heldBack[presenter]?.firstIndex(where: { !$0.isPostponed || mayGo(self, $0) }),
      let entry = heldBack[presenter]?[index], mayGo(self, entry)
    {
      heldBack[presenter]?.remove(at: index)
      let delivery = nested(entry.delivery)
      begin(entry)
      released.append(.deliver(delivery, entry.origin))
    }
    if heldBack[presenter]?.isEmpty == true { heldBack[presenter] = nil }
  }

  mutating func takeReleased() -> [ClientEffect] {
    if released.isEmpty { return [] }
    defer { released = [] }
    return released
  }
}
