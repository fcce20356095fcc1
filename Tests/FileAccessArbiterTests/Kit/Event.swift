@testable import FileAccessArbiter

/// One call to the arbiter as a value, so that it can be logged and replayed.
enum Event: Sendable {
  case join(ClientID, name: String)
  case request(AccessID, AccessRequest)
  /// Was granted without the arbiter, which learns of it now.
  case adopt(AccessID, AccessRequest)
  case release(AccessID, [ItemOutcome])
  case cancel(AccessID)
  case answer(MessageID, hasReacquirer: Bool)
  /// The callback's method has returned, without an answer.
  case returned(MessageID)
  /// The presenter's queue has begun to run the callback.
  case began(MessageID)
  /// It turns out which callbacks the presenter has.
  case learned(PresenterID, PresenterCallbacks)
  case failMessage(MessageID)
  case add(PresenterID, PresenterRegistration)
  case locate(PresenterID, ItemPath)
  case remove(PresenterID)
  case move(AccessID, from: ItemPath, to: ItemPath, replaced: Bool)
  case fire(ArbiterTimer)
  case depart(ClientID)
  /// These live and don't run; all others do.
  case stop(Set<ClientID>)
  case ubiquity(Announcement, Set<String>)
  case version(Announcement, Message.VersionChange, String)
}

extension FileAccessArbiter {
  mutating func step(_ event: Event, at time: Timestamp) -> [Effect] {
    switch event {
    case .join(let client, let name):
      clientJoined(client, name: name)
      return []
    case .request(let id, let request): return accessRequested(id, request, at: time)
    case .adopt(let id, let request): return accessAdopted(id, request, at: time)
    case .release(let id, let outcomes): return accessReleased(id, outcomes: outcomes, at: time)
    case .cancel(let id): return accessCancelled(id, at: time)
    case .answer(let id, let hasReacquirer): return messageAnswered(id, hasReacquirer: hasReacquirer, at: time)
    case .returned(let id): return callbackReturned(id, at: time)
    case .began(let id): return callbackBegan(id, at: time)
    case .learned(let id, let callbacks): return presenterLearned(id, callbacks, at: time)
    case .failMessage(let id): return messageFailed(id, at: time)
    case .add(let id, let registration): return presenterAdded(id, registration, at: time)
    case .locate(let id, let path): return presenterLocated(id, at: path, time: time)
    case .remove(let id): return presenterRemoved(id, at: time)
    case .move(let id, let old, let new, let replaced):
      return itemMoved(by: id, from: old, to: new, replaced: replaced, at: time)
    case .fire(let timer): return timerFired(timer, at: time)
    case .depart(let client): return clientDeparted(client, at: time)
    case .stop(let clients): return clientsAreStopped(clients, at: time)
    case .ubiquity(let announcement, let attributes):
      return ubiquityAttributesChanged(announcement, attributes, at: time)
    case .version(let announcement, let change, let version):
      return versionChanged(announcement, change, version: version, at: time)
    }
  }
}

extension Event: CustomStringConvertible {
  var description: String {
    switch self {
    case .join(let client, _): "\(client) joins"
    case .adopt(let id, let request):
      "\(id) is adopted with \(request.items.map { "\($0.access) \($0.path)" }) for \(request.purpose)"
        + (request.context.map { " in \($0)" } ?? "")
    case .request(let id, let request):
      "\(id) requests \(request.items.map { "\($0.access) \($0.path)" }) for \(request.purpose)"
        + (request.context.map { " in \($0)" } ?? "") + (request.isAwaitedByContext ? "" : " detached")
        + (request.ownPresenter.map { " by \($0)" } ?? "") + (request.isPreparation ? " preparing" : "")
    case .release(let id, let outcomes): "\(id) is released \(outcomes)"
    case .cancel(let id): "\(id) is cancelled"
    case .answer(let id, let hasReacquirer): "\(id) is answered\(hasReacquirer ? " with a reacquirer" : "")"
    case .returned(let id): "\(id) returns without an answer"
    case .began(let id): "\(id) begins"
    case .learned(let id, let callbacks):
      "\(id) turns out to have \(callbacks.rawValue), perhaps \(callbacks.presumed.rawValue)"
    case .failMessage(let id): "\(id) throws"
    case .add(let id, let registration):
      "\(id) registers at \(registration.path?.description ?? "nowhere") for \(registration.purpose)"
    case .locate(let id, let path): "\(id) is located at \(path)"
    case .remove(let id): "\(id) unregisters"
    case .move(let id, let old, let new, let replaced):
      "\(id) moves \(old) to \(new)\(replaced ? ", replacing" : "")"
    case .fire(let timer): "the \(timer.purpose) timer of \(timer.access) fires"
    case .depart(let client): "\(client) departs"
    case .stop(let clients): "stopped: \(clients.sorted())"
    case .ubiquity(let announcement, let attributes):
      "ubiquity attributes \(attributes.sorted()) of \(announcement.path) change"
    case .version(let announcement, let change, let version): "version \(version) of \(announcement.path) \(change)"
    }
  }
}
