import CompactContainers
@testable import CoordinationService
@testable import FileAccessArbiter

/// A process of a model: the real client, and around it the parts of a host: threads, claims of the fast tier,
/// callbacks.
///
/// The client's orders are in `+Effects`, the callbacks of its presenters in `+Callbacks`.
struct ModelProcess: Sendable {
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
    /// Granted by the fast tier, under a delegation, and not reported.
    case claimed
    /// The client has it.
    case known
    /// The service has given it to others.
    case lost
  }

  struct Access: Hashable, Sendable {
    var request: AccessRequest
    var outer: AccessID?
    var standing: Standing
    /// It was granted by the fast tier: others of this process meet it.
    var isInTier = false
    /// Others may have been inside while the process was expelled.
    var isDoubted = false
    /// The service has its token.
    var isShared = false
    /// A move has been announced and not answered.
    var isMoving = false
    /// Where it was before the move that it announced; protected until it ends.
    var formerPath: ItemPath?

    var item: AccessRequest.Item { request.items[0] }
    var isInside: Bool { standing != .waiting && standing != .lost }
  }

  /// A callback that runs.
  struct Callback: Hashable, Sendable {
    let message: MessageID
    let presenter: PresenterID
    let kind: Message.Kind
    /// Its write elsewhere since it returned.
    var save: AccessID?
    /// Its accesses that last, each one inside of the one before.
    var nested: [AccessID] = []
    /// How many of them it has still to make.
    var nestedLeft: Int
    /// One of them has failed, and the callback goes on, whatever runs above it.
    var hasFailed = false
  }

  let plan: ClientPlan
  /// Others that are stopped needn't be waited for.
  let isImpatient: Bool
  var core: ClientCore
  /// The word that the service has written into this process's memory.
  var word: Revocation?
  var isAlive = true
  /// It has found no service once, and its waits have ended then.
  var hasGivenUp = false
  /// The access to which it belongs as a child process.
  let parent: ModelParent?
  /// A child process begins when it's launched.
  var isStarted: Bool
  var threads: [Thread]
  var accesses: [AccessID: Access] = [:]
  var presenters: Set<PresenterID> = []
  var callbacks: [Callback] = []
  /// How many accesses the callbacks have made, and how many callbacks have made nested ones.
  var callbackAccessCount: UInt64 = 0
  var nestingCount = 0
  /// Sent in the step under way.
  var outbox: [ClientFrame] = []
  /// For the checks.
  var notes: [ModelNote] = []

  init(session: UInt64, _ plan: ClientPlan, in parent: ModelParent?, isImpatient: Bool, faults: Set<ClientFault>) {
    self.parent = parent
    isStarted = parent == nil
    self.isImpatient = isImpatient
    self.plan = plan
    core = ClientCore(session: session)
    core.limits = plan.limits
    #if DEBUG
      core.seededFaults = faults
    #endif
    threads = plan.threads.map { _ in Thread() }
  }

  var session: UInt64 { core.session }

  var isDone: Bool {
    callbacks.isEmpty
      && (!isStarted || threads.indices.allSatisfy { threads[$0].next == plan.threads[$0].count })
  }

  /// The accesses that the fast tier grants.
  static let plainAccesses: Set<ItemAccess> = [
    .read(withoutChanges: false), .read(withoutChanges: true), .write(.update), .write(.merging), .write(.metadataOnly),
  ]

  static func access(_ thread: Int, _ step: Int) -> AccessID { AccessID(UInt64(thread) << 8 | UInt64(step + 1)) }

  /// Passes the client an event, and carries out its orders, as the host does.
  mutating func tell(_ event: (inout ClientCore) -> [ClientEffect]) {
    if let word { core.rightsRevoked(word) }
    carryOut(event(&core))
  }

  mutating func tell(_ event: ArbiterEvent) { tell { $0.step(event, at: 0) } }
}

// MARK: - The steps of its threads

extension ModelProcess {
  func canStep(_ thread: Int) -> Bool {
    isAlive && isStarted && threads[thread].waiting == .nothing && threads[thread].next < plan.threads[thread].count
  }

  mutating func step(_ thread: Int) {
    let index = threads[thread].next
    switch plan.threads[thread][index] {
    case .begin(let path, let access, let own, let outer, let end):
      let item = AccessRequest.Item(path, access)
      begin(thread, index, item, own, outer.map { Self.access(thread, $0) }, end: end)
    case .end(let begin):
      end(Self.access(thread, begin))
      threads[thread].next += 1
    case .present(let presenter, let path): present(thread, PresenterID(presenter), path)
    case .unpresent(let presenter): unpresent(thread, PresenterID(presenter))
    case .move(let begin, let planned, let new): move(thread, Self.access(thread, begin), planned, to: new)
    case .look: ask(thread) { .snapshotWanted($0) }
    case .commit(let begin):
      let id = Self.access(thread, begin)
      if accesses[id]?.standing == .lost || accesses[id]?.isDoubted == true { return threads[thread].next += 1 }
      adopt(id)
      ask(thread) { .validationWanted($0, id) }
    case .readToken(let begin):
      adopt(Self.access(thread, begin))
      threads[thread].next += 1
    case .share(let begin):
      let id = Self.access(thread, begin)
      if accesses[id]?.standing == .lost || accesses[id]?.isDoubted == true { return threads[thread].next += 1 }
      adopt(id)
      let token = AccessToken(high: session, low: id.rawValue)
      ask(thread) { .accessShared($0, id, token) }
    case .launch(let child):
      notes.append(.launched(child))
      threads[thread].next += 1
    case .await: threads[thread].next += 1
    }
  }

  private mutating func ask(_ thread: Int, _ makeFrame: (RequestNumber) -> ClientFrame) {
    tell { $0.ask(makeFrame).1 }
    threads[thread].waiting = .answer(core.lastQuestionNumber)
  }

  private mutating func begin(
    _ thread: Int, _ step: Int, _ item: AccessRequest.Item, _ own: UInt64?, _ outer: AccessID?, end: Int
  ) {
    let id = Self.access(thread, step)
    let purpose = own.map { PurposeID(10_000 + $0) } ?? PurposeID(id.rawValue)
    var request = AccessRequest(
      client: ClientID(1), purpose: purpose, ownPresenter: own.map { PresenterID($0) }, label: "", items: [item])
    request.context = outer.map { .access($0) }
    if isImpatient { request.limits.stoppedHolders = 0 }
    if mayClaim(item, isPlain: own == nil && Self.plainAccesses.contains(item.access)) {
      accesses[id] = Access(request: request, outer: outer, standing: .claimed, isInTier: true)
      threads[thread].next += 1
      return notes.append(.began(id))
    }
    // An error of the call: the program goes on without.
    if core.isFull {
      notes.append(.refusedByLimit)
      return threads[thread].next = end + 1
    }
    if let outer { adopt(outer) }
    accesses[id] = Access(request: request, outer: outer, standing: .waiting)
    threads[thread].waiting = .grant(id)
    tell(.accessRequested(id, request))
  }

  func mayClaim(_ item: AccessRequest.Item, isPlain: Bool) -> Bool {
    let isMet = accesses.values.contains { other in
      other.isInTier && other.item.path == item.path && (other.item.access.isWrite || item.access.isWrite)
    }
    return isPlain && word == nil && !isMet && core.covers(item.path, isWrite: item.access.isWrite)
  }

  mutating func end(_ id: AccessID) {
    guard let access = accesses.removeValue(forKey: id) else { return }
    notes.append(.ended(id, access))
    if access.standing != .claimed { tell(.accessReleased(id, [])) }
  }

  private mutating func present(_ thread: Int, _ id: PresenterID, _ path: ItemPath) {
    if core.isFull {
      notes.append(.refusedByLimit)
      return threads[thread].next += 1
    }
    let registration = PresenterRegistration(
      client: ClientID(1), purpose: PurposeID(10_000 + id.rawValue), label: "",
      callbacks: presenterCallbacks, path: path)
    presenters.insert(id)
    tell(.presenterAdded(id, registration))
    threads[thread].waiting = .answer(core.lastQuestionNumber)
  }

  private var presenterCallbacks: PresenterCallbacks {
    var result: PresenterCallbacks = [.relinquishToWriter, .itemDidChange]
    if plan.savesLater { result.insert(.saveChanges) }
    // Readers ask side by side.
    if plan.nested != nil { result.insert(.relinquishToReader) }
    return result
  }

  private mutating func unpresent(_ thread: Int, _ id: PresenterID) {
    threads[thread].next += 1
    guard presenters.remove(id) != nil else { return }
    notes.append(.unpresented(id))
    tell(.presenterRemoved(id))
  }

  private mutating func move(_ thread: Int, _ id: AccessID, _ planned: ItemPath, to new: ItemPath) {
    // Where it is, which another move may have changed before it was granted.
    let old = accesses[id]?.item.path ?? planned
    accesses[id]?.isMoving = true
    accesses[id]?.formerPath = old
    notes.append(.moves(id, from: old, to: new))
    ask(thread) { .itemMoved($0, by: id, from: old, to: new, replaced: false) }
  }

  /// Adopts an access that the fast tier granted, and before it the ones that it's nested in.
  mutating func adopt(_ id: AccessID) {
    guard let access = accesses[id], access.standing == .claimed, !core.has(.claimsNotCollected) else { return }
    if let outer = access.outer { adopt(outer) }
    accesses[id]?.standing = .known
    notes.append(.adopted(id))
    tell(.accessAdopted(id, access.request))
  }
}

// MARK: - Giving up

extension ModelProcess {
  func canCancel(_ thread: Int) -> Bool {
    if case .grant(let id) = threads[thread].waiting { return core.accesses[id]?.isCancelled == false }
    return false
  }

  mutating func cancel(_ thread: Int) {
    guard case .grant(let id) = threads[thread].waiting else { return }
    tell(.accessCancelled(id))
  }

  /// Whether a thread has given up, and would wait without end for a service that's stopped.
  var canKeepDeadlines: Bool { core.accesses.values.contains { $0.phase == .waiting && $0.isCancelled } }

  mutating func keepDeadlines() { tell { $0.keepDeadlines(at: 0) } }
}
