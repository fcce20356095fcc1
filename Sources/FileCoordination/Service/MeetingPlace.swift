internal import SystemInterface

/// Where the processes of a domain meet: the names of the socket, of the lock that elects who serves, and of the sessions.
struct MeetingPlace: Sendable {
  let address: LocalAddress
  /// Whoever holds it serves; keeps the number of the last service.
  let lock: LockFile
  /// One file for each process that takes part, locked as long as it lives.
  let sessions: SystemPath

  typealias Finder = @Sendable () throws(FileCoordinationError) -> MeetingPlace

  /// In the runtime directory of the user, which is made if it isn't there.
  static func ofUser() throws(FileCoordinationError) -> MeetingPlace {
    do throws(SystemError) {
      return try MeetingPlace(socket: RuntimeDirectory.locate().path.appending("service.socket"))
    } catch { throw .noMeetingPlace(error) }
  }

  static func at(_ path: String) throws(FileCoordinationError) -> MeetingPlace {
    do throws(SystemError) { return try MeetingPlace(socket: SystemPath(path)) } catch { throw .noMeetingPlace(error) }
  }

  /// At a place of one's choice.
  ///
  /// The lock and the sessions are beside the socket.
  init(socket: SystemPath) throws(SystemError) {
    address = try LocalAddress(socket)
    let name = socket.bytes
    lock = LockFile(SystemPath(bytes: name + Array(".lock".utf8)))
    sessions = SystemPath(bytes: name + Array(".sessions".utf8))
  }
}

// MARK: - Sessions

extension MeetingPlace {
  /// Takes part: as long as the returned lock is held, a new service waits for this session to tell what it holds.
  func join(_ session: UInt64) throws(SystemError) -> HeldLock {
    let files = HostFileSystem()
    do {
      try files.makeDirectory(sessions, at: .workingDirectory, mode: 0o700)
    } catch  where SystemError.symbol(of: error.errno) == "EEXIST" {}
    // Whoever looks whether the session lives holds the lock for a moment.
    return try LockFile(path(of: session)).lock()
  }

  func leave(_ session: UInt64) { try? HostFileSystem().unlink(path(of: session), at: .workingDirectory, .file) }

  /// The sessions whose processes live; files of those that have ended are removed.
  func liveSessions() -> Set<UInt64> {
    var live: Set<UInt64> = []
    for name in sessionNames {
      guard let session = UInt64(name, radix: 16) else { continue }
      if isAlive(session) { live.insert(session) }
    }
    return live
  }

  /// Whether a session's process lives; if not, its file is removed.
  func isAlive(_ session: UInt64) -> Bool {
    // Who can't tell takes it for alive: that costs a little time, the opposite could cost data.
    guard let lock = try? LockFile(path(of: session)).tryLock() else { return true }
    // While the lock is held: a process that's about to take it then sees that the file has gone, and makes another.
    leave(session)
    lock.release()
    return false
  }

  private var sessionNames: [String] {
    let files = HostFileSystem()
    guard let directory = try? files.open(sessions, at: .workingDirectory, flags: [.directory, .noFollow], mode: 0)
    else {
      return []
    }
    defer { try? files.close(directory) }
    var names: [String] = []
    while let entries = try? files.readDirectory(directory), !entries.isEmpty {
      names += entries.map(\.name.description)
    }
    return names
  }

  private func path(of session: UInt64) -> SystemPath { sessions.appending(String(session, radix: 16)) }
}
