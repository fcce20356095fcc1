package import FileAccessArbiter

/// One event for an arbiter as a value, so that it can travel between processes.
///
/// The method of `FileAccessArbiter` of the same name explains each case.
package enum ArbiterEvent: Hashable, Sendable {
  case accessRequested(AccessID, AccessRequest)
  /// Was granted under a delegation, which the receiver still counts as held.
  case accessAdopted(AccessID, AccessRequest)
  case accessReleased(AccessID, [ItemOutcome])
  case accessCancelled(AccessID)
  case presenterAdded(PresenterID, PresenterRegistration)
  case presenterLocated(PresenterID, ItemPath, observing: Set<String>?)
  case presenterRelabelled(PresenterID, String)
  case presenterRemoved(PresenterID)
  case messageAnswered(MessageID, hasReacquirer: Bool)
  /// A relinquish message was answered, and the presenter is being asked to save since, as was announced with the message.
  case relinquished(MessageID, hasReacquirer: Bool)
  /// The callback has returned, and its completion handler will answer.
  case callbackReturned(MessageID)
  /// The presenter's queue has begun to run the callback.
  case callbackBegan(MessageID)
  /// The callbacks that the presenter implements are known better than before.
  case presenterLearned(PresenterID, PresenterCallbacks)
  case messageFailed(MessageID, explanation: PresenterFailure)
  case ubiquityAttributesChanged(Announcement, Set<String>)
  case versionChanged(Announcement, Message.VersionChange, String)
  case changesSeen(ClientID, [ItemChange])
  case changesConfirmed(ClientID, [ItemChange])
  case echoEnded(ClientID, EchoID)
}

/// A presenter's answer when it didn't comply, in the form that other processes receive.
package struct PresenterFailure: Hashable, Sendable {
  /// The code of the library's error, if it is one; else empty.
  package var code: String
  package var text: String
  /// The cycle, if a deadlock kept the presenter itself from complying.
  package var deadlock: [WaitMember]

  package init(code: String = "", text: String, deadlock: [WaitMember] = []) {
    self.code = code
    self.text = text
    self.deadlock = deadlock
  }
}
