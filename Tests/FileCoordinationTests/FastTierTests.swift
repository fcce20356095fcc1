import FileCoordination
import FileCoordinationTesting
import FoundationEssentials
import SystemInterface
import Testing

/// How many accesses a body makes known to the arbiter.
///
/// Only in a process of the test's own: threads beyond the first 64 of a process have no place in the tier, and other tests have
/// threads as well.
private func newlyKnown(in domain: CoordinationDomain, _ body: () async throws -> Void) async throws -> UInt64 {
  let before = domain.knownAccessCount
  try await body()
  return domain.knownAccessCount - before
}

/// Claims that the fast tier grants behave like all others as soon as anybody is interested.
@Suite("Claims without the arbiter", .timeLimit(.minutes(4)))
struct FastTierTests {
  @Test("An uncontended read or plain write by handle isn't known to the arbiter", arguments: [false, true])
  func unknown(isWriting: Bool) async throws {
    await #expect(processExitsWith: .success) { [isWriting] in
      try await withSandbox { box in
        let item = try box.domain.resolve(box.write("d/f"))
        let coordinator = box.coordinator("C")
        let runCount = Guarded(0)
        let known = try await newlyKnown(in: box.domain) {
          try await onThread {
            for _ in 0..<10 {
              let note = { (_: borrowing FileAccess) in runCount.withLock { $0 += 1 } }
              if isWriting {
                try coordinator.blocking.write(item, accessor: note)
              } else {
                try coordinator.blocking.read(item, accessor: note)
              }
            }
          }
          if isWriting {
            try await coordinator.write(item) { _ in runCount.withLock { $0 += 1 } }
          } else {
            try await coordinator.read(item) { _ in runCount.withLock { $0 += 1 } }
          }
        }
        #expect(known == 0)
        #expect(runCount.withLock { $0 } == 11)
      }
    }
  }

  @Test("Options that concern others than the item go through the arbiter")
  func otherOptions() async throws {
    try await withSandbox { box in
      let item = try box.domain.resolve(box.write("d/f"))
      let coordinator = box.coordinator("C")
      let before = box.domain.knownAccessCount
      try await coordinator.read(item, options: .forUploading) { _ in }
      try await coordinator.write(item, options: .forDeleting) { _ in }
      try await coordinator.write(item, options: .forMoving) { _ in }
      try await coordinator.write(item, options: .forReplacing) { _ in }
      #expect(box.domain.knownAccessCount == before + 4)
    }
  }

  @Test("A snapshot shows a claim that nobody knew of, and its writer")
  func snapshot() async throws {
    try await withSandbox { box in
      let item = try box.domain.resolve(box.write("d/f"))
      try await box.coordinator("C").write(item) { access in
        let snapshot = try await box.domain.snapshot()
        #expect(snapshot.isHolding("C"))
        #expect(snapshot.access(by: "C")?.party.items.map(\.isWritten) == [true])
        #expect(access.url == item.url)
        #expect(!access.wasMoved && !access.wasReplaced && access.unansweredPresenters.isEmpty)
      }
      #expect(try await box.domain.snapshot().accesses.isEmpty)
    }
  }

  @Test(
    "C-001…C-004: An access that meets an unknown claim waits for it, if the two conflict", arguments: [false, true])
  func strangerWaits(isWriting: Bool) async throws {
    try await withSandbox { box in
      let item = try box.domain.resolve(box.write("d/f"))
      let coordinator = box.coordinator("C")
      let run = { (_: borrowing FileAccess) in
        let stranger = try await box.queue(.write("d/f"), as: "stranger")
        box.timeline.note("C-")
        return stranger
      }
      let stranger =
        isWriting ? try await coordinator.write(item, accessor: run) : try await coordinator.read(item, accessor: run)
      try await box.timeline.wait(for: "stranger+")
      try await stranger.finish()
      #expect(box.events == ["C-", "stranger+", "stranger-"])
    }
  }

  @Test("C-013…C-016: A deletion of the directory around an unknown claim waits for it", arguments: [false, true])
  func deepWriterWaits(isWriting: Bool) async throws {
    try await withSandbox { box in
      let item = try box.domain.resolve(box.write("d/e/f"))
      let coordinator = box.coordinator("C")
      let run = { (_: borrowing FileAccess) in try await box.queue(.write("d", .forDeleting), as: "deleter") }
      let deleter =
        isWriting ? try await coordinator.write(item, accessor: run) : try await coordinator.read(item, accessor: run)
      try await deleter.finish()
    }
  }

  @Test("C-010…C-012: A plain access of the directory around an unknown claim doesn't wait")
  func directory() async throws {
    try await withSandbox { box in
      let item = try box.domain.resolve(box.write("d/f"))
      try await box.coordinator("C").write(item) { _ in
        try await box.access(.write("d"), as: "directory")
        try await box.access(.read("d"), as: "directory")
      }
    }
  }

  @Test("A claim by handle waits for accesses by URL, and goes ahead when they end", arguments: [false, true])
  func handleWaits(isWriting: Bool) async throws {
    try await withSandbox { box in
      let item = try box.domain.resolve(box.write("d/f"))
      let holder = try await box.hold(.write("d/f"), as: "holder")
      let coordinator = box.coordinator("C")
      let claim = Task.detached {
        try await onThread {
          let note = { (_: borrowing FileAccess) in box.timeline.note("C+") }
          if isWriting {
            try coordinator.blocking.write(item, accessor: note)
          } else {
            try coordinator.blocking.read(item, accessor: note)
          }
        }
      }
      try await box.domain.waitUntil { $0.isWaiting("C") }
      try await holder.finish()
      try await claim.value
      #expect(box.events == ["holder+", "holder-", "C+"])
    }
  }

  @Test("C-019: A claim by handle queues behind a writer that waits, although only readers hold the item")
  func queuesBehindWaiter() async throws {
    try await withSandbox { box in
      let item = try box.domain.resolve(box.write("d/f"))
      let reader = try await box.hold(.read("d/f"), as: "reader")
      let writer = try await box.queue(.write("d/f"), as: "writer")
      let coordinator = box.coordinator("C")
      let claim = Task.detached { try await coordinator.read(item) { _ in box.timeline.note("C+") } }
      try await box.domain.waitUntil { $0.isWaiting("C") }
      writer.release()
      try await reader.finish()
      try await claim.value
      #expect(box.events == ["reader+", "reader-", "writer+", "writer-", "C+"])
    }
  }

  @Test(
    "C-130, C-131: An access nested in an unknown claim isn't in its way, on a thread or in a task",
    arguments: [false, true])
  func nested(isBlocking: Bool) async throws {
    try await withSandbox { box in
      let item = try box.domain.resolve(box.write("d/f"))
      let (outer, inner) = (box.coordinator("outer"), box.coordinator("inner"))
      if isBlocking {
        try await onThread {
          try outer.blocking.read(item) { _ in
            try outer.blocking.read(item) { _ in
              try inner.blocking.write(item) { _ in box.timeline.note("nested") }
            }
          }
        }
      } else {
        try await outer.read(item) { _ in
          try await outer.read(item) { _ in
            try await inner.write(item) { _ in box.timeline.note("nested") }
          }
        }
      }
      #expect(box.events == ["nested"])
      #expect(try await box.domain.snapshot().accesses.isEmpty)
    }
  }

  @Test("A blocking claim inside an async one is nested in it")
  func blockingInAsync() async throws {
    try await withSandbox { box in
      let item = try box.domain.resolve(box.write("d/f"))
      let inner = box.coordinator("inner")
      let write = { try inner.blocking.write(item) { _ in box.timeline.note("nested") } }
      try await box.coordinator("outer").read(item) { _ in try write() }
      #expect(box.events == ["nested"])
    }
  }

  @Test("C-132: Two unknown readers that upgrade are a deadlock, and one of them fails")
  func upgrades() async throws {
    try await withSandbox { box in
      let item = try box.domain.resolve(box.write("d/f"))
      let bothRead = TestGate()
      let errors = ErrorList()
      await withTaskGroup(of: Void.self) { group in
        for label in ["one", "two"] {
          group.addTask {
            let coordinator = box.coordinator(label)
            do {
              try await coordinator.read(item) { _ in
                try await bothRead.pass()
                try await coordinator.write(item) { _ in box.timeline.note("written") }
              }
            } catch { errors.append(error) }
          }
        }
        try? await bothRead.waitForArrival(count: 2)
        bothRead.open()
      }
      #expect(errors.errors.map(\.code) == [.deadlock])
      #expect(box.events == ["written"])
    }
  }

  @Test("Two threads that hold an unknown claim each and want the other's item are a deadlock")
  func crossing() async throws {
    try await withSandbox { box in
      let items = try [box.domain.resolve(box.write("d/f")), box.domain.resolve(box.write("d/g"))]
      let bothHold = TestGate()
      let errors = ErrorList()
      await withTaskGroup(of: Void.self) { group in
        for index in 0..<2 {
          group.addTask {
            do {
              try await onThread {
                let coordinator = box.coordinator("\(index)")
                try coordinator.blocking.write(items[index]) { _ in
                  bothHold.passBlocking()
                  try coordinator.blocking.write(items[1 - index]) { _ in }
                }
              }
            } catch { errors.append(error) }
          }
        }
        try? await bothHold.waitForArrival(count: 2)
        bothHold.open()
      }
      #expect(errors.errors.map(\.code) == [.deadlock])
    }
  }

  @Test("C-116: Claims of one purpose don't wait for each other")
  func purpose() async throws {
    try await withSandbox { box in
      let item = try box.domain.resolve(box.write("d/f"))
      let coordinator = box.coordinator("C")
      try await coordinator.write(item) { _ in
        try await Task.detached { try await coordinator.write(item) { _ in box.timeline.note("same purpose") } }.value
      }
      #expect(box.events == ["same purpose"])
      #expect(throws: FileCoordinationError.self) { try coordinator.setPurposeIdentifier("too.late") }
    }
  }

  @Test("C-162: A cancelled coordinator claims nothing by handle either")
  func cancelled() async throws {
    try await withSandbox { box in
      let item = try box.domain.resolve(box.write("d/f"))
      let coordinator = box.coordinator("C")
      try await coordinator.read(item) { _ in }
      coordinator.cancel()
      let error = await #expect(throws: FileCoordinationError.self) { try await coordinator.read(item) { _ in } }
      #expect(error?.code == .cancelled)
    }
  }

  @Test("C-160: A cancelled task claims nothing by handle")
  func cancelledTask() async throws {
    try await withSandbox { box in
      let item = try box.domain.resolve(box.write("d/f"))
      let coordinator = box.coordinator("C")
      let started = TestGate()
      let task = Task.detached {
        try? await started.pass()
        try await coordinator.read(item) { _ in box.timeline.note("ran") }
      }
      task.cancel()
      started.open()
      let error = await #expect(throws: FileCoordinationError.self) { try await task.value }
      #expect(error?.code == .cancelled)
      #expect(box.events.isEmpty)
    }
  }
}

@Suite("Claims without the arbiter, and presenters", .timeLimit(.minutes(4)))
struct FastTierPresenterTests {
  @Test("C-030: Where somebody presents the item, claims by handle ask", arguments: [false, true])
  func asks(isWriting: Bool) async throws {
    try await withSandbox { box in
      let item = try box.domain.resolve(box.write("d/f"))
      let presenter = try box.present("d/f")
      let coordinator = box.coordinator("C")
      if isWriting {
        try await coordinator.write(item) { _ in }
      } else {
        try await onThread { try coordinator.blocking.read(item) { _ in } }
      }
      try await box.quiesce()
      #expect(
        presenter.callbacks
          == (isWriting ? [.relinquishToWriter, .itemDidChange] : [.relinquishToReader, .saveChanges]))
    }
  }

  @Test("C-034, C-054: A presenter of the directory is told of writes by handle, and not asked about reads")
  func directoryPresenter() async throws {
    await #expect(processExitsWith: .success) {
      try await withSandbox { box in
        let item = try box.domain.resolve(box.write("d/f"))
        let presenter = try box.present("d")
        #expect(try await newlyKnown(in: box.domain) { try await box.coordinator("C").read(item) { _ in } } == 0)
        #expect(try await newlyKnown(in: box.domain) { try await box.coordinator("C").write(item) { _ in } } == 1)
        try await presenter.wait(for: .subitemDidChange)
        #expect(presenter.callbacks == [.subitemDidChange])
      }
    }
  }

  @Test("C-193: A presenter that registers while an unknown write is under way is told when it ends")
  func registersDuringWrite() async throws {
    try await withSandbox { box in
      let item = try box.domain.resolve(box.write("d/f"))
      let presenter = try await box.coordinator("C").write(item) { access in
        let presenter = try box.present("d/f")
        try await access.replaceContents(with: Data("new".utf8))
        return presenter
      }
      try await presenter.wait(for: .itemDidChange)
      #expect(presenter.callbacks == [.itemDidChange])
    }
  }

  @Test("C-192: When the last presenter is gone, claims are granted without the arbiter again")
  func presenterGoes() async throws {
    await #expect(processExitsWith: .success) {
      try await withSandbox { box in
        let item = try box.domain.resolve(box.write("d/f"))
        let presenter = try box.present("d/f")
        #expect(try await newlyKnown(in: box.domain) { try await box.coordinator("C").write(item) { _ in } } == 1)
        box.domain(of: presenter).unregister(presenter)
        #expect(try await newlyKnown(in: box.domain) { try await box.coordinator("C").write(item) { _ in } } == 0)
      }
    }
  }
}

@Suite("Claims without the arbiter, and moves", .timeLimit(.minutes(4)))
struct FastTierMoveTests {
  @Test("An unknown claim may announce a move, and presenters and waiters hear of it")
  func announces() async throws {
    try await withSandbox { box in
      let item = try box.domain.resolve(box.write("d/f", "text"))
      let waiter = try await box.coordinator("C").write(item) { access in
        let waiter = try await box.queue(.read("d/f"), as: "waiter")
        try box.rename("d/f", to: "d/g")
        try await access.didMove(to: box.url("d/g"))
        #expect(access.url.path == box.url("d/g").path)
        let exists = access.exists
        #expect(exists)
        return waiter
      }
      try await waiter.finish()
      #expect(waiter.paths == [box.url("d/g").path])
    }
  }

  @Test("An unknown claim inside a directory follows it when its writer moves it")
  func follows() async throws {
    try await withSandbox { box in
      let item = try box.domain.resolve(box.write("d/e/f", "text"))
      try await box.coordinator("inside").read(item) { access in
        try await box.coordinator("mover").write(box.url("d/e")) { directory in
          try box.rename("d/e", to: "d/g")
          try directory.didMove(to: box.url("d/g"))
        }
        #expect(access.url.path == box.url("d/g/f").path)
        #expect(try await access.contents() == Data("text".utf8))
      }
    }
  }

  @Test("The contents are read and replaced through an unknown claim, and a reader can't replace them")
  func contents() async throws {
    try await withSandbox { box in
      let item = try box.domain.resolve(box.write("d/f", "old"))
      let coordinator = box.coordinator("C")
      try await coordinator.write(item) { try await $0.replaceContents(with: Data("new".utf8)) }
      try await coordinator.read(item) { access in
        #expect(try await access.contents() == Data("new".utf8))
        do {
          try await access.replaceContents(with: Data())
          Issue.record("a reader wrote")
        } catch let error as FileCoordinationError { #expect(error.code == .notWritable) }
      }
      #expect(try box.text("d/f") == "new")
    }
  }
}
