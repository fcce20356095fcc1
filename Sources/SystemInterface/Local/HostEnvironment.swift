internal import Glibc

/// The user the process acts for.
package enum HostUser {
  /// The user whose permissions count; see geteuid(2).
  package static var effectiveUserID: UInt32 { geteuid() }
}

/// The environment variables of the process, see environ(7).
package enum HostEnvironment {
  /// Reads a variable; see getenv(3).
  ///
  /// Like every reader of the environment it must not run while another thread changes it.
  ///
  /// - Parameter name: The name of the variable.
  /// - Returns: The value, with U+FFFD in place of bytes that aren't UTF-8; `nil` when it isn't set.
  package static func value(of name: String) -> String? {
    unsafe getenv(name).map { unsafe String(cString: $0) }
  }

  /// Removes a variable, so that child processes don't get it; see unsetenv(3).
  ///
  /// Only while no other thread reads or changes the environment, so at the start of a program.
  ///
  /// - Parameter name: The name of the variable.
  package static func removeValue(of name: String) {
    // Fails only for names no variable can have.
    unsafe unsetenv(name)
  }
}
