internal import Glibc
public import SystemInterface

/// Watches nothing, so that everything is looked at from time to time: for file systems that other machines change, where the kernel
/// claims to tell everything and doesn't.
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
  ///   - interest: What to hear of.
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

  /// Nothing is told.
  ///
  /// - Returns: No events.
  public func takeEvents() -> [WatchEvent] { [] }

  /// Blocks until somebody calls ``wake()``.
  public func waitForEvents() { sleep.wait() }

  /// Ends the wait that goes on, or else the next one.
  public func wake() { sleep.wake() }
}

/// Takes what it's asked to watch for watched, and never tells anything.
final class SilentWatcher: FileWatcher {
  private let sleep = WakeableSleep()
  private let numbers = Guarded<[FileIdentity: WatchID]>([:])

  func watch(_ path: SystemPath, _ interest: WatchInterest, isDirectory: Bool) throws(SystemError) -> WatchID {
    let status = try HostFileSystem().status(of: path, at: .workingDirectory, links: .noFollow)
    if isDirectory, status.kind != .directory {
      throw SystemError(call: "ManualFileWatcher", paths: [path], errno: ENOTDIR)
    }
    return numbers.withLock { numbers in
      let number = numbers[status.identity] ?? WatchID(Int32(numbers.count + 1))
      numbers[status.identity] = number
      return number
    }
  }

  func unwatch(_ watch: WatchID) {}
  func takeEvents() -> [WatchEvent] { [] }
  func waitForEvents() { sleep.wait() }
  func wake() { sleep.wake() }
}

/// Lets one thread sleep until others wake it; whoever was woken before doesn't sleep.
final class WakeableSleep: Sendable {
  private let bell = Doorbell()
  /// What the bell said when the sleeper woke up last.
  private let heardCount = Guarded<UInt32>(0)

  func wait() {
    bell.wait(since: heardCount.withLock { $0 })
    let count = bell.count
    heardCount.withLock { $0 = count }
  }

  func wake() { bell.ring() }
}
