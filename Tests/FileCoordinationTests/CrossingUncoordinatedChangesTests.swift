import FileAccessArbiter
import FileCoordinationTesting
import FileWatching
import FoundationEssentials
import SystemInterface
import Testing

@testable import FileCoordination

/// Each case was found by the exploration of ``FileCoordination/ChangeCore``; here it happens to real files.
@Suite("Uncoordinated changes that cross each other", .serialized, .timeLimit(.minutes(4)))
struct CrossingUncoordinatedChangesTests {
  /// A sandbox whose events come when its gate is open.
  private func withGate(_ body: (Sandbox, Gate) async throws -> Void) async throws {
    try await withSandbox { box in
      let gate = Gate()
      box.domain.host.watcherForTests.withLock { wrap in
        wrap = { watcher in
          let gated = GatedFileWatcher(watcher)
          gate.watcher.withLock { $0 = gated }
          return gated
        }
      }
      try await body(box, gate)
    }
  }

  private final class Gate: Sendable {
    let watcher = Guarded<GatedFileWatcher?>(nil)

    /// Does something of which the process receives all events together, afterwards.
    func withhold(_ body: () throws -> Void) throws {
      let watcher = try #require(watcher.withLock { $0 })
      watcher.close()
      defer { watcher.open() }
      try body()
    }
  }

  private func exchange(_ one: String, _ other: String, in box: Sandbox) throws {
    try HostFileSystem().rename(
      SystemPath(box.url(one).path), at: .workingDirectory, to: SystemPath(box.url(other).path), at: .workingDirectory,
      .exchange)
  }

  @Test("C-200: A directory made right before somebody else presents it has appeared with its contents")
  func latePresenter() async throws {
    try await withGate { box, gate in
      try box.makeDirectory("d")
      let first = try box.observe("d", as: "first")
      try gate.withhold {
        try box.write("d/s/f")
        _ = try box.observe("d/s", as: "second")
      }
      try await box.settle(first)
      #expect(first.summary(in: box).contains("subitemDidAppear d/s/f*"))
    }
  }

  @Test("C-200: When two directories change places each is watched in its new one")
  func exchangedDirectories() async throws {
    try await withGate { box, gate in
      try box.write("d/a/x")
      try box.write("d/b/y")
      let presenter = try box.observe("d")
      try gate.withhold { try exchange("d/a", "d/b", in: box) }
      try await box.settle(presenter)
      for name in ["d/a/y", "d/b/x"] {
        let count = presenter.messages.count
        try box.scribble(name)
        try await presenter.waitUntil { $0.count > count }
        try await box.settle(presenter)
        #expect(Set(presenter.summary(in: box).dropFirst(count)) == ["subitemDidChange \(name)*"])
      }
    }
  }

  @Test("C-202: When directories have moved into each other an observer is told that anything may have changed")
  func crossingDirectories() async throws {
    try await withGate { box, gate in
      try box.write("d/a/x")
      try box.makeDirectory("d/b")
      let presenter = try box.observe("d")
      try gate.withhold {
        try box.rename("d/a/x", to: "d/b/x")
        try box.rename("d/b", to: "d/a/b")
      }
      try await presenter.waitUntil { $0.contains { $0.origin.isVerified == nil } }
      let count = presenter.messages.count
      try box.scribble("d/a/b/x")
      try await presenter.waitUntil { $0.dropFirst(count).contains { $0.origin.isVerified == true } }
    }
  }

  @Test("C-202: Nothing is doubted when files move one after the other")
  func files() async throws {
    try await withGate { box, gate in
      try box.write("d/a/x")
      try box.write("d/a/log")
      let presenter = try box.observe("d")
      try gate.withhold {
        try box.rename("d/a/log", to: "d/a/log.1")
        try box.rename("d/a/x", to: "d/a/log")
        try box.rename("d/a/log.1", to: "d/a/log.2")
      }
      for _ in 0..<12 { try await box.settle(presenter) }
      #expect(!presenter.messages.isEmpty)
      #expect(presenter.messages.allSatisfy { $0.origin.isVerified == true })
    }
  }

  @Test("C-200: A file that was moved and came back is still seen")
  func thereAndBack() async throws {
    try await withGate { box, gate in
      try box.write("d/f")
      let presenter = try box.observe("d/f")
      for isTogether in [true, false] {
        if isTogether {
          try gate.withhold {
            try box.rename("d/f", to: "d/g")
            try box.rename("d/g", to: "d/f")
          }
        } else {
          try box.rename("d/f", to: "d/g")
          box.domain.readUncoordinatedChanges()
          try box.rename("d/g", to: "d/f")
        }
        try await box.settle(presenter)
        try await box.settle(presenter)
        #expect(presenter.presentedItemURL == box.url("d/f"))
        let count = presenter.messages.count
        try box.scribble("d/f", "\(isTogether)")
        try await presenter.waitUntil { $0.dropFirst(count).contains { $0.callback == .itemDidChange } }
      }
    }
  }

  @Test("C-200: A file in a directory in whose place another one was put is seen there")
  func replacedDirectory() async throws {
    try await withGate { box, gate in
      try box.write("d/f")
      try box.write("n/f", "new")
      let presenter = try box.observe("d/f")
      try gate.withhold {
        try box.rename("d", to: "old")
        try box.rename("n", to: "d")
      }
      try await presenter.waitUntil { !$0.isEmpty }
      try await box.settle(presenter)
      try await box.settle(presenter)
      let url = try #require(presenter.presentedItemURL)
      let count = presenter.messages.count
      try "later".write(to: url, atomically: false, encoding: .utf8)
      try await presenter.waitUntil { $0.dropFirst(count).contains { $0.callback == .itemDidChange } }
    }
  }

  @Test("C-200: A directory that was moved, and whose name was taken at once, has its contents where it is")
  func takenPlace() async throws {
    try await withGate { box, gate in
      try box.write("d/a/f")
      let presenter = try box.observe("d")
      try gate.withhold {
        try box.rename("d/a", to: "d/b")
        try box.makeDirectory("d/a")
      }
      try await box.settle(presenter)
      try await box.settle(presenter)
      let summary = presenter.summary(in: box)
      #expect(summary.contains("subitemDidMove d/a d/b*") || summary.contains("subitemDidAppear d/b/f*"))
      let count = presenter.messages.count
      try box.scribble("d/b/f", "later")
      try await presenter.waitUntil { $0.count > count }
      #expect(presenter.summary(in: box).last == "subitemDidChange d/b/f*")
    }
  }

  @Test("C-200: The end of a file in a moved directory is told after the move")
  func endAfterMove() async throws {
    try await withGate { box, gate in
      try box.write("d/a/f")
      let presenter = try box.observe("d")
      try gate.withhold {
        try box.rename("d/a", to: "d/b")
        try box.remove("d/b/f")
      }
      try await box.settle(presenter)
      try await box.settle(presenter)
      let summary = presenter.summary(in: box)
      let move = try #require(summary.firstIndex(of: "subitemDidMove d/a d/b*"))
      #expect(summary[move...].contains("subitemDidChange d/b/f*"))
    }
  }

  @Test("C-200: An observed directory is still observed after another one was put in its place")
  func swappedDirectory() async throws {
    try await withGate { box, gate in
      try box.write("d/a/f")
      try box.write("d/n/f", "new")
      let presenter = try box.observe("d/a")
      try box.rename("d/a", to: "d/old")
      box.domain.readUncoordinatedChanges()
      try box.rename("d/n", to: "d/a")
      try await box.settle(presenter)
      try await box.settle(presenter)
      let url = try #require(presenter.presentedItemURL).appendingPathComponent("f")
      let count = presenter.messages.count
      try "later".write(to: url, atomically: false, encoding: .utf8)
      try await presenter.waitUntil { $0.dropFirst(count).contains { $0.callback == .subitemDidChange } }
    }
  }

  @Test("C-200: A file that's awaited comes with its directory, also beside an observer of the directory around")
  func awaitedInMovedDirectory() async throws {
    try await withGate { box, gate in
      try box.write("d/b/f")
      let awaiting = try box.observe("d/a/f", as: "awaiting")
      let around = try box.observe("d", as: "around")
      try box.rename("d/b", to: "d/a")
      try await box.settle(around)
      try await awaiting.wait(for: .itemDidChange)
    }
  }

  @Test("C-200: A file is awaited in the directory that has the name, not in the one that had it")
  func awaitedInReplacedDirectory() async throws {
    try await withGate { box, gate in
      try box.makeDirectory("d/a")
      let presenter = try box.observe("d/a/f")
      try gate.withhold {
        try box.rename("d/a", to: "d/old")
        try box.makeDirectory("d/a")
      }
      try await box.settle(presenter)
      try box.scribble("d/a/f", "here")
      try await presenter.wait(for: .itemDidChange)
    }
  }

  @Test("C-200: An item whose directory gives way to a link has moved, and what the link leads to is another item")
  func linkInPlaceOfTheDirectory() async throws {
    try await withGate { box, gate in
      try box.write("d/a/f")
      try box.write("other/f", "other")
      let presenter = try box.observe("d/a/f")
      try gate.withhold {
        try box.rename("d/a", to: "old")
        try FileManager.default.createSymbolicLink(at: box.url("d/a"), withDestinationURL: box.url("other"))
      }
      try await presenter.wait(for: .itemDidMove)
      try await box.settle(presenter)
      try await box.settle(presenter)
      #expect(presenter.presentedItemURL == box.url("old/f"))
      // It's quiet then.
      let count = presenter.messages.count
      try await box.settle(presenter)
      try await box.settle(presenter)
      #expect(presenter.messages.count == count)
    }
  }

  @Test(
    "C-200: Items are followed when their directory, moved and back, then changes places", arguments: [false, true])
  func exchangeAfterReturn(isSettled: Bool) async throws {
    try await withGate { box, gate in
      try box.write("d/a/f")
      try box.makeDirectory("d/b")
      let presenter = try box.observe("d/a/f")
      let around = try box.observe("d", as: "around")
      try box.rename("d/a", to: "d/c")
      box.domain.readUncoordinatedChanges()
      try box.rename("d/c", to: "d/a")
      box.domain.readUncoordinatedChanges()
      if isSettled { try await box.settle(around) }
      try exchange("d/a", "d/b", in: box)
      try await presenter.wait(for: .itemDidMove)
      try await box.settle(presenter)
      #expect(presenter.presentedItemURL == box.url("d/b/f"))
    }
  }

  @Test("C-200: A file that's replaced right before its directory is replaced has changed")
  func replacedBeforeItsDirectory() async throws {
    try await withGate { box, gate in
      try box.write("d/a/f")
      try box.write("d/a/g", "new")
      try box.write("n/g")
      _ = try box.observe("d", as: "around")
      let presenter = try box.observe("d/a/f")
      try gate.withhold {
        try box.renameOver("d/a/g", "d/a/f")
        try box.rename("d/a", to: "old")
        try box.rename("n", to: "d/a")
      }
      try await presenter.waitUntil { $0.contains { $0.callback == .itemDidChange || $0.callback == .itemDidMove } }
    }
  }

  @Test("C-200: A held item that moves while its place is asked for isn't taken to be gone")
  func movedWhileAsked() async throws {
    try await withTemporaryDirectory { root in
      let base = root.resolvingSymlinksInPath().path
      let host = HostFileSystem()
      @Sendable func path(_ name: String) -> SystemPath { SystemPath("\(base)/\(name)") }
      try #require(FileManager.default.createFile(atPath: "\(base)/f", contents: nil))
      // Moves it on between the kernel's answer and the look at that place, twice.
      let moves = Guarded([("f", "g"), ("g", "h")])
      let files = ScriptedFileSystem(host) { call in
        if call.call == .status, let (old, new) = moves.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
          try? host.rename(path(old), at: .workingDirectory, to: path(new), at: .workingDirectory, .replacing)
        }
        return .proceed
      }
      let budget = HandleBudget(countMax: 1)
      let handle = try #require(ItemHandle(ItemPath(canonical: path("f").bytes), in: host, budget))
      defer { handle.close(in: host, budget) }
      #expect(handle.currentPath(orAt: nil, in: files)?.bytes == path("h").bytes)
      #expect(moves.withLock(\.isEmpty))
    }
  }

  @Test("C-200: Two items that move from one name, one after the other, are both reported")
  func movedOneAfterTheOther() async throws {
    try await withGate { box, gate in
      try box.write("d/a", "first")
      let presenter = try box.observe("d")
      try box.rename("d/a", to: "d/b")
      box.domain.readUncoordinatedChanges()
      try box.write("d/a", "second")
      box.domain.readUncoordinatedChanges()
      try box.rename("d/a", to: "d/c")
      box.domain.readUncoordinatedChanges()
      for _ in 0..<3 { try await box.settle(presenter) }
      let summary = presenter.summary(in: box)
      for name in ["d/b", "d/c"] { #expect(summary.contains { $0.hasSuffix(" \(name)*") }) }
    }
  }

  @Test("C-200: An item is followed whose directory moves twice and leaves an observed one; its change is reported")
  func leavingDirectory() async throws {
    try await withGate { box, gate in
      try box.write("d/a/f")
      let around = try box.observe("d", as: "around")
      let presenter = try box.observe("d/a/f")
      try gate.withhold {
        try box.scribble("d/a/f")
        try box.rename("d/a", to: "d/b")
        try box.rename("d/b", to: "c")
      }
      for _ in 0..<4 { try await box.settle(presenter, around) }
      #expect(presenter.presentedItemURL == box.url("c/f"))
      #expect(presenter.callbacks.contains(.itemDidChange))
      // An item that comes back has appeared.
      let count = around.messages.count
      try box.rename("c", to: "d/c")
      for _ in 0..<4 { try await box.settle(presenter, around) }
      #expect(presenter.presentedItemURL == box.url("d/c/f"))
      #expect(around.summary(in: box).dropFirst(count).contains { $0.hasSuffix(" d/c*") })
    }
  }

  /// One message may stand for both, so what counts is what the presenter finds when it looks because of a message.
  @Test(
    "C-200: A presenter that looks at each message knows what is in its directory, which moves right before a name in it"
  )
  func movedBeforeItsDirectory() async throws {
    try await withGate { box, gate in
      try box.write("d/a/x")
      let presenter = try box.observe("d/a")
      let found = Guarded<[String]>([])
      for callback in [.itemDidMove, .itemDidChange, .subitemDidMove, .subitemDidChange, .subitemDidAppear]
        as [RecordedMessage.Callback]
      {
        presenter.answer(callback) { _ in
          let names = try? FileManager.default.contentsOfDirectory(atPath: box.url("d/b").path)
          found.withLock { $0 = names ?? [] }
        }
      }
      try box.rename("d/a", to: "d/b")
      box.domain.readUncoordinatedChanges()
      try box.rename("d/b/x", to: "d/b/y")
      box.domain.readUncoordinatedChanges()
      for _ in 0..<3 { try await box.settle(presenter) }
      #expect(presenter.presentedItemURL == box.url("d/b"))
      #expect(found.withLock { $0 } == ["y"], "\(presenter.summary(in: box))")
    }
  }

  @Test("C-202: After lost events what's still needed keeps its watch")
  func rewatching() async throws {
    try await withSandbox { box in
      let counted = Guarded<(watcher: ManualFileWatcher, count: UnwatchCounter)?>(nil)
      box.domain.host.watcherForTests.withLock { wrap in
        wrap = { watcher in
          let counter = UnwatchCounter(watcher)
          let manual = ManualFileWatcher(counter)
          counted.withLock { $0 = (manual, counter) }
          return manual
        }
      }
      for number in 0..<8 { try box.write("d/\(number)/f") }
      let presenter = try box.observe("d")
      let (watcher, counter) = try #require(counted.withLock { $0 })
      watcher.loseEvents()
      try await presenter.waitUntil { $0.contains { $0.origin.isVerified == nil } }
      #expect(counter.count == 0)
    }
  }

  /// Counts how many watches are ended.
  private final class UnwatchCounter: FileWatcher {
    private let base: any FileWatcher
    private let ended = Guarded(0)

    init(_ base: any FileWatcher) { self.base = base }

    var count: Int { ended.withLock { $0 } }

    func watch(_ path: SystemPath, _ interest: WatchInterest, isDirectory: Bool) throws(SystemError) -> WatchID {
      try base.watch(path, interest, isDirectory: isDirectory)
    }

    func unwatch(_ watch: WatchID) {
      ended.withLock { $0 += 1 }
      base.unwatch(watch)
    }

    func takeEvents() -> [WatchEvent] { base.takeEvents() }
    func waitForEvents() throws(SystemError) { try base.waitForEvents() }
    func wake() { base.wake() }
  }
}
