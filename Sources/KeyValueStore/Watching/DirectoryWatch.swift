internal import FileWatching
internal import SystemInterface

/// The events in a watched directory since the last time.
struct DirectoryNews: Sendable {
  /// The names at which something has happened.
  var names: Set<SystemPath> = []
  /// Something else may have happened: to the directory itself, or events were lost.
  var isUncertain = false
}

/// Notices what happens in the directories of stores and in shared folders: one thread for all of them in the process.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `members` | its lock, also while a watch begins or ends | a watch that ends has the same number as one that begins then |
final class DirectoryWatch: Sendable {
  private struct Member {
    let id: UInt64
    let take: @Sendable (DirectoryNews) -> Void
  }

  private struct Members {
    var all: [WatchID: [Member]] = [:]
    var lastID: UInt64 = 0
  }

  private let watcher: InotifyWatcher
  private let members = Guarded(Members())

  /// How often a directory is looked at that can't be watched.
  static let unwatchedInterval = Duration.seconds(5)

  private static let shared = Guarded<DirectoryWatch?>(nil)

  /// A watch that goes on as long as it's referenced.
  final class Registration: Sendable {
    private let watch: DirectoryWatch
    private let number: WatchID
    private let id: UInt64

    fileprivate init(_ watch: DirectoryWatch, _ number: WatchID, _ id: UInt64) {
      (self.watch, self.number, self.id) = (watch, number, id)
    }

    deinit { watch.end(number, id) }
  }

  /// Tells what happens in a directory from now on: names that come and go, files that change, the directory itself.
  ///
  /// - Parameters:
  ///   - directory: The directory.
  ///   - take: Called on the thread that watches, also just after the registration has ended.
  /// - Returns: The watch, which ends with its last reference.
  /// - Throws: EMFILE or ENOSPC when the user has too many queues or watches; EOPNOTSUPP where others than this kernel make changes.
  static func begin(
    _ directory: SystemPath, _ take: @escaping @Sendable (DirectoryNews) -> Void
  ) throws(SystemError) -> Registration {
    let watch = try current()
    return try watch.members.withLock { (members) throws(SystemError) in
      let number = try watch.watcher.watch(directory, [.names, .contents, .itself], isDirectory: true)
      members.lastID += 1
      members.all[number, default: []].append(Member(id: members.lastID, take: take))
      return Registration(watch, number, members.lastID)
    }
  }

  private func end(_ number: WatchID, _ id: UInt64) {
    members.withLock { members in
      members.all[number]?.removeAll { $0.id == id }
      guard members.all[number]?.isEmpty ?? false else { return }
      members.all[number] = nil
      watcher.unwatch(number)
    }
  }

  private static func current() throws(SystemError) -> DirectoryWatch {
    if let watch = shared.withLock({ $0 }) { return watch }
    let made = DirectoryWatch(try InotifyWatcher(tellsMounts: false))
    let (watch, isNew) = shared.withLock { shared -> (DirectoryWatch, Bool) in
      if let shared { return (shared, false) }
      shared = made
      return (made, true)
    }
    if isNew { HostThread.start(name: "store-watch") { watch.run() } }
    return watch
  }

  private init(_ watcher: InotifyWatcher) { self.watcher = watcher }

  /// Events that follow each other are taken together: a program that writes much would wake this thread for each of its own writes.
  private static let pause = Duration.milliseconds(1)

  private func run() {
    while true {
      _ = ThreadEvent().wait(until: MonotonicTime.host().advanced(by: Self.pause))
      do throws(SystemError) { try watcher.waitForEvents() } catch {
        // Too few descriptors or threads, perhaps not for long; events are kept until then.
        _ = ThreadEvent().wait(until: MonotonicTime.host().advanced(by: Self.unwatchedInterval))
      }
      var (news, isAll): ([WatchID: DirectoryNews], Bool) = ([:], false)
      for event in watcher.takeEvents() {
        switch event {
        case .name(let number, let name, _, _): news[number, default: DirectoryNews()].names.insert(name)
        case .itemChanged(let number), .itemMoved(let number), .ended(let number):
          news[number, default: DirectoryNews()].isUncertain = true
        case .overflow: isAll = true
        case .mountsChanged: break
        }
      }
      let all = members.withLock { $0.all }
      for (number, members) in all {
        guard let found = isAll ? DirectoryNews(isUncertain: true) : news[number] else { continue }
        for member in members { member.take(found) }
      }
    }
  }
}
