internal import Glibc

/// The directory for data of programs of this user, see the XDG Base Directory Specification: `$XDG_DATA_HOME`, or else
/// `~/.local/share`.
package enum DataHome {
  /// The directory, which is made if it isn't there.
  ///
  /// - Returns: An absolute path.
  /// - Throws: ENOENT where neither variable is an absolute path, and errors of mkdirat(2).
  package static func path() throws(SystemError) -> SystemPath {
    let variable = HostEnvironment.value(of: "XDG_DATA_HOME").map { SystemPath($0) }
    if let variable, variable.isAbsolute {
      try ensureDirectory(variable)
      return variable
    }
    guard let home = HostEnvironment.value(of: "HOME").map({ SystemPath($0) }), home.isAbsolute else {
      throw .unknownDataHome
    }
    let directory = home.appending(".local/share")
    try ensureDirectory(directory)
    return directory
  }

  /// A directory in it that nobody else may have made, and nobody else may use; it's made if it isn't there.
  package static func privateDirectory(
    _ name: String, of user: UInt32 = HostUser.effectiveUserID
  ) throws(SystemError) -> SystemPath {
    let directory = try path().appending(SystemPath(name))
    try RuntimeDirectory.makePrivate(directory, owners: [user])
    return directory
  }

  /// Makes a directory and those around it, unless it's there.
  package static func ensureDirectory(_ path: SystemPath) throws(SystemError) {
    let files = HostFileSystem()
    if try files.statusIfPresent(of: path) != nil { return }
    try ensureDirectory(path.parent)
    do throws(SystemError) {
      try files.makeDirectory(path, at: .workingDirectory, mode: 0o700)
    } catch let error {
      if error.errno != EEXIST { throw error }
    }
  }
}

extension SystemError {
  /// Neither variable says where data is kept: no file is missing, but a setting.
  package static let unknownDataHome = SystemError(
    call: "getenv(3)", errno: ENOENT,
    advice: "Neither XDG_DATA_HOME nor HOME is an absolute path, so nothing can be kept. Set one of them.")
}
