import CoordinationWorker
import FileCoordination
import Foundation
import TestSupport
import Testing

@Suite("A process that uses up its descriptors doesn't block its domain", .blocking, .timeLimit(.minutes(5)))
struct GreedyProcessTests {
  /// Reads on until the process has made a certain report; it may report a change more than once.
  private func awaitReport(_ report: String, from process: HelperProcess) throws {
    while let line = try process.line() { if line == report { return } }
    Issue.record("it never reported '\(report)'")
  }

  private func withGreedyProcess(_ body: (URL, HelperProcess, String) throws -> Void) throws {
    let root = URL(filePath: "/tmp/greedy-\(UUID().uuidString.prefix(8))", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: root.appending(path: "items"), withIntermediateDirectories: true)
    defer { removeSurely(root.path) }
    let socket = root.appending(path: "s").path
    let greedy = try HelperProcess(["greedy", socket, root.path])
    try awaitReport("presenting", from: greedy)
    try body(root, greedy, socket)
    greedy.finish()
    #expect(greedy.status == 0)
  }

  @Test("It presents and observes more items than it may have files open, and serves others meanwhile")
  func manyItems() throws {
    try withGreedyProcess { root, greedy, socket in
      let domain = CoordinationDomain.socket(socket)
      let coordinator = FileCoordinator(label: "other", domain: domain)
      let last = GreedyWorker.itemCount - 1
      try coordinator.blocking.write(root.appending(path: "items/\(last)")) { access in
        try Data("coordinated".utf8).write(to: access.url)
      }
      try awaitReport("changed \(last)", from: greedy)
      #expect(try domain.processes().first(where: \.isService)?.processIdentifier == greedy.identifier)
      // By a program that doesn't coordinate.
      try FileManager.default.moveItem(
        at: root.appending(path: "items/\(last)"), to: root.appending(path: "items/elsewhere"))
      try awaitReport("moved \(last) to elsewhere", from: greedy)
    }
  }

  @Test(
    "A process that is alone and has too few to serve is told so, and goes on when it has more",
    arguments: Array(stride(from: 0, through: 32, by: 2)))
  func alone(freeCount: Int) throws {
    let root = URL(filePath: "/tmp/scarce-\(UUID().uuidString.prefix(8))", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    defer { removeSurely(root.path) }
    let scarce = try HelperProcess(
      ["scarce", root.appending(path: "s").path, root.appending(path: "file").path, "\(freeCount)"])
    let outcome = try scarce.line()
    #expect(outcome == "names what's missing" || outcome == "done" && freeCount > 8)
    #expect(try scarce.line() == "goes on")
    scarce.finish()
    #expect(scarce.status == 0)
  }

  @Test("When it has none left while it serves, another process serves, and it keeps what it holds")
  func handingOver() throws {
    try withGreedyProcess { root, greedy, socket in
      try greedy.tell("exhaust")
      try awaitReport("exhaust", from: greedy)
      let domain = CoordinationDomain.socket(socket)
      let coordinator = FileCoordinator(label: "other", domain: domain)
      try coordinator.blocking.write(root.appending(path: "free")) { _ in }
      #expect(try domain.processes().first(where: \.isService)?.processIdentifier == getpid())
      let deadlines = AccessDeadlines(waitingForAccesses: .milliseconds(20))
      let error = #expect(throws: FileCoordinationError.self) {
        try coordinator.blocking.write(root.appending(path: "held"), deadlines: deadlines) { _ in }
      }
      #expect(error?.blockers.map(\.label) == ["greedy"])
    }
  }
}
