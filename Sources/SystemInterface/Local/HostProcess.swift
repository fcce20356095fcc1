internal import CSystemShims
internal import Glibc

/// The running process, as it introduces itself to others.
package enum HostProcess {
  /// The number of the process; see getpid(2).
  ///
  /// Asked each time: it changes in a child of fork(2).
  package static var processIdentifier: Int32 { getpid() }

  /// How many files the process may have open; see RLIMIT_NOFILE in getrlimit(2).
  ///
  /// Asked each time: the process may change it.
  package static var descriptorCountMax: Int {
    var limit = rlimit()
    // Fails only for a limit that doesn't exist.
    unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return Int(clamping: limit.rlim_cur)
  }

  /// Runs something when the process ends in order; see atexit(3).
  ///
  /// - Parameter body: The work to run, on the thread that ends the process.
  /// - Returns: Whether it will be run.
  package static func atExit(_ body: @escaping @convention(c) () -> Void) -> Bool { atexit(body) == 0 }

  /// The last component of the path the program was started with.
  ///
  /// From program_invocation_short_name(3) and not `/proc/self/comm`, which cuts after 15 bytes.
  package static let name = unsafe String(cString: shim_program_name())
}
