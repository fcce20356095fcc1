@testable import CoordinationService
@testable import FileAccessArbiter

// What the service tells a client of a model.

extension ModelClient {
  mutating func take(_ frame: ServerFrame) {
    if isExpelled { if case .welcome = frame {} else { return } }
    switch frame {
    case .welcome(let welcome): begin(welcome)
    case .refused(let refusal, let explanation): notes.append(.refused("\(refusal): \(explanation)"))
    case .granted(let id, let grant, _): take(grant, of: id)
    case .failed(let id, let failure, _): takeFailure(of: id, failure)
    case .delivered(let delivery, let origin): take(delivery, origin)
    case .itemMoved(let id, let item, let path):
      accesses[id]?.request.items[Int(item)].path = path
      if accesses[id]?.isMoving == false { notes.append(.moved(id)) }
    case .presenterMoved(let id, let path): registrations[id]?.path = path
    case .delegated(let id, let root, let mode): borrow(id, root, mode)
    case .recalled(let id): giveBack(id)
    case .answered(let number, let hasHappened): takeAnswer(number, hasHappened)
    case .snapshot(let number, _): takeAnswer(number)
    case .lost(let id):
      notes.append(.lost(id))
      accesses[id]?.standing = .lost
      loans.accessEnded(id)
    case .graceEnded:
      let numbers = resumed.sorted { $0.rawValue < $1.rawValue }
      resumed = []
      notes.append(.graceEnded)
      for number in numbers { takeAnswer(number) }
    case .survey(let number):
      for id in accesses.keys.sorted() { adopt(id) }
      tell(.surveyed(number))
    case .presenterToBeLocated, .presenterForgotten, .reported, .moved, .observed, .settle, .lookAgain: break
    }
  }

  private mutating func take(_ grant: Grant, of id: AccessID) {
    for (index, item) in grant.items.enumerated() { accesses[id]?.request.items[index].path = item.path }
    if let thread = threads.firstIndex(where: { $0.waiting == .grant(id) }) {
      threads[thread].waiting = .nothing
      threads[thread].next += 1
    } else if !callbacks.contains(where: { $0.save == id }) || accesses[id]?.standing != .waiting {
      return notes.append(.problem("\(id) of session \(session) is granted and doesn't wait"))
    }
    accesses[id]?.standing = .known
    notes.append(.began(id))
  }

  private mutating func takeFailure(of id: AccessID, _ failure: Failure) {
    accesses[id] = nil
    loans.accessEnded(id)
    notes.append(.failed(failure))
    if callbacks.contains(where: { $0.save == id }) { return }
    guard let thread = threads.firstIndex(where: { $0.waiting == .grant(id) }),
      case .begin(_, _, _, _, let end) = plan.threads[thread][threads[thread].next]
    else { return notes.append(.problem("\(id) of session \(session) fails and doesn't wait")) }
    threads[thread].waiting = .nothing
    threads[thread].next = end + 1
  }

  private mutating func take(_ delivery: Delivery, _ origin: DeliveryOrigin) {
    if case .reacquire(let message) = delivery.kind {
      debts[message] = nil
      // Has run, or was never handed over: who checks hears of it at the end.
      if reacquirers.remove(message) == nil {
        return notes.append(.problem("the reacquirer of \(message) is wanted, and there is none"))
      }
      notes.append(.reacquired(delivery.presenter, message))
    } else if registrations[delivery.presenter] == nil {
      // Unregistered while the message was on its way.
      return tell(.event(.messageAnswered(delivery.message, hasReacquirer: false)))
    } else if delivery.kind == .itemDidChange {
      notes.append(.toldOfChange(delivery.presenter))
    }
    if let debt = origin.debtOrigin {
      debts[delivery.message] = Debt(presenter: delivery.presenter, origin: debt)
    }
    callbacks.append(Callback(message: delivery.message, presenter: delivery.presenter, kind: delivery.kind))
  }

  private mutating func takeAnswer(_ number: RequestNumber, _ hasHappened: Bool = true) {
    guard let question = questions.removeValue(forKey: number) else { return }
    if case .presenterEvent(_, .presenterAdded(let presenter, _)) = question { notes.append(.presented(presenter)) }
    if case .itemMoved(_, let mover, _, _, _) = question {
      accesses[mover]?.isMoving = false
    }
    if case .validationWanted(_, let id) = question, hasHappened, let access = accesses[id], access.standing == .known,
      !access.isDoubted
    {
      notes.append(.committed(id))
    }
    guard let thread = threads.firstIndex(where: { $0.waiting == .answer(number) }) else { return }
    threads[thread].waiting = .nothing
    threads[thread].next += 1
  }

  private mutating func borrow(_ id: DelegationID, _ root: ItemPath, _ mode: DelegationMode) {
    let known = accesses.filter { $0.value.standing == .waiting || $0.value.standing == .known }
    loans.borrow(
      id, root, mode, beside: faults.contains(.companionsForgotten) ? [] : known.map { ($0.key, $0.value.request) })
  }

  mutating func giveBack(_ id: DelegationID) {
    if isRevoked {
      for access in accesses.keys.sorted() { adopt(access) }
      for (loan, _) in loans.sorted { tell(.delegationReturned(loan)) }
      loans.forgetAll()
      isRevoked = isExpelled
      return
    }
    guard let loan = loans[id] else { return }
    for access in accesses.keys.sorted() {
      if let item = accesses[access]?.item, loan.root.isSameOrContains(item.path) { adopt(access) }
    }
    if !faults.contains(.delegationKept) { loans.giveBack(id) }
    tell(.delegationReturned(id))
  }
}

// MARK: - Between two services

extension ModelClient {
  private mutating func begin(_ welcome: Welcome) {
    epoch = welcome.epoch
    isConnected = true
    if isExpelled, !faults.contains(.expulsionForgotten) {
      for id in accesses.keys where accesses[id]?.isInside == true { accesses[id]?.isDoubted = true }
    }
    isRevoked = false
    isExpelled = false
    outbox += backlog
    backlog = []
  }

  var hello: Hello {
    Hello(
      session: session, processIdentifier: Int32(session), processStartTime: 0, processName: "",
      packageExtensions: [], previousEpoch: epoch)
  }

  /// The connection has ended: what was lent is no more, and what's held is to be told to the next service.
  mutating func serviceIsGone() {
    isConnected = false
    outbox = []
    for id in accesses.keys where accesses[id]?.standing == .selfGranted { accesses[id]?.standing = .known }
    loans.forgetAll()
    for message in debts.keys { debts[message]?.isStale = true }
    for message in reacquirers where isForgottenByService(message) { runReacquirer(of: message) }
    backlog = resumption()
    var moves: [ClientFrame] = []
    for number in askedNumbers {
      guard let frame = questions[number] else { continue }
      switch frame {
      case .presenterEvent: resumed.insert(number)
      case .itemMoved where !faults.contains(.movesToldLate): moves.append(frame)
      default: backlog.append(frame)
      }
    }
    backlog.insert(contentsOf: moves, at: backlog.firstIndex(of: .reassertionEnded) ?? backlog.endIndex)
  }

  private func resumption() -> [ClientFrame] {
    var frames: [ClientFrame] = registrations.sorted { $0.key < $1.key }.map { .reasserted(.presenter($0, $1)) }
    var waiting: [ClientFrame] = []
    for (id, access) in accesses.sorted(by: { $0.key < $1.key }) {
      switch access.standing {
      case .waiting: waiting.append(.event(.accessRequested(id, access.request)))
      case .known, .selfGranted: frames.append(.reasserted(.access(id, access.request)))
      case .lost: break
      }
    }
    for message in reacquirers.sorted() {
      guard let debt = debts[message] else { continue }
      frames.append(.reasserted(.debt(debt.presenter, message, owedFor: debt.origin)))
    }
    return frames + [.reassertionEnded] + waiting
  }
}
