internal import CompactContainers

/// An order to the host.
///
/// Effects are carried out in the order in which they are returned.
package enum Effect: Sendable {
  /// The access is granted: run its accessor, then tell `accessReleased`.
  case grant(AccessID, Grant)
  /// The access has ended without having been granted. Nothing is left of it.
  case fail(AccessID, Failure)
  /// Run the presenter's callback, then tell `messageAnswered`, `messageFailed` or, when it's gone, `presenterRemoved`.
  case deliver(Delivery)
  /// An item of a granted access was moved: its accessor sees the new path from now on.
  case itemMoved(AccessID, item: Int, to: ItemPath)
  /// The presented item was moved: the presenter's location is the new path from now on.
  case presenterMoved(PresenterID, to: ItemPath)
  /// Ask a presenter without a location for its URL again and tell `presenterLocated` when it has one (C-121).
  case locatePresenter(PresenterID)
  /// Nothing will be delivered to this presenter any more.
  case forgetPresenter(PresenterID)
  /// Tell `timerFired` when the time is over, unless the timer is cancelled first.
  case armTimer(ArbiterTimer, after: Nanoseconds)
  case cancelTimer(ArbiterTimer)
  /// A wait has lasted for its reporting interval.
  case report(AccessID, WaitReport)
  /// Ask for this delegation back: somebody waits for it. Said again when somebody else does.
  case delegationWanted(AccessID)
  /// A write has ended: the process is to tell what its queue of changes holds by now, and then `echoSettled`.
  case settle(ClientID, EchoID)
  /// No coordinated write accounts for this change: the process is to see whether it lasts, and to tell `changesConfirmed`.
  case lookAgain(ClientID, ItemChange)
}

/// One of the deadlines of one access.
package struct ArbiterTimer: Hashable, Sendable {
  package enum Purpose: Int, Hashable, Sendable {
    case waiting, answering, reporting
    /// Somebody's queue may not have begun a question that nobody knows whether it'll be answered.
    case beginning
  }
  package let access: AccessID
  package let purpose: Purpose
  /// Tells a timer of this phase from one of an earlier phase that fired too late to be cancelled.
  let generation: UInt32
}

/// What the accessor of a granted access has to know.
package struct Grant: Hashable, Sendable {
  package struct Item: Hashable, Sendable {
    package var path: ItemPath
    /// The item was moved while the access waited.
    package var wasMoved: Bool
    /// Another access replaced or deleted what was at the path while this one waited.
    package var wasReplaced: Bool

    package init(path: ItemPath, wasMoved: Bool, wasReplaced: Bool) {
      self.path = path
      self.wasMoved = wasMoved
      self.wasReplaced = wasReplaced
    }
  }
  /// One entry per requested item when anything happened to one of them during the wait, else empty.
  package var items: [Item] = []
  /// Somebody will be told what a write did: look at the items before the accessor and after it.
  package var wantsOutcome = false
  /// Presenters that did not answer in time and were passed over.
  package var unanswered: [String] = []

  package init(items: [Item] = [], wantsOutcome: Bool = false, unanswered: [String]) {
    self.items = items
    self.wantsOutcome = wantsOutcome
    self.unanswered = unanswered
  }

  /// Of an access that nobody was asked about.
  package init() {}
}

package struct Delivery: Hashable, Sendable {
  package let message: MessageID
  package let presenter: PresenterID
  package let kind: Message.Kind
  package let origin: Message.Origin
  /// The presenter's own callback is under way and waits inside an access.
  package let isReentrant: Bool

  package init(
    message: MessageID, presenter: PresenterID, kind: Message.Kind, origin: Message.Origin, isReentrant: Bool
  ) {
    self.message = message
    self.presenter = presenter
    self.kind = kind
    self.origin = origin
    self.isReentrant = isReentrant
  }
}

/// Why an access ended without a grant.
package enum Failure: Hashable, Sendable {
  case cancelled
  /// No grant in time; `blockers` are in the way.
  case timedOut(waiting: Nanoseconds, blockers: [WaitMember])
  /// Presenters did not answer in time; `followers` wait for this access, and a callback may be waiting for one of them.
  case unanswered(waiting: Nanoseconds, blockers: [WaitMember], followers: [WaitMember])
  /// A presenter answered with an error; the host knows it by the message.
  case presenterFailed(MessageID, MessageSummary)
  /// A presenter keeps the item from being evicted: it doesn't implement the callback, or answered and stayed registered.
  case evictionRefused(presenterLabel: String, isCallbackMissing: Bool)
  /// The access was part of a cycle that nothing could resolve. The first member is the failed access.
  case deadlock([WaitMember])
}

/// What a write did to an item, as far as the host could see.
package enum ItemOutcome: Hashable, Sendable, CaseIterable {
  /// Nobody looked.
  case unknown
  /// Size, date and identity are as before.
  case untouched
  /// The same, and the accessor failed: it meant to do something and didn't, so there's nothing to look at.
  case abandoned
  case changed
  /// There was nothing before.
  case appeared
  /// There is nothing any more.
  case vanished
}
