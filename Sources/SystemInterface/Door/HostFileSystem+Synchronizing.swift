internal import CSystemShims
internal import SystemThreads

extension HostFileSystem {
  /// fsync(2) of each, at the same time.
  ///
  /// A file system with a journal then writes all of them by one commit, and calls that have come too late for it wait for one more. One
  /// call after the other would make a commit, or at least flush the cache of the disk, for each.
  ///
  /// Blocks for the first; the kernel does the others on threads of its own, see io_submit(2). Where it doesn't, they have threads of
  /// this process, or where the system allows no more of these, follow each other on the calling thread.
  package func synchronizeAll(_ descriptors: [FileDescriptor]) throws(SystemError) {
    guard let first = descriptors.first else { return }
    let rest = Array(descriptors.dropFirst())
    guard !rest.isEmpty, let calls = KernelCalls() else { return try synchronizeByThreads(descriptors) }
    let takenCount = calls.synchronize(rest)
    if takenCount == 0 {
      calls.discard()
      return try synchronizeByThreads(descriptors)
    }
    var error = outcome(of: first)
    // One that the kernel doesn't take is an error here as well, and says which.
    for descriptor in rest.dropFirst(takenCount) { error = error ?? outcome(of: descriptor) }
    let code = calls.wait(takenCount)
    if let error { throw error }
    if code != 0 { throw SystemError(.synchronize, errno: code) }
  }

  /// The same by threads of this process.
  func synchronizeByThreads(_ descriptors: [FileDescriptor]) throws(SystemError) {
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

/// Calls that the kernel makes by itself for one thread, see io_setup(2).
///
/// A context is used by one thread at a time, which would otherwise get the results of another one's calls. Making one takes as long as
/// some calls, and removing one waits for other processors: so some are kept.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `spares` | its own lock | any thread takes one and puts it back |
private struct KernelCalls {
  private let context: UInt

  private static let spareCountMax = 16
  private static let spares = Guarded<[UInt]>([])

  /// `nil` where the kernel has no such calls, or no more room for them.
  init?() {
    if let spare = Self.spares.withLock({ $0.popLast() }) {
      context = spare
      return
    }
    var made: UInt = 0
    if unsafe shim_aio_setup(&made) != 0 { return nil }
    context = made
  }

  /// Begins fsync(2) of the first of some descriptors.
  ///
  /// - Returns: Of how many; the kernel ends at the first that it refuses.
  func synchronize(_ descriptors: [FileDescriptor]) -> Int {
    let numbers = descriptors.prefix(Int(shim_aio_capacity)).map(\.rawValue)
    return unsafe numbers.withUnsafeBufferPointer { numbers in
      guard let first = numbers.baseAddress else { return 0 }
      return unsafe shim_aio_synchronize(context, first, numbers.count)
    }
  }

  /// Blocks until that many calls are done; this value isn't used afterwards.
  ///
  /// - Returns: The error number of one that has failed, or 0.
  func wait(_ count: Int) -> Int32 {
    let code = shim_aio_wait(context, count)
    let isSpare = Self.spares.withLock { spares in
      if spares.count >= Self.spareCountMax { return false }
      spares.append(context)
      return true
    }
    if !isSpare { discard() }
    return code
  }

  /// For one that can't be used: a process that was forked has inherited its number only.
  func discard() { shim_aio_destroy(context) }
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
