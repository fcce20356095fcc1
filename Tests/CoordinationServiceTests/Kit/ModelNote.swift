@testable import CoordinationService
@testable import FileAccessArbiter

/// An event inside of a client, for the checks.
enum ModelNote: Hashable, Sendable {
  case began(AccessID)
  case ended(AccessID, ModelProcess.Access)
  /// An access that was granted without the service has been reported to it.
  case adopted(AccessID)
  case lost(AccessID)
  /// No other client can have been inside meanwhile, as far as the client knows.
  case committed(AccessID)
  case failed(Failure)
  /// A child process of this number begins.
  case launched(Int)
  /// An access has moved something in the file system.
  case moves(AccessID, from: ItemPath, to: ItemPath)
  /// An announced move has put it where it is.
  case moved(AccessID)
  /// The service has received everything that was reported again.
  case graceEnded
  /// The registration has been answered.
  case presented(PresenterID)
  case unpresented(PresenterID)
  /// Answered with a reacquirer.
  case relinquished(PresenterID, MessageID)
  case reacquired(PresenterID, MessageID)
  case toldOfChange(PresenterID)
  case refused(String)
  /// The process has as much as it may have.
  case refusedByLimit
  case problem(String)
}

/// A mistake of the network of a model, to show that it would be found.
enum ModelFault: String, Hashable, Sendable, CaseIterable {
  /// The service notices the end of a connection before it reads the frames that came through it.
  case hangUpFirst
}
