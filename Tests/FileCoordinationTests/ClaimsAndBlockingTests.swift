import FileCoordination
import FileCoordinationTesting
import FoundationEssentials
import Testing

@Suite("Claims and blocking", .timeLimit(.minutes(4)), .betweenProcesses)
struct ClaimsAndBlockingTests {
  @Test("C-001: Two reads of /d/f by different coordinators overlap")
  func readsOverlap() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      try await box.expect(.read("d/f"), overlaps: .read("d/f"))
    }
  }

  @Test("C-002: A write of /d/f waits for every running read of /d/f")
  func writeWaitsForReads() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      // reader A  [----]
      // reader B    [------]
      // writer        w····[--]
      let one = try await box.hold(.read("d/f"), as: "A")
      let two = try await box.hold(.read("d/f"), as: "B")
      let writer = try await box.queue(.write("d/f"), as: "writer")
      try await one.finish()
      #expect(try await box.domain.snapshot().isWaiting("writer"))
      try await two.finish()
      try await writer.finish()
      #expect(box.events == ["A+", "B+", "A-", "B-", "writer+", "writer-"])
    }
  }

  @Test("C-003: A read of /d/f waits for a running write of /d/f")
  func readWaitsForWrite() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      try await box.expect(.read("d/f"), waitsFor: .write("d/f"))
    }
  }

  @Test("C-004: Two writes of /d/f never overlap")
  func writesExclude() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      try await box.expect(.write("d/f"), waitsFor: .write("d/f"))
    }
  }

  @Test("C-005: Writes of /d/f and /d/g never wait for each other")
  func siblingsAreIndependent() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      try box.write("d/g")
      try await box.expect(.write("d/f"), overlaps: .write("d/g"))
    }
  }

  @Test("C-006: A write of k.pkg/a waits for a read of k.pkg/b, because the package is the unit")
  func packageIsOneUnit() async throws {
    try await withSandbox { box in
      try box.write("k.pkg/a")
      try box.write("k.pkg/b")
      try await box.expect(.write("k.pkg/a"), waitsFor: .read("k.pkg/b"))
    }
  }

  @Test("C-007: Reads of k.pkg/a and k.pkg/b overlap")
  func readsInPackageOverlap() async throws {
    try await withSandbox { box in
      try box.write("k.pkg/a")
      try box.write("k.pkg/b")
      try await box.expect(.read("k.pkg/a"), overlaps: .read("k.pkg/b"))
    }
  }

  @Test("C-008: A write of k.pkg waits for a write of k.pkg/x/y")
  func packageWaitsForInside() async throws {
    try await withSandbox { box in
      try box.write("k.pkg/x/y")
      try await box.expect(.write("k.pkg"), waitsFor: .write("k.pkg/x/y"))
    }
  }

  @Test("C-009: The outermost package counts: a write of outer.pkg/inner.pkg/a waits for one of outer.pkg/b")
  func outermostPackageCounts() async throws {
    try await withSandbox { box in
      try box.write("outer.pkg/inner.pkg/a")
      try box.write("outer.pkg/b")
      try await box.expect(.write("outer.pkg/inner.pkg/a"), waitsFor: .write("outer.pkg/b"))
    }
    try await withSandbox { box in
      try await box.expect(.write("outer.pkg/b"), waitsFor: .write("outer.pkg/inner.pkg/a"))
    }
  }

  @Test("C-010: A read of plain directory d and a write of d/f don't wait for each other")
  func readOfDirectoryIsShallow() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      try await box.expect(.read("d"), overlaps: .write("d/f"))
    }
    try await withSandbox { box in
      try box.write("d/f")
      try await box.expect(.write("d/f"), overlaps: .read("d"))
    }
  }

  @Test("C-011: A read of d does not wait for a running .forDeleting write of d/f")
  func readOfDirectoryIgnoresDeepWriteInside() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      try await box.expect(.read("d"), overlaps: .write("d/f", .forDeleting))
    }
  }

  @Test(
    "C-012: An option-less write of d and an access of d/f don't wait for each other",
    arguments: [Act.read("d/f"), .write("d/f")])
  func plainWriteOfDirectoryIsShallow(inner: Act) async throws {
    try await withSandbox { box in
      try box.write("d/f")
      try await box.expect(.write("d"), overlaps: inner)
    }
    try await withSandbox { box in
      try box.write("d/f")
      try await box.expect(inner, overlaps: .write("d"))
    }
  }

  @Test("C-013: A .forDeleting write of d waits for a running read of d/x/f")
  func deletingWaitsForInside() async throws {
    try await withSandbox { box in
      try box.write("d/x/f")
      try await box.expect(.write("d", .forDeleting), waitsFor: .read("d/x/f"))
    }
  }

  @Test("C-014: A .forMoving write of d waits for a running write of d/x/f")
  func movingWaitsForInside() async throws {
    try await withSandbox { box in
      try box.write("d/x/f")
      try await box.expect(.write("d", .forMoving), waitsFor: .write("d/x/f"))
    }
  }

  @Test(
    "C-015: A .forReplacing write of d waits for running reads and writes below d",
    arguments: [Act.read("d/x/f"), .write("d/x/f")])
  func replacingWaitsForInside(inner: Act) async throws {
    try await withSandbox { box in
      try box.write("d/x/f")
      try await box.expect(.write("d", .forReplacing), waitsFor: inner)
    }
  }

  @Test("C-016: While a .forMoving write of d is granted, and while it is queued, a later read of d/f waits")
  func readInsideWaitsForMover() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      try await box.expect(.read("d/f"), waitsFor: .write("d", .forMoving))
    }
    try await withSandbox { box in
      try box.write("d/f")
      try box.write("d/g")
      // other   [----]
      // mover     w··[--]
      // reader      r···[--]      // not in the way of `other`, but behind the queued mover
      let other = try await box.hold(.read("d/g"), as: "other")
      let mover = try await box.queue(.write("d", .forMoving), as: "mover")
      let reader = try await box.queue(.read("d/f"), as: "reader")
      try await other.finish()
      try await mover.finish()
      try await reader.finish()
      #expect(box.events == ["other+", "other-", "mover+", "mover-", "reader+", "reader-"])
    }
  }

  @Test("C-017, C-105: .forMoving on a plain file blocks and messages exactly like an option-less write")
  func movingOfFileIsAPlainWrite() async throws {
    var recorded: [[RecordedMessage.Callback]] = []
    for options in [FileCoordinator.WritingOptions.forMoving, []] {
      try await withSandbox { box in
        try box.write("d/f")
        try await box.expect(.write("d/f", options), waitsFor: .read("d/f"))
      }
      try await withSandbox { box in
        try box.write("d/f")
        let presenter = try box.present("d/f", reacquires: true)
        try await box.access(.write("d/f", options), as: "writer")
        try await presenter.wait(for: .reacquire)
        recorded.append(presenter.callbacks)
      }
    }
    #expect(recorded[0] == [.relinquishToWriter, .itemDidChange, .reacquire])
    #expect(recorded[0] == recorded[1])
  }

  @Test(
    "C-018: .forMerging and .contentIndependentMetadataOnly on d don't block accesses below d",
    arguments: [FileCoordinator.WritingOptions.forMerging, .contentIndependentMetadataOnly])
  func shallowWrites(options: FileCoordinator.WritingOptions) async throws {
    try await withSandbox { box in
      try box.write("d/f")
      try await box.expect(.write("d/f"), overlaps: .write("d", options))
    }
    try await withSandbox { box in
      try box.write("d/f")
      try await box.expect(.write("d", options), overlaps: .read("d/f"))
    }
  }

  @Test("C-019, C-020: Conflicting accesses are granted in order of request: no reader overtakes a queued writer")
  func firstComeFirstServed() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      // first   [---]
      // writer    w·[--]
      // reader A     a·[---]
      // reader B      b[---]
      // last            w··[--]
      let first = try await box.hold(.read("d/f"), as: "first")
      let writer = try await box.queue(.write("d/f"), as: "writer")
      let readers = [
        try await box.queue(.read("d/f"), as: "A"), try await box.queue(.read("d/f"), as: "B"),
      ]
      let last = try await box.queue(.write("d/f"), as: "last")
      try await first.finish()
      try await box.timeline.wait(for: "writer+")
      #expect(box.events == ["first+", "first-", "writer+"])
      try await writer.finish()
      for reader in readers { try await box.timeline.wait(for: "\(reader.label)+") }
      for reader in readers { try await reader.finish() }
      try await last.finish()
      #expect(box.events.suffix(2) == ["last+", "last-"])
    }
  }

  @Test("C-316: A directory that is to be moved waits for accesses inside that were queued before, too")
  func directoryBehindQueue() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let writer = try await box.hold(.write("d/f"), as: "writer")
      let reader = try await box.queue(.read("d/f"), as: "reader")
      let mover = try await box.queue(.write("d", .forMoving), as: "mover")
      try await writer.finish()
      try await box.timeline.wait(for: "reader+")
      #expect(try await box.domain.snapshot().isWaiting("mover"))
      try await reader.finish()
      try await mover.finish()
    }
  }

  @Test("C-021: A write may name a path that does not exist; the claim protects that path")
  func claimOfNothing() async throws {
    try await withSandbox { box in
      try await box.expect(.read("nowhere/yet"), waitsFor: .write("nowhere/yet"))
    }
  }

  @Test("C-022: The claim ends when the accessor returns, not when work it started ends")
  func claimEndsWithAccessor() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let gate = TestGate()
      let work = try await box.coordinator("writer").write(url) { _ in
        Task { try await gate.pass() }
      }
      try await box.access(.write("d/f"), as: "other")
      #expect(!gate.isOpen)
      gate.open()
      try await work.value
    }
  }

  @Test("C-023: The intents of one request are granted together and never block one another, even if they overlap")
  func overlappingIntents() async throws {
    try await withSandbox { box in
      let file = try box.write("d/f")
      let directory = box.url("d")
      let holder = try await box.hold(.read("d/f"), as: "holder")
      let writing = FileAccessIntent.writing(directory, options: .forDeleting)
      let request = Task {
        try await box.coordinator("request").coordinate([.reading(file), writing, .writing(file)]) { set in
          box.timeline.note("\(set.count) granted")
        }
      }
      try await box.domain.waitUntil { $0.isWaiting("request") }
      try await holder.finish()
      try await request.value
      #expect(box.events == ["holder+", "holder-", "3 granted"])
    }
  }

  @Test("C-024, C-025: Requests of the same items in swapped order don't deadlock")
  func swappedRequests() async throws {
    try await withSandbox { box in
      let (first, second) = (try box.write("a"), try box.write("b"))
      try await withThrowingTaskGroup(of: Void.self) { group in
        for round in 0..<100 {
          let urls = round.isMultiple(of: 2) ? [first, second] : [second, first]
          group.addTask {
            try await box.coordinator("intents").coordinate(urls.map { .writing($0) }) { _ in await Task.yield() }
          }
          group.addTask {
            try await box.coordinator("two").write(urls[0], and: urls[1]) { _, _ in await Task.yield() }
          }
          group.addTask {
            try await box.coordinator("both").read(urls[0], writing: urls[1]) { _, _ in await Task.yield() }
          }
        }
        try await group.waitForAll()
      }
      #expect(try await box.domain.snapshot().accesses.isEmpty)
    }
  }
}
