@testable import CoordinationService
@testable import FileAccessArbiter

/// What happened inside of a client, for those who check.
enum ModelNote: Hashable, Sendable {
  case began(AccessID)
  case ended(AccessID, ModelClient.Access)
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
  case problem(String)
}

/// A mistake of a client or of the network of a model, to show that it would be found.
enum ModelFault: String, Hashable, Sendable, CaseIterable {
  /// The service hears of the end of a connection before what came through it.
  case hangUpFirst
  /// A client goes on granting itself what it has given back.
  case delegationKept
  /// A client grants itself something beside what it had requested before it was lent the directory.
  case companionsForgotten
  /// A client asks for an access that a loan keeps waiting, and keeps the loan.
  case loanKeptDespiteRequest
  /// A client gives back without telling what it granted itself.
  case claimsNotAdopted
  /// A client without a service answers as if the earlier one would still listen.
  case debtAnsweredToNobody
  /// A presenter that has gone doesn't get its turn back when the service that asked it is gone too.
  case reacquirerOfRemovedForgotten
  /// A client that was expelled takes what it held before for untouched.
  case expulsionForgotten
  /// A client tells a move again after it has told what it holds.
  case movesToldLate
}
