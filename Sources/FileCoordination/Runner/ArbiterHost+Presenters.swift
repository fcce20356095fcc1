internal import FileAccessArbiter
internal import FoundationEssentials
internal import SystemInterface

// Presenters register, get a location, and go.

extension ArbiterHost {
  /// Registers a presenter, or finds it registered already (C-196).
  func register(_ presenter: any FilePresenter, _ identity: PresenterIdentity) throws(FileCoordinationError)
    -> PresenterRecord
  {
    if let existing = record(of: presenter) { return existing }
    let location = try location(of: presenter)
    var registration = PresenterRegistration(
      client: Self.client, purpose: identity.purpose, label: presenter.presenterLabel,
      callbacks: presenter.presentedItemCallbacks.arbiterCallbacks, path: location?.path,
      observedUbiquityAttributes: presenter.observedPresentedItemUbiquityAttributes)
    registration.servesWhileWaiting = presenter.servesWhileWaiting
    registration.isActor = presenter is any Actor
    let executor = configuration.presenterExecutor ?? ElasticThreadPool.shared
    let key = ObjectIdentifier(presenter)
    let id = withState { state -> PresenterID in
      state.lastPresenter += 1
      return PresenterID(state.lastPresenter)
    }
    let record = PresenterRecord(id, presenter, identity, location, defaultExecutor: executor)
    // An entry under the same key is of an earlier object at this address, or of a registration that won a race: then
    // both registrations are of this very presenter, and the first one stays.
    return stepWithState(raising: { _ in .presenter(at: location?.path) }) { [registration] state, now in
      if let id = state.presenterIDs[key], let winner = state.presenters[id], winner.identity === identity {
        return (winner, [])
      }
      state.presenters[id] = record
      state.presenterIDs[key] = id
      state.identities[key] = nil
      return (record, state.arbiter.presenterAdded(id, registration, at: now))
    }
  }

  func unregister(_ record: PresenterRecord) {
    stepWithState { state, now in
      if state.presenterIDs[record.key] == record.id {
        state.presenterIDs[record.key] = nil
        // Coordinators of the presenter may still have its purpose.
        state.enter(record.identity, for: record.key)
      }
      return ((), state.arbiter.presenterRemoved(record.id, at: now))
    }
  }

  func record(of presenter: any FilePresenter) -> PresenterRecord? {
    let key = ObjectIdentifier(presenter)
    let record = withState { state in state.presenterIDs[key].flatMap { state.presenters[$0] } }
    // The key may be that of an earlier object at the same address.
    guard let record, record.presenter === presenter else { return nil }
    return record
  }

  var presenters: [any FilePresenter] {
    let records = withState { state in state.presenterIDs.values.sorted().compactMap { state.presenters[$0] } }
    return records.compactMap(\.presenter)
  }

  /// The purpose that all coordinators of a presenter share, made when the first of them or the registration needs it.
  func identity(of presenter: any FilePresenter) -> PresenterIdentity {
    let key = ObjectIdentifier(presenter)
    var fresh: PresenterIdentity?
    while true {
      // Either may be that of an earlier object at this address.
      let existing = withState { $0.identities(for: key) }
      if let identity = existing.first(where: { $0.presenter === presenter }) { return identity }
      let identity = fresh ?? PresenterIdentity(newPurpose(), presenter)
      fresh = identity
      let isEntered = withState { state -> Bool in
        guard state.identities(for: key).elementsEqual(existing, by: ===) else { return false }
        state.enter(identity, for: key)
        return true
      }
      if isEntered { return identity }
    }
  }

  func newPurpose() -> PurposeID {
    withState { state in
      state.lastPurpose += 1
      return PurposeID(state.lastPurpose)
    }
  }

  /// The purpose of a chosen name.
  ///
  /// Equal names are one purpose.
  func purpose(named name: String) -> PurposeID {
    let fresh = newPurpose()
    return withState { state in
      if let existing = state.purposeIDs[name] { return existing }
      state.purposeIDs[name] = fresh
      state.purposeNames[fresh] = name
      return fresh
    }
  }

  func name(of purpose: PurposeID) -> String { withState { $0.name(of: purpose) } }

  /// A presenter without a location may have got one by the access that has just ended (C-121).
  func locate(_ record: PresenterRecord) {
    guard let presenter = record.presenter, let location = try? location(of: presenter) else { return }
    record.noteLocation(location)
    let attributes = presenter.observedPresentedItemUbiquityAttributes
    step(raising: { _ in .presenter(at: location.path) }) {
      $0.presenterLocated(record.id, at: location.path, observing: attributes, time: $1)
    }
  }

  /// The presenter was deallocated without having been unregistered: it counts as unregistered from now on.
  func presenterIsGone(_ record: PresenterRecord, _ message: MessageID) {
    unregister(record)
    step { $0.messageAnswered(message, at: $1) }
  }

  private func location(of presenter: any FilePresenter) throws(FileCoordinationError) -> FileLocation? {
    guard let url = presenter.presentedItemURL else { return nil }
    return try FileLocation(url, in: configuration.fileSystem)
  }
}

extension ArbiterHost.State {
  /// The purposes known for a presenter at an address: of its registration, and of its coordinators.
  fileprivate func identities(for key: ObjectIdentifier) -> [PresenterIdentity] {
    let registered = presenterIDs[key].flatMap { presenters[$0]?.identity }
    return [registered, identities[key]?.identity].compactMap(\.self)
  }

  fileprivate mutating func enter(_ identity: PresenterIdentity, for key: ObjectIdentifier) {
    identities[key] = ArbiterHost.WeakIdentity(identity: identity)
    purgeIdentities()
  }

  /// Drops entries of presenters that are gone, each time their number has doubled.
  fileprivate mutating func purgeIdentities() {
    guard identities.count > 2 * identityCountAtPurge + 64 else { return }
    identities = identities.filter { $0.value.identity != nil }
    identityCountAtPurge = identities.count
  }
}

extension Obstacles {
  /// Accesses that are under way are told to the arbiter, so that the presenter hears of them.
  fileprivate static func presenter(at path: ItemPath?) -> Obstacles {
    Obstacles(path.map { [Obstacle(path: $0, interest: .presenter)] } ?? [])
  }
}
