/// An order to the host.
///
/// Effects are carried out in the order in which they are returned.
package enum Effect: Sendable {
  /// The access is granted: run its accessor, then call `accessReleased`.
  case grant(AccessID, Grant)
  /// The access has ended without having been granted. Nothing is left of it.
  case fail(AccessID, Failure)
  /// The question to save that was announced with this message of the presenter isn't needed any more.
  case withdrawSave(PresenterID, announcedBy: MessageID)
  /// Run the presenter's callback, then call `messageAnswered`, `messageFailed` or, when it's gone, `presenterRemoved`.
  case deliver(Delivery)
  /// An item of a granted access was moved: its accessor sees the new path from now on.
  case itemMoved(AccessID, item: Int, to: ItemPath)
  /// The presented item was moved: the presenter's location is the new path from now on.
  case presenterMoved(PresenterID, to: ItemPath)
  /// Ask a presenter without a location for its URL again and call `presenterLocated` when it has one (C-121).
  case locatePresenter(PresenterID)
  /// Nothing will be delivered to this presenter any more.
  case forgetPresenter(PresenterID)
  /// Call `timerFired` when the time is over, unless the timer is cancelled first.
  case armTimer(ArbiterTimer, after: Nanoseconds)
  case cancelTimer(ArbiterTimer)
  /// A wait has lasted for its reporting interval.
  case report(AccessID, WaitReport)
  /// Recall this delegation: an access waits for it. Repeated when another one does.
  case delegationWanted(AccessID)
  /// A write has ended: the process is to report the changes in its queue by now, and then to call `echoEnded`.
  case endEcho(ClientID, EchoID)
  /// No coordinated write accounts for this change: the process is to check whether it lasts, and to call
  /// `changesConfirmed`.
  case verifyAgain(ClientID, ItemChange)
}

/// One of the deadlines of one access.
package struct ArbiterTimer: Hashable, Sendable {
  package enum Purpose: Int, Hashable, Sendable {
    case waiting, answering, reporting
    /// A question by a presumed callback may not have begun in the presenter's queue.
    case beginning
  }
  package let access: AccessID
  package let purpose: Purpose
  /// Distinguishes a timer of this phase from one of an earlier phase that fired too late to be cancelled.
  let generation: UInt32
}

/// The data that the accessor of a granted access needs.
package struct Grant: Hashable, Sendable {
  package struct Item: Hashable, Sendable {
    package var path: ItemPath
    /// The item was moved while the access waited.
    package var wasMoved: Bool
    /// Another access replaced or deleted the item at the path while this one waited.
    package var wasReplaced: Bool

    package init(path: ItemPath, wasMoved: Bool, wasReplaced: Bool) {
      self.path = path
      self.wasMoved = wasMoved
      self.wasReplaced = wasReplaced
    }
  }
  /// One entry per requested item when any of them was moved or replaced during the wait, else empty.
  package var items: [Item] = []
  /// The result of a write will be reported: inspect the items before the accessor and after it.
  package var wantsOutcome = false
  /// Presenters that did not answer in time and were passed over.
  package var unanswered: [String] = []

  package init(items: [Item] = [], wantsOutcome: Bool = false, unanswered: [String]) {
    self.items = items
    self.wantsOutcome = wantsOutcome
    self.unanswered = unanswered
  }

  /// For an access about which no presenter was asked.
  package init() {}
}

package struct Delivery: Hashable, Sendable {
  package let message: MessageID
  package let presenter: PresenterID
  package let kind: Message.Kind
  package let origin: Message.Origin
  /// The presenter's own callback that is under way and waits inside an access.
  package var above: MessageID?
  /// The question to save that comes next: a process that answers begins with it at once, and reports that by
  /// `relinquished`, instead of waiting for another message.
  package let announcedSave: MessageID?
  /// The message was sent before its turn: the process begins it when no callback of the presenter runs any more, or when it's
  /// delivered once more, above a callback.
  package let isAhead: Bool

  package var isReentrant: Bool { above != nil }

  package init(
    message: MessageID, presenter: PresenterID, kind: Message.Kind, origin: Message.Origin, above: MessageID? = nil,
    announcing announcedSave: MessageID? = nil, ahead isAhead: Bool = false
  ) {
    self.message = message
    self.presenter = presenter
    self.kind = kind
    self.origin = origin
    self.above = above
    self.announcedSave = announcedSave
    self.isAhead = isAhead
  }
}

/// Why an access ended without a grant.
package enum Failure: Hashable, Sendable {
  case cancelled
  /// No grant in time; `blockers` are in the way.
  case timedOut(waiting: Nanoseconds, blockers: [WaitMember])
  /// Presenters did not answer in time; `followers` wait for this access, and a callback may be waiting for one of them.
  case unanswered(waiting: Nanoseconds, blockers: [WaitMember], followers: [WaitMember])
  /// A presenter answered with an error; the host finds it by the message.
  case presenterFailed(MessageID, MessageSummary)
  /// A presenter keeps the item from being evicted: it doesn't implement the callback, or answered and stayed registered.
  case evictionRefused(presenterLabel: String, isCallbackMissing: Bool)
  /// The access was part of a cycle that nothing could resolve. The first member is the failed access.
  case deadlock([WaitMember])
  /// The access of another process has ended that the requesting process belongs to.
  case outerAccessEnded
  /// It's nested in as many accesses as may be, those of other processes included. No arbiter says so, but a service.
  case nestedTooDeep(limit: Int)
}

/// The result of a write for an item, as far as the host could see.
package enum ItemOutcome: Hashable, Sendable, CaseIterable {
  /// The item wasn't inspected.
  case unknown
  /// Size, date and identity are as before.
  case untouched
  /// The same, and the accessor failed: it meant to change something and didn't, so there's nothing to notice.
  case abandoned
  case changed
  /// There was nothing before.
  case appeared
  /// There is nothing any more.
  case vanished
}
