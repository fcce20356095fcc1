@testable import CoordinationService
@testable import FileAccessArbiter

/// What happened inside of a client, for those who check.
enum ModelNote: Hashable, Sendable {
  case began(AccessID)
  case ended(AccessID, ModelProcess.Access)
  /// The service has been told what was granted without it.
  case adopted(AccessID)
  case lost(AccessID)
  /// Nobody else can have been inside meanwhile, as far as the client knows.
  case committed(AccessID)
  case failed(Failure)
  /// An announced move has put it where it is.
  case moved(AccessID)
  /// The service knows everything that was told again.
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
  /// The service hears of the end of a connection before what came through it.
  case hangUpFirst
}
