internal import FileAccessArbiter

/// The callbacks that run in this process, and those that it begins by itself when others have returned.
///
/// The service decides on the order of all others. The next service receives the callbacks that run, so that it does
/// so too.
struct CallbackOrder: Hashable, Sendable {
  struct Running: Hashable, Sendable {
    let presenter: PresenterID
    let kind: Message.Kind
    /// Larger for those that began later.
    let beginning: UInt64
  }

  struct HeldBack: Hashable, Sendable {
    let delivery: Delivery
    /// Absent if no service knows of it.
    let origin: DeliveryOrigin?
  }

  private(set) var running: [MessageID: Running] = [:]
  /// The callbacks that wait until others have returned, in their order.
  private(set) var heldBack: [PresenterID: [HeldBack]] = [:]
  private var lastBeginning: UInt64 = 0
  private var released: [ClientEffect] = []

  /// Whether a callback runs, and no other one of its presenter.
  func runsAlone(_ message: MessageID) -> Bool {
    guard let presenter = running[message]?.presenter, heldBack[presenter] == nil else { return false }
    return !running.contains { $0.value.presenter == presenter && $0.key != message }
  }

  /// Whether a message was to be served above a callback that has ended since, and another one of the presenter runs now, of which
  /// the service couldn't know.
  func isOutOfTurn(_ delivery: Delivery) -> Bool {
    guard let below = delivery.above, running[below] == nil else { return false }
    return isRunning(delivery.presenter)
  }

  func isBusy(_ presenter: PresenterID) -> Bool { heldBack[presenter] != nil || isRunning(presenter) }

  func isRunning(_ presenter: PresenterID) -> Bool { running.values.contains { $0.presenter == presenter } }

  /// The callbacks that run, for the next service: those of each presenter in the order in which they began.
  var runningByPresenter: [PresenterID: [RunningCallback]] {
    let inOrder = running.sorted { $0.value.beginning < $1.value.beginning }
    return Dictionary(grouping: inOrder, by: \.value.presenter).mapValues { entries in
      entries.map { RunningCallback(message: $0.key, kind: $0.value.kind.withoutDetails) }
    }
  }

  /// The service has gone, and with it the accesses that waited for answers: the next one puts their questions itself.
  ///
  /// - Returns: Questions that haven't begun, and aren't put any more.
  mutating func forgetService() -> [MessageID] {
    var forgotten: [MessageID] = []
    for (presenter, entries) in heldBack {
      let kept = entries.filter { !$0.delivery.kind.mustBeAnswered }
      forgotten += entries.lazy.map(\.delivery).filter { $0.kind.mustBeAnswered }.map(\.message)
      heldBack[presenter] = kept.isEmpty ? nil : kept
    }
    return forgotten
  }

  /// A callback is to run.
  ///
  /// - Parameters:
  ///   - delivery: The callback.
  ///   - origin: The origin of the callback; `nil` if no service knows of it.
  ///   - mayNotWait: Whether a callback may wait for an access that waits for this very callback.
  /// - Returns: Whether it has to wait.
  mutating func holdsBack(_ delivery: Delivery, _ origin: DeliveryOrigin?, mayNotWait: Bool) -> Bool {
    let entry = HeldBack(delivery: delivery, origin: origin)
    if !isQueued(entry) && mayRun(entry) || origin != nil && mayNotWait && !delivery.isAhead {
      begin(entry)
      return false
    }
    heldBack[delivery.presenter, default: []].append(entry)
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

  /// Whether messages wait that come before this one; those that were sent ahead don't.
  private func isQueued(_ entry: HeldBack) -> Bool {
    guard let waiting = heldBack[entry.delivery.presenter] else { return false }
    return entry.delivery.isAhead || waiting.contains { !$0.delivery.isAhead }
  }

  /// The service puts its own callbacks of a presenter one after the other, and doesn't know the others.
  private func mayRun(_ entry: HeldBack) -> Bool {
    if entry.origin == nil || entry.delivery.isAhead { return !isRunning(entry.delivery.presenter) }
    return !isOutOfTurn(entry.delivery)
  }

  private mutating func begin(_ entry: HeldBack) {
    lastBeginning += 1
    running[entry.delivery.message] = Running(
      presenter: entry.delivery.presenter, kind: entry.delivery.kind, beginning: lastBeginning)
  }

  /// A callback has returned.
  ///
  /// - Returns: Its presenter.
  @discardableResult
  mutating func noteEnd(of message: MessageID) -> PresenterID? {
    guard let presenter = running.removeValue(forKey: message)?.presenter else { return nil }
    release(of: presenter) { $0.mayRun($1) }
    return presenter
  }

  /// A callback begins to wait for an access, which may wait for a callback that was held back.
  mutating func letAllGo() {
    for presenter in heldBack.keys.sorted() {
      release(of: presenter) { $1.origin != nil && !$1.delivery.isAhead }
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
    while let entry = heldBack[presenter]?.first, mayGo(self, entry) {
      heldBack[presenter]?.removeFirst()
      begin(entry)
      released.append(.deliver(entry.delivery, entry.origin))
    }
    if heldBack[presenter]?.isEmpty == true { heldBack[presenter] = nil }
  }

  mutating func takeReleased() -> [ClientEffect] {
    if released.isEmpty { return [] }
    defer { released = [] }
    return released
  }
}

extension Message.Kind {
  /// The same callback without paths and names, which a service that didn't put it doesn't need.
  fileprivate var withoutDetails: Message.Kind {
    switch self {
    case .relinquishToReader, .relinquishToWriter, .saveChanges, .accommodateDeletion, .accommodateEviction, .reacquire,
      .itemDidChange:
      self
    case .accommodateSubitemDeletion: .accommodateSubitemDeletion(.root)
    case .itemDidMove: .itemDidMove(to: .root)
    case .itemDidChangeUbiquityAttributes: .itemDidChangeUbiquityAttributes([])
    case .itemVersion(let change, _): .itemVersion(change, "")
    case .subitemDidAppear: .subitemDidAppear(.root)
    case .subitemDidChange: .subitemDidChange(.root)
    case .subitemDidMove: .subitemDidMove(from: .root, to: .root)
    case .subitemVersion(_, let change, _): .subitemVersion(.root, change, "")
    }
  }
}
