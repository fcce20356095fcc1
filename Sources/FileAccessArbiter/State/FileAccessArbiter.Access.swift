internal import CompactContainers

extension FileAccessArbiter {
  /// One access as long as it lives.
  ///
  /// There may be a million that are granted and do nothing but hold their claims. So data that most of them don't need
  /// lies in ``Details``, which an access has only while it needs them.
  struct Access: TableElement {
    /// See the table at ``FileAccessArbiter``.
    enum Phase: Hashable, Sendable { case waiting, asking, ready, granted }

    struct Item: Sendable {
      /// The events of its wait, for its accessor and for notified presenters.
      struct Marks: OptionSet, Hashable, Sendable {
        let rawValue: UInt8
        /// Another access moved it, so that it may stand among those it was granted before.
        static let moved = Self(rawValue: 1 << 0)
        static let replaced = Self(rawValue: 1 << 1)
        /// Its place was taken by a move that this access announced: the move messages say so already.
        static let moveDestination = Self(rawValue: 1 << 2)
        /// It isn't a file's path: claimed like others, and that's all.
        static let alias = Self(rawValue: 1 << 3)
      }

      /// Its claim, which has its place, or ``ItemTree/none`` for preparations, which claim nothing.
      var claim: ItemTree.ClaimIndex
      let access: ItemAccess
      var marks: Marks = []

      var wasMoved: Bool { marks.contains(.moved) }
      var wasReplaced: Bool { marks.contains(.replaced) }
      var wasMoveDestination: Bool { marks.contains(.moveDestination) }
      var isAlias: Bool { marks.contains(.alias) }
    }

    struct Traits: OptionSet, Hashable, Sendable {
      let rawValue: UInt16
      static let isPreparation = Self(rawValue: 1 << 0)
      static let isAwaitedByContext = Self(rawValue: 1 << 1)
      static let blocksThread = Self(rawValue: 1 << 2)
      static let isOnMainThread = Self(rawValue: 1 << 3)
      static let proceedsWithoutLateAnswers = Self(rawValue: 1 << 4)
      /// Some access may pass this one: the order of requests alone doesn't show which accesses are in its way.
      static let isOvertaken = Self(rawValue: 1 << 5)
      /// A move announced by this or another access put it where a conflicting access was granted already.
      static let overlapsByMove = Self(rawValue: 1 << 6)
      /// It was granted elsewhere, before some that wait here and were first here.
      static let wasGrantedElsewhere = Self(rawValue: 1 << 7)
      /// It has gone ahead of one that had passed it, and isn't passed by that one again.
      static let tookBackPass = Self(rawValue: 1 << 8)
    }

    let id: AccessID
    let sequence: UInt64
    let client: ClientID
    let purpose: PurposeID
    let label: String
    let requestedAt: Timestamp
    var phaseSince: Timestamp
    private var details: [Details] = []
    // Small things last, so that they share a word.
    var items: ShortList<Item>
    var phase: Phase
    var traits: Traits
    var link: Int32 = -1

    init(
      _ id: AccessID, _ request: AccessRequest, sequence: UInt64, _ items: ShortList<Item>,
      lineage: [ExecutionContext], _ phase: Phase, at time: Timestamp
    ) {
      self.id = id
      self.sequence = sequence
      self.items = items
      self.phase = phase
      client = request.client
      purpose = request.purpose
      label = request.label
      requestedAt = time
      phaseSince = time
      traits = Traits(request)
      if request.ownPresenter == nil, request.presenterAround == nil, lineage.isEmpty, request.readingOptions == 0 {
        return
      }
      details = [
        Details(
          ownPresenter: request.ownPresenter, presenterAround: request.presenterAround, lineage: lineage,
          readingOptions: request.readingOptions)
      ]
    }
  }
}

extension FileAccessArbiter.Access.Traits {
  fileprivate init(_ request: AccessRequest) {
    self = []
    if request.isPreparation { insert(.isPreparation) }
    if request.isAwaitedByContext { insert(.isAwaitedByContext) }
    if request.blocksThread { insert(.blocksThread) }
    if request.isOnMainThread { insert(.isOnMainThread) }
    if request.proceedsWithoutLateAnswers { insert(.proceedsWithoutLateAnswers) }
  }
}

// MARK: - Data that few accesses need

extension FileAccessArbiter.Access {
  /// The questions that one presenter still has to answer.
  struct Negotiation: Sendable {
    let presenter: PresenterID
    var remaining: MessageRules.Questions
    var outstanding: MessageID?
    /// When it was asked first; if the process stood still since, the end of that.
    var since: Timestamp
  }

  /// The reacquirer that came with the answer to `message`.
  struct Debt: Hashable, Sendable {
    let message: MessageID
    let presenter: PresenterID
  }

  /// A presenter that a preparation did without.
  struct PassedOver: Sendable {
    let presenter: PresenterID
    /// The presenter, and the question that it didn't answer.
    let text: String
  }

  /// A place that the item had before a move that this access announced; still protected until it ends.
  struct FormerClaim: Sendable {
    let item: Int
    let claim: ItemTree.ClaimIndex
  }

  fileprivate struct Details: Sendable {
    var ownPresenter: PresenterID?
    var presenterAround: PresenterID?
    var lineage: [ExecutionContext] = []
    var readingOptions: UInt = 0
    var limits = AccessRequest.Limits.never
    var preparedPaths: [ItemPath] = []
    var children: [AccessID] = []
    var overtakes: [AccessID] = []
    var parkedOn: AccessID?
    var parked: [AccessID] = []
    var negotiations: [Negotiation] = []
    /// How many of them have a question outstanding.
    var owedCount = 0
    var debts: ShortList<Debt> = []
    var formerClaims: [FormerClaim] = []
    var unanswered: [String] = []
    var passedOver: [PassedOver] = []
    var absentPresenters: [PresenterID] = []
    var heldMoves: [PresenterID] = []
    var beginningDue: Timestamp?
    var timerGeneration: UInt32 = 0
    var armedTimer: ArbiterTimer.Purpose?

    /// Whether a granted access can do without.
    var isUseless: Bool {
      ownPresenter == nil && presenterAround == nil && lineage.isEmpty && readingOptions == 0
        && preparedPaths.isEmpty && children.isEmpty && overtakes.isEmpty && parked.isEmpty && negotiations.isEmpty
        && debts.isEmpty && formerClaims.isEmpty && passedOver.isEmpty && absentPresenters.isEmpty && heldMoves.isEmpty
    }

    /// Room for more negotiations isn't kept.
    private static let keptNegotiationCountMax = 64

    mutating func forgetNegotiations() {
      negotiations.removeAll(keepingCapacity: negotiations.capacity <= Self.keptNegotiationCountMax)
    }

    /// As new, but for the room in its lists.
    mutating func clear() {
      forgetNegotiations()
      let room = exchange(&negotiations, with: [])
      self = Details()
      negotiations = room
    }
  }

  /// The memory of details that an access doesn't need any more, for the next one that needs some.
  struct SpareDetails: Sendable { fileprivate var list: [Details] }

  /// Forgets data that only a wait needs.
  ///
  /// - Returns: The memory of the details, if none are left.
  mutating func dropDetailsOfWait() -> SpareDetails? {
    if details.isEmpty { return nil }
    details[0].limits = .never
    details[0].unanswered = []
    if !owesAnswers { details[0].forgetNegotiations() }
    return details[0].isUseless ? takeDetails() : nil
  }

  /// Leaves no details behind.
  mutating func takeDetails() -> SpareDetails? {
    if details.isEmpty { return nil }
    var list = exchange(&details, with: [])
    list[0].clear()
    return SpareDetails(list: list)
  }

  var hasDetails: Bool { !details.isEmpty }

  /// Gives an access without details memory for them.
  mutating func provide(_ spare: SpareDetails) { details = spare.list }

  private mutating func needDetails() { if details.isEmpty { details.append(Details()) } }

  /// Made on behalf of this presenter.
  var ownPresenter: PresenterID? {
    get { details.isEmpty ? nil : details[0].ownPresenter }
    _modify {
      needDetails()
      yield &details[0].ownPresenter
    }
  }

  /// The presenters that may wait for this access while they're asked something: no list where there's none.
  var waitingPresenters: ShortList<PresenterID> {
    var result = ShortList<PresenterID>()
    if details.isEmpty { return result }
    if let own = details[0].ownPresenter { result.append(own) }
    if let around = details[0].presenterAround, around != details[0].ownPresenter { result.append(around) }
    return result
  }

  /// The surroundings in which the request was made, innermost first.
  var lineage: [ExecutionContext] { details.isEmpty ? [] : details[0].lineage }

  var readingOptions: UInt { details.isEmpty ? 0 : details[0].readingOptions }

  /// Only while it waits.
  var limits: AccessRequest.Limits {
    get { details.isEmpty ? .never : details[0].limits }
    _modify {
      needDetails()
      yield &details[0].limits
    }
  }

  /// Where the items of a preparation are, which has no claims there.
  var preparedPaths: [ItemPath] {
    get { details.isEmpty ? [] : details[0].preparedPaths }
    _modify {
      needDetails()
      yield &details[0].preparedPaths
    }
  }

  /// Live accesses requested inside the accessor.
  var children: [AccessID] {
    get { details.isEmpty ? [] : details[0].children }
    _modify {
      needDetails()
      yield &details[0].children
    }
  }

  /// Earlier accesses that this one may pass, each because waiting for it would be a deadlock or by save priority.
  var overtakes: [AccessID] {
    get { details.isEmpty ? [] : details[0].overtakes }
    _modify {
      needDetails()
      yield &details[0].overtakes
    }
  }

  /// One access that is in this one's way; when it ends this one is examined again.
  var parkedOn: AccessID? {
    get { details.isEmpty ? nil : details[0].parkedOn }
    _modify {
      needDetails()
      yield &details[0].parkedOn
    }
  }

  /// Accesses that are parked on this one.
  var parked: [AccessID] {
    get { details.isEmpty ? [] : details[0].parked }
    _modify {
      needDetails()
      yield &details[0].parked
    }
  }

  var negotiations: [Negotiation] {
    get { details.isEmpty ? [] : details[0].negotiations }
    _modify {
      needDetails()
      yield &details[0].negotiations
    }
  }

  var negotiationCount: Int { details.isEmpty ? 0 : details[0].negotiations.count }

  /// The negotiation that a message belongs to, if its answer is still awaited.
  func indexOfNegotiation(_ message: Message) -> Int? {
    let index = Int(message.negotiation)
    let isAwaited = index >= 0 && index < negotiationCount && details[0].negotiations[index].outstanding == message.id
    return isAwaited ? index : nil
  }

  /// Takes the next question to a presenter.
  mutating func nextQuestion(at index: Int) -> Message.Kind? { details[0].negotiations[index].remaining.takeNext() }

  /// Records the question to a presenter, or that it isn't asked anything.
  mutating func setOutstanding(_ message: MessageID?, at index: Int) {
    let old = details[0].negotiations[index].outstanding
    details[0].negotiations[index].outstanding = message
    details[0].owedCount += (message == nil ? 0 : 1) - (old == nil ? 0 : 1)
  }

  /// Reacquirers owed to presenters that relinquished for this access.
  var debts: ShortList<Debt> {
    get { details.isEmpty ? [] : details[0].debts }
    _modify {
      needDetails()
      yield &details[0].debts
    }
  }

  var formerClaims: [FormerClaim] {
    get { details.isEmpty ? [] : details[0].formerClaims }
    _modify {
      needDetails()
      yield &details[0].formerClaims
    }
  }

  /// Presenters that were passed over, for people.
  var unanswered: [String] {
    get { details.isEmpty ? [] : details[0].unanswered }
    _modify {
      needDetails()
      yield &details[0].unanswered
    }
  }

  /// Presenters that a preparation did without, for the accesses inside it.
  var passedOver: [PassedOver] {
    get { details.isEmpty ? [] : details[0].passedOver }
    _modify {
      needDetails()
      yield &details[0].passedOver
    }
  }

  /// Presenters whose queues didn't begin a question in time, for their notifications about this access.
  var absentPresenters: [PresenterID] {
    get { details.isEmpty ? [] : details[0].absentPresenters }
    _modify {
      needDetails()
      yield &details[0].absentPresenters
    }
  }

  /// Presenters that hear of a move which this access announced when it has ended.
  var heldMoves: [PresenterID] {
    get { details.isEmpty ? [] : details[0].heldMoves }
    _modify {
      needDetails()
      yield &details[0].heldMoves
    }
  }

  /// When the next question is too old for not having begun, if a timer is armed for that.
  var beginningDue: Timestamp? {
    get { details.isEmpty ? nil : details[0].beginningDue }
    _modify {
      needDetails()
      yield &details[0].beginningDue
    }
  }

  var timerGeneration: UInt32 {
    get { details.isEmpty ? 0 : details[0].timerGeneration }
    _modify {
      needDetails()
      yield &details[0].timerGeneration
    }
  }

  var armedTimer: ArbiterTimer.Purpose? {
    get { details.isEmpty ? nil : details[0].armedTimer }
    _modify {
      needDetails()
      yield &details[0].armedTimer
    }
  }

  /// Whether no timer is armed for it.
  var hasNoTimer: Bool { details.isEmpty || details[0].armedTimer == nil && details[0].beginningDue == nil }

  var owesAnswers: Bool { !details.isEmpty && details[0].owedCount > 0 }
  var isWaiting: Bool { phase != .granted }
  var isPreparation: Bool { traits.contains(.isPreparation) }

  /// Whether the surroundings it was requested in certainly wait for it.
  var isAwaitedByContext: Bool { traits.contains(.isAwaitedByContext) }

  func hasFormerClaims(of item: Int) -> Bool {
    !details.isEmpty && details[0].formerClaims.contains { $0.item == item }
  }

  /// Whether it was requested inside of another access, or of one that was.
  ///
  /// Behind an access in a lineage comes that access's own lineage, so its place is known; an access that wasn't in the
  /// arbiter when the lineage was made is the end of it.
  ///
  /// - Complexity: O(1).
  func isInside(_ outer: FileAccessArbiter.Access) -> Bool {
    guard let lineage = details.first?.lineage, !lineage.isEmpty else { return false }
    let context = ExecutionContext.access(outer.id)
    let place = lineage.count - 1 - (outer.details.first?.lineage.count ?? 0)
    return place >= 0 && lineage[place] == context || lineage[lineage.count - 1] == context
  }
}
