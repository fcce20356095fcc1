internal import FileAccessArbiter

// From the frames of a process to the arbiter's events, and from the arbiter's effects to the frames for processes.

extension ServiceCore {
  mutating func take(_ frame: ClientFrame, from id: ClientID, at time: Timestamp) throws(Malformed) {
    if keepsNestedReport(frame, of: id, at: time) { return }
    if holdsBack(frame) {
      if case .purposeForgotten(let purpose) = frame { noteLeavingPurpose(purpose, of: id) }
      if case .itemMoved = frame, clients[id]?.hasReasserted == false {
        grace?.movesToldAgain.append((client: id, frame: frame))
      } else {
        grace?.heldBack.append((client: id, frame: frame))
      }
      return
    }
    switch frame {
    case .hello: preconditionFailure("hello is dealt with before")
    case .purposeNamed(let purpose, let name): try namePurpose(purpose, name, of: id)
    case .purposeForgotten(let purpose): forgetPurpose(purpose, of: id)
    case .event(let event): try take(event, from: id, at: time)
    case .presenterEvent(let number, let event): try takePresenter(event, number, from: id, at: time)
    case .itemMoved(let number, _, _, _, _) where clients[id]?.hasReasserted == false:
      // Sent again, and too late: the file at the old place may have been granted since, and isn't the one that was
      // moved.
      send(.answered(number, true), to: id)
    case .itemMoved(let number, let access, let old, let new, let replaced):
      let move = Move(access: try Self.global(access, id), old: old, new: new, isReplacement: replaced)
      ask(.move(move), number, id, about: [old, new], at: time)
    case .delegationReturned(let delegation): returned(delegation, by: id, at: time)
    case .reasserted(let reassertion): try take(reassertion, from: id, at: time)
    case .reassertionEnded: endReassertion(of: id, at: time)
    case .snapshotWanted(let number): survey(for: id, number, at: time)
    case .surveyed(let number): surveyed(number, by: id, at: time)
    case .validationWanted(let number, let access):
      let isHeld = arbiter.phase(of: try Self.global(access, id)) == .granted
      send(.answered(number, isHeld), to: id)
    case .accessShared(let number, let access, let token):
      send(.answered(number, try share(access, token, by: id)), to: id)
    case .observationWanted(let isWanted): observe(isWanted, by: id, at: time)
    case .serviceWanted: effects.append(.handOver)
    }
  }

  private mutating func take(_ event: ArbiterEvent, from id: ClientID, at time: Timestamp) throws(Malformed) {
    switch event {
    case .accessRequested(let access, let request):
      let access = try newAccess(access, of: id)
      guard let request = try nested(access, request, of: id) else { return }
      if !grantUnderDelegation(access, request, of: id, at: time) {
        carryOut(arbiter.accessRequested(access, request, at: time), at: time)
      }
    case .accessAdopted(let access, let request):
      try adopt(newAccess(access, of: id), checked(request, of: id), by: id, at: time)
    case .accessReleased(let access, let outcomes): try release(access, outcomes, by: id, at: time)
    case .accessCancelled(let access):
      carryOut(arbiter.accessCancelled(try Self.global(access, id), at: time), at: time)
    case .presenterAdded, .presenterLocated: throw Malformed("it registers a presenter without waiting for the answer")
    case .presenterRelabelled(let presenter, let label):
      carryOut(arbiter.presenterRelabelled(try Self.global(presenter, id), label, at: time), at: time)
    case .presenterRemoved(let presenter):
      carryOut(arbiter.presenterRemoved(try Self.global(presenter, id), at: time), at: time)
    case .messageAnswered(let message, let hasReacquirer):
      if let (message, wasReported) = try answeredMessage(message, by: id) {
        let hasReacquirer = hasReacquirer && !wasReported
        carryOut(arbiter.messageAnswered(message, hasReacquirer: hasReacquirer, at: time), at: time)
      }
    case .relinquished(let message, let hasReacquirer):
      if let (message, wasReported) = try answeredMessage(message, by: id) {
        let hasReacquirer = hasReacquirer && !wasReported
        carryOut(arbiter.relinquished(message, hasReacquirer: hasReacquirer, at: time), at: time)
      }
    case .callbackReturned(let message):
      if let message = try self.message(message, of: id) {
        carryOut(arbiter.callbackReturned(message, at: time), at: time)
      }
    case .callbackBegan(let message):
      if let message = try self.message(message, of: id) {
        carryOut(arbiter.callbackBegan(message, at: time), at: time)
      }
    case .presenterLearned(let presenter, let callbacks):
      carryOut(arbiter.presenterLearned(try Self.global(presenter, id), callbacks, at: time), at: time)
    case .messageFailed(let message, let explanation):
      if let (message, _) = try answeredMessage(message, by: id) {
        carryOut(arbiter.messageFailed(message, at: time), explanation: explanation, at: time)
      }
    case .ubiquityAttributesChanged(let announcement, let attributes):
      carryOut(
        arbiter.ubiquityAttributesChanged(try checked(announcement, of: id), try checked(attributes), at: time),
        at: time)
    case .versionChanged(let announcement, let change, let version):
      carryOut(
        arbiter.versionChanged(try checked(announcement, of: id), change, version: version, at: time), at: time)
    case .changesSeen(_, let changes): carryOut(arbiter.changesSeen(changes, by: id, at: time), at: time)
    case .changesConfirmed(_, let changes): confirm(changes, seenBy: id, at: time)
    case .echoEnded(_, let echo): carryOut(arbiter.echoEnded(echo, by: id, at: time), at: time)
    }
  }

  private mutating func release(
    _ access: AccessID, _ outcomes: [ItemOutcome], by id: ClientID, at time: Timestamp
  ) throws(Malformed) {
    let isLost = clients[id]?.lost.removeValue(forKey: try Self.global(access, id)) != nil
    if isLost, !has(.lostAccessForgotten) { return }
    let access = try heldAccess(access, of: id)
    if !outcomes.isEmpty, outcomes.count != arbiter.itemCount(of: access) {
      throw Malformed("\(Self.local(access)) ends with \(outcomes.count) outcomes")
    }
    let plain = arbiter.plainAccess(access)
    endSharing(of: access, at: time)
    carryOut(arbiter.accessReleased(access, outcomes: outcomes, at: time), at: time)
    if let plain { considerDelegation(at: plain.path, isWrite: plain.isWrite, to: id, at: time) }
  }

  /// Presenters that have followed a move are presenters of another place: no process may decide alone about that any
  /// more.
  private mutating func confirm(_ changes: [ItemChange], seenBy id: ClientID, at time: Timestamp) {
    carryOut(arbiter.changesConfirmed(changes, by: id, at: time), at: time)
    for case .moved(_, let place, _) in changes {
      for delegation in arbiter.delegations(overlapping: place).sorted() { recall(delegation, at: time) }
    }
  }

  private mutating func takePresenter(
    _ event: ArbiterEvent, _ number: RequestNumber, from id: ClientID, at time: Timestamp
  ) throws(Malformed) {
    switch event {
    case .presenterAdded(let presenter, let registration):
      let presenter = try newPresenter(presenter, of: id)
      carryOut(arbiter.presenterAdded(presenter, try checked(registration, of: id), at: time), at: time)
      ask(.registration, number, id, about: registration.path.map { [$0] } ?? [], at: time)
    case .presenterLocated(let presenter, let path, let attributes):
      carryOut(
        arbiter.presenterLocated(try Self.global(presenter, id), at: path, observing: attributes, time: time), at: time)
      ask(.registration, number, id, about: [path], at: time)
    default: throw Malformed("it waits for an event that nobody answers")
    }
  }
}

// MARK: - Effects

extension ServiceCore {
  mutating func carryOut(_ arbiterEffects: [Effect], explanation: PresenterFailure? = nil, at time: Timestamp) {
    for effect in arbiterEffects { carryOut(effect, explanation, at: time) }
  }

  private mutating func carryOut(_ effect: Effect, _ explanation: PresenterFailure?, at time: Timestamp) {
    switch effect {
    case .grant(let id, let grant): self.grant(id, grant)
    case .fail(let id, let failure):
      sendToOwner(of: id.rawValue, .failed(Self.local(id), failure, explanation: explanation))
    case .withdrawSave(let presenter, let message): sendToOwner(of: presenter.rawValue, .saveWithdrawn(message))
    case .deliver(let delivery): deliver(delivery)
    case .itemMoved(let id, let item, let path):
      sendToOwner(of: id.rawValue, .itemMoved(Self.local(id), item: UInt32(item), to: path))
    case .presenterMoved(let id, let path):
      sendToOwner(of: id.rawValue, .presenterMoved(Self.local(id), to: path))
    case .locatePresenter(let id): sendToOwner(of: id.rawValue, .presenterToBeLocated(Self.local(id)))
    case .forgetPresenter(let id): sendToOwner(of: id.rawValue, .presenterForgotten(Self.local(id)))
    case .armTimer(let timer, let interval): effects.append(.armTimer(timer, after: interval))
    case .cancelTimer(let timer): effects.append(.cancelTimer(timer))
    case .report(let id, let report): sendToOwner(of: id.rawValue, .reported(Self.local(id), report))
    case .delegationWanted(let id): recall(id, at: time)
    case .endEcho(let client, let echo): sendIfPresent(.settle(echo), to: client)
    case .verifyAgain(let client, let change): sendIfPresent(.verifyAgain(change), to: client)
    }
  }

  mutating func grant(_ id: AccessID, _ grant: Grant) {
    lastGrant += 1
    sendGrant(id, grant, FencingToken(epoch: epoch, sequence: lastGrant))
  }

  mutating func sendGrant(_ id: AccessID, _ grant: Grant, _ token: FencingToken) {
    sendToOwner(of: id.rawValue, .granted(Self.local(id), grant, token))
  }

  /// A process that's being torn down is sent nothing any more.
  private mutating func sendToOwner(of number: UInt64, _ frame: ServerFrame) {
    sendIfPresent(frame, to: Self.owner(of: number))
  }

  private mutating func sendIfPresent(_ frame: ServerFrame, to client: ClientID) {
    if clients[client] != nil { send(frame, to: client) }
  }

  private mutating func deliver(_ delivery: Delivery) {
    let owner = Self.owner(of: delivery.presenter.rawValue)
    guard clients[owner] != nil else { return }
    let cause = clients[delivery.origin.client] ?? (departing?.id == delivery.origin.client ? departing?.client : nil)
    var origin = delivery.origin
    var debtOrigin: DebtOrigin?
    if let access = origin.access {
      if delivery.kind.isRelinquish {
        debtOrigin = DebtOrigin(session: cause?.session ?? 0, access: Self.local(access))
      }
      // The receiver has only its own numbers.
      origin.access = origin.client == owner ? Self.local(access) : AccessID(Self.localNumberEnd)
    }
    let process = DeliveryOrigin(
      processIdentifier: cause?.processIdentifier ?? 0, processName: cause?.hello?.processName ?? "",
      purpose: name(of: origin.purpose), debtOrigin: debtOrigin)
    let addressed = Delivery(
      message: delivery.message, presenter: Self.local(delivery.presenter), kind: delivery.kind, origin: origin,
      above: delivery.above.map { local($0, of: owner) }, announcing: delivery.announcedSave, ahead: delivery.isAhead)
    send(.delivered(addressed, process), to: owner)
  }
}
