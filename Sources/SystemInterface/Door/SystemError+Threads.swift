extension SystemError {
  /// The system refuses a thread.
  ///
  /// - Parameter errno: The result of ``HostThread/tryStart(name:_:)``.
  /// - Returns: The error.
  package static func noThread(errno: Int32) -> SystemError {
    SystemError(
      call: "pthread_create(3)", errno: errno,
      advice: "Raise the limit of threads (ulimit -u, pids.max) or of memory, or end threads.")
  }
}
