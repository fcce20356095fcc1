internal import Glibc
public import SystemInterface

/// Watches nothing, so that everything is polled: for file systems that other machines change, where the kernel claims
/// to report everything and doesn't.
///
/// Those that are known for that are polled with an ``InotifyWatcher`` too.
///
/// Any thread may call anything; one waits.
public final class PollingWatcher: FileWatcher {
  private let sleep = WakeableSleep()

  /// Makes one.
  public init() {}

  /// Refuses.
  ///
  /// - Parameters:
  ///   - path: The item.
  ///   - interest: The events to receive.
  ///   - isDirectory: Whether to refuse anything but a directory.
  /// - Returns: Never.
  /// - Throws: EOPNOTSUPP.
  public func watch(
    _ path: SystemPath, _ interest: WatchInterest, isDirectory: Bool
  ) throws(SystemError) -> WatchID {
    throw SystemError(call: "PollingWatcher", paths: [path], errno: EOPNOTSUPP)
  }

  /// Nothing is watched.
  ///
  /// - Parameter watch: The number of a watch.
  public func unwatch(_ watch: WatchID) {}

  /// There are no events.
  ///
  /// - Returns: No events.
  public func takeEvents() -> [WatchEvent] { [] }

  /// Blocks until ``wake()`` is called.
  public func waitForEvents() { sleep.wait() }

  /// Ends the wait that goes on, or else the next one.
  public func wake() { sleep.wake() }
}

/// Takes everything it's asked to watch for watched, and reports only the ends of watches.
final class SilentWatcher: FileWatcher {
  private struct State: Sendable {
    var numbers: [FileIdentity: WatchID] = [:]
    var count: Int32 = 0
    var ended: [WatchEvent] = []
  }

  private let sleep = WakeableSleep()
  private let state = Guarded(State())

  func watch(_ path: SystemPath, _ interest: WatchInterest, isDirectory: Bool) throws(SystemError) -> WatchID {
    let status = try HostFileSystem().status(of: path, at: .workingDirectory, links: .noFollow)
    if isDirectory, status.kind != .directory {
      throw SystemError(call: "ManualFileWatcher", paths: [path], errno: ENOTDIR)
    }
    return state.withLock { state in
      if let number = state.numbers[status.identity] { return number }
      state.count += 1
      state.numbers[status.identity] = WatchID(state.count)
      return WatchID(state.count)
    }
  }

  func unwatch(_ watch: WatchID) {
    state.withLock { state in
      guard let item = state.numbers.first(where: { $0.value == watch }) else { return }
      state.numbers[item.key] = nil
      state.ended.append(.ended(watch))
    }
    wake()
  }

  func takeEvents() -> [WatchEvent] {
    state.withLock { state in
      defer { state.ended = [] }
      return state.ended
    }
  }

  func waitForEvents() { sleep.wait() }
  func wake() { sleep.wake() }
}

/// Makes one thread sleep until others wake it; a thread that was woken before doesn't sleep.
final class WakeableSleep: Sendable {
  private let bell = Doorbell()
  /// The bell's count when the sleeper woke up last.
  private let heardCount = Guarded<UInt32>(0)

  func wait() {
    bell.wait(since: heardCount.withLock { $0 })
    let count = bell.count
    heardCount.withLock { $0 = count }
  }

  func wake() { bell.ring() }
}
