internal import CSystemShims
internal import Glibc

/// Starts threads, and lets others run.
package enum HostThread {
  /// Lets another thread run that is ready, see sched_yield(2).
  package static func yield() { sched_yield() }

  /// How many processors the process may use, see sched_getaffinity(2).
  package static let usableProcessorCount = Int(shim_usable_processor_count())

  private final class Body: Sendable {
    let name: String
    let run: @Sendable () -> Void

    init(name: String, run: @escaping @Sendable () -> Void) {
      self.name = name
      self.run = run
    }
  }

  /// Starts a detached thread, or stops the process if the system refuses one.
  ///
  /// - Parameters:
  ///   - name: The name in `ps -L` and debuggers; cut after 15 bytes.
  ///   - body: The work of the thread.
  package static func start(name: String, _ body: @escaping @Sendable () -> Void) {
    let code = tryStart(name: name, body)
    precondition(
      code == 0,
      "pthread_create failed with errno \(code); raise the limit of threads (ulimit -u, pids.max) or of memory")
  }

  /// Starts a detached thread if the system allows it; see pthread_create(3).
  ///
  /// It blocks the signals that a program handles, so that the program's handlers run only on threads of the program.
  /// The signals that report a fault of the thread itself aren't blocked.
  ///
  /// - Parameters:
  ///   - name: The name in `ps -L` and debuggers; cut after 15 bytes.
  ///   - body: The work of the thread.
  /// - Returns: 0, or an errno, mostly `EAGAIN`.
  package static func tryStart(name: String, _ body: @escaping @Sendable () -> Void) -> Int32 {
    var blocked = sigset_t()
    var saved = sigset_t()
    unsafe sigfillset(&blocked)
    for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF] {
      unsafe sigdelset(&blocked, fault)
    }
    // A new thread starts with the mask of its creator.
    unsafe pthread_sigmask(SIG_SETMASK, &blocked, &saved)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &saved, nil) }

    let argument = unsafe Unmanaged.passRetained(Body(name: name, run: body))
    var thread = pthread_t()
    let code = unsafe pthread_create(&thread, nil, threadMain, argument.toOpaque())
    guard code == 0 else {
      unsafe argument.release()
      return code
    }
    pthread_detach(thread)
    return 0
  }

  private static let threadMain: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
    guard let argument = unsafe argument else { return nil }
    let body = unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
    unsafe body.name.withCString { unsafe shim_set_thread_name($0) }
    body.run()
    return nil
  }
}
