/// Decides who may access which item when, and who is asked and told: a value, without thread, clock or file.
///
/// Each mutating method is one event: something that happened. It returns the effects to carry out, in order. The host
/// makes one call at a time, carries effects out after the call, and tells what came of them through further events.
/// Bad input is the host's to refuse: an event that cannot have happened is a broken invariant and traps.
///
/// An access goes through these phases:
///
///     requested → waiting → asking → ready → granted → ended
///
/// | phase   | means                                               | ends by                                      |
/// | ------- | --------------------------------------------------- | -------------------------------------------- |
/// | waiting | an earlier conflicting access is in the way         | the last such access ends, or this one fails |
/// | asking  | presenters owe answers                              | the last answer, or failure                  |
/// | ready   | all answered; somebody with priority went ahead     | they end, or failure                         |
/// | granted | the accessor runs                                   | `accessReleased`, departure                  |
///
/// Where what lives: who conflicts `ConflictRules`, who is asked `MessageRules`, waiting `+Waiting`, asking
/// `+Negotiation`, delivery `+Mailboxes`, telling `+Notifications`, moves `+Moves`, deadlocks `+WaitForGraph` and
/// `+DeadlockResolution`.
package struct FileAccessArbiter: Sendable {
  var tree: ItemTree
  var accesses = Table<AccessID, Access>()
  var presenters = Table<PresenterID, Presenter>()
  var messages = Table<MessageID, Message>()
  var clients = Table<ClientID, Client>()
  var lastSequence: UInt64 = 0
  var lastMessage: UInt64 = 0
  /// The time of the event under way.
  var now: Timestamp = 0

  // Empty between events.
  var effects: [Effect] = []
  /// Accesses that got a new reason to wait in this event, and so may have closed a cycle.
  var suspects: [AccessID] = []

  /// How many callbacks of one presenter may be nested by serving it while its own callback waits.
  package static let callbackNestingMax = 8
  /// How many told (not asked) messages may wait for one presenter before further ones are folded into one.
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

  /// Creates an arbiter that knows nobody.
  ///
  /// - Parameters:
  ///   - packageExtensions: Directories with one of these extensions are packages.
  ///   - fingerprintSeed: Makes the fingerprints of the paths those of this process.
  ///   - tracksInterest: Keeps a journal for ``takeInterestChanges()``, which then has to be called regularly.
  package init(packageExtensions: [String] = [], fingerprintSeed: UInt64 = 0, tracksInterest: Bool = false) {
    tree = ItemTree(
      packageExtensions: packageExtensions, fingerprintSeed: fingerprintSeed, tracksInterest: tracksInterest)
  }

  /// One participant.
  struct Client: Hashable, Sendable {
    var name: String
    /// Live accesses and presenters of it.
    var references = 0
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
}

extension FileAccessArbiter {
  /// One access as long as it lives.
  struct Access: Sendable {
    /// See the table at ``FileAccessArbiter``.
    enum Phase: Hashable, Sendable { case waiting, asking, ready, granted }

    struct Item: Sendable {
      let access: ItemAccess
      /// Where the item is now.
      var path: ItemPath
      /// Absent for preparations, which claim nothing.
      var claim: ItemTree.ClaimIndex?
      /// Another access moved it, so that it may stand among those it was granted before.
      var wasMoved = false
      var wasReplaced = false
      /// Its place was taken by a move that this access announced: the move messages say so already.
      var wasMoveDestination = false
      /// Where the item was before moves that this access announced; still protected until it ends.
      var formerClaims: [ItemTree.ClaimIndex] = []
    }

    /// What one presenter still has to answer.
    struct Negotiation: Sendable {
      let presenter: PresenterID
      /// In reverse order: the next is the last.
      var remaining: [Message.Kind]
      var outstanding: MessageID?
    }

    /// The reacquirer that came with the answer to `message`.
    struct Debt: Sendable {
      let message: MessageID
      let presenter: PresenterID
    }

    let id: AccessID
    let sequence: UInt64
    let request: AccessRequest
    var items: [Item]
    /// What the request was made inside of, innermost first.
    let lineage: [ExecutionContext]
    var phase = Phase.waiting
    var phaseSince: Timestamp
    let requestedAt: Timestamp
    /// Live accesses requested inside the accessor.
    var children: [AccessID] = []
    /// Earlier accesses that this one may pass, each because waiting for it would be a deadlock or by save priority.
    var overtakes: [AccessID] = []
    /// Some access may pass this one: the order of requests doesn't tell everything about who is in its way.
    var isOvertaken = false
    /// One access that is in this one's way; when it ends this one is looked at again.
    var parkedOn: AccessID?
    /// Accesses that are parked on this one.
    var parked: [AccessID] = []
    var negotiations: [Negotiation] = []
    /// Reacquirers owed to presenters that relinquished for this access.
    var debts: [Debt] = []
    /// A move announced by this or another access put it where a conflicting access was granted already.
    var overlapsByMove = false
    var unanswered: [String] = []
    var timerGeneration: UInt32 = 0
    var armedTimer: ArbiterTimer.Purpose?

    var owesAnswers: Bool { negotiations.contains { $0.outstanding != nil } }
    var isWaiting: Bool { phase != .granted }
  }

  /// A move on its way to a presenter.
  struct UnseenMove: Hashable, Sendable {
    let message: MessageID
    let old: ItemPath
    let new: ItemPath
  }

  /// One registered presenter.
  struct Presenter: Sendable {
    let id: PresenterID
    let client: ClientID
    let purpose: PurposeID
    let label: String
    let callbacks: PresenterCallbacks
    var observedUbiquityAttributes: Set<String>?
    /// May be asked while its own callback waits inside an access.
    let servesWhileWaiting: Bool
    /// Runs on an executor that a blocked callback occupies.
    let isActor: Bool
    /// Absent while the presented item has no location (a document that was never saved).
    var node: ItemTree.NodeIndex?
    /// Delivered and not answered: the callback, and above it those served while it waits.
    var running: [MessageID] = []
    /// Enqueued and not delivered, in order.
    var pending: [MessageID] = []
    /// Moves of its item that it hasn't been told of to the end: until then it goes by its former location.
    var unseenMoves: [UnseenMove] = []
    /// Messages folded since the last delivery.
    var folded = 0
    /// Reacquirers that it handed over and that wait for an access to end.
    var reacquirersOwed = 0
    /// Live accesses made on its behalf.
    var ownAccesses: [AccessID] = []
    /// Unregistered; lives on only to give back reacquirers.
    var isRemoved = false
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
}
