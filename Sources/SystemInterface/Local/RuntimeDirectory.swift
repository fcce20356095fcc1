internal import Glibc

/// The directory in which the processes of one user meet: nobody else can write, read or enter it.
///
/// All processes of a user have to find the same one. So only what is the same for all of them decides, and what is wrong
/// with the directory itself is an error, not a reason to take another.
package struct RuntimeDirectory: Hashable, Sendable {
  /// The absolute path.
  package let path: SystemPath

  /// Why it isn't in `XDG_RUNTIME_DIR`; `nil` when it is.
  package let fallbackReason: String?

  /// Finds the directory, making it if it isn't there: `$XDG_RUNTIME_DIR/file-coordination`, or else
  /// `/tmp/file-coordination-UID`.
  ///
  /// `XDG_RUNTIME_DIR` counts when it is the absolute path of a directory that belongs to the user and that others can't
  /// access, as the XDG Base Directory Specification demands. The directory below is opened without following a symbolic link
  /// and checked through its descriptor; permissions that are too loose are taken back.
  ///
  /// - Parameters:
  ///   - environment: The value of an environment variable.
  ///   - userID: The user who has to own the directory.
  ///   - fallbackBase: The directory for those who have no `XDG_RUNTIME_DIR`.
  /// - Returns: The directory.
  /// - Throws: ENOTDIR when something else has its name, such as a symbolic link; EPERM when it belongs to another user; any
  ///   other error of mkdirat(2), openat(2), fstat(2) and fchmod(2).
  package static func locate(
    environment: (String) -> String? = HostEnvironment.value(of:), userID: UInt32 = HostUser.effectiveUserID,
    fallbackBase: SystemPath = SystemPath("/tmp")
  ) throws(SystemError) -> RuntimeDirectory {
    let files = HostFileSystem()
    switch openSessionDirectory(environment("XDG_RUNTIME_DIR"), userID) {
    case .usable(let directory, let base):
      defer { try? files.close(directory) }
      let path = base.appending("file-coordination")
      try makePrivate(path, in: directory, [userID])
      return RuntimeDirectory(path: path, fallbackReason: nil)
    case .unusable(let reason):
      let path = fallbackBase.appending("file-coordination-\(userID)")
      try files.withDescriptor(fallbackBase, flags: .directory) { (base) throws(SystemError) in
        try makePrivate(path, in: base, [userID])
      }
      return RuntimeDirectory(path: path, fallbackReason: reason)
    }
  }
}

// MARK: - XDG_RUNTIME_DIR

extension RuntimeDirectory {
  private enum SessionDirectory {
    case usable(FileDescriptor, SystemPath)
    case unusable(reason: String)
  }

  private static func openSessionDirectory(_ value: String?, _ userID: UInt32) -> SessionDirectory {
    guard let value, !value.isEmpty else { return .unusable(reason: "XDG_RUNTIME_DIR isn't set") }
    let path = SystemPath(value)
    guard path.isAbsolute else { return .unusable(reason: "XDG_RUNTIME_DIR '\(value)' isn't an absolute path") }
    let files = HostFileSystem()
    do {
      let directory = try files.open(path, at: .workingDirectory, flags: .directory, mode: 0)
      do {
        let status = try files.status(of: directory)
        guard let flaw = flaw(of: status, userID) else { return .usable(directory, path) }
        try? files.close(directory)
        return .unusable(reason: "XDG_RUNTIME_DIR '\(value)' \(flaw)")
      } catch {
        try? files.close(directory)
        throw error
      }
    } catch {
      return .unusable(reason: "XDG_RUNTIME_DIR can't be used: \(error)")
    }
  }

  private static func flaw(of status: FileStatus, _ userID: UInt32) -> String? {
    if status.owner != userID { return "belongs to user \(status.owner), not to \(userID)" }
    if status.mode & 0o077 != 0 {
      return "is open to others (mode \(String(status.mode, radix: 8)))"
    }
    return nil
  }
}

// MARK: - Our directory in it

extension RuntimeDirectory {
  /// Sees to it that there is a directory that nobody else can write, read or enter, as ``locate(environment:userID:fallbackBase:)`` does.
  ///
  /// - Parameters:
  ///   - path: The absolute path of the directory. The directory around it has to exist.
  ///   - owners: The users who may own it.
  /// - Throws: As ``locate(environment:userID:fallbackBase:)``.
  package static func makePrivate(_ path: SystemPath, owners: Set<UInt32>) throws(SystemError) {
    try HostFileSystem().withDescriptor(path.parent, flags: .directory) { (base) throws(SystemError) in
      try makePrivate(path, in: base, owners)
    }
  }

  private static func makePrivate(
    _ path: SystemPath, in base: FileDescriptor, _ owners: Set<UInt32>
  ) throws(SystemError) {
    let files = HostFileSystem()
    let name = path.lastComponent
    try locatingErrors(at: path) { () throws(SystemError) in
      do throws(SystemError) {
        try files.makeDirectory(name, at: base, mode: 0o700)
      } catch let error where error.errno == EEXIST {
        // It will be checked as if somebody else had made it.
      }
      do throws(SystemError) {
        try files.withDescriptor(name, at: base, flags: [.directory, .noFollow]) { (directory) throws(SystemError) in
          try checkPrivate(directory, owners)
        }
      } catch let error where error.isOne(of: ENOTDIR, ELOOP) {
        throw SystemError(
          call: error.call, paths: error.paths, errno: ENOTDIR,
          advice: "Something else has the name of the directory, maybe planted by another user. Have it removed, "
            + "or set XDG_RUNTIME_DIR to a directory of yours with mode 700.")
      }
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
          + "administrator, or set XDG_RUNTIME_DIR to a directory of yours with mode 700.")
    }
    if status.mode & 0o077 != 0 { try files.setMode(of: directory, to: 0o700) }
  }
}
