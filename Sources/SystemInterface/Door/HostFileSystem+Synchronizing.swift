internal import SystemThreads

extension HostFileSystem {
  /// fsync(2) of each, at the same time.
  ///
  /// A file system with a journal then writes all of them by one commit, and calls that have come too late for it wait for one more. One
  /// call after the other would make a commit, or at least flush the cache of the disk, for each.
  ///
  /// Blocks, for the first on the calling thread, and for each of the others on a thread of its own. Where the system allows no more
  /// threads, they follow each other on the calling thread.
  package func synchronizeAll(_ descriptors: [FileDescriptor]) throws(SystemError) {
    guard let first = descriptors.first else { return }
    let wait = JointWait(count: descriptors.count)
    for descriptor in descriptors.dropFirst() {
      let code = HostThread.tryStart(name: "file-sync") { wait.end(self.outcome(of: descriptor)) }
      if code != 0 { wait.end(outcome(of: descriptor)) }
    }
    wait.end(outcome(of: first))
    if let error = wait.error() { throw error }
  }

  private func outcome(of descriptor: FileDescriptor) -> SystemError? {
    do throws(SystemError) {
      try synchronizeDirectory(descriptor)
      return nil
    } catch { return error }
  }
}

/// The wait of one thread for what several do.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its own lock | each thread ends its part whenever it's done |
private final class JointWait: Sendable {
  private struct State {
    var rest: Int
    var error: SystemError?
  }

  private let state: Guarded<State>
  private let event = ThreadEvent()

  init(count: Int) { state = Guarded(State(rest: count)) }

  func end(_ error: SystemError?) {
    let isLast = state.withLock { state in
      state.rest -= 1
      state.error = state.error ?? error
      return state.rest == 0
    }
    if isLast { event.signal() }
  }

  /// Blocks until all have ended.
  func error() -> SystemError? {
    event.wait()
    return state.withLock { $0.error }
  }
}
