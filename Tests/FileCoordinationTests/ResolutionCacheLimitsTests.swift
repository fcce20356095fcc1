import FileAccessArbiter
import FoundationEssentials
import Glibc
import SystemInterface
import Testing

@testable import FileCoordination

@Suite("A path that the identity cache can't know for sure is resolved in full", .timeLimit(.minutes(4)))
struct ResolutionCacheLimitsTests {
  private func cache(
    _ tree: LinkTree, _ queue: ScriptedQueue, _ change: (inout ResolutionCache.Limits) -> Void = { _ in }
  ) -> ResolutionCache {
    var limits = ResolutionCache.Limits()
    change(&limits)
    return ResolutionCache(in: tree.files, changes: queue, [], checkInterval: .zero, limits: limits)
  }

  @Test("When the kernel's queue overflows, nothing is trusted")
  func realOverflow() async throws {
    let setting = try String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
    let eventCountMax = try #require(Int(setting.filter(\.isNumber)))
    try #require(eventCountMax <= 1 << 20, "the queue of this machine is too long for a test")
    try await withLinkTree { tree in
      try tree.makeDirectories("d")
      try tree.makeDirectory("one")
      try tree.makeDirectory("two")
      try tree.makeFile("a")
      try tree.link("link", to: "one")
      let cache = ResolutionCache(in: tree.files)
      let item = try cache.item(for: tree.url("link/file"))
      for _ in 0...(eventCountMax / 4 + 1) {
        try tree.rename("a", to: "b")
        try tree.rename("b", to: "a")
      }
      // This change finds the queue full, and isn't reported.
      try tree.retarget("link", to: "two")
      let moved = try cache.item(for: tree.url("link/file"))
      #expect(moved.path.description == tree.root + "/two/file" && item.isStale)
      // And the cache works again.
      #expect(try cache.item(for: tree.url("link/file")) === moved)
    }
  }

  @Test("When changes were lost, nothing is trusted")
  func lostChanges() async throws {
    try await withLinkTree { tree in
      try tree.makeDirectory("one")
      try tree.makeDirectory("two")
      try tree.link("link", to: "one")
      let queue = ScriptedQueue()
      let cache = cache(tree, queue)
      let item = try cache.item(for: tree.url("link/file"))
      #expect(try cache.item(for: tree.url("link/file")) === item)
      try tree.retarget("link", to: "two")
      queue.overflow()
      #expect(try cache.item(for: tree.url("link/file")).path.description == tree.root + "/two/file")
      #expect(item.isStale)
    }
  }

  @Test("When a file system is mounted, nothing is trusted that was found before")
  func mounts() async throws {
    try await withLinkTree { tree in
      try tree.makeDirectory("d")
      let queue = ScriptedQueue()
      let cache = cache(tree, queue) { $0.mountCheckInterval = .nanoseconds(-1) }
      let item = try cache.item(for: tree.url("d/file"))
      #expect(try cache.item(for: tree.url("d/file")) === item)
      queue.mount()
      let anew = try cache.item(for: tree.url("d/file"))
      #expect(anew !== item && item.isStale)
      #expect(try cache.item(for: tree.url("d/file")) === anew)
    }
  }

  @Test(
    "Without watches or descriptors everything is resolved in full, and watching is tried again later",
    arguments: [ENOSPC, EMFILE, EACCES, EOPNOTSUPP, EIO])
  func exhaustion(code: Int32) async throws {
    try await withLinkTree { tree in
      try tree.makeDirectory("one")
      try tree.makeDirectory("two")
      try tree.link("link", to: "one")
      let queue = ScriptedQueue()
      let later = cache(tree, queue) { $0.retryInterval = .seconds(3600) }
      queue.failWatches(with: code)
      let first = try later.item(for: tree.url("link/file"))
      try tree.retarget("link", to: "two")
      #expect(try later.item(for: tree.url("link/file")).path.description == tree.root + "/two/file")
      #expect(!first.isStale && first.path.description == tree.root + "/one/file")
      // An error that isn't about watching doesn't keep others from being asked.
      if code != EIO { #expect(queue.watchCount == 1) }
      #expect(later.counts == ResolutionCache.Counts())

      let atOnce = cache(tree, queue) { $0.retryInterval = .nanoseconds(-1) }
      _ = try atOnce.item(for: tree.url("link/file"))
      queue.failWatches(with: 0)
      let kept = try atOnce.item(for: tree.url("link/file"))
      #expect(try atOnce.item(for: tree.url("link/file")) === kept)
    }
  }

  @Test("Files behind a door that tells of no changes are resolved in full each time")
  func scriptedDoor() async throws {
    try await withLinkTree { tree in
      try tree.makeDirectory("one")
      try tree.link("link", to: "one")
      let door = ScriptedFileSystem { _ in .proceed }
      let cache = ResolutionCache(in: door)
      let item = try cache.item(for: tree.url("link/file"))
      let callCount = door.log.count
      try tree.retarget("link", to: "two")
      #expect(try cache.item(for: tree.url("link/file")).path.description == tree.root + "/two/file")
      #expect(door.log.count > callCount && !item.isStale)
      #expect(cache.counts == ResolutionCache.Counts())
    }
  }

  @Test("Changes in the middle of a look don't give an answer that was never right")
  func changeMeanwhile() async throws {
    try await withLinkTree { tree in
      for name in ["p", "q", "z"] { try tree.makeDirectory(name) }
      try tree.link("link", to: "p")
      let isDone = Guarded(false)
      // The link is read by now and the file that it names isn't: a walk that goes on ends in "z", where the link never
      // led.
      let door = ScriptedFileSystem { call in
        guard call.call == .status, call.paths == [tree.path("p")],
          isDone.withLock({ exchange(&$0, with: true) }) == false
        else { return .proceed }
        do {
          try tree.retarget("link", to: "q")
          try tree.rename("p", to: "gone")
          try tree.link("p", to: "z")
        } catch { Issue.record(error) }
        return .proceed
      }
      let cache = ResolutionCache(
        in: door, changes: HostNameChangeQueue(), [], checkInterval: .zero, limits: ResolutionCache.Limits())
      let item = try cache.item(for: tree.url("link/file"))
      #expect(isDone.withLock { $0 })
      #expect(item.path.description == tree.root + "/q/file")
      #expect(try cache.item(for: tree.url("link/file")) === item)
    }
  }

  @Test("Directories of proc(5) aren't watched", arguments: ["/proc/self/fd/x", "/proc/self/x", "/sys/kernel/x"])
  func proc(path: String) throws {
    let cache = ResolutionCache(in: HostFileSystem())
    let url = URL(filePath: path, directoryHint: .notDirectory)
    for follow in [false, true] {
      #expect(Answer(from: cache, url, followingLastLink: follow) == Answer(inFull: url, followingLastLink: follow))
    }
    #expect(cache.counts.items == 0 && cache.counts.places == 0)
  }

  @Test("Items, places and watches are bounded, and those in use stay")
  func bounds() async throws {
    try await withLinkTree { tree in
      let queue = ScriptedQueue()
      let depth = tree.root.split(separator: "/").count
      let cache = cache(tree, queue) {
        ($0.itemCountMax, $0.placeCountMax, $0.watchCountMax) = (8, 4, depth + 6)
      }
      for index in 0..<20 { try tree.makeDirectories("d\(index)/in") }
      let hot = try cache.item(for: tree.url("d0/in/hot"))
      for index in 0..<200 {
        let url = try tree.url("d\(index % 20)/in/file\(index)")
        #expect(try cache.item(for: url).path.description == tree.root + "/d\(index % 20)/in/file\(index)")
        // Its directory is asked for so often that there is always another one to forget.
        #expect(try cache.item(for: tree.url("d0/in/hot")).path == hot.path)
        #expect(hot.validity.isKept, "\(index)")
        let counts = cache.counts
        #expect(counts.items <= 8 && counts.places <= 4 && counts.watches <= depth + 6, "\(counts)")
      }
      #expect(!hot.isStale)
    }
  }

  @Test("A forgotten item isn't out of date, and is found again")
  func eviction() async throws {
    try await withLinkTree { tree in
      let queue = ScriptedQueue()
      let cache = cache(tree, queue) { $0.placeCountMax = 1 }
      for name in ["a", "b"] { try tree.makeDirectory(name) }
      let first = try cache.item(for: tree.url("a/file"))
      _ = try cache.item(for: tree.url("b/file"))
      #expect(!first.isStale && !first.validity.isKept)
      // Nothing watches the way of the first any more: it has to be looked up.
      try tree.rename("a", to: "c")
      try tree.link("a", to: "c")
      #expect(try cache.item(for: tree.url("a/file")).path.description == tree.root + "/c/file")
    }
  }

  @Test("When everything is out of date, no watch is left")
  func noWatchLeft() async throws {
    try await withLinkTree { tree in
      let queue = ScriptedQueue()
      let cache = cache(tree, queue)
      for index in 0..<10 {
        try tree.makeDirectories("d\(index)/in")
        _ = try cache.item(for: tree.url("d\(index)/in/file"))
      }
      #expect(cache.counts.places == 10)
      queue.overflow()
      cache.noteMove(from: "/nowhere/a", to: "/nowhere/b")
      #expect(cache.counts.places == 0 && cache.counts.watches == 0)
    }
  }

  @Test("A path deeper than the cache follows is resolved in full")
  func depth() async throws {
    try await withLinkTree { tree in
      let deep = Array(repeating: "n", count: PlaceCore.stepCountMax).joined(separator: "/")
      try tree.makeDirectories(deep)
      let cache = ResolutionCache(in: tree.files)
      let item = try cache.item(for: tree.url(deep + "/file"))
      #expect(item.path.description == tree.root + "/" + deep + "/file")
      #expect(try cache.item(for: tree.url(deep + "/file")) !== item)
      #expect(cache.counts == ResolutionCache.Counts())
    }
  }

  @Test("Items in use further up on the thread stay, however many are requested meanwhile")
  func nesting() async throws {
    try await withLinkTree { tree in
      let cache = ResolutionCache(in: tree.files)
      func nest(_ depth: Int) throws {
        let name = "file\(depth)"
        try cache.withItem(for: tree.url(name)) { item in
          if depth < 4 * ThreadResolutionTable.entryCount { try nest(depth + 1) }
          #expect(item.url.lastPathComponent == name)
          #expect(item.path.description == tree.root + "/" + name)
        }
      }
      try nest(0)
    }
  }

  @Test("A thread's table lets go of its items when the thread ends")
  func threadEnd() async throws {
    try await withLinkTree { tree in
      final class Ask: @unchecked Sendable {
        let tree: LinkTree
        weak var item: ResolvedItem?
        init(_ tree: LinkTree) { self.tree = tree }
      }
      let ask = Ask(tree)
      var thread = pthread_t()
      let code = pthread_create(
        &thread, nil,
        { argument in
          guard let argument else { return nil }
          let ask = Unmanaged<Ask>.fromOpaque(argument).takeUnretainedValue()
          ask.item = try? ResolutionCache(in: ask.tree.files).item(for: ask.tree.url("file"))
          if ask.item == nil { Issue.record("the thread's table doesn't keep the item") }
          return nil
        }, Unmanaged.passUnretained(ask).toOpaque())
      #expect(code == 0)
      pthread_join(thread, nil)
      #expect(ask.item == nil)
    }
  }
}

@Suite("The library's own moves are seen at once")
struct ResolutionCacheMoveTests {
  @Test(
    "Items at and inside of both places are marked, others aren't, whether watched or not", arguments: [false, true])
  func marks(isWatched: Bool) async throws {
    try await withLinkTree { tree in
      let door: any FileSystem = isWatched ? tree.files : ScriptedFileSystem { _ in .proceed }
      let cache = ResolutionCache(in: door)
      try tree.makeDirectories("old/in")
      try tree.makeDirectories("beside")
      func item(_ name: String, follow: Bool = false) throws -> ResolvedItem {
        try cache.item(for: tree.url(name), followingLastLink: follow)
      }
      let inside = try [item("old/in/file"), item("old/file"), item("new/in/file"), item("old", follow: true)]
      let outside = try [item("older/file"), item("beside/file"), item("old"), item("file")]
      cache.noteMove(from: ItemPath(tree.root + "/old"), to: ItemPath(tree.root + "/new"))
      #expect(inside.map(\.isStale) == [true, true, true, true])
      #expect(outside.map(\.isStale) == [false, false, false, false])
      #expect(!(try item("old/in/file")).isStale)
    }
  }

  @Test("With a check interval, a stranger's change is seen later, and a move at once")
  func interval() async throws {
    try await withLinkTree { tree in
      try tree.makeDirectory("one")
      try tree.makeDirectory("two")
      try tree.link("link", to: "one")
      var limits = ResolutionCache.Limits()
      limits.mountCheckInterval = .seconds(3600)
      let cache = ResolutionCache(in: tree.files, checkInterval: .seconds(3600), limits: limits)
      let item = try cache.item(for: tree.url("link/file"))
      try tree.retarget("link", to: "two")
      #expect(try cache.item(for: tree.url("link/file")) === item)
      cache.noteMove(from: "/nowhere/a", to: "/nowhere/b")
      #expect(try cache.item(for: tree.url("link/file")).path.description == tree.root + "/two/file")
    }
  }

  @Test("An interval no longer than a tick of the clock is as good as none")
  func shortInterval() async throws {
    try await withLinkTree { tree in
      try tree.makeDirectory("one")
      try tree.makeDirectory("two")
      try tree.link("link", to: "one")
      let cache = ResolutionCache(in: tree.files, checkInterval: .nanoseconds(CoarseClock.resolution))
      for target in ["one", "two", "one", "two"] {
        try tree.retarget("link", to: target)
        #expect(try cache.item(for: tree.url("link/file")).path.description == tree.root + "/\(target)/file")
      }
    }
  }

  @Test("Nobody keeps the place of an item that is gone")
  func registry() async throws {
    try await withLinkTree { tree in
      let cache = ResolutionCache(in: ScriptedFileSystem { _ in .proceed })
      do {
        let item = try cache.item(for: tree.url("file"))
        #expect(cache.registry.count == 1)
        withExtendedLifetime(item) {}
      }
      #expect(cache.registry.count == 0)
    }
  }
}
