internal import CompactContainers

/// One message to one presenter.
package struct Message: TableElement {
  /// The question, the notification, or the reacquirer.
  package enum Kind: Hashable, Sendable {
    // Questions: an access waits for the answer.
    case relinquishToReader
    case relinquishToWriter
    case saveChanges
    case accommodateDeletion
    case accommodateEviction
    case accommodateSubitemDeletion(ItemPath)
    // Given back: the reacquirer that came with the answer to the named relinquish message.
    case reacquire(MessageID)
    // Notifications: no access waits.
    case itemDidChange
    case itemDidMove(to: ItemPath)
    case itemDidChangeUbiquityAttributes([String])
    case itemVersion(VersionChange, String)
    case subitemDidAppear(ItemPath)
    case subitemDidChange(ItemPath)
    case subitemDidMove(from: ItemPath, to: ItemPath)
    case subitemVersion(ItemPath, VersionChange, String)
  }

  /// A change of a version of an item.
  package enum VersionChange: String, Hashable, Sendable, CaseIterable { case gained, lost, resolved }

  /// The party that caused the message.
  package struct Origin: Hashable, Sendable {
    package var access: AccessID?
    package var client: ClientID
    package var purpose: PurposeID
    package var label: String
    /// The use of the item by the causing access, as far as it concerns this presenter.
    package var itemAccess: ItemAccess?
    /// The options of the access's reads, as its requester gave them.
    package var readingOptions: UInt = 0
    package var isPreparation = false
    /// Whether size, date or identity are known to have changed; `nil` when they weren't compared.
    package var verified: Bool?
    /// Messages to this presenter that were folded into others because it had too many waiting.
    package var folded = 0
    /// Done by a program that doesn't coordinate, and seen in the file system.
    package var isUncoordinated = false
    /// The access went on without this presenter's answer, because its queue didn't begin a question in time.
    package var wasPassedOver = false

    package init(
      access: AccessID? = nil, client: ClientID, purpose: PurposeID, label: String, itemAccess: ItemAccess? = nil,
      readingOptions: UInt = 0, isPreparation: Bool = false, verified: Bool? = nil, folded: Int = 0
    ) {
      self.access = access
      self.client = client
      self.purpose = purpose
      self.label = label
      self.itemAccess = itemAccess
      self.readingOptions = readingOptions
      self.isPreparation = isPreparation
      self.verified = verified
      self.folded = folded
    }
  }

  enum State: Hashable, Sendable {
    /// In the mailbox. Ends by delivery or, when no access waits for it any more, by withdrawal.
    case pending
    /// The presenter's callback runs. Ends by `messageAnswered`, `messageFailed` or `callbackReturned`.
    case running(isReentrant: Bool)
    /// The callback has returned, and its completion handler will answer. Ends by `messageAnswered` or `messageFailed`.
    case returned
  }

  let id: MessageID
  let presenter: PresenterID
  let kind: Kind
  var origin: Origin
  var state: State = .pending
  /// The access that waits for the answer; `nil` when none does, or not any more.
  var awaitingAccess: AccessID?
  /// Live accesses that were requested inside the callback.
  var children: [AccessID] = []
  /// The sequence number of the newest access when it was delivered.
  var deliverySequence: UInt64 = 0
  var since: Timestamp
  /// The presenter's queue has begun to run it; only reported for questions by presumed callbacks.
  var hasBegun = false
  var link: Int32 = -1
  /// Its position among the negotiations of the access that waits for the answer.
  var negotiation: Int32 = -1
  /// The number of the question to save that was announced with it.
  var announcedSave: MessageID?
  /// The presenter's process has it already, and begins it when the presenter's callback is over.
  var wasSentAhead = false
}

extension Message {
  /// Whether the presenter has it and hasn't answered.
  var isUnanswered: Bool { state != .pending }

  /// The presenter gets it, after `folded` others were left out.
  mutating func noteDelivery(isReentrant: Bool, folding folded: Int, after sequence: UInt64, at time: Timestamp) {
    state = .running(isReentrant: isReentrant)
    since = time
    deliverySequence = sequence
    origin.folded = folded
  }

  /// The order to deliver it.
  func delivery(above callback: MessageID?) -> Delivery {
    Delivery(
      message: id, presenter: presenter, kind: kind, origin: origin, above: callback, announcing: announcedSave,
      ahead: wasSentAhead)
  }
}

extension Message.Kind {
  /// Whether an access waits for the answer, and the presenter may be asked while its own callback waits.
  package var mustBeAnswered: Bool {
    switch self {
    case .relinquishToReader, .relinquishToWriter, .saveChanges, .accommodateDeletion, .accommodateEviction,
      .accommodateSubitemDeletion:
      true
    case .reacquire, .itemDidChange, .itemDidMove, .itemDidChangeUbiquityAttributes, .itemVersion, .subitemDidAppear,
      .subitemDidChange, .subitemDidMove, .subitemVersion:
      false
    }
  }

  /// Whether presenters answer it by saving, or may: such a question isn't put into the middle of a save.
  var mayNeedSave: Bool { mustBeAnswered && !isRelinquish }

  /// How long an access waits for a queue to begin this, if it's unknown whether the presenter has the callback.
  ///
  /// `nil` for messages that are waited for in any case.
  package var patience: Nanoseconds? {
    switch self {
    case .relinquishToReader, .relinquishToWriter: 1_000_000_000
    case .saveChanges, .accommodateDeletion, .accommodateSubitemDeletion: 5_000_000_000
    case .accommodateEviction, .reacquire, .itemDidChange, .itemDidMove, .itemDidChangeUbiquityAttributes,
      .itemVersion, .subitemDidAppear, .subitemDidChange, .subitemDidMove, .subitemVersion:
      nil
    }
  }

  package var isRelinquish: Bool { self == .relinquishToReader || self == .relinquishToWriter }

  /// The callback that a presenter must have declared to be sent this.
  var requiredCallback: PresenterCallbacks {
    switch self {
    case .relinquishToReader: .relinquishToReader
    case .relinquishToWriter: .relinquishToWriter
    case .saveChanges: .saveChanges
    case .accommodateDeletion: .accommodateDeletion
    case .accommodateEviction: .accommodateEviction
    case .accommodateSubitemDeletion: .accommodateSubitemDeletion
    case .reacquire: []
    case .itemDidChange: .itemDidChange
    case .itemDidMove: .itemDidMove
    case .itemDidChangeUbiquityAttributes: .itemDidChangeUbiquityAttributes
    case .itemVersion: .itemVersions
    case .subitemDidAppear: .subitemDidAppear
    case .subitemDidChange: .subitemDidChange
    case .subitemDidMove: .subitemDidMove
    case .subitemVersion: .subitemVersions
    }
  }

  /// The name of the callback, for reports.
  package var callbackName: String {
    switch self {
    case .relinquishToReader: "relinquishPresentedItem(toReader:)"
    case .relinquishToWriter: "relinquishPresentedItem(toWriter:)"
    case .saveChanges: "savePresentedItemChanges"
    case .accommodateDeletion: "accommodatePresentedItemDeletion"
    case .accommodateEviction: "accommodatePresentedItemEviction"
    case .accommodateSubitemDeletion: "accommodatePresentedSubitemDeletion"
    case .reacquire: "reacquirer"
    case .itemDidChange: "presentedItemDidChange"
    case .itemDidMove: "presentedItemDidMove"
    case .itemDidChangeUbiquityAttributes: "presentedItemDidChangeUbiquityAttributes"
    case .itemVersion: "presentedItemDidChangeVersions"
    case .subitemDidAppear: "presentedSubitemDidAppear"
    case .subitemDidChange: "presentedSubitemDidChange"
    case .subitemDidMove: "presentedSubitem(didMoveTo:)"
    case .subitemVersion: "presentedSubitemDidChangeVersions"
    }
  }
}
