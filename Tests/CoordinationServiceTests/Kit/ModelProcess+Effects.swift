import CompactContainers
@testable import CoordinationService
@testable import FileAccessArbiter

// The orders of a process's client, and the frames from the service.

extension ModelProcess {
  mutating func take(_ frame: ServerFrame) {
    switch frame {
    case .welcome(let welcome): begin(welcome)
    case .refused(let refusal, let explanation): notes.append(.refused("\(refusal): \(explanation)"))
    case .graceEnded:
      tell { $0.received(frame) }
      notes.append(.graceEnded)
    default: tell { $0.received(frame) }
    }
  }

  private mutating func begin(_ welcome: Welcome) {
    // As the host does: the word is read, and then it's this process's again.
    if let word { core.rightsRevoked(word) }
    word = nil
    carryOut(core.connected(epoch: welcome.epoch))
  }

  var hello: Hello {
    Hello(
      session: session, processIdentifier: Int32(session), processStartTime: 0, processName: "",
      packageExtensions: [], previousEpoch: core.epoch, outerAccess: parent?.token)
  }

  mutating func serviceIsGone() { tell { $0.disconnected() } }

  /// It finds no service, and can't serve itself.
  mutating func giveUp() {
    hasGivenUp = true
    tell { $0.unreachable() }
  }
}

// MARK: - Effects

extension ModelProcess {
  mutating func carryOut(_ effects: [ClientEffect]) {
    for effect in effects { carryOut(effect) }
  }

  private mutating func carryOut(_ effect: ClientEffect) {
    switch effect {
    case .send(let frame): outbox.append(frame)
    case .grant(let id, let grant, _): take(grant, of: id)
    case .fail(let id, let failure, _): endWait(of: id, failure)
    case .cancel(let id): endWait(of: id, .cancelled)
    case .giveUp(let id) where hasGivenUp: endWait(of: id, nil)
    case .timeOut(let id), .giveUp(let id): notes.append(.problem("\(id) is given up although a service comes"))
    case .noteLoss(let id): noteLoss(of: id)
    case .itemMoved(let id, let item, let path):
      accesses[id]?.request.items[item].path = path
      if accesses[id]?.isMoving == false { notes.append(.moved(id)) }
    case .deliver(let delivery, _): run(delivery)
    case .answer(let number, let answer): take(answer, number)
    case .collectClaims(let root, let purpose): collect(inside: root, purpose)
    case .acknowledgeRevocation: if word == .delegations { word = nil }
    // The claims of a model check at once whether they're covered.
    case .forbidClaims: break
    case .presenterMoved, .locatePresenter, .forgetPresenter, .report, .verifyAgain, .noteMove, .show, .endObservation:
      break
    }
  }

  private mutating func take(_ grant: Grant, of id: AccessID) {
    guard accesses[id]?.standing == .waiting else {
      return notes.append(.problem("\(id) of session \(session) is granted and doesn't wait"))
    }
    for (index, item) in grant.items.enumerated() { accesses[id]?.request.items[index].path = item.path }
    if let thread = threads.firstIndex(where: { $0.waiting == .grant(id) }) {
      threads[thread].waiting = .nothing
      threads[thread].next += 1
    }
    accesses[id]?.standing = .known
    notes.append(.began(id))
    checkNothingRunsAbove(id)
  }

  /// Without a failure there's no service.
  private mutating func endWait(of id: AccessID, _ failure: Failure?) {
    accesses[id] = nil
    if let failure { notes.append(.failed(failure)) }
    if callbacks.contains(where: { $0.save == id }) { return }
    if let callback = callbacks.firstIndex(where: { $0.nested.last == id }) {
      callbacks[callback].nested.removeLast()
      callbacks[callback].hasFailed = true
      return
    }
    guard let thread = threads.firstIndex(where: { $0.waiting == .grant(id) }),
      case .begin(_, _, _, _, let end) = plan.threads[thread][threads[thread].next]
    else { return notes.append(.problem("\(id) of session \(session) fails and doesn't wait")) }
    threads[thread].waiting = .nothing
    threads[thread].next = end + 1
  }

  private mutating func noteLoss(of id: AccessID) {
    // One that's held again may have had company; one that isn't has.
    if core.accesses[id] != nil {
      accesses[id]?.isDoubted = true
      return
    }
    notes.append(.lost(id))
    accesses[id]?.standing = .lost
  }

  private mutating func run(_ delivery: Delivery) {
    let presenter = delivery.presenter
    checkNesting(of: delivery)
    switch delivery.kind {
    case .reacquire(let message): notes.append(.reacquired(presenter, message))
    case .itemDidChange: notes.append(.toldOfChange(presenter))
    default: break
    }
    let nestedLeft = nestedCount(in: delivery.kind)
    callbacks.append(
      Callback(message: delivery.message, presenter: presenter, kind: delivery.kind, nestedLeft: nestedLeft))
  }

  private mutating func take(_ answer: ClientAnswer, _ number: RequestNumber) {
    if answer == .unreachable, !hasGivenUp {
      notes.append(.problem("\(number) isn't answered although a service comes"))
    }
    guard let thread = threads.firstIndex(where: { $0.waiting == .answer(number) }) else { return }
    noteAnswer(answer, to: plan.threads[thread][threads[thread].next], of: thread)
    threads[thread].waiting = .nothing
    threads[thread].next += 1
  }

  private mutating func noteAnswer(_ answer: ClientAnswer, to step: ModelStep, of thread: Int) {
    switch step {
    case .present(let presenter, _) where answer == .unreachable:
      // An error of the call.
      presenters.remove(PresenterID(presenter))
      tell(.presenterRemoved(PresenterID(presenter)))
    case .present(let presenter, _): notes.append(.presented(PresenterID(presenter)))
    case .share(let begin): if answer == .happened(true) { accesses[Self.access(thread, begin)]?.isShared = true }
    case .move(let begin, _, _): accesses[Self.access(thread, begin)]?.isMoving = false
    case .commit(let begin):
      let id = Self.access(thread, begin)
      guard answer == .happened(true), let access = accesses[id], access.standing == .known, !access.isDoubted else {
        break
      }
      notes.append(.committed(id))
    default: break
    }
  }

  private mutating func collect(inside root: ItemPath, _ purpose: ClaimCollection) {
    for (id, access) in accesses.sorted(by: { $0.key < $1.key }) where root.isSameOrContains(access.item.path) {
      adopt(id)
    }
    // A claim that wasn't reported is lost with its delegation, and a service that's gone has none.
    carryOut(core.claimsCollected(purpose))
  }
}
