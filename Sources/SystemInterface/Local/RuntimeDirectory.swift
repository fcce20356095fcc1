internal import Glibc

/// A directory in which the processes of one user meet: no other user can write, read or enter it.
///
/// All processes of a user have to find the same one, whatever their environment says, and whether or not a session of
/// the user is open. So it's in `/tmp`, which is common to all processes that see the same file systems, and not in
/// `$XDG_RUNTIME_DIR`, which comes and goes with login sessions. Its usual name is `file-coordination-UID`.
///
/// Any user may take a name in `/tmp`. Only the user can make a directory that belongs to the user, though, and the
/// sticky bit keeps others from removing or renaming it. So the owner counts: if another user has the usual name, the
/// directory has another one that begins with it, and a search of `/tmp` finds it. There may be several, if a name
/// became free while two processes searched. Their locks settle which of them is used: the serving process holds those
/// of all. Therefore a directory is never removed once it's there.
package struct RuntimeDirectory: Hashable, Sendable {
  /// The absolute path.
  package let path: SystemPath

  /// Where the directories of all users are.
  package static let commonBase = SystemPath("/tmp")
  /// How many directories a user may have; a few at most occur.
  package static let countMax = 64
  /// How many names are tried that all processes try in the same order, so that they don't make several directories.
  static let numberedNameCount = 16
  /// How many names are tried in all.
  private static let nameCountMax = 64

  /// The directory that has the usual name, without searching for others or making it.
  ///
  /// - Parameters:
  ///   - userID: The user who has to own it.
  ///   - base: Where the directories of all users are.
  /// - Returns: The directory; `nil` when it isn't there, or belongs to another user.
  package static func usual(
    userID: UInt32 = HostUser.effectiveUserID, in base: SystemPath = commonBase
  ) -> RuntimeDirectory? {
    let path = base.appending(usualName(of: userID))
    let status = try? HostFileSystem().status(of: path, at: .workingDirectory, links: .noFollow)
    guard let status, status.isClosedDirectory(of: userID) else { return nil }
    return RuntimeDirectory(path: path)
  }

  /// Finds all directories of a user, making one if there is none.
  ///
  /// Permissions that are too loose are taken back. Directories of other users, symbolic links and files don't count,
  /// whatever their names are.
  ///
  /// - Parameters:
  ///   - userID: The user who has to own them.
  ///   - base: Where the directories of all users are.
  /// - Returns: The directories, at least one, in an order that's the same for all processes: the usual name comes
  ///   first.
  /// - Throws: EEXIST when others take every name that's tried; EMLINK when there are more than ``countMax``; any other error of
  ///   mkdirat(2), openat(2), getdents64(2), fstatat(2) and fchmod(2).
  /// - Complexity: O(number of names in `base`).
  package static func all(
    userID: UInt32 = HostUser.effectiveUserID, in base: SystemPath = commonBase
  ) throws(SystemError) -> [RuntimeDirectory] {
    let files = HostFileSystem()
    for attempt in 0..<nameCountMax {
      let names = try ownNames(userID, in: base)
      if names.count > countMax { throw tooMany(userID, base) }
      if !names.isEmpty { return names.map { RuntimeDirectory(path: base.appending($0)) } }
      let name = base.appending(candidateName(of: userID, attempt))
      do throws(SystemError) {
        try files.makeDirectory(name, at: .workingDirectory, mode: 0o700)
      } catch let error where error.errno == EEXIST {
        // Another process of the user has made it, which the next search finds, or it's another user's.
      }
    }
    throw SystemError(
      call: "mkdirat(2)", paths: [base.appending(usualName(of: userID))], errno: EEXIST,
      advice: "Other users take each name as soon as it's tried. Find those users, and let an administrator stop them."
    )
  }
}

// MARK: - Names

extension RuntimeDirectory {
  /// The name of a user's directory, unless another user has taken it.
  package static func usualName(of userID: UInt32) -> String { "file-coordination-\(userID)" }

  private static func candidateName(of userID: UInt32, _ attempt: Int) -> String {
    let usual = usualName(of: userID)
    if attempt == 0 { return usual }
    // A name that no process can take before it's tried.
    return
      "\(usual).\(attempt < numberedNameCount ? "\(attempt)" : String(UInt64.random(in: .min ... .max), radix: 36))"
  }

  private static func ownNames(_ userID: UInt32, in base: SystemPath) throws(SystemError) -> [SystemPath] {
    let files = HostFileSystem()
    let usual = Array(usualName(of: userID).utf8)
    var names: [SystemPath] = []
    try files.withDescriptor(base, flags: .directory) { (directory) throws(SystemError) in
      while let entries = try files.readDirectory(directory) {
        for entry in entries where entry.name.bytes.starts(with: usual) {
          let rest = entry.name.bytes.dropFirst(usual.count)
          guard rest.isEmpty || rest.first == UInt8(ascii: "."),
            let status = try files.statusIfPresent(of: entry.name, at: directory),
            status.kind == .directory, status.owner == userID
          else { continue }
          if !status.isClosedDirectory(of: userID) { try checkPrivate(entry.name, in: directory, [userID]) }
          names.append(entry.name)
        }
      }
    }
    // A directory may be listed twice while names come and go.
    return Set(names).sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
  }

  private static func tooMany(_ userID: UInt32, _ base: SystemPath) -> SystemError {
    SystemError(
      call: "getdents64(2)", paths: [base.appending(usualName(of: userID))], errno: EMLINK,
      advice: "User \(userID) has more than \(countMax) directories whose names begin so. Remove all of them while no "
        + "program of the user coordinates files.")
  }
}

extension FileStatus {
  fileprivate func isClosedDirectory(of userID: UInt32) -> Bool {
    kind == .directory && owner == userID && mode & 0o077 == 0
  }
}

// MARK: - Directories beside sockets

extension RuntimeDirectory {
  /// Ensures that there is a directory that no other user can write, read or enter.
  ///
  /// It's opened without following a symbolic link and checked through its descriptor; permissions that are too loose are taken
  /// back.
  ///
  /// - Parameters:
  ///   - path: The absolute path of the directory. The directory around it has to exist.
  ///   - owners: The users who may own it.
  /// - Throws: ENOTDIR when something else has its name, such as a symbolic link; EPERM when it belongs to another user; any
  ///   other error of mkdirat(2), openat(2), fstat(2) and fchmod(2).
  package static func makePrivate(_ path: SystemPath, owners: Set<UInt32>) throws(SystemError) {
    let files = HostFileSystem()
    try locatingErrors(at: path) { () throws(SystemError) in
      try files.withDescriptor(path.parent, flags: .directory) { (base) throws(SystemError) in
        do throws(SystemError) {
          try files.makeDirectory(path.lastComponent, at: base, mode: 0o700)
        } catch let error where error.errno == EEXIST {
          // It will be checked as if another process had made it.
        }
        try checkPrivate(path.lastComponent, in: base, owners)
      }
    }
  }

  private static func checkPrivate(
    _ name: SystemPath, in base: FileDescriptor, _ owners: Set<UInt32>
  ) throws(SystemError) {
    do throws(SystemError) {
      try HostFileSystem().withDescriptor(name, at: base, flags: [.directory, .noFollow]) {
        (directory) throws(SystemError) in try checkPrivate(directory, owners)
      }
    } catch let error where error.isOne(of: ENOTDIR, ELOOP) {
      throw SystemError(
        call: error.call, paths: error.paths, errno: ENOTDIR,
        advice: "Something else has the name of the directory, maybe planted by another user. Have it removed, "
          + "or meet in a directory that only this user may write to.")
    }
  }

  private static func checkPrivate(_ directory: FileDescriptor, _ owners: Set<UInt32>) throws(SystemError) {
    let files = HostFileSystem()
    let status = try files.status(of: directory)
    if !owners.contains(status.owner) {
      throw SystemError(
        call: "openat(2)", errno: EPERM,
        advice: "The directory belongs to user \(status.owner), not to "
          + "\(owners.sorted().map(String.init).joined(separator: " or ")). Have it removed by its owner or an "
          + "administrator, or meet in a directory that only this user may write to.")
    }
    if status.mode & 0o077 != 0 { try files.setMode(of: directory, to: 0o700) }
  }
}
