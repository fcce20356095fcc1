import FileCoordinationTesting
import FileWatching
import FoundationEssentials
import SeededRandom
import SystemInterface
import Testing

@testable import FileCoordination

@Suite("Uncoordinated changes, at the limits of the system", .serialized, .timeLimit(.minutes(4)))
struct UncoordinatedChangesLimitsTests {
  /// A sandbox whose watcher can be made to fail.
  private func withManualWatcher(
    allowing count: Int = .max, _ body: (Sandbox, @Sendable () -> ManualFileWatcher?) async throws -> Void
  ) async throws {
    try await withSandbox { box in
      let made = Guarded<ManualFileWatcher?>(nil)
      box.domain.host.watcherForTests.withLock { wrap in
        wrap = { watcher in
          let manual = ManualFileWatcher(watcher)
          manual.allowWatches(count)
          made.withLock { $0 = manual }
          return manual
        }
      }
      try await body(box) { made.withLock { $0 } }
    }
  }

  @Test("C-202: When events are lost everybody who observes looks again, and everything is watched again")
  func overflow() async throws {
    try await withManualWatcher { box, watcher in
      try box.write("d/f")
      let file = try box.observe("d/f", as: "F")
      let directory = try box.observe("d", as: "D", [.subitemDidChange, .subitemDidAppear])
      try #require(watcher()).loseEvents { _ = try box.write("d/x/lost") }
      #expect(try await file.wait(for: .itemDidChange).origin.isVerified == nil)
      let message = try await directory.wait(for: .subitemDidChange)
      #expect(message.origin.isVerified == nil)
      #expect(message.urls == [box.url("d")])
      // Also in a directory whose creation was never reported.
      try box.scribble("d/x/lost", "found")
      try await directory.waitUntil { _ in directory.summary(in: box).contains("subitemDidChange d/x/lost*") }
    }
  }

  @Test("C-200: A temporary file whose rename is read half by half is still the writer's")
  func tornRename() async throws {
    try await withManualWatcher { box, watcher in
      let url = try box.write("d/f")
      // Made before: a file that's written here may be closed later, by a child process that another test starts just then.
      let source = SystemPath(try box.write("source", "new").path)
      let directory = RecordingPresenter(box.url("d"), callbacks: .observing, observesUncoordinatedChanges: true)
      let registration = try await box.domain.register(directory)
      defer { registration.end() }
      watcher()?.tearRenames()
      try await box.coordinator("writer").write(url) { access in
        let temporary = SystemPath(box.url("d/temporary").path)
        try HostFileSystem().link(
          source, at: .workingDirectory, to: temporary, at: .workingDirectory, links: .noFollow)
        box.domain.readUncoordinatedChanges()
        try HostFileSystem().rename(
          temporary, at: .workingDirectory, to: SystemPath(access.url.path), at: .workingDirectory, .replacing)
      }
      try await directory.wait(for: .subitemDidChange)
      try await box.domain.waitUntil(\.arePresentersIdle)
      #expect(directory.messages.filter { !$0.origin.isCoordinated } == [])
    }
  }

  @Test("C-200: A stranger's rename that is read half by half is told as a deletion and an appearance")
  func tornMove() async throws {
    try await withManualWatcher { box, watcher in
      try box.write("d/old")
      let directory = try box.observe("d", as: "D", [.subitemDidChange, .subitemDidAppear, .subitemDidMove])
      watcher()?.tearRenames()
      try HostFileSystem().rename(
        SystemPath(box.url("d/old").path), at: .workingDirectory, to: SystemPath(box.url("d/new").path),
        at: .workingDirectory, .replacing)
      try await directory.waitUntil { _ in
        let summary = directory.summary(in: box)
        return summary.contains("subitemDidChange d/old*") && summary.contains("subitemDidAppear d/new*")
      }
    }
  }

  @Test("C-201: Without enough watches the registration says so, and what to do")
  func exhaustion() async throws {
    try await withManualWatcher(allowing: 0) { box, _ in
      let url = try box.write("f")
      let presenter = RecordingPresenter(url, observesUncoordinatedChanges: true)
      let registration = try await box.domain.register(presenter)
      let problem = try #require(registration.uncoordinatedChangesProblem)
      #expect(problem.code == .uncoordinatedChangesMissed)
      #expect(problem.description.contains("max_user_watches"))
      // Coordination goes on.
      try await box.coordinator("writer").write(url) { _ in }
      try await presenter.wait(for: .itemDidChange)
    }
  }

  @Test("C-201: When watches run out later the presenter is told to look, and the registration says why")
  func laterExhaustion() async throws {
    try await withManualWatcher { box, watcher in
      try box.makeDirectory("d")
      let presenter = RecordingPresenter(box.url("d"), observesUncoordinatedChanges: true)
      let registration = try await box.domain.register(presenter)
      #expect(registration.uncoordinatedChangesProblem == nil)
      watcher()?.allowWatches(0)
      try box.makeDirectory("d/x")
      try await presenter.waitUntil { $0.contains { $0.origin.isVerified == nil } }
      #expect(registration.uncoordinatedChangesProblem?.code == .uncoordinatedChangesMissed)
    }
  }

  @Test("C-201: Where others make changes behind the kernel's back the registration says so")
  func untold() async throws {
    try await withSandbox { box in
      let presenter = RecordingPresenter(
        URL(filePath: "/proc/self"), callbacks: .itemDidChange, observesUncoordinatedChanges: true)
      let registration = try box.domain.register(presenter)
      let problem = try #require(registration.uncoordinatedChangesProblem)
      #expect(problem.code == .uncoordinatedChangesMissed)
    }
  }

  @Test("C-200: After a flood of files that come, are renamed and go, an observer knows what is there")
  func flood() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let file = try box.observe("d/f", as: "F")
      let directory = try box.observe(
        "d", as: "D", [.itemDidChange, .subitemDidAppear, .subitemDidChange, .subitemDidMove])
      let known = Guarded<Set<String>>(["f"])
      @Sendable func look(_ message: RecordedMessage) throws {
        if message.origin.isVerified == nil || message.origin.omittedMessageCount > 0 {
          let all = try Set(FileManager.default.contentsOfDirectory(atPath: box.url("d").path))
          return known.withLock { $0 = all }
        }
        for url in message.urls where url != box.url("d") {
          let isThere = FileManager.default.fileExists(atPath: url.path)
          _ = known.withLock {
            isThere ? $0.insert(url.lastPathComponent).inserted : $0.remove(url.lastPathComponent) != nil
          }
        }
      }
      for callback in [.itemDidChange, .subitemDidAppear, .subitemDidChange, .subitemDidMove]
        as [RecordedMessage.Callback]
      {
        directory.answer(callback) { try look($0) }
      }
      for number in 0..<(Budget.isLong ? 20_000 : 1000) {
        try box.scribble("d/\(number)")
        try box.renameOver("d/\(number)", "d/\(number)-")
        if number % 100 != 0 { try box.remove("d/\(number)-") }
      }
      try box.scribble("d/f")
      try box.scribble("d/last")
      // Some of it may be reported only after the time of moves, and the last message is handled after it's recorded.
      try await box.settle(file, directory)
      try await file.wait(for: .itemDidChange)
      let found = try Set(FileManager.default.contentsOfDirectory(atPath: box.url("d").path))
      #expect(known.withLock { $0 } == found)
    }
  }
}
