/// The sockets a service manager has opened for this process.
///
/// - Note: The protocol of sd_listen_fds(3).
package enum ActivationSockets {
  /// The first of the descriptors.
  private static let firstDescriptor: Int32 = 3

  /// How many descriptors are checked; a service has a few at most.
  package static let countMax: Int32 = 64

  /// The descriptors that were passed on, to be given to ``LocalListener/init(inherited:)``.
  ///
  /// - Parameters:
  ///   - environment: The value of an environment variable.
  ///   - processIdentifier: The process they have to be meant for.
  /// - Returns: The descriptors, at most ``countMax``; none when the variables `LISTEN_PID` and `LISTEN_FDS` aren't set, aren't
  ///   numbers or are meant for another process, such as the parent that forgot to remove them.
  package static func descriptors(
    environment: (String) -> String? = HostEnvironment.value(of:),
    processIdentifier: Int32 = HostProcess.processIdentifier
  ) -> [Int32] {
    guard let addressee = environment("LISTEN_PID").flatMap({ Int32($0) }), addressee == processIdentifier,
      let count = environment("LISTEN_FDS").flatMap({ Int32($0) }), count > 0
    else { return [] }
    return Array(firstDescriptor..<firstDescriptor + min(count, countMax))
  }

  /// Removes the variables, so that child processes don't take the descriptors for theirs.
  ///
  /// Only while no other thread reads or changes the environment, so at the start of a program.
  package static func removeVariables() {
    for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { HostEnvironment.removeValue(of: name) }
  }
}
