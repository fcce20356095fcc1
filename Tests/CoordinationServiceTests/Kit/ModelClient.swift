@testable import CoordinationService
@testable import FileAccessArbiter

/// A process of a model: as much of a real one as the protocol is about.
///
/// What the service tells `+Telling`, between two services `+Resumption`.
struct ModelClient: Sendable {
  enum Waiting: Hashable, Sendable {
    case nothing
    case grant(AccessID)
    case answer(RequestNumber)
  }

  struct Thread: Hashable, Sendable {
    var next = 0
    var waiting = Waiting.nothing
  }

  enum Standing: Hashable, Sendable {
    case waiting
    /// Under a delegation, and nobody knows.
    case selfGranted
    /// The service knows it.
    case known
    /// The service has given it to others.
    case lost
  }

  struct Access: Hashable, Sendable {
    var request: AccessRequest
    var outer: AccessID?
    var standing: Standing
    /// It was granted without the service: others of this process meet it.
    var isInTier = false
    /// Others may have been inside while the client was expelled.
    var isDoubted = false
    /// A move has been announced and not answered.
    var isMoving = false
    /// Where it was before the move that it announced; protected until it ends.
    var formerPath: ItemPath?

    var item: AccessRequest.Item { request.items[0] }
    var isInside: Bool { standing != .waiting && standing != .lost }
  }

  struct Debt: Hashable, Sendable {
    let presenter: PresenterID
    let origin: DebtOrigin
    /// The connection through which it was asked has ended.
    var isStale = false
  }

  /// A callback that runs.
  struct Callback: Hashable, Sendable {
    let message: MessageID
    let presenter: PresenterID
    let kind: Message.Kind
    /// What it writes elsewhere since it returned.
    var save: AccessID?
  }

  let session: UInt64
  let plan: ClientPlan
  /// Others that are stopped needn't be waited for.
  let isImpatient: Bool
  var faults: Set<ModelFault> = []
  var isAlive = true
  var threads: [Thread]
  var accesses: [AccessID: Access] = [:]
  var registrations: [PresenterID: PresenterRegistration] = [:]
  var removed: Set<PresenterID> = []
  /// The very table that real processes have.
  var loans = LoanTable()
  /// The service has written so into this process's memory.
  var isRevoked = false
  /// It was disconnected, and what it hasn't read yet is of no worth.
  var isExpelled = false
  var debts: [MessageID: Debt] = [:]
  var reacquirers: Set<MessageID> = []
  var callbacks: [Callback] = []
  private(set) var saveCount: UInt64 = 0
  var questions: [RequestNumber: ClientFrame] = [:]
  /// Their numbers, in the order in which they were asked; real numbers grow in it.
  var askedNumbers: [RequestNumber] = []
  var resumed: Set<RequestNumber> = []
  var cancelled: Set<AccessID> = []
  var isConnected = false
  var epoch: UInt64 = 0
  var backlog: [ClientFrame] = []
  /// Told in the step under way.
  var outbox: [ClientFrame] = []
  /// For those who check.
  var notes: [ModelNote] = []

  init(session: UInt64, _ plan: ClientPlan, isImpatient: Bool, faults: Set<ModelFault>) {
    self.session = session
    self.isImpatient = isImpatient
    self.plan = plan
    self.faults = faults
    threads = plan.threads.map { _ in Thread() }
  }

  var isDone: Bool {
    callbacks.isEmpty && threads.indices.allSatisfy { threads[$0].next == plan.threads[$0].count }
  }

  /// What the fast tier grants.
  private static let plainAccesses: Set<ItemAccess> = [
    .read(withoutChanges: false), .read(withoutChanges: true), .write(.update), .write(.merging), .write(.metadataOnly),
  ]

  static func access(_ thread: Int, _ step: Int) -> AccessID { AccessID(UInt64(thread) << 8 | UInt64(step + 1)) }
  private static func number(_ thread: Int, _ step: Int) -> RequestNumber {
    RequestNumber(UInt64(thread) << 8 | UInt64(step + 1))
  }

  func tierConflicts(with item: AccessRequest.Item) -> Bool {
    accesses.values.contains { other in
      other.isInTier && other.item.path == item.path && (other.item.access.isWrite || item.access.isWrite)
    }
  }

  mutating func tell(_ frame: ClientFrame) {
    if isConnected { outbox.append(frame) } else { backlog.append(frame) }
  }

  private mutating func ask(_ number: RequestNumber, _ frame: ClientFrame) {
    questions[number] = frame
    askedNumbers.removeAll { questions[$0] == nil }
    askedNumbers.append(number)
    tell(frame)
  }
}

// MARK: - What its threads do

extension ModelClient {
  func canStep(_ thread: Int) -> Bool {
    isAlive && threads[thread].waiting == .nothing && threads[thread].next < plan.threads[thread].count
  }

  mutating func step(_ thread: Int) {
    let index = threads[thread].next
    switch plan.threads[thread][index] {
    case .begin(let path, let access, let own, let outer, _):
      begin(thread, index, AccessRequest.Item(path, access), own, outer.map { Self.access(thread, $0) })
    case .end(let begin):
      end(Self.access(thread, begin))
      threads[thread].next += 1
    case .present(let presenter, let path): present(thread, index, PresenterID(presenter), path)
    case .unpresent(let presenter):
      registrations[PresenterID(presenter)] = nil
      removed.insert(PresenterID(presenter))
      notes.append(.unpresented(PresenterID(presenter)))
      tell(.event(.presenterRemoved(PresenterID(presenter))))
      threads[thread].next += 1
    case .move(let begin, let planned, let new):
      let number = Self.number(thread, index)
      // Where it is, which another move may have changed before it was granted.
      let old = accesses[Self.access(thread, begin)]?.item.path ?? planned
      accesses[Self.access(thread, begin)]?.isMoving = true
      accesses[Self.access(thread, begin)]?.formerPath = old
      ask(number, .itemMoved(number, by: Self.access(thread, begin), from: old, to: new, replaced: false))
      threads[thread].waiting = .answer(number)
    case .look:
      let number = Self.number(thread, index)
      ask(number, .snapshotWanted(number))
      threads[thread].waiting = .answer(number)
    case .commit(let begin):
      let id = Self.access(thread, begin)
      if accesses[id]?.standing == .lost || accesses[id]?.isDoubted == true { return threads[thread].next += 1 }
      adopt(id)
      let number = Self.number(thread, index)
      ask(number, .validationWanted(number, id))
      threads[thread].waiting = .answer(number)
    case .readToken(let begin):
      adopt(Self.access(thread, begin))
      threads[thread].next += 1
    }
  }

  private mutating func begin(
    _ thread: Int, _ step: Int, _ item: AccessRequest.Item, _ own: UInt64?, _ outer: AccessID?
  ) {
    let id = Self.access(thread, step)
    let purpose = own.map { PurposeID(10_000 + $0) } ?? PurposeID(id.rawValue)
    var request = AccessRequest(
      client: ClientID(1), purpose: purpose, ownPresenter: own.map { PresenterID($0) }, label: "", items: [item])
    request.context = outer.map { .access($0) }
    if isImpatient { request.limits.stoppedHolders = 0 }
    var access = Access(request: request, outer: outer, standing: .waiting)
    let isPlain = own == nil && Self.plainAccesses.contains(item.access)
    if isPlain, !isRevoked, loans.loan(for: item.path, isWrite: item.access.isWrite) != nil, !tierConflicts(with: item)
    {
      access.standing = .selfGranted
      access.isInTier = true
      accesses[id] = access
      threads[thread].next += 1
      notes.append(.began(id))
      return
    }
    if let outer { adopt(outer) }
    if !faults.contains(.loanKeptDespiteRequest) {
      for loan in loans.inTheWay(of: request) { giveBack(loan) }
    }
    accesses[id] = access
    tell(.event(.accessRequested(id, request)))
    threads[thread].waiting = .grant(id)
  }

  private mutating func end(_ id: AccessID) {
    guard let access = accesses.removeValue(forKey: id) else { return }
    loans.accessEnded(id)
    notes.append(.ended(id, access))
    if access.standing == .known { tell(.event(.accessReleased(id, []))) }
  }

  private mutating func present(_ thread: Int, _ step: Int, _ id: PresenterID, _ path: ItemPath) {
    let registration = PresenterRegistration(
      client: ClientID(1), purpose: PurposeID(10_000 + id.rawValue), label: "",
      callbacks: plan.savesLater
        ? [.relinquishToWriter, .saveChanges, .itemDidChange] : [.relinquishToWriter, .itemDidChange], path: path)
    registrations[id] = registration
    let number = Self.number(thread, step)
    ask(number, .presenterEvent(number, .presenterAdded(id, registration)))
    threads[thread].waiting = .answer(number)
  }

  /// Makes known what was granted under a delegation, and what it's nested in before it.
  mutating func adopt(_ id: AccessID) {
    guard let access = accesses[id], access.standing == .selfGranted, !faults.contains(.claimsNotAdopted) else {
      return
    }
    if let outer = access.outer { adopt(outer) }
    accesses[id]?.standing = .known
    notes.append(.adopted(id))
    tell(.event(.accessAdopted(id, access.request)))
  }

  /// Whether a callback that runs, or what goes on since it returned, may come to its end.
  func canAnswer(_ index: Int) -> Bool {
    guard let save = callbacks[index].save, let access = accesses[save] else { return true }
    return access.standing != .waiting
  }

  /// The callback returns.
  mutating func answer(_ index: Int) {
    if let save = callbacks[index].save {
      end(save)
    } else if plan.savesLater, callbacks[index].kind == .saveChanges,
      let path = registrations[callbacks[index].presenter]?.path
    {
      return saveLater(index, path)
    }
    let callback = callbacks.remove(at: index)
    let hasReacquirer = callback.kind.isRelinquish && plan.handsOverReacquirers
    if hasReacquirer {
      reacquirers.insert(callback.message)
      notes.append(.relinquished(callback.presenter, callback.message))
      if isForgottenByService(callback.message) { return runReacquirer(of: callback.message) }
      if let debt = debts[callback.message], !isAskedByThisConnection(callback.message) {
        return tell(.reasserted(.debt(debt.presenter, callback.message, owedFor: debt.origin)))
      }
    } else {
      debts[callback.message] = nil
    }
    tell(.event(.messageAnswered(callback.message, hasReacquirer: hasReacquirer)))
  }

  private mutating func saveLater(_ index: Int, _ path: ItemPath) {
    let callback = callbacks[index]
    saveCount += 1
    let id = AccessID(UInt64(threads.count) << 8 | saveCount)
    callbacks[index].save = id
    var request = AccessRequest(
      client: ClientID(1), purpose: PurposeID(10_000 + callback.presenter.rawValue), ownPresenter: callback.presenter,
      label: "", items: [AccessRequest.Item(path, .write(.merging))])
    if isImpatient { request.limits.stoppedHolders = 0 }
    tell(.event(.callbackReturned(callback.message)))
    for loan in loans.inTheWay(of: request) { giveBack(loan) }
    accesses[id] = Access(request: request, outer: nil, standing: .waiting)
    tell(.event(.accessRequested(id, request)))
  }

  func canCancel(_ thread: Int) -> Bool {
    if case .grant(let id) = threads[thread].waiting { return !cancelled.contains(id) }
    return false
  }

  mutating func cancel(_ thread: Int) {
    guard case .grant(let id) = threads[thread].waiting else { return }
    cancelled.insert(id)
    tell(.event(.accessCancelled(id)))
  }

  /// Whether it came from an earlier service to a presenter that the present one will never hear of.
  func isForgottenByService(_ message: MessageID) -> Bool {
    guard let presenter = debts[message]?.presenter, !faults.contains(.reacquirerOfRemovedForgotten) else {
      return false
    }
    return registrations[presenter] == nil && !isAskedByThisConnection(message)
  }

  mutating func runReacquirer(of message: MessageID) {
    reacquirers.remove(message)
    debts[message] = nil
  }

  private func isAskedByThisConnection(_ message: MessageID) -> Bool {
    debts[message]?.isStale != true || !isConnected && faults.contains(.debtAnsweredToNobody)
  }
}
