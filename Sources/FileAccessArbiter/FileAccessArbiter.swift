internal import CompactContainers

/// Decides which party may access which item when, and which presenters are asked and notified: a value, without
/// thread, clock or file.
///
/// Each mutating method is one event: a change that has occurred. It returns the effects to carry out, in order. The
/// host makes one call at a time, carries effects out after the call, and reports their results through further events.
/// Bad input is the host's to refuse: an event that cannot have occurred is a broken invariant and traps.
///
/// An access goes through these phases:
///
///     requested → waiting → asking → ready → granted → ended
///
/// | phase   | means                                               | ends by                                      |
/// | ------- | --------------------------------------------------- | -------------------------------------------- |
/// | waiting | an earlier conflicting access is in the way         | the last such access ends, or this one fails |
/// | asking  | presenters owe answers                              | the last answer, or failure                  |
/// | ready   | all answered; an access with priority went ahead    | they end, or failure                         |
/// | granted | the accessor runs                                   | `accessReleased`, departure                  |
///
/// The parts: conflicts `ConflictRules`, questions `MessageRules`, waiting `+Waiting`, asking `+Negotiation`, delivery
/// `+Mailboxes`, notifying `+Notifications`, moves `+Moves`, deadlocks `+WaitForGraph` and `+DeadlockResolution`,
/// accesses of others unasked `+Interest`.
package struct FileAccessArbiter: Sendable {
  /// Everything that is more than a number, behind one reference.
  ///
  /// Copies of the arbiter share it until one of them changes, and a closure that captures the arbiter copies one reference.
  private var state: Box<State>
  private var treeBox: Box<ItemTree>
  var lastSequence: UInt64 = 0
  /// Distinguishes its messages from those of earlier arbiters.
  let epoch: UInt64
  var lastMessage: UInt64 = 0
  var delegationCount = 0
  /// How many accesses sleep until another party does something.
  package var waitingCount = 0
  /// Whether a question to save is announced with the relinquish message before it.
  let announcesSaves: Bool
  /// The time of the event under way.
  var now: Timestamp = 0

  /// How many callbacks of one presenter may be nested by serving it while its own callback waits.
  package static let callbackNestingMax = 8
  /// How many notifications (not questions) may wait for one presenter before further ones are folded into one.
  package static let pendingMessageCountMax = 4096

  #if DEBUG
    /// Mistakes built in on purpose, to show that the tests find them.
    ///
    /// Always empty outside of such tests.
    package var seededFaults: Set<SeededFault> = [] {
      didSet { tree.seededFaults = seededFaults }
    }
    func has(_ fault: SeededFault) -> Bool { !seededFaults.isEmpty && seededFaults.contains(fault) }
  #else
    @inline(__always) func has(_: SeededFault) -> Bool { false }
  #endif

  /// Creates an arbiter without accesses and presenters.
  ///
  /// - Parameters:
  ///   - packageExtensions: Directories with one of these extensions are packages.
  ///   - fingerprintSeed: Makes the fingerprints of the paths those of this process.
  ///   - tracksInterest: Keeps a journal for ``takeInterestChanges()``, which then has to be called regularly.
  ///   - epoch: Distinguishes its messages from those of arbiters whose place it takes.
  ///   - announcesSaves: Whether a question to save is announced with the relinquish message before it: for presenters of other
  ///     processes, which then answer both by `relinquished` and one more event.
  package init(
    packageExtensions: [String] = [], fingerprintSeed: UInt64 = 0, tracksInterest: Bool = false,
    epoch: UInt64 = 0, announcesSaves: Bool = false
  ) {
    self.epoch = epoch
    self.announcesSaves = announcesSaves
    state = Box(State())
    treeBox = Box(
      ItemTree(
        packageExtensions: packageExtensions, fingerprintSeed: fingerprintSeed, tracksInterest: tracksInterest))
  }

  /// One participant.
  struct Client: TableElement {
    let id: ClientID
    let givenName: String
    /// It lives, and doesn't run, since then.
    var stoppedSince: Timestamp?
    /// Live accesses and presenters of it.
    var references = 0
    var link: Int32 = -1

    /// For people.
    var name: String { stoppedSince == nil ? givenName : "\(givenName), stopped" }
  }

  /// Begins an event.
  mutating func begin(at time: Timestamp) {
    assert(effects.isEmpty && suspects.isEmpty, "an event inside an event")
    now = time
  }

  /// Ends an event: no cycle survives the step that made it.
  mutating func finish() -> [Effect] {
    resolveDeadlocks()
    let result = effects
    effects = []
    return result
  }

  /// Takes the list of effects of an event back when they have been carried out, so that the next event needs no memory
  /// for its own.
  package mutating func reuse(_ list: inout [Effect]) {
    var list = exchange(&list, with: [])
    if list.capacity > FileAccessArbiter.keptEffectCountMax { return }
    list.removeAll(keepingCapacity: true)
    effects = list
  }

  /// A longer list of effects isn't kept.
  private static let keptEffectCountMax = 64
}

// MARK: - The state

extension FileAccessArbiter {
  fileprivate struct State: Boxed {
    var accesses = Table<Access>()
    var presenters = Table<Presenter>()
    var profiles = PresenterProfiles()
    var messages = Table<Message>()
    var clients = Table<Client>()
    /// Of accesses that have ended: how many that were requested inside of them haven't.
    var outlivedContexts: [AccessID: Int] = [:]
    var effects: [Effect] = []
    var suspects: [AccessID] = []
    var newcomer: Newcomer?
    var ledger = ChangeLedger()
    var spares = Spares()

    func duplicate() -> State { self }
  }

  /// The data that a request needs only if it has to wait, which most don't.
  struct Newcomer: Sendable {
    let id: AccessID
    let limits: AccessRequest.Limits
  }

  var tree: ItemTree {
    unsafeAddress { unsafe treeBox.address }
    unsafeMutableAddress { unsafe treeBox.mutableAddress }
  }

  // An address, because a call of the other accessors allocates a frame for what it lends, which is as large as a table. It leads
  // into the box, as the address of the whole value does.
  var accesses: Table<Access> {
    unsafeAddress {
      let place = unsafe UnsafeMutablePointer(mutating: state.address)
      return unsafe UnsafePointer(withUnsafeMutablePointer(to: &place.pointee.accesses) { unsafe $0 })
    }
    unsafeMutableAddress {
      let place = unsafe state.mutableAddress
      return unsafe withUnsafeMutablePointer(to: &place.pointee.accesses) { unsafe $0 }
    }
  }

  var outlivedContexts: [AccessID: Int] {
    _read { yield state.value.outlivedContexts }
    _modify { yield &state.value.outlivedContexts }
  }

  var presenters: Table<Presenter> {
    _read { yield state.value.presenters }
    _modify { yield &state.value.presenters }
  }

  var profiles: PresenterProfiles {
    _read { yield state.value.profiles }
    _modify { yield &state.value.profiles }
  }

  var messages: Table<Message> {
    _read { yield state.value.messages }
    _modify { yield &state.value.messages }
  }

  var clients: Table<Client> {
    _read { yield state.value.clients }
    _modify { yield &state.value.clients }
  }

  var ledger: ChangeLedger {
    _read { yield state.value.ledger }
    _modify { yield &state.value.ledger }
  }

  // Empty between events.
  var effects: [Effect] {
    _read { yield state.value.effects }
    _modify { yield &state.value.effects }
  }

  /// Accesses that got a new reason to wait in this event, and so may have closed a cycle.
  var suspects: [AccessID] {
    _read { yield state.value.suspects }
    _modify { yield &state.value.suspects }
  }

  var spares: Spares {
    _read { yield state.value.spares }
    _modify { yield &state.value.spares }
  }

  /// The request under way, until it waits.
  var newcomer: Newcomer? {
    _read { yield state.value.newcomer }
    _modify { yield &state.value.newcomer }
  }
}

extension FileAccessArbiter {
  /// How much memory the tables of accesses, presenters, messages and items have, used or not.
  ///
  /// It leaves out the memory that a few entries have for themselves.
  ///
  /// - Complexity: O(entries / 64).
  package var reservedByteCount: Int {
    accesses.reservedByteCount + presenters.reservedByteCount + messages.reservedByteCount + clients.reservedByteCount
      + profiles.reservedByteCount + tree.reservedByteCount
  }
}

/// A mistake that a test can build in to show that it would be found.
package enum SeededFault: String, Hashable, Sendable, CaseIterable {
  case lostWakeUp
  case ownPresenterAsked
  case grantBeforeAnswers
  case unboundedBypass
  case victimThatHolds
  case deepWriterIgnoresInside
  case packageIgnored
  case reacquirerForgotten
  case reacquirerTwice
  case undeclaredCallbackAsked
  case cycleNotChecked
  case savePriorityIgnored
  case waiterNotMoved
  case pinnedWaiterMoved
  case cancelledKeepsClaim
  case overlappingCallbacks
  case didChangeAfterReacquirer
  case adoptionIgnoresAround
  case adoptedWithoutContext
  case interestNotMoved
  case interestOfDeepClaimForgotten
  case interestOfRemovedItemKept
  case beginningIgnored
  case moveToldBeforeItsEnd
}
