import Glibc
import Testing

@testable import SystemInterface

@Suite("The queue of name changes knows of a change when the call that made it has returned")
struct NameChangeQueueTests {
  /// An operation that changes names, the directories of the changes, and the reported names.
  struct Change: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let names: [String]
    let make: @Sendable (Sandbox) throws -> Void

    static let all: [Change] = [
      Change(testDescription: "open(2)", names: ["new"]) { try $0.write("d/new", "") },
      Change(testDescription: "mkdir(2)", names: ["new"]) { try $0.makeDirectory("d/new") },
      Change(testDescription: "symlink(2)", names: ["new"]) { try $0.link("d/new", to: "x") },
      Change(testDescription: "unlink(2)", names: ["file"]) {
        try $0.files.unlink($0.path("d/file"), at: .workingDirectory, .file)
      },
      Change(testDescription: "rmdir(2)", names: ["in"]) {
        try $0.files.unlink($0.path("d/in"), at: .workingDirectory, .emptyDirectory)
      },
      Change(testDescription: "rename(2) out", names: ["file"]) {
        try $0.files.rename(
          $0.path("d/file"), at: .workingDirectory, to: $0.path("gone"), at: .workingDirectory, .replacing)
      },
      Change(testDescription: "rename(2) over", names: ["file", "other"]) {
        try $0.files.rename(
          $0.path("d/file"), at: .workingDirectory, to: $0.path("d/other"), at: .workingDirectory, .replacing)
      },
      Change(testDescription: "renameat2(2) exchanging", names: ["file", "in"]) {
        try $0.files.rename(
          $0.path("d/file"), at: .workingDirectory, to: $0.path("d/in"), at: .workingDirectory, .exchange)
      },
      Change(testDescription: "linkat(2)", names: ["hard"]) {
        try $0.files.link(
          $0.path("d/file"), at: .workingDirectory, to: $0.path("d/hard"), at: .workingDirectory, links: .noFollow)
      },
    ]
  }

  private func prepare(_ sandbox: Sandbox) throws {
    try sandbox.makeDirectory("d")
    try sandbox.makeDirectory("d/in")
    try sandbox.write("d/file", "")
    try sandbox.write("d/other", "")
  }

  @Test("Each kind of change is told with its names", arguments: Change.all)
  func changes(change: Change) async throws {
    try await withTemporaryDirectory { sandbox in
      try prepare(sandbox)
      let queue = HostNameChangeQueue()
      #expect(queue.isEmpty)
      let watch = try queue.watch(sandbox.path("d"))
      #expect(queue.takeChanges() == [])
      try change.make(sandbox)
      #expect(!queue.isEmpty)
      let told = Set(queue.takeChanges())
      #expect(told == Set(change.names.map { NameChange.name(watch, Array($0.utf8)) }))
      #expect(queue.takeChanges() == [])
    }
  }

  /// In a process of its own: other tests watch names as well, and all of a process share the kernel's queue.
  @Test("The queue is empty until something changes, and again when that has been taken")
  func emptiness() async {
    await #expect(processExitsWith: .success) {
      try await withTemporaryDirectory { sandbox in
        try sandbox.makeDirectory("d")
        let queue = HostNameChangeQueue()
        _ = try queue.watch(sandbox.path("d"))
        try #require(queue.isEmpty)
        try sandbox.write("d/file", "")
        try #require(!queue.isEmpty)
        try #require(!queue.takeChanges().isEmpty)
        try #require(queue.isEmpty)
      }
    }
  }

  @Test("A directory that is moved or removed is told, and a watch that ended")
  func directoryItself() async throws {
    try await withTemporaryDirectory { sandbox in
      try prepare(sandbox)
      let queue = HostNameChangeQueue()
      let watch = try queue.watch(sandbox.path("d/in"))
      try sandbox.files.rename(
        sandbox.path("d/in"), at: .workingDirectory, to: sandbox.path("moved"), at: .workingDirectory, .replacing)
      #expect(queue.takeChanges() == [.directory(watch)])
      try sandbox.files.unlink(sandbox.path("moved"), at: .workingDirectory, .emptyDirectory)
      #expect(queue.takeChanges() == [.directory(watch), .ended(watch)])
    }
  }

  @Test("Watching twice gives one watch; after its end nothing is told")
  func ending() async throws {
    try await withTemporaryDirectory { sandbox in
      try prepare(sandbox)
      let queue = HostNameChangeQueue()
      let watch = try queue.watch(sandbox.path("d"))
      #expect(try queue.watch(sandbox.path("d")) == watch)
      queue.unwatch(watch)
      try sandbox.write("d/new", "")
      #expect(queue.takeChanges() == [.ended(watch)])
    }
  }

  @Test("More changes than fit into one read are all told, in order")
  func manyChanges() async throws {
    try await withTemporaryDirectory { sandbox in
      try prepare(sandbox)
      let queue = HostNameChangeQueue()
      let watch = try queue.watch(sandbox.path("d"))
      let names = (0..<300).map { String(repeating: "n", count: 240) + "\($0)" }
      for name in names { try sandbox.makeDirectory("d/" + name) }
      #expect(queue.takeChanges() == names.map { .name(watch, Array($0.utf8)) })
    }
  }

  @Test("A path that isn't a directory, or a link to one, is refused", arguments: ["d/file", "link", "none"])
  func refusals(name: String) async throws {
    try await withTemporaryDirectory { sandbox in
      try prepare(sandbox)
      try sandbox.link("link", to: "d")
      let queue = HostNameChangeQueue()
      #expect(throws: SystemError.self) { try queue.watch(sandbox.path(name)) }
      #expect(queue.takeChanges() == [])
    }
  }

  @Test("Where names come and go by themselves nothing is watched", arguments: ["/proc", "/proc/sys", "/sys"])
  func otherFileSystems(path: String) {
    let error = #expect(throws: SystemError.self) { try HostNameChangeQueue().watch(SystemPath(path)) }
    #expect(error?.errno == EOPNOTSUPP)
  }

  @Test("Mounts are told once, and there were none")
  func mounts() throws {
    let queue = HostNameChangeQueue()
    #expect(!queue.takeMountChange())
    _ = try queue.watch(.root)
    #expect(!queue.takeMountChange())
  }
}
