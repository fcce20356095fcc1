import CoordinationService
import FileAccessArbiter
import Foundation
import TestSupport
import Testing

@testable import FileCoordination

/// A child process is another object for the domain, made with the environment of the child.
@Suite("The environment of child processes", .timeLimit(.minutes(5)))
struct ChildEnvironmentTests {
  private struct Place {
    let file: URL
    let socket: String

    func child(in environment: [String: String]) -> FileCoordinator {
      FileCoordinator(
        label: "child", domain: .socket(socket, ofChildIn: environment),
        deadlines: AccessDeadlines(waitingForAccesses: .seconds(30)))
    }
  }

  private func withPlace(_ body: (Place) async throws -> Void) async throws {
    try await withTemporaryDirectory { root in
      try await withTemporaryDirectory { place in
        try await body(Place(file: root.appending(path: "f"), socket: place.path + "/s"))
      }
    }
  }

  @Test("A child is inside of an access that its parent granted itself under a delegation (C-432)")
  func delegatedParent() async throws {
    try await withPlace { place in
      try await onThread {
        let domain = CoordinationDomain.socket(place.socket)
        let coordinator = FileCoordinator(label: "parent", domain: domain)
        for _ in 0..<1_000 {
          if try domain.processes().contains(where: { !$0.delegatedPaths.isEmpty }) { break }
          for _ in 0..<4 { try coordinator.blocking.write(place.file) { _ in } }
        }
        try coordinator.blocking.write(place.file) { access in
          let environment = try access.environment()
          #expect(try access.environment() == environment)
          let child = place.child(in: environment)
          for _ in 0..<3 {
            try child.blocking.write(place.file) { inner in
              let state = try domain.snapshot()
              #expect(state.accesses.first { $0.party.label == "child" }?.outer?.label == "parent")
              let grandchild = place.child(in: try inner.environment())
              try grandchild.blocking.read(place.file) { _ in }
            }
          }
        }
      }
    }
  }

  @Test("The suspending form gives the same, and the child's accesses fail when the access has ended (C-434)")
  func suspendingForm() async throws {
    try await withPlace { place in
      let domain = CoordinationDomain.socket(place.socket)
      let coordinator = FileCoordinator(label: "parent", domain: domain)
      let child = try await coordinator.write(place.file) { access in
        let environment = try await access.environment()
        #expect(Array(environment.keys) == [AccessEnvironment.variable])
        let child = place.child(in: environment)
        try await child.write(place.file) { _ in }
        return child
      }
      // The service has taken in the end of the access when it answers.
      _ = try await domain.snapshot()
      for _ in 0..<2 {
        let error = await #expect(throws: FileCoordinationError.self) { try await child.read(place.file) { _ in } }
        #expect(error?.code == .outerAccessEnded)
        #expect(
          error?.message.contains("the access for writing '\(place.file.path)' by pid ") == true, "\(error as Any)")
      }
    }
  }

  @Test("Inside of accesses of several domains a child belongs to one in each (C-435)")
  func severalDomains() async throws {
    try await withPlace { place in
      try await onThread {
        let other = place.socket + "2"
        let outer = FileCoordinator(label: "outer", domain: .socket(place.socket))
        let inner = FileCoordinator(label: "inner", domain: .socket(other))
        try outer.blocking.write(place.file) { _ in
          try inner.blocking.write(place.file) { access in
            let environment = try access.environment()
            #expect(try AccessEnvironment(environment[AccessEnvironment.variable] ?? "").entries.count == 2)
            try place.child(in: environment).blocking.read(place.file) { _ in }
            let child = FileCoordinator(label: "child", domain: .socket(other, ofChildIn: environment))
            try child.blocking.write(place.file) { access in
              // Passed on.
              try place.child(in: try access.environment()).blocking.read(place.file) { _ in }
            }
          }
        }
      }
    }
  }

  @Test("In a domain of one process there are no children, but those of accesses of other domains around (C-435)")
  func domainOfOneProcess() async throws {
    try await withPlace { place in
      try await onThread {
        let alone = FileCoordinator(label: "alone", domain: CoordinationDomain())
        #expect(try alone.blocking.write(place.file) { access in try access.environment() }.isEmpty)
        let outer = FileCoordinator(label: "outer", domain: .socket(place.socket))
        try outer.blocking.write(place.file) { _ in
          let environment = try alone.blocking.write(place.file) { access in try access.environment() }
          try place.child(in: environment).blocking.write(place.file) { _ in }
        }
      }
    }
  }

  @Test("An access of a snapshot has ended, so a child doesn't belong to it")
  func snapshot() async throws {
    try await withPlace { place in
      let domain = CoordinationDomain.socket(place.socket)
      try Data("text".utf8).write(to: place.file)
      let parent = FileCoordinator(label: "parent", domain: domain)
      let environment = try await parent.read(place.file, options: .forUploading) { access in
        try await access.environment()
      }
      #expect(environment.isEmpty)
    }
  }

  @Test("Spellings of the way to the socket are one domain")
  func spellings() async throws {
    try await withPlace { place in
      try await onThread {
        let link = place.file.path + "-link"
        let directory = place.socket.dropLast("/s".count)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: String(directory))
        try FileCoordinator(label: "parent", domain: .socket(place.socket)).blocking.write(place.file) { access in
          let domain = CoordinationDomain.socket(link + "/s", ofChildIn: try access.environment())
          try FileCoordinator(label: "child", domain: domain).blocking.write(place.file) { _ in }
        }
      }
    }
  }

  // MARK: - The variable

  private static func entry(_ number: Int, path: String = "/a") -> AccessEnvironment.Entry {
    AccessEnvironment.Entry(
      domain: "socket./tmp/é \(number):%", token: AccessToken(high: UInt64(number), low: .max), process: 7,
      isWrite: true,
      path: Array(path.utf8))
  }

  @Test("The variable has up to sixteen domains, and no more")
  func entryCount() throws {
    var environment = AccessEnvironment()
    for number in 1...AccessEnvironment.entryCountMax { try environment.set(Self.entry(number)) }
    let value = try #require(environment.variables[AccessEnvironment.variable])
    #expect(value.utf8.allSatisfy { $0 >= 32 && $0 < 127 })
    #expect(try AccessEnvironment(value) == environment)
    #expect(throws: FileCoordinationError.self) { try environment.set(Self.entry(17)) }
    #expect(throws: AccessEnvironment.Malformed.self) { try AccessEnvironment(value + " " + value) }
    // One of a domain takes the place of another.
    try environment.set(Self.entry(3, path: "/b"))
    #expect(environment.entries.count == AccessEnvironment.entryCountMax)
  }

  @Test("A long path is cut, so that the variable fits", arguments: [1023, 1024, 1025, 65_535])
  func longPaths(count: Int) throws {
    var environment = AccessEnvironment()
    try environment.set(Self.entry(1, path: "/" + String(repeating: " ", count: count - 1)))
    let parsed = try AccessEnvironment(environment.variables[AccessEnvironment.variable] ?? "")
    #expect(parsed.entries.first?.path.count == min(count, AccessEnvironment.pathByteCountMax))
    // The kernel takes 128 KiB for one variable.
    #expect(environment.variables.values.joined().utf8.count * AccessEnvironment.entryCountMax < 128 << 10)
  }

  @Test("Tokens are drawn anew for each access")
  func tokens() {
    #expect(Set((0..<1_000).map { _ in AccessToken.drawn() }).count == 1_000)
  }

  @Test("A variable that names no access is an error of each access among processes (C-434)")
  func malformed() async throws {
    try await withPlace { place in
      let child = place.child(in: [AccessEnvironment.variable: "nonsense"])
      let error = await #expect(throws: FileCoordinationError.self) { try await child.read(place.file) { _ in } }
      #expect(error?.code == .invalidAccessEnvironment)
    }
  }
}
