internal import CoordinationService
internal import SystemInterface

/// Where processes of a domain meet: the names of the socket, of the lock that decides the election, and of the
/// sessions.
struct MeetingPlace: Hashable, Sendable {
  let address: LocalAddress
  /// Its holder serves, if it holds those of all places of the domain; keeps the number of the last service.
  let lock: LockFile
  /// One file for each process that takes part, locked as long as it lives.
  let sessions: SystemPath

  /// At a place of one's choice.
  ///
  /// The lock and the sessions are beside the socket.
  ///
  /// - Parameter socket: The absolute path of the socket.
  /// - Throws: As ``LocalAddress/init(_:)``.
  init(socket: SystemPath) throws(SystemError) {
    address = try LocalAddress(socket)
    let name = socket.bytes
    lock = LockFile(SystemPath(bytes: name + Array(".lock".utf8)))
    sessions = SystemPath(bytes: name + Array(".sessions".utf8))
  }
}

// MARK: - Sessions

extension MeetingPlace {
  /// Takes part: as long as the returned lock is held, a new service waits for this session to report its accesses.
  func join(_ session: UInt64) throws(SystemError) -> HeldLock {
    try prepareSessions()
    // A check whether the session lives holds the lock for a moment.
    return try LockFile(path(of: session)).lock()
  }

  /// Ensures that processes can join.
  func prepareSessions() throws(SystemError) {
    try RuntimeDirectory.makePrivate(sessions, owners: try trustedUsers)
  }

  /// Notifies a session's process that it has lost its former rights.
  ///
  /// - Returns: Whether it has been notified, or has ended.
  func revoke(_ revocation: Revocation, of session: UInt64) -> Bool {
    let number =
      switch revocation {
      case .delegations: DelegationCoverage.revoked
      case .everything: DelegationCoverage.expelled
      }
    do throws(SystemError) {
      try LockFile(path(of: session)).setSharedWord(to: number)
      return true
    } catch {
      return error.number == .noSuchFileOrDirectory
    }
  }

  func leave(_ session: UInt64) { try? HostFileSystem().unlink(path(of: session), at: .workingDirectory, .file) }

  /// The sessions whose processes live; files of those that have ended are removed.
  ///
  /// - Throws: `SystemError` when that can't be determined, for lack of descriptors for example: then no service may
  ///   start.
  func liveSessions() throws(SystemError) -> Set<UInt64> {
    var live: Set<UInt64> = []
    for name in try sessionNames() {
      guard let session = UInt64(name, radix: 16) else { continue }
      if isAlive(session) { live.insert(session) }
    }
    return live
  }

  /// Whether a session's process lives; if not, its file is removed.
  func isAlive(_ session: UInt64) -> Bool {
    // If it can't be determined, it counts as alive: that costs a little time, the opposite could cost data.
    guard let lock = try? LockFile(path(of: session)).tryLock() else { return true }
    // While the lock is held: a process that's about to take it then sees that the file has gone, and makes another.
    leave(session)
    lock.release()
    return false
  }

  private func sessionNames() throws(SystemError) -> [String] {
    let files = HostFileSystem()
    var names: [String] = []
    do throws(SystemError) {
      let directory = try files.open(sessions, at: .workingDirectory, flags: [.directory, .noFollow], mode: 0)
      defer { try? files.close(directory) }
      while let entries = try files.readDirectory(directory) { names += entries.map(\.name.description) }
      return names
    } catch {
      // No process has taken part yet: a program that only serves is the first.
      if error.number == .noSuchFileOrDirectory { return [] }
      throw error
    }
  }

  private func path(of session: UInt64) -> SystemPath { sessions.appending(String(session, radix: 16)) }
}

// MARK: - Trust

extension MeetingPlace {
  /// The users whose files and services are trusted: the user itself and root; for root, if it was sent to a place of
  /// another user, also that one.
  private var trustedUsers: Set<UInt32> {
    get throws(SystemError) {
      let user = HostUser.effectiveUserID
      if user != 0 { return [user, 0] }
      return [user, try HostFileSystem().status(of: address.path.parent, at: .workingDirectory, links: .follow).owner]
    }
  }

  /// Connects to the serving process.
  ///
  /// - Returns: The connection.
  /// - Throws: EPERM when another user listens there; any error of connect(2).
  func connect() throws(SystemError) -> LocalStream {
    try LocalStream(connectingTo: address, servedBy: trustedUsers)
  }
}
