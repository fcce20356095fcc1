internal import CompactContainers

// Presenters come, get a location, and go.

/// A presenter as the host registers it.
package struct PresenterRegistration: Hashable, Sendable {
  package var client: ClientID
  package var purpose: PurposeID
  package var label: String
  package var callbacks: PresenterCallbacks
  /// `nil` while the presented item has no location; such a presenter gets no messages (C-122).
  package var path: ItemPath?
  /// `nil` means all of them (C-206).
  package var observedUbiquityAttributes: Set<String>?
  package var servesWhileWaiting = true
  package var isActor = false

  package init(
    client: ClientID, purpose: PurposeID, label: String, callbacks: PresenterCallbacks, path: ItemPath?,
    observedUbiquityAttributes: Set<String>? = nil
  ) {
    self.client = client
    self.purpose = purpose
    self.label = label
    self.callbacks = callbacks
    self.path = path
    self.observedUbiquityAttributes = observedUbiquityAttributes
  }
}

extension FileAccessArbiter {
  /// A presenter registered.
  package mutating func presenterAdded(
    _ id: PresenterID, _ registration: PresenterRegistration, at time: Timestamp
  ) -> [Effect] {
    begin(at: time)
    let profile = profiles.use(PresenterProfile(registration))
    presenters.insert(
      Presenter(id, purpose: registration.purpose, profile, observing: registration.observedUbiquityAttributes))
    clients[registration.client].references += 1
    if registration.callbacks.contains(.uncoordinatedChanges) { ledger.observerCount += 1 }
    if let path = registration.path { locate(id, at: path) }
    return finish()
  }

  /// A presenter without a location has one now (C-121).
  ///
  /// `attributes` are the ubiquity attributes that it observes, sampled now (C-207); `nil` if they are as registered.
  package mutating func presenterLocated(
    _ id: PresenterID, at path: ItemPath, observing attributes: Set<String>? = nil, time: Timestamp
  ) -> [Effect] {
    begin(at: time)
    if let presenter = presenters.find(id), presenter.node == nil, !presenter.isRemoved {
      if let attributes { presenters[id].observedUbiquityAttributes = attributes }
      locate(id, at: path)
    }
    return finish()
  }

  /// A presenter has another label, as one does that shows the name of its file.
  package mutating func presenterRelabelled(_ id: PresenterID, _ label: String, at time: Timestamp) -> [Effect] {
    begin(at: time)
    if let presenter = presenters.find(id), presenter.label != label {
      presenters[id].profile = profiles.use(PresenterProfile(presenter.profile, label: label))
      profiles.giveBack(presenter.profile)
    }
    return finish()
  }

  private mutating func locate(_ id: PresenterID, at path: ItemPath) {
    presenters[id].node = tree.attachPresenter(id, at: path)
    askNewcomer(id, at: path)
  }

  /// A presenter unregistered or is gone.
  ///
  /// Accesses that wait for its answers go on (C-192), except an eviction that it is agreeing to (C-209); it's sent
  /// nothing new (C-191), except reacquirers that it handed over.
  package mutating func presenterRemoved(_ id: PresenterID, at time: Timestamp) -> [Effect] {
    begin(at: time)
    if let presenter = presenters.find(id), !presenter.isRemoved { remove(id) }
    return finish()
  }

  mutating func remove(_ id: PresenterID) {
    presenters[id].isRemoved = true
    if presenters[id].callbacks.contains(.uncoordinatedChanges) { ledger.forgetObserver(id) }
    if let node = presenters[id].node { tree.detachPresenter(id, from: node) }
    presenters[id].node = nil
    var released: [AccessID] = []
    for message in presenters[id].pending + presenters[id].unanswered where !isLeavingForEviction(message) {
      if let access = messages[message].awaitingAccess {
        released.append(access)
        forgetOutstanding(access, id)
      }
      if case .reacquire = messages[message].kind { continue }
      withdraw(message)
    }
    for access in released { advance(access) }
    // Messages that waited behind the notification of a move come now.
    pump(id)
    forgetIfDone(id)
  }

  /// A presenter agrees to an eviction by unregistering inside the callback, and may still save or refuse before it returns:
  /// the contents stay until then (C-209).
  private func isLeavingForEviction(_ id: MessageID) -> Bool {
    messages[id].kind == .accommodateEviction && messages[id].state != .pending
  }

  /// Drops a removed presenter when it's owed nothing any more.
  mutating func forgetIfDone(_ id: PresenterID) {
    let place = presenters.index(of: id)
    if place == Table<Presenter>.none || !presenters[at: place].isRemoved { return }
    let presenter = presenters[at: place]
    if presenter.unanswered.isEmpty, presenter.pending.isEmpty, presenter.reacquirersOwed == 0 { forget(presenter) }
  }

  /// Nothing refers to the presenter any more.
  mutating func forget(_ presenter: Presenter) {
    presenters.remove(presenter.id)
    profiles.giveBack(presenter.profile)
    clients[presenter.client].references -= 1
    effects.append(.forgetPresenter(presenter.id))
  }
}
