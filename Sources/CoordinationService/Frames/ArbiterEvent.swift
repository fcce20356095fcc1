package import FileAccessArbiter

/// One event for an arbiter as a value, so that it can travel between processes.
///
/// What each means is told by the method of `FileAccessArbiter` of that name.
package enum ArbiterEvent: Hashable, Sendable {
  case accessRequested(AccessID, AccessRequest)
  /// Was granted under a delegation, which the receiver still counts as held.
  case accessAdopted(AccessID, AccessRequest)
  case accessReleased(AccessID, [ItemOutcome])
  case accessCancelled(AccessID)
  case presenterAdded(PresenterID, PresenterRegistration)
  case presenterLocated(PresenterID, ItemPath, observing: Set<String>?)
  case presenterRemoved(PresenterID)
  case messageAnswered(MessageID, hasReacquirer: Bool)
  /// With the error as text, for whoever asked.
  case messageFailed(MessageID, explanation: String)
  case ubiquityAttributesChanged(Announcement, Set<String>)
  case versionChanged(Announcement, Message.VersionChange, String)
}
