package import FileAccessArbiter

/// What a process tells the service.
///
/// Numbers of accesses, presenters and purposes are the process's own, and the client is always `ClientID(1)`: the service
/// puts its own in their place. Numbers of messages are the service's.
package enum ClientFrame: Hashable, Sendable {
  /// The first frame of a connection, and only that.
  case hello(Hello)
  /// What a purpose that others may have as well is called; before it's used.
  case purposeNamed(PurposeID, String)
  /// A purpose that was named isn't used any more; its number isn't used again.
  case purposeForgotten(PurposeID)
  case event(ArbiterEvent)
  /// An event that the process waits for; the answer is `ServerFrame.answered`, when everybody concerned knows of it.
  case presenterEvent(RequestNumber, ArbiterEvent)
  /// A granted access says that it has moved an item; answered by `ServerFrame.answered`.
  case itemMoved(RequestNumber, by: AccessID, from: ItemPath, to: ItemPath, replaced: Bool)
  /// Everything that was granted under the delegation and still lasts has been told.
  case delegationReturned(DelegationID)
  /// Something that was held when the connection to an earlier service broke.
  case reasserted(Reassertion)
  /// Everything that was held has been told again.
  case reassertionEnded
  /// Answered by `ServerFrame.snapshot`.
  case snapshotWanted(RequestNumber)
  /// Whether to be shown the state after each event: while anybody is, nothing is delegated.
  case observationWanted(Bool)
  /// The process wants to serve itself, and does nothing else: an elected service gives way.
  case serviceWanted
  /// All that was granted under delegations has been told; answers `ServerFrame.survey`.
  case surveyed(RequestNumber)
  /// Answered by `ServerFrame.answered`: whether the access is held, as far as the service knows.
  case validationWanted(RequestNumber, AccessID)
}

/// The identity of a process, as it states it.
package struct Hello: Hashable, Sendable {
  /// Changes with every change of the frames: processes of different versions don't understand each other.
  package static let currentVersion: UInt32 = 4

  package var version: UInt32
  /// Chosen at random once for each meeting of a process with a domain.
  package var session: UInt64
  /// As the process tells it; who it really is the kernel tells.
  package var processIdentifier: Int32
  package var processStartTime: UInt64
  package var processName: String
  /// Stands among the extensions of packages if the process claims files by identity as well.
  ///
  /// No name of a file ends in it, so nothing becomes a package by it.
  package static let filesByIdentity = "/files-by-identity"

  /// What the process treats as packages, and whether it knows files by identity; all processes of a domain have to agree on it.
  package var packageExtensions: [String]
  /// The epoch in which the process was connected before, or zero: then nothing is to be re-asserted.
  package var previousEpoch: UInt64

  package init(
    version: UInt32 = currentVersion, session: UInt64, processIdentifier: Int32, processStartTime: UInt64,
    processName: String, packageExtensions: [String], previousEpoch: UInt64
  ) {
    self.version = version
    self.session = session
    self.processIdentifier = processIdentifier
    self.processStartTime = processStartTime
    self.processName = processName
    self.packageExtensions = packageExtensions
    self.previousEpoch = previousEpoch
  }
}

/// Tells one question of a process from its others.
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

/// What a process held when the service it was connected to went away.
package enum Reassertion: Hashable, Sendable {
  /// An access whose accessor runs, with where its items are by now.
  case access(AccessID, AccessRequest)
  case presenter(PresenterID, PresenterRegistration)
  /// A presenter that has relinquished for an access, and is owed its reacquirer when that ends.
  case debt(PresenterID, MessageID, owedFor: DebtOrigin)
}

/// The access that a presenter relinquished for, as far as other processes know it.
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

/// What a process may decide alone.
package enum DelegationMode: UInt8, Hashable, Sendable, CaseIterable {
  /// Reads; other processes may have the same right.
  case reading = 1
  /// Reads and plain writes; nobody else has any right there.
  case writing = 2
}
