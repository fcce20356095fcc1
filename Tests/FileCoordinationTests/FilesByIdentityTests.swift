import FileCoordination
import FileCoordinationTesting
import FoundationEssentials
import SystemInterface
import Testing

/// It takes privileges to mount a directory at two places.
///
/// A path through a symbolic link that's taken literally is the same to the package: another way to the same directory,
/// which nothing resolves.
@Suite("Files are known by identity, too", .timeLimit(.minutes(4)))
struct FilesByIdentityTests {
  /// Runs in one process and as if in several: the two domains are one, or have contact through the service only.
  private func withDomains(
    areSeveral: Bool, byIdentity: Bool = true,
    _ body: (Sandbox, CoordinationDomain, CoordinationDomain) async throws -> Void
  ) async throws {
    try await withTemporaryDirectory { place in
      let box = Sandbox(place, meetingAt: nil) { _ in }
      var configuration = CoordinationDomain.Configuration()
      configuration.coordinatesFilesByIdentity = byIdentity
      configuration.packageExtensions = ["pkg"]
      try box.makeDirectory("d")
      try link(box, symbolic: "d", "e")
      if !areSeveral {
        let domain = CoordinationDomain(configuration)
        return try await body(box, domain, domain)
      }
      let socket = box.url("s").path
      try await body(box, .socket(socket, configuration), .socket(socket, configuration))
    }
  }

  private func link(_ box: Sandbox, _ target: String, _ name: String) throws {
    try FileManager.default.linkItem(atPath: box.url(target).path, toPath: box.url(name).path)
  }

  private func link(_ box: Sandbox, symbolic target: String, _ name: String) throws {
    try FileManager.default.createSymbolicLink(
      atPath: box.url(name).path, withDestinationPath: box.url(target).path)
  }

  /// Expects that an access of an unrelated coordinator is granted at once, or isn't.
  private func expect(
    _ domain: CoordinationDomain, getsIn: Bool, sourceLocation: SourceLocation = #_sourceLocation,
    _ access: (FileCoordinator) throws -> Void
  ) throws {
    let coordinator = FileCoordinator(
      label: "second", domain: domain, deadlines: AccessDeadlines(waitingForAccesses: .milliseconds(1)))
    if getsIn { return try access(coordinator) }
    let error = #expect(throws: FileCoordinationError.self, sourceLocation: sourceLocation) { try access(coordinator) }
    #expect(error?.code == .timedOut, sourceLocation: sourceLocation)
    #expect(error?.message.contains("\0") == false, sourceLocation: sourceLocation)
  }

  @Test(
    "Two hard links exclude each other where files are known by identity", arguments: [false, true], [false, true])
  func hardLinks(areSeveral: Bool, byIdentity: Bool) async throws {
    try await withDomains(areSeveral: areSeveral, byIdentity: byIdentity) { box, one, other in
      let (first, second) = (try box.write("a"), box.url("b"))
      try link(box, "a", "b")
      let writer = FileCoordinator(label: "first", domain: one)
      try await writer.write(first) { _ in
        try await onThread {
          try expect(other, getsIn: !byIdentity) { try $0.blocking.read(second) { _ in } }
          try expect(other, getsIn: !byIdentity) { try $0.blocking.write(second, options: .forDeleting) { _ in } }
          try expect(other, getsIn: !byIdentity) { try $0.blocking.coordinate([.reading(second)]) { _ in } }
        }
      }
      try await writer.read(first) { _ in
        try await onThread {
          try expect(other, getsIn: true) { try $0.blocking.read(second) { _ in } }
          try expect(other, getsIn: !byIdentity) { try $0.blocking.write(second) { _ in } }
        }
      }
      try expect(other, getsIn: true) { try $0.blocking.write(second) { _ in } }
    }
  }

  @Test("A file that two ways lead to is one, whether it exists or not", arguments: [false, true])
  func twoWays(areSeveral: Bool) async throws {
    try await withDomains(areSeveral: areSeveral) { box, one, other in
      let writer = FileCoordinator(label: "first", domain: one)
      for name in ["new", "x/y/new", "p.pkg/new"] {
        let (first, second) = (box.url("d/\(name)").path, box.url("e/\(name)").path)
        try await writer.write(path: first) { _ in
          try await onThread {
            try expect(other, getsIn: false) { try $0.blocking.read(path: second) { _ in } }
            try expect(other, getsIn: true) { try $0.blocking.write(path: box.url("e/z").path) { _ in } }
          }
          try box.write("d/\(name)")
          try await onThread { try expect(other, getsIn: false) { try $0.blocking.read(path: second) { _ in } } }
        }
        try expect(other, getsIn: true) { try $0.blocking.write(path: second) { _ in } }
      }
      try await writer.write(path: box.url("d/p.pkg/f").path) { _ in
        try await onThread {
          try expect(other, getsIn: false) { try $0.blocking.read(path: box.url("e/p.pkg/g").path) { _ in } }
        }
      }
    }
  }

  @Test("A deletion of a directory waits for accesses inside by another way", arguments: [false, true])
  func deepWrite(areSeveral: Bool) async throws {
    try await withDomains(areSeveral: areSeveral) { box, one, other in
      try box.write("d/x/f")
      let directory = box.url("d/x")
      let reader = FileCoordinator(label: "first", domain: one)
      try await reader.read(path: box.url("e/x/f").path) { _ in
        try await onThread {
          try expect(other, getsIn: false) { try $0.blocking.write(directory, options: .forDeleting) { _ in } }
          try expect(other, getsIn: true) { try $0.blocking.write(directory) { _ in } }
        }
      }
      try await reader.write(directory, options: .forMoving) { _ in
        try await onThread {
          try expect(other, getsIn: false) { try $0.blocking.read(path: box.url("e/x/f").path) { _ in } }
        }
      }
    }
  }

  /// The file is another one when the second writer's turn has come: it claims that one then.
  @Test("An access that waited for a safe save claims the file that took the place", arguments: [false, true])
  func safeSave(areSeveral: Bool) async throws {
    try await withDomains(areSeveral: areSeveral) { box, one, other in
      let url = try box.write("a")
      let second = FileCoordinator(label: "second", domain: other)
      let third = FileCoordinator(label: "third", domain: one)
      try await withThrowingTaskGroup(of: Void.self) { group in
        try await FileCoordinator(label: "first", domain: one).write(url) { _ in
          group.addTask {
            try await Task.detached {
              try await second.write(url) { _ in
                try await onThread {
                  try expect(one, getsIn: false) { try $0.blocking.read(box.url("b")) { _ in } }
                }
              }
            }.value
          }
          try await one.waitUntil { state in state.accesses.contains { $0.party.label == "second" } }
          try box.replace("a")
          try link(box, "a", "b")
        }
        try await group.waitForAll()
      }
      try await third.write(box.url("b")) { _ in }
    }
  }

  /// Each safe save makes the waiting writer ask again, behind the writers that came meanwhile.
  @Test("Asking again for a file that was replaced doesn't begin the wait anew")
  func deadline() async throws {
    try await withTemporaryDirectory { place in
      let box = Sandbox(place, meetingAt: nil) { $0.coordinatesFilesByIdentity = true }
      let url = try box.write("a")
      let domain = box.domain
      let deadlines = AccessDeadlines(waitingForAccesses: .seconds(10), waitingForAnswers: .zero)
      @Sendable func waits(_ label: String) async throws {
        try await domain.waitUntil { state in state.accesses.contains { $0.party.label == label && !$0.isGranted } }
      }
      /// The only access with a deadline waits, and the clock has that deadline.
      @Sendable func secondWaits() async throws {
        try await waits("second")
        try await box.clock.waitForScheduled(count: 1)
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        try await box.coordinator("first").write(url) { _ in
          group.addTask {
            await Task.detached {
              let error = await #expect(throws: FileCoordinationError.self) {
                try await box.coordinator("second").write(url, deadlines: deadlines) { _ in }
              }
              #expect(error?.code == .timedOut)
              #expect(error?.blockers.map(\.label) == ["third"])
            }.value
          }
          try await secondWaits()
          try box.replace("a")
          group.addTask {
            try await Task.detached {
              try await box.coordinator("third", deadlines: .never).write(url) { _ in
                // It asks for the file that has taken the place, and has one second left.
                try await secondWaits()
                box.clock.advance(by: .seconds(1))
                try await domain.waitUntil { state in !state.accesses.contains { $0.party.label == "second" } }
              }
            }.value
          }
          try await waits("third")
          box.clock.advance(by: .seconds(9))
        }
        try await group.waitForAll()
      }
    }
  }

  @Test("An access that waited for a move claims the item where it is now", arguments: [false, true])
  func move(areSeveral: Bool) async throws {
    try await withDomains(areSeveral: areSeveral) { box, one, other in
      let url = try box.write("d/f")
      let second = FileCoordinator(label: "second", domain: other)
      try await withThrowingTaskGroup(of: Void.self) { group in
        try await FileCoordinator(label: "first", domain: one).write(
          url, options: .forMoving, and: box.url("d/g"), secondOptions: .forReplacing
        ) { source, _ in
          group.addTask {
            try await Task.detached {
              try await second.write(url) { access in
                #expect(access.url.lastPathComponent == "g")
                let wasMoved = access.wasMoved
                #expect(wasMoved)
                try await onThread {
                  try expect(one, getsIn: false) { try $0.blocking.read(path: box.url("e/g").path) { _ in } }
                }
              }
            }.value
          }
          try await one.waitUntil { state in state.accesses.contains { $0.party.label == "second" } }
          try box.rename("d/f", to: "d/g")
          try await source.didMove(to: box.url("d/g"))
        }
        try await group.waitForAll()
      }
    }
  }

  @Test("Nobody sees how a file is known by identity", arguments: [false, true])
  func reports(areSeveral: Bool) async throws {
    try await withDomains(areSeveral: areSeveral) { box, one, other in
      let url = try box.write("d/f")
      let presenter = RecordingPresenter(URL(filePath: "/"), label: "root", callbacks: .all, timeline: box.timeline)
      let registration = try await other.register(presenter)
      try await FileCoordinator(label: "first", domain: one).write(url, options: .forDeleting) { _ in
        let snapshot = try await one.snapshot()
        #expect(!snapshot.description.contains("\0"))
        #expect(snapshot.accesses.filter { $0.party.label == "first" }.count == 1)
        try FileManager.default.removeItem(at: url)
      }
      try await other.waitUntil(\.arePresentersIdle)
      #expect(box.timeline.events.filter { $0.contains("ubitem") }.count == 2)
      #expect(!box.timeline.events.contains { $0.contains("\0") })
      registration.end()
    }
  }

  @Test("Processes of a domain agree on whether files are known by identity")
  func agreement() async throws {
    try await withSandbox { box in
      var configuration = CoordinationDomain.Configuration()
      let plain = CoordinationDomain.socket(box.url("s").path, configuration)
      configuration.coordinatesFilesByIdentity = true
      let other = CoordinationDomain.socket(box.url("s").path, configuration)
      try await FileCoordinator(label: "plain", domain: plain).write(box.url("f")) { _ in }
      let error = await #expect(throws: FileCoordinationError.self) {
        try await FileCoordinator(label: "other", domain: other).write(box.url("f")) { _ in }
      }
      #expect(error?.code == .domainUnreachable)
      #expect(error?.message.contains("path and identity") == true)
      #expect(try await FileCoordinator(label: "plain", domain: plain).read(box.url("f")) { _ in true })
    }
  }
}
