internal import Glibc
internal import Synchronization

extension HostFileSystem: NameChangeSource {
  /// inotify(7).
  package func makeNameChangeQueue() -> any NameChangeQueue { HostNameChangeQueue() }
}

/// The changes of names that the kernel reports, see inotify(7): all of a process share one queue.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `probe` | atomic; set by the first ``watch(_:)`` | others ask ``isEmpty`` meanwhile |
/// | `opened` | its lock | the caller serialises all but ``isEmpty`` |
///
/// A child of fork(2) has no queue: it can't watch anything, and finds everything changed.
///
/// `@unchecked Sendable` for the pointer to atomics, which live as long as the subscription.
@safe
package final class HostNameChangeQueue: NameChangeQueue, @unchecked Sendable {
  private struct Opened: Sendable {
    let subscription: InotifySubscription
    let mounts: MountTable
  }

  private let opened = Guarded<Opened?>(nil)
  /// That of the subscription, which is never given up.
  private let probe = unsafe Atomic<UnsafeMutablePointer<InotifySeat.Probe>?>(nil)

  package init() {}

  package var isEmpty: Bool {
    guard let probe = unsafe probe.load(ordering: .acquiring) else { return true }
    return unsafe probe.pointee.isEmpty || hasNoRecords
  }

  package func watch(_ directory: SystemPath) throws(SystemError) -> NameWatch {
    let subscription = try opened.withLock { opened throws(SystemError) in try open(&opened) }
    return NameWatch(rawValue: try subscription.watch(directory, [.names, .itself], isDirectory: true))
  }

  package func unwatch(_ watch: NameWatch) { opened.withLock { $0 }?.subscription.unwatch(watch.rawValue) }

  package func takeChanges() -> [NameChange] {
    opened.withLock { $0 }?.subscription.takeRecords().map(Self.change(of:)) ?? []
  }

  package func takeMountChange() -> Bool { opened.withLock { $0 }?.mounts.takeChange() ?? false }

  /// Records in the kernel's queue may be for others; they're handed out then.
  @inline(never)
  private var hasNoRecords: Bool { opened.withLock { $0 }?.subscription.hasRecords() == false }

  private func open(_ opened: inout Opened?) throws(SystemError) -> InotifySubscription {
    if let opened { return opened.subscription }
    // Mounts first: without them nothing may be watched.
    let mounts = try MountTable()
    let subscription = try InotifySubscription(.names)
    opened = Opened(subscription: subscription, mounts: mounts)
    unsafe probe.store(subscription.seat.probe, ordering: .releasing)
    return subscription
  }

  private static func change(of record: InotifyRecord) -> NameChange {
    let watch = NameWatch(rawValue: record.watch)
    if record.has(IN_Q_OVERFLOW) { return .everything }
    if record.has(IN_IGNORED) { return .ended(watch) }
    if record.has(IN_UNMOUNT | IN_DELETE_SELF | IN_MOVE_SELF) || record.name.isEmpty { return .directory(watch) }
    return .name(watch, record.name)
  }
}
