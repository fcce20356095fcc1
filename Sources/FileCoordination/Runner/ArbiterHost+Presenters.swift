internal import CompactContainers
internal import CoordinationService
internal import FileAccessArbiter
internal import FoundationEssentials
internal import Synchronization
internal import SystemInterface

// Presenters register, get a location, and go.

extension ArbiterHost {
  /// Registers a presenter, or finds it registered already (C-196).
  ///
  /// - Parameters:
  ///   - presenter: The presenter.
  ///   - known: Where its URL leads, if the caller has just found that out.
  /// - Returns: Its record.
  /// - Throws: ``FileCoordinationError`` when its URL can't name a file, or there's no service.
  func register(
    _ presenter: any FilePresenter, at known: FileLocation? = nil
  ) throws(FileCoordinationError) -> PresenterRecord {
    var ending: EndingClaim?
    return try register(presenter, at: known, ending: &ending)
  }

  /// The same, and ends a claim in the step that registers the presenter: nobody gets in between.
  ///
  /// - Parameters:
  ///   - presenter: The presenter.
  ///   - known: Where its URL leads, if the caller has just found that out.
  ///   - ending: A claim of the fast tier in a domain of this process; `nil` afterwards if it has ended.
  /// - Returns: Its record.
  /// - Throws: As above.
  func register(
    _ presenter: any FilePresenter, at known: FileLocation?, ending: inout EndingClaim?
  ) throws(FileCoordinationError) -> PresenterRecord {
    if let existing = record(of: presenter) { return existing }
    let location = if let known { known as FileLocation? } else { try location(of: presenter) }
    let registration = RegistrationRequest(presenter, at: location)
    try checkLength(of: registration.attributes)
    if let excess = withState({ $0.excess() }) { throw excess }
    try transport.ensureConnected()
    let arbiterRegistration = registration.arbiterRegistration
    let (record, question, isNew, hasEnded) = stepWithState(
      raising: { [ending] _ in .presenter(at: location?.path, ending: ending) }
    ) { [ending] state, now -> ((PresenterRecord, ServiceQuestion?, Bool, Bool), Orders) in
      // Another registration of this presenter may have won a race.
      if let winner = state.record(of: presenter) { return ((winner, nil, false, false), .none) }
      let record = state.makeRecord(for: presenter, registration.executor)
      if let location { record.noteLocation(location) }
      let orders = state.decider.step(.presenterAdded(record.id, arbiterRegistration(record.purpose)), at: now)
      // One that was adopted before ends as an access of the arbiter.
      let hasEnded = ending.map { tier.end($0.claim, $0.key) } ?? false
      return ((record, state.lastQuestion(), true, hasEnded), orders)
    }
    if hasEnded { ending = nil }
    if let question {
      transport.expectAnswer(before: nil)
      do throws(FileCoordinationError) {
        // Until every other process is bound to ask it.
        _ = try question.wait()
      } catch {
        unregister(record)
        throw error
      }
    }
    if isNew { observeChanges(for: record, arbiterRegistration(record.purpose)) }
    return record
  }

  func unregister(_ record: PresenterRecord) {
    changeBridge.load()?.remove(record.id)
    stepWithState { state, now in
      state.presenters.unregister(record)
      return ((), state.decider.step(.presenterRemoved(record.id), at: now))
    }
  }

  func record(of presenter: any FilePresenter) -> PresenterRecord? { withState { $0.record(of: presenter) } }

  var presenters: [any FilePresenter] {
    withState { $0.presenters.registered }.compactMap(\.presenter)
  }

  /// The purpose that all coordinators of a presenter share, made when the first of them or the registration needs it.
  func identity(of presenter: any FilePresenter) -> SharedPurpose { withState { $0.identity(of: presenter) } }

  func newPurpose() -> PurposeID { withState { $0.newPurpose() } }

  func name(of purpose: PurposeID) -> String { withState { $0.name(of: purpose) } }

  /// A presenter without a location may have got one by the access that has just ended (C-121).
  ///
  /// - Returns: The question to wait for until every other process is bound to ask it.
  @discardableResult
  func locate(_ record: PresenterRecord) -> ServiceQuestion? {
    guard let presenter = record.presenter, let location = try? location(of: presenter) else { return nil }
    record.noteLocation(location)
    var attributes = presenter.observedPresentedItemUbiquityAttributes
    // It's heard of all of them rather than of none.
    if (try? checkLength(of: attributes)) == nil { attributes = nil }
    let question = stepWithState(raising: { _ in .presenter(at: location.path) }) { state, now in
      let orders = state.decider.step(.presenterLocated(record.id, location.path, observing: attributes), at: now)
      return (state.lastQuestion(), orders)
    }
    changeBridge.load()?.locate(record.id, at: location.path)
    return question
  }

  /// Finds the location of a presenter that had none, after an access made on its behalf.
  ///
  /// In one process the arbiter asks for it, with the access's end. Here the code that has made the access goes on only
  /// when all other processes have the location.
  func locateIfNeeded(_ presenter: any FilePresenter) {
    let record = withState { state -> PresenterRecord? in
      guard let record = state.record(of: presenter), let registration = state.decider.registration(of: record.id)
      else {
        return nil
      }
      return registration.path == nil ? record : nil
    }
    guard let question = record.flatMap(locate) else { return }
    transport.expectAnswer(before: nil)
    _ = try? question.wait()
  }

  /// The presenter was deallocated without having been unregistered: it counts as unregistered from now on.
  func presenterIsGone(_ record: PresenterRecord, _ message: MessageID) {
    unregister(record)
    step(.messageAnswered(message, hasReacquirer: false))
  }

  private func location(of presenter: any FilePresenter) throws(FileCoordinationError) -> FileLocation? {
    guard let url = presenter.presentedItemURL else { return nil }
    let location = try FileLocation(url, in: configuration.fileSystem)
    return directory(behind: location) ?? location
  }

  /// The directory that a symbolic link leads to, by its own path and in the spelling of the link.
  ///
  /// Changes in it are reported by their own paths, and the link contains nothing. A link to a file is presented itself
  /// (C-305).
  private func directory(behind location: FileLocation) -> FileLocation? {
    let files = configuration.fileSystem
    guard (try? files.statusIfPresent(of: location.path.systemPath))??.kind == .symbolicLink,
      let target = try? FileLocation(location.url, followingLastLink: true, in: files),
      (try? files.statusIfPresent(of: target.path.systemPath))??.kind == .directory,
      let spelled = try? FileURLCoding.path(of: location.url)
    else { return nil }
    let spelling = PathSpelling(
      spelled: FileURLCoding.withoutTrailingSlashes(spelled), canonical: target.path.bytes)
    return FileLocation(location.url, at: target.path, spelling: spelling)
  }
}

/// A presenter whose implemented callbacks are unknown: an adapter of foreign classes.
package protocol PresumedFilePresenter: FilePresenter {
  /// The declared callbacks that it may have or lack.
  var presumedCallbacks: FilePresenterCallbacks { get }
  /// Whether a callback that comes while another one waits runs on the waiting thread. Read once, when it registers.
  var nestsCallbacks: Bool { get }
}

extension FilePresenterRegistration {
  /// The callbacks that the presenter declares, or presumes, have changed since it was registered; its other interests
  /// can't.
  package func noteChangedCallbacks() {
    guard let presenter = record.presenter else { return }
    // Two threads may notice at once, and report in another order than they inspected.
    var told: PresenterCallbacks?
    while true {
      let callbacks = PresenterCallbacks(declaredBy: presenter)
      if callbacks == told { return }
      host.step(.presenterLearned(record.id, callbacks))
      told = callbacks
    }
  }
}

extension PresenterCallbacks {
  /// The callbacks that a presenter declares to implement.
  init(declaredBy presenter: any FilePresenter) {
    self = presenter.presentedItemCallbacks.arbiterCallbacks
    if let adapter = presenter as? any PresumedFilePresenter { presumed = adapter.presumedCallbacks.arbiterCallbacks }
  }

  /// The same, and its other interests.
  init(of presenter: any FilePresenter) {
    self.init(declaredBy: presenter)
    if presenter.observesUncoordinatedChanges { insert(.uncoordinatedChanges) }
    if presenter.observesDirectoryEntries { insert(.directoryEntries) }
    if (presenter as? any PresumedFilePresenter)?.nestsCallbacks == true { insert(.nestedCallbacks) }
  }
}

/// The properties of a presenter that its registration needs; read outside of the lock, as all foreign code.
private struct RegistrationRequest {
  let label: String
  let callbacks: PresenterCallbacks
  let path: ItemPath?
  let attributes: Set<String>?
  let servesWhileWaiting: Bool
  let isActor: Bool
  let executor: (any TaskExecutor)?

  init(_ presenter: any FilePresenter, at location: FileLocation?) {
    label = presenter.presenterLabel.fittingFrame
    callbacks = PresenterCallbacks(of: presenter)
    path = location?.path
    attributes = presenter.observedPresentedItemUbiquityAttributes
    servesWhileWaiting = presenter.servesWhileWaiting
    isActor = presenter is any Actor
    executor = presenter.presentedItemExecutor
  }

  func arbiterRegistration(_ purpose: PurposeID) -> PresenterRegistration {
    var registration = PresenterRegistration(
      client: ArbiterHost.client, purpose: purpose, label: label, callbacks: callbacks, path: path,
      observedUbiquityAttributes: attributes)
    registration.servesWhileWaiting = servesWhileWaiting
    registration.isActor = isActor
    return registration
  }
}

// Entries are by address, so they may be of an earlier object at the same one, which is gone: then its weak reference gives
// nothing. So no presenter is released here under the lock but the one that the caller keeps alive.
extension ArbiterHost.State {
  fileprivate func record(of presenter: any FilePresenter) -> PresenterRecord? {
    let record = presenters[ObjectIdentifier(presenter)]
    return record?.presenter === presenter ? record : nil
  }

  fileprivate mutating func makeRecord(
    for presenter: any FilePresenter, _ executor: (any TaskExecutor)?
  ) -> PresenterRecord {
    lastPresenter += 1
    let record = PresenterRecord(
      PresenterID(lastPresenter), presenter, coordinatorsPurpose(of: presenter)?.purpose ?? newPurpose(),
      executor: executor)
    presenters.insert(record)
    return record
  }

  /// The purpose of a presenter, for a coordinator.
  fileprivate mutating func identity(of presenter: any FilePresenter) -> SharedPurpose {
    if let identity = coordinatorsPurpose(of: presenter) { return identity }
    let identity = SharedPurpose(record(of: presenter)?.purpose ?? newPurpose(), presenter)
    identities[ObjectIdentifier(presenter)] = ArbiterHost.WeakPurpose(identity: identity)
    purgeIdentities()
    return identity
  }

  private func coordinatorsPurpose(of presenter: any FilePresenter) -> SharedPurpose? {
    let identity = identities[ObjectIdentifier(presenter)]?.identity
    return identity?.presenter === presenter ? identity : nil
  }

  /// Drops entries of presenters that are gone, each time their number has doubled.
  private mutating func purgeIdentities() {
    guard identities.count > 2 * identityCountAtPurge + 64 else { return }
    identities = identities.filter { $0.value.identity != nil }
    identityCountAtPurge = identities.count
  }

  mutating func newPurpose() -> PurposeID {
    lastPurpose += 1
    return PurposeID(lastPurpose)
  }
}

extension Obstacles {
  /// Accesses that are under way are brought into the arbiter, so that the presenter is notified of them.
  fileprivate static func presenter(at path: ItemPath?, ending: EndingClaim? = nil) -> Obstacles {
    var obstacles = Obstacles(path.map { [Obstacle(path: $0, interest: .presenter)] } ?? [])
    obstacles.endingSlot = ending?.claim.slot
    return obstacles
  }
}

/// A claim of the fast tier that ends in a step of the arbiter.
struct EndingClaim: Sendable {
  let claim: ClaimToken
  /// The fingerprint of its item.
  let key: UInt64
}
