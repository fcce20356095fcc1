import Foundation
import Glibc
import SystemInterface
import TestSupport
import Testing
import WatchingTestSupport

@testable import FileWatching

@Suite("Reading and following a tree", .blocking)
struct ScopeIndexerTests {
  @Test(
    "L12: where a directory around the tree can't be watched, the tree is looked at from time to time, and that's said")
  func unwatchedWay() throws {
    let tree = try TemporaryTree()
    let indexed = try IndexedTree(tree, watchCountMax: 1)
    // The tree itself, and the way to it.
    #expect(indexed.indexer.health.polledDirectoryCount == 2 && indexed.indexer.needsPolling)
    let moved = tree.base.appending("moved")
    try tree.rename(tree.root, to: moved)
    indexed.indexer.poll()
    indexed.settle()
    #expect(indexed.contents.isEmpty)
    try tree.rename(moved, to: tree.root)
    indexed.watcher.allowWatches(.max)
    indexed.indexer.poll()
    indexed.settle()
    #expect(indexed.indexer.health.isComplete)
    indexed.expectCurrent()
  }

  @Test("Directories that can't be read don't take away watches from others")
  func unreadWatches() throws {
    let tree = try TemporaryTree()
    let door = ScriptedFileSystem { call in
      let isOpening = call.call == .open || call.call == .openWithoutSymbolicLinks
      return isOpening && call.paths.contains { $0.lastComponent == SystemPath("locked") } ? .fail(EACCES) : .proceed
    }
    let indexed = try IndexedTree(tree, files: door, options: ScopeOptions(watchCountMax: 4))
    for _ in 0..<20 {
      try tree.makeDirectory("locked")
      indexed.settle()
      #expect(indexed.indexer.health.unreadableDirectoryCount == 1)
      try tree.removeTree(tree.path("locked"))
      indexed.settle()
    }
    try tree.makeDirectory("d")
    indexed.settle()
    #expect(indexed.indexer.health.watchedDirectoryCount == 2)
    #expect(indexed.indexer.health.polledDirectoryCount == 0)
    indexed.expectCurrent()
  }

  @Test("L6: directories that change places in one step keep their numbers, and nothing in them is read again")
  func exchangedDirectories() throws {
    let tree = try TemporaryTree()
    for name in ["a", "a/sub", "b"] { try tree.makeDirectory(name) }
    for name in ["a/1", "a/sub/2", "b/3", "file"] { try tree.write(name) }
    let indexed = try IndexedTree(tree)
    let (first, second, inside) = (indexed.number("a"), indexed.number("b"), indexed.number("a/sub/2"))
    let readCount = indexed.indexer.readCount
    try tree.rename(tree.path("a"), to: tree.path("b"), .exchange)
    indexed.settle()
    #expect(indexed.number("a") == second && indexed.number("b") == first && indexed.number("b/sub/2") == inside)
    // With something in another directory, which isn't a directory itself.
    try tree.rename(tree.path("file"), to: tree.path("b/sub"), .exchange)
    indexed.settle()
    #expect(indexed.number("file/2") == inside && indexed.indexer.readCount == readCount)
    indexed.expectCurrent()
    // Resembles an exchange and is none.
    try tree.makeDirectory("c")
    try tree.makeDirectory("d")
    indexed.settle()
    try tree.rename("c", to: "d")
    try tree.rename("d", to: "c")
    indexed.settle()
    indexed.expectCurrent()
  }

  @Test("A directory moves away, and a file that was in it comes back under its name")
  func fileInPlaceOfItsDirectory() throws {
    let tree = try TemporaryTree()
    try tree.makeDirectory("a")
    try tree.write("a/x")
    let indexed = try IndexedTree(tree)
    // No events are read in between.
    let out = tree.base.appending("out")
    try tree.rename(tree.path("a"), to: out)
    try tree.rename(out.appending("x"), to: tree.path("a"))
    indexed.settle()
    indexed.expectCurrent()
    // The same for a directory that takes the place of the one around it.
    try tree.makeDirectory("b")
    try tree.makeDirectory("b/d")
    try tree.write("b/d/y")
    indexed.settle()
    try tree.rename(tree.path("b"), to: tree.base.appending("other"))
    try tree.rename(tree.base.appending("other/d"), to: tree.path("b"))
    indexed.settle()
    indexed.expectCurrent()
  }

  @Test("A tree is read as it is: files, directories, links and whatever else")
  func reading() throws {
    let tree = try TemporaryTree()
    try tree.makeDirectory("a")
    try tree.makeDirectory("a/b")
    try tree.write("a/b/c", "12345")
    try tree.symbolicLink(tree.path("a/loop"), to: "..")
    mkfifo(tree.path("a/fifo").description, 0o600)
    let indexed = try IndexedTree(tree)
    indexed.expectCurrent()
    #expect(indexed.contents.count == 6)
    #expect(indexed.indexer.health.watchedDirectoryCount == 3)
    #expect(indexed.indexer.health.isComplete)
  }

  @Test("Directories of thousands of files are read part by part, by several threads", arguments: [false, true])
  func largeDirectories(readsFacts: Bool) throws {
    let tree = try TemporaryTree()
    for name in ["a", "b", "c"] {
      try tree.makeDirectory(name)
      try tree.makeDirectory("\(name)/in")
      for file in 0..<(name == "a" ? 12_000 : 300) { close(creat(tree.path("\(name)/f\(file)").description, 0o600)) }
    }
    let indexed = try IndexedTree(tree, helperCount: 2, readsFacts: readsFacts, isSettled: false)
    #expect(!indexed.indexer.work(directoryCountMax: 2))
    indexed.settle()
    indexed.expectCurrent()
    #expect(indexed.contents.count == 12_607)
  }

  @Test("A turn reads as many directories as it may, also where more are known", arguments: [0, 2])
  func wideTrees(helperCount: Int) throws {
    let tree = try TemporaryTree()
    for number in 0..<40 { try tree.makeDirectory("\(number)") }
    let indexed = try IndexedTree(tree, helperCount: helperCount, isSettled: false)
    #expect(!indexed.indexer.work(directoryCountMax: 1))
    for count in [11, 21, 31] {
      #expect(!indexed.indexer.work(directoryCountMax: 10))
      #expect(indexed.indexer.readCount == count)
    }
    indexed.settle()
    indexed.expectCurrent()
  }

  @Test(
    "A file of which only the name was known, and which hasn't changed, isn't reported as changed when more is known of it"
  )
  func refill() throws {
    let tree = try TemporaryTree()
    try tree.write("old", "1234")
    try tree.write("linked", "12345")
    try tree.link(tree.path("linked"), to: tree.path("other"))
    tree.waitForFileTime()
    let indexed = try IndexedTree(tree, readsFacts: false, isSettled: false)
    indexed.indexer.processEvents()
    indexed.indexer.work()
    let number = try #require(indexed.number("old"))
    #expect(!indexed.indexer.index.table.facts(of: number).isRead)
    #expect(indexed.indexer.takeChanges().files.count == 4)
    #expect(indexed.indexer.hasRefills && !indexed.indexer.hasWork)
    indexed.indexer.refill(directoryCountMax: 10, memberCountMax: 100)
    #expect(!indexed.indexer.hasRefills && indexed.indexer.index.table.facts(of: number).size == 4)
    let changes = indexed.indexer.takeChanges()
    #expect(changes.files.isEmpty && changes.hasNewFacts)
  }

  @Test(
    "A change of a file of which only the name was known is reported, also when events were lost",
    arguments: [false, true])
  func changeBeforeRefill(losesEvents: Bool) throws {
    let tree = try TemporaryTree()
    for name in ["old", "kept"] { try tree.write(name, "1234") }
    tree.waitForFileTime()
    let indexed = try IndexedTree(tree, readsFacts: false, isSettled: false)
    indexed.indexer.processEvents()
    indexed.indexer.work()
    _ = indexed.indexer.takeChanges()
    tree.waitForFileTime()
    try tree.write("old", "56789")
    if losesEvents { indexed.watcher.loseEvents() }
    indexed.indexer.readsFacts = true
    indexed.indexer.processEvents()
    #expect(indexed.indexer.isBehind == losesEvents)
    if losesEvents { indexed.indexer.readAgain() }
    indexed.indexer.work()
    let changes = indexed.indexer.takeChanges().files
    #expect(try changes.contains(#require(indexed.number("old"))))
    #expect(try !changes.contains(#require(indexed.number("kept"))))
  }

  @Test("L9: a loop of symbolic links is a link, not a directory")
  func loop() throws {
    let tree = try TemporaryTree()
    try tree.symbolicLink(tree.path("self"), to: ".")
    let indexed = try IndexedTree(tree)
    #expect(indexed.contents[tree.path("self")]?.kind == .symbolicLink)
    #expect(indexed.contents.count == 2)
  }

  @Test("L1: Files in a directory that has just been made are found, 200 of 200 times")
  func nestedRace() throws {
    let tree = try TemporaryTree()
    let indexed = try IndexedTree(tree)
    let isDone = Guarded(false)
    HostThread.start(name: "maker") {
      for number in 0..<200 {
        for name in ["r\(number)", "r\(number)/a", "r\(number)/a/b", "r\(number)/a/b/c"] {
          try? tree.makeDirectory(name)
        }
        try? tree.write("r\(number)/a/b/c/f")
      }
      isDone.withLock { $0 = true }
    }
    while !isDone.withLock({ $0 }) { indexed.settle() }
    indexed.settle()
    indexed.expectCurrent()
    #expect(indexed.contents.keys.count { $0.lastComponent == SystemPath("f") } == 200)
  }

  @Test("L2: events that were lost are made up for, exactly")
  func overflow() throws {
    let tree = try TemporaryTree()
    try tree.makeDirectory("d")
    try tree.write("d/old")
    try tree.write("d/kept")
    let indexed = try IndexedTree(tree)
    let kept = try #require(indexed.number("d/kept"))
    try tree.unlink("d/old")
    try tree.write("d/new")
    try tree.makeDirectory("d/e")
    try tree.write("d/e/f")
    indexed.watcher.loseEvents()
    indexed.settle()
    indexed.expectCurrent()
    #expect(indexed.indexer.health.overflowCount == 1)
    #expect(indexed.number("d/kept") == kept)
    // It's watched again: nothing is lost afterwards.
    try tree.write("d/e/g")
    indexed.settle()
    indexed.expectCurrent()
  }

  @Test("A directory that was replaced while events were lost is watched again")
  func overflowAndReplacement() throws {
    let tree = try TemporaryTree()
    try tree.makeDirectory("d")
    let indexed = try IndexedTree(tree)
    try tree.removeTree(tree.path("d"))
    try tree.makeDirectory("d")
    indexed.watcher.loseEvents()
    indexed.settle()
    try tree.write("d/f")
    indexed.settle()
    indexed.expectCurrent()
    #expect(indexed.number("d/f") != nil)
  }

  @Test("L3, R21: a directory that's renamed keeps its number and those of all in it; watches follow")
  func directoryRename() throws {
    let tree = try TemporaryTree()
    try tree.makeDirectory("d")
    try tree.makeDirectory("d/e")
    try tree.makeDirectory("x")
    try tree.write("d/e/f")
    let indexed = try IndexedTree(tree)
    let numbers = ["d", "d/e", "d/e/f"].map(indexed.number)
    try tree.rename("d", to: "x/y")
    indexed.settle()
    indexed.expectCurrent()
    #expect(["x/y", "x/y/e", "x/y/e/f"].map(indexed.number) == numbers)
    try tree.write("x/y/e/g")
    indexed.settle()
    indexed.expectCurrent()
  }

  @Test("L4, R20: a directory that's moved out is gone, and nothing is told of it any more; moved in it's there again")
  func movedOut() throws {
    let tree = try TemporaryTree()
    try tree.makeDirectory("d")
    try tree.makeDirectory("d/e")
    try tree.write("d/e/f")
    let indexed = try IndexedTree(tree)
    let outside = tree.base.appending("outside")
    try tree.rename(tree.path("d"), to: outside)
    indexed.settle()
    indexed.expectCurrent()
    #expect(indexed.indexer.health.watchedDirectoryCount == 1)
    try tree.write(outside.appending("e").appending("g"), "text")
    indexed.indexer.processEvents()
    #expect(indexed.indexer.takeChanges().isEmpty)
    try tree.rename(outside, to: tree.path("d"))
    indexed.settle()
    indexed.expectCurrent()
    #expect(indexed.number("d/e/g") != nil)
  }

  @Test("L5, R19: a rename over a file keeps the number of the one that was renamed")
  func renameOver() throws {
    let tree = try TemporaryTree()
    try tree.write("a", "one")
    try tree.write("b", "two!")
    let indexed = try IndexedTree(tree)
    let first = indexed.number("a")
    try tree.rename("a", to: "b")
    indexed.settle()
    indexed.expectCurrent()
    #expect(indexed.number("b") == first && indexed.number("a") == nil)
  }

  @Test("L6: two files, or two directories, that are exchanged are both right")
  func exchange() throws {
    let tree = try TemporaryTree()
    try tree.write("a", "one")
    try tree.write("b", "two!")
    try tree.makeDirectory("d")
    try tree.write("d/in d")
    try tree.makeDirectory("e")
    try tree.write("e/in e")
    let indexed = try IndexedTree(tree)
    try tree.rename("a", to: "b", .exchange)
    try tree.rename("d", to: "e", .exchange)
    indexed.settle()
    indexed.expectCurrent()
    try tree.write("d/later")
    indexed.settle()
    indexed.expectCurrent()
  }

  @Test("L8: a file without a name that gets one is found under that")
  func unnamedFile() throws {
    let tree = try TemporaryTree()
    let indexed = try IndexedTree(tree)
    let files = HostFileSystem()
    let file = try files.open(tree.root, at: .workingDirectory, flags: [.unnamed, .readWrite], mode: 0o600)
    _ = try files.write(file, [1, 2, 3])
    indexed.settle()
    indexed.expectCurrent()
    try files.link(
      SystemPath("/proc/self/fd/\(file.rawValue)"), at: .workingDirectory, to: tree.path("named"),
      at: .workingDirectory,
      links: .follow)
    try files.close(file)
    indexed.settle()
    indexed.expectCurrent()
    #expect(indexed.contents.count == 2)
  }

  @Test("L10: hard links in the scope are two files, and both are told of what happens to one")
  func hardLinks() throws {
    let tree = try TemporaryTree()
    try tree.makeDirectory("d")
    try tree.write("a", "1")
    let indexed = try IndexedTree(tree)
    try tree.link(tree.path("a"), to: tree.path("d/b"))
    indexed.settle()
    indexed.expectCurrent("a second name")
    try tree.write("d/b", "longer")
    indexed.settle()
    indexed.expectCurrent("written through one name")
    try tree.unlink("a")
    indexed.settle()
    indexed.expectCurrent("one name less")
  }

  @Test("L10: a file with very many names takes no more work than so many files, and all names follow it")
  func manyHardLinks() throws {
    let tree = try TemporaryTree()
    try tree.write("first", "1")
    let (directoryCount, nameCount) = (200, 100)
    for directory in 0..<directoryCount {
      try tree.makeDirectory("\(directory)")
      for name in 0..<nameCount { try tree.link(tree.path("first"), to: tree.path("\(directory)/\(name)")) }
    }
    let indexed = try IndexedTree(tree)
    let count = directoryCount * nameCount + directoryCount + 2
    #expect(indexed.indexer.index.count == count)
    #expect(indexed.indexer.index.updateCount <= 3 * count)
    try tree.write(tree.path("7/7"), "more", adding: true)
    indexed.settle()
    let numbers = indexed.indexer.index.table.numbers
    let facts = numbers.map { indexed.indexer.index.table.facts(of: $0) }.filter { $0.kind == .regular }
    #expect(facts.count == directoryCount * nameCount + 1 && Set(facts).count == 1 && facts[0].size == 5)
    indexed.expectCurrent("written through one of many names")
  }

  @Test("L12: without enough watches everything is found, followed by polling, and health says so")
  func watchBudget() throws {
    let tree = try TemporaryTree()
    for name in ["a", "b", "c"] { try tree.makeDirectory(name) }
    // One for each directory on the way, and two more.
    let wayCount = tree.root.bytes.count { $0 == UInt8(ascii: "/") }
    let indexed = try IndexedTree(tree, watchCountMax: wayCount + 2)
    indexed.expectCurrent()
    #expect(indexed.indexer.health.watchedDirectoryCount == 2)
    #expect(indexed.indexer.health.polledDirectoryCount == 2)
    #expect(indexed.indexer.health.pollingReason?.contains("ENOSPC") == true)
    #expect(!indexed.indexer.health.isComplete)
    for name in ["a/f", "b/f", "c/f"] { try tree.write(name) }
    indexed.indexer.poll()
    indexed.settle()
    indexed.expectCurrent()
    // There's room again: polling finds out, and ends.
    indexed.watcher.allowWatches(.max)
    indexed.indexer.poll()
    indexed.settle()
    #expect(indexed.indexer.health.isComplete)
    try tree.write("c/g")
    indexed.settle()
    indexed.expectCurrent()
  }

  @Test("A scope watches no more directories than it may")
  func ownBudget() throws {
    let tree = try TemporaryTree()
    for name in ["a", "b", "c"] { try tree.makeDirectory(name) }
    let indexed = try IndexedTree(tree, options: ScopeOptions(watchCountMax: 3))
    #expect(indexed.indexer.health.watchedDirectoryCount == 3)
    #expect(indexed.indexer.health.polledDirectoryCount == 1)
  }

  @Test("L13: a root that's removed takes everything with it, and is found when it's made again")
  func root() throws {
    let tree = try TemporaryTree()
    try tree.write("f")
    let indexed = try IndexedTree(tree)
    try tree.removeTree(tree.root)
    indexed.settle()
    #expect(indexed.contents.isEmpty)
    #expect(indexed.indexer.health.missingRootCount == 1)
    try tree.makeDirectory(tree.root)
    try tree.write("g")
    indexed.settle()
    indexed.expectCurrent()
    #expect(indexed.indexer.health.isComplete)
  }

  @Test("A root that's moved away, with another one in its place")
  func movedRoot() throws {
    let tree = try TemporaryTree()
    try tree.write("f")
    let indexed = try IndexedTree(tree)
    try tree.rename(tree.root, to: tree.base.appending("elsewhere"))
    try tree.makeDirectory(tree.root)
    try tree.write("g")
    indexed.settle()
    indexed.expectCurrent()
  }

  @Test("L15: paths longer than the kernel takes at once")
  func longPaths() throws {
    let tree = try TemporaryTree()
    let files = HostFileSystem()
    let name = SystemPath(String(repeating: "d", count: 255))
    var place = try files.open(tree.root, at: .workingDirectory, flags: .directory, mode: 0)
    for _ in 0..<20 {
      try files.makeDirectory(name, at: place, mode: 0o755)
      let next = try files.open(name, at: place, flags: .directory, mode: 0)
      try files.close(place)
      place = next
    }
    let indexed = try IndexedTree(tree)
    #expect(indexed.indexer.index.count == 21)
    let file = try files.open(SystemPath("f"), at: place, flags: [.create, .writeOnly], mode: 0o600)
    try files.close(file)
    try files.close(place)
    indexed.settle()
    #expect(indexed.indexer.index.count == 22)
    #expect(indexed.contents.keys.map(\.bytes.count).max() ?? 0 > 5000)
    #expect(indexed.indexer.health.isComplete)
  }

  @Test("L14: names that aren't UTF-8 are found and followed")
  func bytes() throws {
    let tree = try TemporaryTree()
    let name = SystemPath(bytes: [0xC3, 0x28, 0xFF])
    try tree.write(tree.root.appending(name), "1")
    let indexed = try IndexedTree(tree)
    try tree.write(tree.root.appending(name), "longer")
    indexed.settle()
    indexed.expectCurrent()
    #expect(indexed.contents[tree.root.appending(name)]?.size == 6)
  }

  @Test(
    "Directories of some names are found and not entered; one that's renamed is entered or left, whatever happened in it"
  )
  func unenteredNames() throws {
    let tree = try TemporaryTree()
    for name in ["kept", ".git", "kept/x.build"] {
      try tree.makeDirectory(name)
      try tree.write("\(name)/f")
    }
    let indexed = try IndexedTree(tree, options: ScopeOptions(unenteredNames: [".git", "*.build"]))
    func expectFiles(_ names: [String], sourceLocation: SourceLocation = #_sourceLocation) {
      indexed.settle()
      let expected = Set(names.map { tree.path($0) } + [tree.root])
      #expect(Set(indexed.contents.keys) == expected, sourceLocation: sourceLocation)
      #expect(indexed.indexer.index.violations == [], sourceLocation: sourceLocation)
    }
    expectFiles(["kept", ".git", "kept/x.build", "kept/f"])
    #expect(indexed.indexer.health.watchedDirectoryCount == 2)
    try tree.write(".git/g")
    try tree.rename(".git", to: "git")
    expectFiles(["kept", "git", "git/f", "git/g", "kept/x.build", "kept/f"])
    try tree.write("git/h")
    try tree.rename("kept", to: "y.build")
    expectFiles(["y.build", "git", "git/f", "git/g", "git/h"])
    #expect(indexed.indexer.health.watchedDirectoryCount == 2)
    try tree.write("y.build/new")
    try tree.rename("y.build", to: "git", .exchange)
    expectFiles(["git", "git/f", "git/new", "git/x.build", "y.build"])
    indexed.watcher.loseEvents()
    try tree.rename("git", to: ".git")
    expectFiles([".git", "y.build"])
  }

  @Test("L10: The known facts of a file aren't replaced by older ones that were read through a link that's gone")
  func passingLink() throws {
    let tree = try TemporaryTree()
    try tree.write("f", "12345")
    let indexed = try IndexedTree(tree)
    try tree.link(tree.path("f"), to: tree.path("g"))
    // As long as a directory has to be read, the other names of a file aren't searched.
    try tree.makeDirectory("d")
    indexed.indexer.processEvents()
    #expect(indexed.number("g") != nil && indexed.indexer.hasWork)
    try tree.unlink("g")
    try tree.write(tree.path("f"), "678", adding: true)
    indexed.indexer.processEvents()
    indexed.settle()
    indexed.expectCurrent()
    #expect(indexed.contents[tree.path("f")]?.size == 8)
  }

  @Test("L19: a directory that can't be read is skipped and told, and read when that's possible")
  func unreadable() throws {
    let tree = try TemporaryTree()
    try tree.makeDirectory("locked")
    try tree.write("locked/f")
    try tree.write("g")
    let locked = tree.path("locked")
    let isLocked = Guarded(true)
    let door = ScriptedFileSystem { call in
      let isRead = call.call == .openWithoutSymbolicLinks && call.paths == [locked]
      return isRead && isLocked.withLock({ $0 }) ? .fail(EACCES) : .proceed
    }
    let indexed = try IndexedTree(tree, files: door)
    #expect(indexed.contents.keys.sorted() == [tree.root, tree.path("g"), locked])
    #expect(indexed.indexer.health.unreadableDirectoryCount == 1)
    isLocked.withLock { $0 = false }
    chmod(locked.description, 0o700)
    indexed.settle()
    indexed.expectCurrent()
    #expect(indexed.indexer.health.isComplete)
  }

  @Test(
    "L19: the files of a known directory that can't be read stay where it's for lack of descriptors or a fault, and go where it's a refusal",
    arguments: [(EMFILE, true), (ENFILE, true), (ENOMEM, true), (EIO, true), (EACCES, false), (EPERM, false)])
  func unreadableLater(_ number: Int32, staying isStaying: Bool) throws {
    let tree = try TemporaryTree()
    for name in ["d", "d/sub"] { try tree.makeDirectory(name) }
    for name in ["d/f", "d/sub/g"] { try tree.write(name) }
    let isBroken = Guarded(false)
    let directory = tree.path("d")
    let door = ScriptedFileSystem { call in
      let isOpening = call.call == .open || call.call == .openWithoutSymbolicLinks
      return isOpening && call.paths == [directory] && isBroken.withLock { $0 } ? .fail(number) : .proceed
    }
    let indexed = try IndexedTree(tree, files: door)
    let (file, inside) = (try #require(indexed.number("d/f")), try #require(indexed.number("d/sub/g")))
    isBroken.withLock { $0 = true }
    try tree.write("d/new")
    try tree.write(tree.path("d/f"), "more", adding: true)
    indexed.settle()
    #expect((indexed.number("d/f") == file) == isStaying && (indexed.number("d/sub/g") == inside) == isStaying)
    #expect(indexed.indexer.health.unreadableDirectoryCount == 1)
    #expect(indexed.indexer.health.unreadableReason?.contains("'\(directory)'") == true)
    #expect(indexed.indexer.health.unreadableErrors.map(\.errno) == [number])
    isBroken.withLock { $0 = false }
    indexed.indexer.poll()
    indexed.settle()
    indexed.expectCurrent()
    #expect((indexed.number("d/f") == file) == isStaying)
    #expect(indexed.indexer.health.isComplete && indexed.indexer.health.unreadableReason == nil)
    // It's watched, and was all the time.
    try tree.unlink("d/f")
    indexed.settle()
    indexed.expectCurrent()
  }

  @Test("L12: the reason why a directory is polled names it, and says what to do")
  func pollingReason() throws {
    let tree = try TemporaryTree()
    try tree.makeDirectory("d")
    let indexed = try IndexedTree(tree)
    indexed.watcher.allowWatches(0)
    try tree.makeDirectory("e")
    indexed.settle()
    let reason = try #require(indexed.indexer.health.pollingReason)
    #expect(reason.contains("'\(tree.path("e"))'") && reason.contains("fs.inotify.max_user_watches"))
  }

  @Test("A watch that ended while events were lost is made anew, also for a directory that can't be read just then")
  func doubtfulWatch() throws {
    let tree = try TemporaryTree()
    try tree.makeDirectory("d")
    let isBroken = Guarded(false)
    let directory = tree.path("d")
    let door = ScriptedFileSystem { call in
      let isRead = call.call == .openWithoutSymbolicLinks && call.paths == [directory]
      return isRead && isBroken.withLock({ $0 }) ? .fail(EIO) : .proceed
    }
    let indexed = try IndexedTree(tree, files: door)
    let watch = try #require(indexed.number("d").flatMap { indexed.indexer.watches[$0] })
    indexed.watcher.unwatch(watch)
    indexed.watcher.loseEvents()
    isBroken.withLock { $0 = true }
    indexed.settle()
    #expect(indexed.indexer.health.unreadableDirectoryCount == 1)
    isBroken.withLock { $0 = false }
    indexed.indexer.poll()
    indexed.settle()
    try tree.write("d/f")
    indexed.settle()
    indexed.expectCurrent()
    #expect(indexed.number("d").flatMap { indexed.indexer.watches[$0] } != watch)
  }

  @Test("Files that vanish while they're looked at aren't there")
  func vanishing() throws {
    let tree = try TemporaryTree()
    try tree.makeDirectory("d")
    for number in 0..<20 { try tree.write("d/\(number)") }
    let door = ScriptedFileSystem { call in
      guard call.call == .status, call.paths == [SystemPath("7")] else { return .proceed }
      try? tree.unlink("d/7")
      return .proceed
    }
    let indexed = try IndexedTree(tree, files: door)
    indexed.expectCurrent()
    #expect(indexed.contents.count == 21)
  }

  @Test("A directory that's moved between being found and being read is read where it is then")
  func movedBeforeRead() throws {
    let tree = try TemporaryTree()
    try tree.makeDirectory("d")
    try tree.write("d/f")
    let isMoved = Guarded(false)
    let directory = tree.path("d")
    let door = ScriptedFileSystem { call in
      guard call.call == .openWithoutSymbolicLinks, call.paths == [directory] else { return .proceed }
      let isFirst = isMoved.withLock { isMoved in
        defer { isMoved = true }
        return !isMoved
      }
      if isFirst { try? tree.rename("d", to: "e") }
      return .proceed
    }
    let indexed = try IndexedTree(tree, files: door)
    indexed.expectCurrent()
    #expect(indexed.number("e/f") != nil)
  }

  @Test("A mounted volume inside belongs to the scope, unless the options exclude it")
  func mounts() throws {
    // Volumes of the machine, none of which is written to.
    let files = HostFileSystem()
    let root = try files.status(of: SystemPath("/dev"), at: .workingDirectory, links: .noFollow)
    let shared = try files.status(of: SystemPath("/dev/shm"), at: .workingDirectory, links: .noFollow)
    try #require(root.device != shared.device)
    let indexer = ScopeIndexer(
      files, watcher: ManualFileWatcher(try InotifyWatcher()), options: ScopeOptions(includesMountedVolumes: false))
    indexer.addRoot(SystemPath("/dev"))
    indexer.work()
    let top = try #require(indexer.index.table.roots.first)
    let mount = try #require(indexer.index.child(named: SystemPath("shm"), of: top))
    #expect(indexer.index.table.children(of: mount).isEmpty)
    #expect(indexer.index.table.children(of: top).count > 3)
  }

  @Test("A system call that fails while a tree is read leaves no error that isn't reported", arguments: 1...25)
  func faults(number: Int) throws {
    let tree = try TemporaryTree()
    try tree.makeDirectory("a")
    try tree.makeDirectory("a/b")
    try tree.write("a/b/c")
    try tree.write("d")
    let isBroken = Guarded(true)
    let door = ScriptedFileSystem { call in
      call.number == number && isBroken.withLock { $0 } ? .fail(EIO) : .proceed
    }
    let indexed = try IndexedTree(tree, files: door)
    #expect(indexed.indexer.index.violations == [])
    if indexed.indexer.health.isComplete { indexed.expectCurrent() }
    isBroken.withLock { $0 = false }
    indexed.indexer.poll()
    indexed.settle()
    indexed.expectCurrent()
    #expect(indexed.indexer.health.isComplete)
  }
}
