package import FileAccessArbiter

extension FileAccessArbiter {
  /// Passes an event to the arbiter.
  package mutating func step(_ event: ArbiterEvent, at time: Timestamp) -> [Effect] {
    switch event {
    case .accessRequested(let id, let request): accessRequested(id, request, at: time)
    case .accessAdopted(let id, let request): accessAdopted(id, request, at: time)
    case .accessReleased(let id, let outcomes): accessReleased(id, outcomes: outcomes, at: time)
    case .accessCancelled(let id): accessCancelled(id, at: time)
    case .presenterAdded(let id, let registration): presenterAdded(id, registration, at: time)
    case .presenterLocated(let id, let path, let attributes):
      presenterLocated(id, at: path, observing: attributes, time: time)
    case .presenterRelabelled(let id, let label): presenterRelabelled(id, label, at: time)
    case .presenterRemoved(let id): presenterRemoved(id, at: time)
    case .messageAnswered(let id, let hasReacquirer): messageAnswered(id, hasReacquirer: hasReacquirer, at: time)
    case .relinquished(let id, let hasReacquirer): relinquished(id, hasReacquirer: hasReacquirer, at: time)
    case .callbackReturned(let id): callbackReturned(id, at: time)
    case .callbackBegan(let id): callbackBegan(id, at: time)
    case .presenterLearned(let id, let callbacks): presenterLearned(id, callbacks, at: time)
    case .messageFailed(let id, _): messageFailed(id, at: time)
    case .ubiquityAttributesChanged(let announcement, let attributes):
      ubiquityAttributesChanged(announcement, attributes, at: time)
    case .versionChanged(let announcement, let change, let version):
      versionChanged(announcement, change, version: version, at: time)
    case .changesSeen(let client, let changes): changesSeen(changes, by: client, at: time)
    case .changesConfirmed(let client, let changes): changesConfirmed(changes, by: client, at: time)
    case .echoEnded(let client, let echo): echoEnded(echo, by: client, at: time)
    }
  }
}
