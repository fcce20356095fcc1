import FileCoordinationTesting
import FileWatching
import Foundation
import Glibc
import SystemInterface
import TestSupport
import Testing
import WatchingTestSupport

@Suite("Watching trees", .blocking, .serialized)
struct TreeWatcherTests {
  /// A watcher that has read everything there is.
  private func watching(
    _ tree: TemporaryTree, options: ScopeOptions = ScopeOptions(), backend: (any FileWatcher)? = nil
  ) async throws -> TreeWatcher {
    let watcher = try TreeWatcher([tree.root], options: options, backend: backend)
    try await watcher.waitUntilCurrent()
    return watcher
  }

  @Test("Files that come, go and alter are told with their paths, and nothing else is")
  func files() async throws {
    let tree = try TemporaryTree()
    for name in ["old", "same", "text"] { try tree.write(name) }
    let watcher = try await watching(tree)
    #expect(await watcher.catchUp()?.changes == [])
    try tree.write("new")
    try tree.write(tree.path("text"), "more", adding: true)
    try tree.unlink("old")
    let changes = await watcher.catchUp()?.changes
    #expect(
      changes == [
        TreeChange(tree.path("old"), .removed, .regular), TreeChange(tree.path("new"), .added, .regular),
        TreeChange(tree.path("text"), .modified, .regular),
      ])
    #expect(await watcher.catchUp()?.changes == [])
  }

  @Test("A directory that's moved is told once, whatever is in it, and later changes with its new path")
  func movedDirectory() async throws {
    let tree = try TemporaryTree()
    try tree.makeDirectory("a")
    for number in 0..<50 { try tree.write("a/\(number)") }
    let watcher = try await watching(tree)
    try tree.rename("a", to: "b")
    try tree.write("b/7", "other text")
    let changes = await watcher.catchUp()?.changes
    #expect(
      changes == [
        TreeChange(tree.path("b"), .moved(from: tree.path("a")), .directory),
        TreeChange(tree.path("b/7"), .modified, .regular),
      ])
  }

  @Test("A directory that's moved expands into the files that were moved with it, and into nothing else")
  func expandedMove() async throws {
    let tree = try TemporaryTree()
    try tree.makeDirectory("d")
    try tree.makeDirectory("d/e")
    for name in ["d/f", "d/e/g", "d/out", "in"] { try tree.write(name) }
    let watcher = try await watching(tree)
    try tree.rename("d", to: "moved")
    try tree.rename("moved/e", to: "moved/h")
    try tree.rename("moved/out", to: "out")
    try tree.rename("in", to: "moved/in")
    try tree.write("moved/new")
    let update = try #require(await watcher.catchUp())
    func moves(_ changes: [TreeChange]) -> [[SystemPath]] {
      changes.compactMap { change in
        if case .moved(let from) = change.action { [from, change.path] } else { nil }
      }
    }
    func pairs(_ names: [(String, String)]) -> [[SystemPath]] { names.map { [tree.path($0.0), tree.path($0.1)] } }
    let told = [("in", "moved/in"), ("d/out", "out"), ("d/e", "moved/h"), ("d", "moved")]
    #expect(moves(update.changes) == pairs(told))
    let expanded = [
      ("in", "moved/in"), ("d/out", "out"), ("d/f", "moved/f"), ("d/e/g", "moved/h/g"), ("d/e", "moved/h"),
      ("d", "moved"),
    ]
    #expect(moves(update.expandedChanges) == pairs(expanded))
    #expect(update.expandedChanges.filter { $0.action == .added }.map(\.path) == [tree.path("moved/new")])
  }

  @Test("A tree is named by a URL, with every byte of it, and a change has one; a URL that isn't a file's is EINVAL")
  func urls() async throws {
    let tree = try TemporaryTree()
    let name = SystemPath(bytes: Array("a%\u{E4} ".utf8) + [0xFF])
    let folder = tree.root.appending(name)
    try tree.makeDirectory(folder)
    let url = try #require(folder.url)
    #expect(SystemPath(url) == folder && SystemPath("a").url == nil)
    let watcher = try TreeWatcher([url])
    try await watcher.waitUntilCurrent()
    try tree.write(folder.appending("f.tar.gz"), "")
    let change = try #require(await watcher.catchUp()?.changes.first)
    #expect(change.url.flatMap(SystemPath.init) == change.path && change.path.pathExtension == "gz")
    let remote = try #require(URL(string: "https://example.org"))
    let error = #expect(throws: SystemError.self) { try TreeWatcher([remote]) }
    #expect(error?.errno == EINVAL)
  }

  @Test(
    "The extension of a path is what follows the last dot of its name",
    arguments: [
      ("/a/b.md", "md"), ("b.md/", "md"), ("a.b/c", nil), (".git", nil), ("a.", nil), ("a.b.c", "c"), ("/", nil),
    ])
  func pathExtension(path: String, expected: String?) {
    #expect(SystemPath(path).pathExtension == expected)
  }

  @Test("L5, L6, L7: files that change places are modified, and so is one that is saved by way of another file")
  func exchanges() async throws {
    let tree = try TemporaryTree()
    for name in ["a", "b", "document"] { try tree.write(name, name) }
    let watcher = try await watching(tree)
    try tree.rename(tree.path("a"), to: tree.path("b"), .exchange)
    try tree.write(".save", "longer text")
    try tree.rename(".save", to: "document")
    let changes = await watcher.catchUp()?.changes
    #expect(
      changes == [
        TreeChange(tree.path("a"), .modified, .regular), TreeChange(tree.path("b"), .modified, .regular),
        TreeChange(tree.path("document"), .modified, .regular),
      ])
  }

  @Test("L6: directories that change places in one step are moved")
  func exchangedDirectories() async throws {
    let tree = try TemporaryTree()
    for name in ["a", "b"] {
      try tree.makeDirectory(name)
      try tree.write("\(name)/f", name)
    }
    let watcher = try await watching(tree)
    try tree.rename(tree.path("a"), to: tree.path("b"), .exchange)
    let changes = await watcher.catchUp()?.changes
    #expect(
      changes == [
        TreeChange(tree.path("a"), .moved(from: tree.path("b")), .directory),
        TreeChange(tree.path("b"), .moved(from: tree.path("a")), .directory),
      ])
  }

  @Test(
    "L7: A save by way of another file is reported as a change of the document, also if that file was reported before")
  func saves() async throws {
    let tree = try TemporaryTree()
    try tree.write("document", "text")
    let watcher = try await watching(tree)
    try tree.write(".save", "longer text")
    #expect(await watcher.catchUp()?.changes == [TreeChange(tree.path(".save"), .added, .regular)])
    try tree.rename(".save", to: "document")
    let changes = try #require(await watcher.catchUp()?.changes)
    #expect(
      changes == [
        TreeChange(tree.path(".save"), .removed, .regular), TreeChange(tree.path("document"), .modified, .regular),
      ])
    #expect(changes.map(\.vacatedPath) == [tree.path(".save"), nil])
    #expect(changes.map(\.currentPath) == [nil, tree.path("document")])
  }

  @Test("A directory in the place of another one is another one, and a file may move from one to the other")
  func replacedDirectory() async throws {
    let tree = try TemporaryTree()
    try tree.makeDirectory("a")
    try tree.write("a/x")
    var mirror = TreeMirror(tree.contents)
    let watcher = try await watching(tree)
    try tree.makeDirectory("n")
    try tree.rename("a/x", to: "n/x")
    try tree.removeTree(tree.path("a"))
    try tree.rename("n", to: "a")
    // Whether the file was moved or is another one depends on the time at which the watcher read the events.
    mirror.apply(try #require(await watcher.catchUp()))
    #expect(mirror.violations + mirror.differences(from: tree.contents) == [])
  }

  @Test("Waiting ends while somebody makes directories all the time")
  func waitingAmongChanges() async throws {
    let tree = try TemporaryTree()
    try tree.makeDirectory("d")
    let isOver = Guarded(false)
    let maker = Task {
      var count = 0
      while !isOver.withLock({ $0 }) {
        count += 1
        try tree.makeDirectory("d/\(count)")
        if count % 100 == 0 {
          try tree.removeTree(tree.path("d"))
          try tree.makeDirectory("d")
        }
        await Task.yield()
      }
    }
    let watcher = try TreeWatcher([tree.root])
    for number in 0..<20 {
      try tree.write("\(number)")
      let changes = try #require(await watcher.catchUp()?.changes)
      // The first ones may have been there when it began.
      if number > 0 { #expect(changes.contains(TreeChange(tree.path("\(number)"), .added, .regular))) }
    }
    isOver.withLock { $0 = true }
    try await maker.value
  }

  @Test("Files that came and went meanwhile aren't reported; a directory in a file's place is another item")
  func nothingLeft() async throws {
    let tree = try TemporaryTree()
    try tree.write("x")
    let watcher = try await watching(tree)
    try tree.write("passing")
    try tree.unlink("passing")
    try tree.unlink("x")
    try tree.makeDirectory("x")
    let changes = await watcher.catchUp()?.changes
    #expect(
      changes == [
        TreeChange(tree.path("x"), .removed, .regular), TreeChange(tree.path("x"), .added, .directory),
      ])
  }

  @Test("A directory alters by its permissions, and not by what is in it")
  func directories() async throws {
    let tree = try TemporaryTree()
    try tree.makeDirectory("d")
    let watcher = try await watching(tree)
    try tree.write("d/f")
    #expect(await watcher.catchUp()?.changes == [TreeChange(tree.path("d/f"), .added, .regular)])
    #expect(chmod(tree.path("d").description, 0o700) == 0)
    #expect(await watcher.catchUp()?.changes == [TreeChange(tree.path("d"), .modified, .directory)])
  }

  @Test("L1: 200 files in directories that were made right before are all told, to who listens")
  func nestedDirectories() async throws {
    let tree = try TemporaryTree()
    let watcher = try await watching(tree)
    let expected = Set((0..<200).map { tree.path("race\($0)/a/b/c/f") })
    let reader = Task {
      var missing = expected
      for await update in watcher.updates {
        for change in update.changes where change.action == .added { missing.remove(change.path) }
        if missing.isEmpty { break }
      }
      return missing
    }
    for number in 0..<200 {
      for name in ["race\(number)", "race\(number)/a", "race\(number)/a/b", "race\(number)/a/b/c"] {
        try tree.makeDirectory(name)
      }
      try tree.write("race\(number)/a/b/c/f")
    }
    #expect(await reader.value.isEmpty)
  }

  @Test("L13: a tree that isn't there yet, goes, and comes back")
  func absentTree() async throws {
    let tree = try TemporaryTree()
    let top = tree.path("later")
    let watcher = try TreeWatcher([top])
    try await watcher.waitUntilCurrent()
    #expect(watcher.health.missingRootCount == 1)
    try tree.makeDirectory("later")
    try tree.write("later/f")
    let changes = await watcher.catchUp()?.changes
    #expect(
      changes == [
        TreeChange(top, .added, .directory), TreeChange(top.appending("f"), .added, .regular),
      ])
    try tree.removeTree(top)
    let rest = await watcher.catchUp()?.changes
    #expect(
      rest == [
        TreeChange(top.appending("f"), .removed, .regular), TreeChange(top, .removed, .directory),
      ])
  }

  @Test("L12: without watches everything is polled, which the health says, once and again when there are watches")
  func healthUpdates() async throws {
    let tree = try TemporaryTree()
    try tree.makeDirectory("d")
    let manual = ManualFileWatcher(try InotifyWatcher())
    manual.allowWatches(1)
    let watcher = try TreeWatcher(
      [tree.root], options: ScopeOptions(pollingInterval: .milliseconds(1)), backend: manual)
    var updates = watcher.healthUpdates.makeAsyncIterator()
    try await watcher.waitUntilCurrent()
    var health = await updates.next()
    while health?.polledDirectoryCount == 0 { health = await updates.next() }
    #expect(health?.isComplete == false && health?.pollingReason?.contains("ENOSPC") == true)
    manual.allowWatches(.max)
    while health?.isComplete == false { health = await updates.next() }
    #expect(health?.watchedDirectoryCount == 2 && watcher.health.pollingReason == nil)
    watcher.stop()
    while health != nil { health = await updates.next() }
    #expect(await watcher.healthUpdates.reduce(0) { count, _ in count + 1 } == 1)
  }

  @Test("An update that a test makes has the changes that it's given, and equals another one with the same")
  func madeUpdates() {
    let (old, new) = (SystemPath("/t/old"), SystemPath("/t/new"))
    let changes = [
      TreeChange(old, .removed, .regular), TreeChange(new, .moved(from: old), .directory),
      TreeChange(new, .added, .regular), TreeChange(new, .modified, .regular),
    ]
    #expect(changes.map(\.vacatedPath) == [old, old, nil, nil] && changes.map(\.currentPath) == [nil, new, new, new])
    let update = TreeUpdate(changes)
    #expect(update.changes == changes && update.expandedChanges == changes && update.health == ScopeHealth())
    #expect(update == TreeUpdate(changes) && update != TreeUpdate(changes.dropLast()))
    #expect(Set([update, TreeUpdate(changes), TreeUpdate([])]).count == 2)
  }

  @Test("A watcher's update equals one that a test makes of the same changes")
  func comparedUpdates() async throws {
    let tree = try TemporaryTree()
    try tree.makeDirectory("a")
    try tree.write("a/x")
    let watcher = try await watching(tree)
    try tree.rename("a", to: "b")
    let update = try #require(await watcher.catchUp())
    let made = TreeUpdate(
      [TreeChange(tree.path("b"), .moved(from: tree.path("a")), .directory)], health: update.health)
    #expect(update == made && update.hashValue == made.hashValue)
    // The difference of the trees isn't a part of the comparison.
    #expect(update.expandedChanges.count == 2 && made.expandedChanges.count == 1)
  }

  @Test("A backend that watches nothing refuses each watch by EOPNOTSUPP, and has no events")
  func refusedWatches() {
    let backend = PollingWatcher()
    for isDirectory in [true, false] {
      let error = #expect(throws: SystemError.self) {
        try backend.watch(SystemPath("/t"), .names, isDirectory: isDirectory)
      }
      #expect(error?.errno == EOPNOTSUPP && error?.paths == [SystemPath("/t")])
    }
    backend.unwatch(WatchID(1))
    // A wake-up before the wait ends it.
    backend.wake()
    backend.waitForEvents()
    #expect(backend.takeEvents().isEmpty)
  }

  @Test("A manual backend refuses what isn't there, and the end of a watch is the only event that nobody made")
  func manualWatches() throws {
    let tree = try TemporaryTree()
    try tree.write("file")
    let manual = ManualFileWatcher()
    let file = try manual.watch(tree.path("file"), .attributes, isDirectory: false)
    #expect(try manual.watch(tree.path("file"), .attributes, isDirectory: false) == file)
    let wrongKind = #expect(throws: SystemError.self) {
      try manual.watch(tree.path("file"), .names, isDirectory: true)
    }
    let missing = #expect(throws: SystemError.self) {
      try manual.watch(tree.path("none"), .names, isDirectory: false)
    }
    #expect(wrongKind?.errno == ENOTDIR && missing?.errno == ENOENT)
    #expect(manual.takeEvents().isEmpty)
    manual.unwatch(file)
    try manual.waitForEvents()
    #expect(manual.takeEvents() == [.ended(file)])
    manual.unwatch(file)
    #expect(manual.takeEvents().isEmpty)
  }

  @Test("A backend that watches nothing finds the same, when it's time to look")
  func polling() async throws {
    let tree = try TemporaryTree()
    let watcher = try await watching(
      tree, options: ScopeOptions(pollingInterval: .milliseconds(1)), backend: PollingWatcher())
    #expect(watcher.health.polledDirectoryCount > 0 && watcher.health.watchedDirectoryCount == 0)
    try tree.write("new")
    var updates = watcher.updates.makeAsyncIterator()
    #expect(await updates.next()?.changes == [TreeChange(tree.path("new"), .added, .regular)])
  }

  @Test("A backend of a test's own tells when the test says so, and not before")
  func scripted() async throws {
    let tree = try TemporaryTree()
    let manual = ManualFileWatcher()
    let watcher = try await watching(tree, backend: manual)
    try tree.write("new")
    #expect(await watcher.catchUp()?.changes == [])
    let top = try manual.watch(tree.root, .names, isDirectory: true)
    manual.tell(.name(top, SystemPath("new"), .created, isDirectory: false))
    #expect(await watcher.catchUp()?.changes == [TreeChange(tree.path("new"), .added, .regular)])
    try tree.write("other")
    manual.tell(.overflow)
    #expect(await watcher.catchUp()?.changes == [TreeChange(tree.path("other"), .added, .regular)])
    #expect(watcher.health.overflowCount == 1)
  }

  @Test("Changes are gathered for the batching interval")
  func batching() async throws {
    let tree = try TemporaryTree()
    let clock = VirtualClock()
    let watcher = try TreeWatcher([tree.root], batchingInterval: .seconds(10), clock: clock)
    try await watcher.waitUntilCurrent()
    let reader = Task { await watcher.updates.first { _ in true } }
    for name in ["a", "b"] {
      try tree.write(name)
      try await watcher.waitUntilCurrent()
    }
    try await clock.waitForScheduled(count: 1)
    clock.advance(by: .seconds(10))
    #expect(await reader.value?.changes.map(\.path) == [tree.path("a"), tree.path("b")])
  }

  @Test("Numbers of files that came and went while nobody asked are used again")
  func boundedNumbers() async throws {
    let tree = try TemporaryTree()
    try tree.write("kept")
    let watcher = try await watching(tree)
    try tree.write("first")
    try tree.unlink("kept")
    // Making so many files anew would take ext4 ten seconds.
    let outside = tree.base.appending("outside")
    try tree.makeDirectory(outside)
    for number in 0..<500 { try tree.write(outside.appending("\(number)"), "") }
    for _ in 0..<10 {
      try tree.rename(outside, to: tree.path("inside"))
      try await watcher.waitUntilCurrent()
      try tree.rename(tree.path("inside"), to: outside)
      try await watcher.waitUntilCurrent()
    }
    let changes = await watcher.catchUp()?.changes
    #expect(
      changes == [
        TreeChange(tree.path("kept"), .removed, .regular), TreeChange(tree.path("first"), .added, .regular),
      ])
  }

  @Test("Trees inside of others are watched once; the files there are reported if that's requested")
  func nestedTrees() async throws {
    let tree = try TemporaryTree()
    try tree.makeDirectory("d")
    try tree.write("d/f")
    let watcher = try TreeWatcher([tree.path("d"), tree.root, tree.root], tellsExisting: true)
    let changes = await watcher.catchUp()?.changes
    #expect(
      changes == [
        TreeChange(tree.root, .added, .directory), TreeChange(tree.path("d"), .added, .directory),
        TreeChange(tree.path("d/f"), .added, .regular),
      ])
    #expect(watcher.health.watchedDirectoryCount == 2)
  }

  @Test("Readers end with the watcher and with their tasks, and each update is for one of them")
  func readers() async throws {
    let tree = try TemporaryTree()
    let watcher = try await watching(tree)
    let cancelled = Task { await watcher.updates.first { _ in true } }
    cancelled.cancel()
    #expect(await cancelled.value == nil)
    let ended = Task { await watcher.updates.reduce(0) { $0 + $1.changes.count } }
    try tree.makeDirectory("a")
    let taken = try #require(await watcher.catchUp()).changes.count
    watcher.stop()
    #expect(await ended.value + taken == 1)
    #expect(await watcher.catchUp() == nil && watcher.error == nil)
    try await watcher.waitUntilCurrent()
  }

  @Test(
    "L12: a shortage during the wait for events ends nothing, and the health says so as long as it goes on",
    arguments: [EMFILE, ENFILE, ENOMEM, EAGAIN])
  func shortage(errno: Int32) async throws {
    let tree = try TemporaryTree()
    let backend = UnwaitableWatcher(try InotifyWatcher())
    let watcher = try await watching(tree, backend: backend)
    var health = watcher.healthUpdates.makeAsyncIterator()
    backend.fail(SystemError(call: "epoll_create1(2)", errno: errno))
    while try #require(await health.next()).waitError?.errno != errno {}
    #expect(!watcher.health.isComplete)
    // By the clock: nothing wakes the thread.
    let first = Task { await watcher.updates.first { _ in true }?.changes }
    // In one step: a file is made first and written then.
    try tree.makeDirectory("a")
    #expect(await first.value == [TreeChange(tree.path("a"), .added, .directory)])
    // By an order.
    try tree.makeDirectory("b")
    #expect(await watcher.catchUp()?.changes == [TreeChange(tree.path("b"), .added, .directory)])
    backend.fail(nil)
    while try #require(await health.next()).waitError != nil {}
    #expect(watcher.health.isComplete && watcher.error == nil)
    try tree.makeDirectory("c")
    #expect(await watcher.catchUp()?.changes == [TreeChange(tree.path("c"), .added, .directory)])
    #expect(backend.failureCount > 0)
  }

  @Test("Another error of the wait for events ends the watcher, which has it then")
  func brokenWait() async throws {
    let tree = try TemporaryTree()
    let backend = UnwaitableWatcher(try InotifyWatcher())
    let watcher = try await watching(tree, backend: backend)
    backend.fail(SystemError(call: "epoll_wait(2)", errno: EBADF))
    #expect(await watcher.updates.first { _ in true } == nil)
    #expect(watcher.error?.errno == EBADF)
  }

  @Test("L18: the last reference ends the thread and frees the kernel's queue")
  func end() async throws {
    let tree = try TemporaryTree()
    let freed = ThreadEvent()
    do {
      let watcher = try await watching(tree, backend: LastBreathWatcher(try InotifyWatcher()) { freed.signal() })
      #expect(await watcher.catchUp()?.changes == [])
    }
    freed.wait()
  }
}
