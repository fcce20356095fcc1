package import FileAccessArbiter

/// The frames from a process to the service.
///
/// Numbers of accesses, presenters and purposes are the process's own, and the client is always `ClientID(1)`: the service
/// puts its own in their place. Numbers of messages are the service's.
package enum ClientFrame: Hashable, Sendable {
  /// The first frame of a connection, and only that.
  case hello(Hello)
  /// The name of a purpose that others may have as well; before the purpose is used.
  case purposeNamed(PurposeID, String)
  /// A purpose that was named isn't used any more; its number isn't used again.
  case purposeForgotten(PurposeID)
  case event(ArbiterEvent)
  /// An event that the process waits for; the answer is `ServerFrame.answered`, when all processes concerned know of
  /// it.
  case presenterEvent(RequestNumber, ArbiterEvent)
  /// A granted access reports that it has moved an item; answered by `ServerFrame.answered`.
  case itemMoved(RequestNumber, by: AccessID, from: ItemPath, to: ItemPath, replaced: Bool)
  /// Everything that was granted under the delegation and still lasts has been reported.
  case delegationReturned(DelegationID)
  /// An access, presenter or debt that existed when the connection to an earlier service broke.
  case reasserted(Reassertion)
  /// All of those have been reported again.
  case reassertionEnded
  /// Answered by `ServerFrame.snapshot`.
  case snapshotWanted(RequestNumber)
  /// Whether to be shown the state after each event: while any process is, nothing is delegated.
  case observationWanted(Bool)
  /// The process is to serve itself, and does nothing else: an elected service gives way.
  case serviceWanted
  /// All that was granted under delegations has been reported; answers `ServerFrame.survey`.
  case surveyed(RequestNumber)
  /// Answered by `ServerFrame.answered`: whether the access is held, as far as the service has recorded.
  case validationWanted(RequestNumber, AccessID)
  /// Processes that name the token belong to the access until it ends. Answered by `ServerFrame.answered`: whether the
  /// access is held.
  case accessShared(RequestNumber, AccessID, AccessToken)
}

/// The identity of a process, as it states it.
package struct Hello: Hashable, Sendable {
  /// Changes with every change of the frames: processes of different versions don't understand each other.
  package static let currentVersion: UInt32 = 9

  package var version: UInt32
  /// Chosen at random once for each meeting of a process with a domain.
  package var session: UInt64
  /// As the process states it; the kernel reports the true one.
  package var processIdentifier: Int32
  package var processStartTime: UInt64
  package var processName: String
  /// Stands among the extensions of packages if the process claims files by identity as well.
  ///
  /// No name of a file ends in it, so nothing becomes a package by it.
  package static let filesByIdentity = "/files-by-identity"

  /// The packages of the process, and whether it coordinates files by identity; all processes of a domain have to agree
  /// on it.
  package var packageExtensions: [String]
  /// The epoch in which the process was connected before, or zero: then nothing is to be re-asserted.
  package var previousEpoch: UInt64
  /// The token of the access of another process inside of which this one was started, from its environment.
  package var outerAccess: AccessToken?

  package init(
    version: UInt32 = currentVersion, session: UInt64, processIdentifier: Int32, processStartTime: UInt64,
    processName: String, packageExtensions: [String], previousEpoch: UInt64, outerAccess: AccessToken? = nil
  ) {
    self.version = version
    self.session = session
    self.processIdentifier = processIdentifier
    self.processStartTime = processStartTime
    self.processName = processName
    self.packageExtensions = packageExtensions
    self.previousEpoch = previousEpoch
    self.outerAccess = outerAccess
  }
}

/// Distinguishes the questions of a process.
package struct RequestNumber: Hashable, Sendable {
  package let rawValue: UInt64
  package init(_ rawValue: UInt64) { self.rawValue = rawValue }
}

/// Names a right to decide alone about a directory and everything inside it.
package struct DelegationID: Hashable, Sendable, Comparable {
  package let rawValue: UInt64
  package init(_ rawValue: UInt64) { self.rawValue = rawValue }
  package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Something that a process had when the service it was connected to went away.
package enum Reassertion: Hashable, Sendable {
  /// An access whose accessor runs, with the current places of its items.
  case access(AccessID, AccessRequest)
  /// With its callbacks that run, in the order in which they began: each one inside of an access in the one before.
  case presenter(PresenterID, PresenterRegistration, running: [RunningCallback] = [])
  /// A presenter that has relinquished for an access, and is owed its reacquirer when that ends.
  case debt(PresenterID, MessageID, owedFor: DebtOrigin)
  /// The token of an access that was reported right before.
  case token(AccessID, AccessToken)
}

/// A callback that an earlier service has put to a presenter, and that hasn't returned.
package struct RunningCallback: Hashable, Sendable {
  /// The number of that service.
  package var message: MessageID
  /// Without paths and names.
  package var kind: Message.Kind

  package init(message: MessageID, kind: Message.Kind) {
    self.message = message
    self.kind = kind
  }
}

/// The access that a presenter relinquished for, in the form that other processes receive.
package struct DebtOrigin: Hashable, Sendable {
  /// The session of the process that made the access.
  package var session: UInt64
  /// That process's number of the access.
  package var access: AccessID

  package init(session: UInt64, access: AccessID) {
    self.session = session
    self.access = access
  }
}

/// The accesses that a process may decide alone.
package enum DelegationMode: UInt8, Hashable, Sendable, CaseIterable {
  /// Reads; other processes may have the same right.
  case reading = 1
  /// Reads and plain writes; no other process has any right there.
  case writing = 2
}
