import Glibc

@testable import SystemInterface

/// A program that runs until the test ends it.
final class ChildProcess {
  let pid: Int32
  private var isReaped = false

  /// Starts a program found on the `PATH`; `nil` when it can't be started.
  ///
  /// `passing` is a descriptor it gets under the same number.
  init?(_ arguments: [String], passing descriptor: Int32? = nil) {
    var words = arguments.map { strdup($0) } + [nil]
    defer { words.forEach { free($0) } }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    // Onto itself: that clears the flag that would close it.
    if let descriptor { posix_spawn_file_actions_adddup2(&actions, descriptor, descriptor) }
    var pid: pid_t = 0
    guard posix_spawnp(&pid, arguments[0], &actions, nil, &words, environ) == 0 else { return nil }
    self.pid = pid
  }

  deinit {
    kill()
  }

  func send(_ signal: Int32) {
    Glibc.kill(pid, signal)
  }

  /// Waits until the process has ended, but leaves it for ``kill()`` to collect; likewise until it is stopped.
  func awaitState(_ options: Int32) {
    var information = siginfo_t()
    while waitid(P_PID, id_t(pid), &information, options | WNOWAIT) < 0, errno == EINTR {}
  }

  /// Ends the process and waits until it is gone.
  func kill() {
    if isReaped { return }
    isReaped = true
    Glibc.kill(pid, SIGKILL)
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
  }
}

/// Takes the kind of lock that ``LockFile`` takes on a descriptor that can be passed on.
func lockDescription(_ descriptor: Int32) -> Int32 {
  var lock = flock()
  lock.l_type = Int16(F_WRLCK)
  lock.l_whence = Int16(SEEK_SET)
  return fcntl(descriptor, 37 /* F_OFD_SETLK */, &lock)
}
