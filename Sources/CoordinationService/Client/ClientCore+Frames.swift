internal import CompactContainers
internal import FileAccessArbiter

// The frames of the service.

extension ClientCore {
  /// Takes a frame of the service.
  ///
  /// The runner has settled an echo, `ServerFrame.settle`, before it passes on any frame that came with it.
  ///
  /// - Parameter frame: Any but a welcome or a refusal, which are ``connected(epoch:)`` and ``unreachable()``.
  /// - Returns: The effects.
  package mutating func received(_ frame: ServerFrame) -> [ClientEffect] {
    // Frames that an expelled process finds in its socket are of no worth any more, a grant least of all.
    if revocation == .everything, !has(.staleFramesTaken) { return [] }
    switch frame {
    case .welcome, .refused, .settle: break
    case .granted(let id, let grant, let token): take(grant, token, of: id)
    case .failed(let id, let failure, let explanation):
      let access = accesses[id]
      forget(id)
      if access?.phase == .waiting { effects.append(.fail(id, failure, explanation: explanation)) }
    case .delivered(let delivery, let origin): take(delivery, origin)
    case .saveWithdrawn(let message): announcements[message] = nil
    case .itemMoved(let id, let item, let path): noteMove(of: Int(item), of: id, to: path)
    case .presenterMoved(let id, let path):
      registrations[id]?.path = path
      effects.append(.presenterMoved(id, to: path))
    case .verifyAgain(let change): effects.append(.verifyAgain(change))
    case .presenterToBeLocated(let id): effects.append(.locatePresenter(id))
    case .presenterForgotten(let id):
      if callbacks.isBusy(id) { unknownPresenters.insert(id) } else { forgetEnding(id) }
    case .reported(let id, let report): effects.append(.report(id, report))
    case .delegated(let id, let root, let mode): take(id, root, mode)
    case .recalled(let id): giveBack(id)
    case .moved(let old, let new): effects.append(.noteMove(from: old, to: new))
    case .answered(let number, let hasHappened): answer(number, .happened(hasHappened))
    case .survey(let number): effects.append(.collectClaims(inside: .root, .survey(number)))
    case .snapshot(let number, let reply): answer(number, .snapshot(reply))
    case .observed(let reply): if isObserving { effects.append(.show(reply)) }
    case .lost(let id): lose(id)
    case .graceEnded:
      for number in exchange(&resumed, with: []) { answer(number, .happened(true)) }
    }
    return takeEffects()
  }

  private mutating func take(_ grant: Grant, _ token: FencingToken, of id: AccessID) {
    guard accesses[id]?.phase == .waiting || has(.abandonedGrantKept) else {
      // The program doesn't wait for it any more.
      forget(id)
      return tell(.event(.accessReleased(id, [])))
    }
    accesses[id]?.phase = .held
    accesses[id]?.isCancelled = false
    for (index, item) in grant.items.enumerated() where item.wasMoved { noteItem(index, of: id, at: item.path) }
    effects.append(.grant(id, grant, token))
  }

  private mutating func noteMove(of item: Int, of id: AccessID, to path: ItemPath) {
    noteItem(item, of: id, at: path)
    effects.append(.itemMoved(id, item: item, to: path))
  }

  private mutating func noteItem(_ item: Int, of id: AccessID, at path: ItemPath) {
    guard accesses[id]?.request.items.indices.contains(item) == true, !has(.itemMoveForgotten) else { return }
    accesses[id]?.request.items[item].path = path
  }

  private mutating func take(_ delivery: Delivery, _ origin: DeliveryOrigin) {
    if delivery.isAhead, delivery.above != nil { return callbacks.letGo(delivery) }
    if case .reacquire(let message) = delivery.kind {
      debts[message] = nil
      if reacquirers.remove(message) != nil { return run(delivery, origin) }
      // Has run, or was never handed over.
      return tell(.event(.messageAnswered(delivery.message, hasReacquirer: false)))
    }
    if registrations[delivery.presenter] == nil {
      // Unregistered here while the message was on its way: it isn't received (C-191), and the service forgets the presenter
      // only after the last answer.
      return tell(.event(.messageAnswered(delivery.message, hasReacquirer: false)))
    }
    if let debt = origin.debtOrigin {
      debts[delivery.message] = Debt(presenter: delivery.presenter, origin: debt)
    }
    if let save = AnnouncedSave(with: delivery, origin) { announcements[delivery.message] = save }
    run(delivery, origin)
  }

  mutating func run(_ delivery: Delivery, _ origin: DeliveryOrigin?) {
    if delivery.isAhead, has(.questionsAheadBeginAtOnce) { return effects.append(.deliver(delivery, origin)) }
    let mayNotWait = callbacks.isOutOfTurn(delivery) && mayAwait(delivery.presenter)
    if callbacks.holdsBack(delivery, origin, mayNotWait: mayNotWait) { return }
    effects.append(.deliver(delivery, origin))
  }

  /// Whether a callback of a presenter may wait for an access that waits itself.
  private func mayAwait(_ presenter: PresenterID) -> Bool {
    accesses.values.contains { access in
      access.phase == .waiting
        && (isInsideCallback(access.request) || presenters(behind: access.request).contains(presenter))
    }
  }
}
