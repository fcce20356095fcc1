import CSystemShims
import Glibc
import TestSupport
import Testing

@testable import SystemInterface

@Suite("One queue of the kernel serves all who watch in a process", .blocking, .timeLimit(.minutes(5)))
struct SharedInotifyQueueTests {
  private func names(_ records: [InotifyRecord]) -> [String] {
    records.filter { !$0.name.isEmpty }.map { String(decoding: $0.name, as: UTF8.self) }
  }

  @Test("Each hears of what it wants to hear of, until it ends its watch; the other one goes on")
  func twoInterests() async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.makeDirectory("d")
      try sandbox.write("d/old", "")
      let first = try InotifySubscription(.items)
      let second = try InotifySubscription(.items)
      let one = try first.watch(sandbox.path("d"), .names, isDirectory: true)
      _ = try second.watch(sandbox.path("d"), .contents, isDirectory: true)
      try sandbox.write("d/new", "")
      try sandbox.write("d/old", "text")
      #expect(names(first.takeRecords()) == ["new"])
      #expect(Set(names(second.takeRecords())) == ["new", "old"])
      try sandbox.makeDirectory("d/before")
      first.unwatch(one)
      try sandbox.makeDirectory("d/after")
      try sandbox.write("d/old", "other text")
      let records = first.takeRecords()
      #expect(names(records) == ["before"])
      #expect(records.last?.isEnd == true && records.last?.watch == one)
      #expect(names(second.takeRecords()).allSatisfy { $0 == "old" })
      let again = try first.watch(sandbox.path("d"), .names, isDirectory: true)
      #expect(again != one)
      try sandbox.makeDirectory("d/last")
      #expect(first.takeRecords().map(\.watch) == [again])
    }
  }

  @Test("A subscriber that takes nothing loses its own events, and no others")
  func slowSubscriber() async throws {
    try await withTemporaryDirectory { sandbox in
      let slow = try InotifySubscription(.items)
      let quick = try InotifySubscription(.items)
      for subscriber in [slow, quick] { _ = try subscriber.watch(sandbox.root, .names, isDirectory: true) }
      var count = 0
      for number in 0..<(SharedWatches.recordCountMax / 2 + 10) {
        try sandbox.makeDirectory("\(number)")
        try sandbox.files.unlink(sandbox.path("\(number)"), at: .workingDirectory, .emptyDirectory)
        if number % 1000 == 0 { count += quick.takeRecords().count }
      }
      count += quick.takeRecords().count
      #expect(count == SharedWatches.recordCountMax + 20)
      let records = slow.takeRecords()
      #expect(records.count == SharedWatches.recordCountMax + 1)
      #expect(records.firstIndex(where: \.isOverflow) == SharedWatches.recordCountMax)
      try sandbox.makeDirectory("later")
      #expect(names(slow.takeRecords()) == ["later"])
    }
  }

  @Test("An event that repeats is reported once to a subscriber that doesn't take it meanwhile")
  func merging() async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.write("f", "")
      let first = try InotifySubscription(.items)
      let second = try InotifySubscription(.items)
      _ = try first.watch(sandbox.path("f"), .attributes, isDirectory: false)
      for mode in 0..<1000 {
        chmod(sandbox.path("f").description, mode_t(0o600 + mode % 2))
        _ = second.takeRecords()
      }
      #expect(first.takeRecords().count == 1)
    }
  }

  @Test("A wait ends for who has something to take, and for nobody else")
  func waiting() async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.makeDirectory("a")
      try sandbox.makeDirectory("b")
      let waiters = [try Waiter(sandbox.path("a")), try Waiter(sandbox.path("b"))]
      for count in 1...50 {
        try sandbox.makeDirectory("b/\(count)")
        waiters[1].wait(for: count)
      }
      #expect(waiters[0].count == 0)
      try sandbox.makeDirectory("a/1")
      waiters[0].wait(for: 1)
      for waiter in waiters { waiter.end() }
    }
  }

  @Test("A subscriber that waits alone is joined by another one, and both are told")
  func joining() async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.makeDirectory("a")
      try sandbox.makeDirectory("b")
      let first = try Waiter(sandbox.path("a"))
      try sandbox.makeDirectory("a/1")
      first.wait(for: 1)
      let second = try Waiter(sandbox.path("b"))
      try sandbox.makeDirectory("b/1")
      second.wait(for: 1)
      try sandbox.makeDirectory("a/2")
      first.wait(for: 2)
      second.end()
      try sandbox.makeDirectory("a/3")
      first.wait(for: 3)
      first.end()
    }
  }

  @Test("For a poller there's a descriptor that's readable as long as there are records")
  func descriptor() async throws {
    try await withTemporaryDirectory { sandbox in
      let queue = try InotifyQueue()
      let poller = try ReadinessPoller()
      try poller.add(queue, token: 7, awaiting: .readable)
      _ = try queue.watch(sandbox.root, .names, isDirectory: true)
      for name in ["a", "b"] {
        try sandbox.makeDirectory(name)
        var events: [ReadinessPoller.Event] = []
        _ = try poller.wait(into: &events)
        #expect(events.map(\.token) == [7])
        #expect(names(queue.takeRecords()) == [name])
      }
      var events: [ReadinessPoller.Event] = []
      #expect(try !poller.wait(into: &events, until: MonotonicTime(nanoseconds: 0)))
    }
  }

  @Test("A watch that's made while others end theirs on the same directory is told everything from then on")
  func races() async throws {
    try await withTemporaryDirectory { sandbox in
      let isOver = Guarded(false)
      let others = (0..<2).map { _ in
        let ended = ThreadEvent()
        HostThread.start(name: "test") {
          while !isOver.withLock({ $0 }) {
            guard let other = try? InotifySubscription(.items) else { break }
            for _ in 0..<20 {
              if let watch = try? other.watch(sandbox.root, .names, isDirectory: true) { other.unwatch(watch) }
            }
          }
          ended.signal()
        }
        return ended
      }
      let subscriber = try InotifySubscription(.items)
      for number in 0..<2000 {
        let watch = try subscriber.watch(sandbox.root, .names, isDirectory: true)
        try sandbox.makeDirectory("\(number)")
        subscriber.unwatch(watch)
        try sandbox.files.unlink(sandbox.path("\(number)"), at: .workingDirectory, .emptyDirectory)
        let records = subscriber.takeRecords()
        #expect(names(records) == ["\(number)"])
        #expect(records.count == 2 && records.allSatisfy { $0.watch == watch })
      }
      isOver.withLock { $0 = true }
      for other in others { other.wait() }
    }
  }

  @Test("A queue of names isn't empty after a change, while another thread hands records out")
  func emptiness() async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.makeDirectory("a")
      try sandbox.makeDirectory("b")
      let queue = HostNameChangeQueue()
      let other = HostNameChangeQueue()
      let watch = try queue.watch(sandbox.path("a"))
      _ = try other.watch(sandbox.path("b"))
      let isOver = Guarded(false)
      let ended = ThreadEvent()
      HostThread.start(name: "test") {
        while !isOver.withLock({ $0 }) { _ = other.takeChanges() }
        ended.signal()
      }
      for number in 0..<5000 {
        try sandbox.makeDirectory("a/\(number)")
        #expect(!queue.isEmpty)
        #expect(queue.takeChanges() == [.name(watch, Array("\(number)".utf8))])
        #expect(queue.isEmpty || !other.isEmpty || !isOver.withLock { $0 })
      }
      isOver.withLock { $0 = true }
      ended.wait()
    }
  }

  @Test("A forked child has no part in the queue of its parent, and gets one of its own")
  func fork() async {
    await #expect(processExitsWith: .success) {
      let path = SystemPath("/tmp/SystemInterfaceTests.\(getpid())")
      let files = HostFileSystem()
      try files.makeDirectory(path, at: .workingDirectory, mode: 0o755)
      defer { try? files.removeItem(at: path) }
      let parents = try InotifySubscription(.items)
      _ = try parents.watch(path, .names, isDirectory: true)
      guard let symbol = dlsym(nil, "fork") else { exit(1) }
      let child = unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)()
      if child == 0 {
        guard parents.takeRecords().allSatisfy(\.isOverflow), !((try? parents.wait()) != nil),
          let own = try? InotifySubscription(.items),
          (try? own.watch(path, .names, isDirectory: true)) != nil,
          (try? files.makeDirectory(path.appending("d"), at: .workingDirectory, mode: 0o755)) != nil,
          own.takeRecords().count == 1
        else { _exit(2) }
        _exit(0)
      }
      var status: Int32 = 0
      waitpid(child, &status, 0)
      let isTold = parents.takeRecords().map(\.name) == [Array("d".utf8)]
      try? files.unlink(path.appending("d"), at: .workingDirectory, .emptyDirectory)
      try? files.unlink(path, at: .workingDirectory, .emptyDirectory)
      exit(status == 0 && isTold ? 0 : 3)
    }
  }

  @Test("A queue that can't be opened says which limit is in the way")
  func limits() {
    let user = SystemError.noInotifyQueue(errno: EMFILE, hasFreeDescriptor: true)
    #expect(user.description.contains("fs.inotify.max_user_instances"))
    let process = SystemError.noInotifyQueue(errno: EMFILE, hasFreeDescriptor: false)
    #expect(process.description.contains("RLIMIT_NOFILE"))
    #expect(SystemError.noInotifyQueue(errno: ENOMEM, hasFreeDescriptor: true).advice == nil)
  }
}

/// A thread that waits for events in a directory, and counts how often it's woken.
private final class Waiter: Sendable {
  private struct State {
    var count = 0
    var isOver = false
  }

  private let subscription: InotifySubscription
  private let state = Guarded(State())
  private let bell = Doorbell()

  init(_ directory: SystemPath) throws {
    subscription = try InotifySubscription(.items)
    _ = try subscription.watch(directory, .names, isDirectory: true)
    HostThread.start(name: "test") { self.run() }
  }

  var count: Int { state.withLock { $0.count } }

  func wait(for count: Int) {
    while true {
      let rings = bell.count
      if self.count >= count { return }
      bell.wait(since: rings)
    }
  }

  func end() {
    state.withLock { $0.isOver = true }
    subscription.wake()
  }

  private func run() {
    while (try? subscription.wait()) != nil {
      let isOver = state.withLock { state in
        if !state.isOver { state.count += 1 }
        return state.isOver
      }
      if isOver { return }
      _ = subscription.takeRecords()
      bell.ring()
    }
  }
}
