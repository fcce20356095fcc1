import FileCoordination
import Foundation
import TestSupport
import Testing

@Suite("Serving from the command line", .blocking)
struct ServeTests {
  private let bench: Workbench

  init() throws { bench = try Workbench() }

  @Test("A server takes over from a process that was elected, which keeps what it holds")
  func takingOver() throws {
    let holder = try bench.hold("a")
    let server = try bench.start("serve")
    _ = try server.output.line(containing: "serving ")
    let refused = try bench.run("write", "--timeout", "2", bench.path("a"), "--", "true")
    #expect(refused.status == 75)
    #expect(refused.errors.contains("pid \(holder.pid)"))
    holder.closeInput()
    #expect(try holder.end() == 0)
    #expect(try bench.run("write", bench.path("a"), "--", "true").status == 0)
    #expect(try bench.run("doctor").output.contains("served by a process that does nothing else"))
    server.signal(SIGTERM)
    #expect(try server.end() == 0)
    // Without it the processes help themselves.
    #expect(try bench.run("write", bench.path("a"), "--", "true").status == 0)
  }

  @Test(
    "A meeting place that somebody removes is made again, and everybody goes on there", arguments: ["serve", "hold"])
  func removedPlace(command: String) async throws {
    let server = try command == "serve" ? bench.start("serve") : bench.hold("elsewhere")
    if command == "serve" { _ = try server.output.line(containing: "serving ") }
    let holder = try bench.hold("a")
    let domain = CoordinationDomain.socket(bench.scratch.url.appending(path: "domain/s").path)
    let before = try Set(domain.processes().map(\.processIdentifier))
    #expect(before.contains(holder.pid))
    for name in try FileManager.default.contentsOfDirectory(atPath: bench.scratch.url.appending(path: "domain").path) {
      // The service may have noticed that the first is gone, and removed the others itself.
      try? FileManager.default.removeItem(at: bench.scratch.url.appending(path: "domain/\(name)"))
    }
    // The access that the holder has reported to the new service.
    let holding = "pid \(holder.pid) "
    try await domain.waitUntil { $0.accesses.contains { $0.party.process.hasPrefix(holding) } }
    let refused = try bench.run("write", "--timeout", "2", bench.path("a"), "--", "true")
    #expect(refused.status == 75, "\(refused.errors)")
    #expect(refused.errors.contains("pid \(holder.pid)"))
    holder.closeInput()
    #expect(try holder.end() == 0, "\(holder.errors.text)")
    #expect(try bench.run("write", bench.path("a"), "--", "true").status == 0)
    if command == "serve" { server.signal(SIGTERM) } else { server.closeInput() }
    #expect(try server.end() == 0, "\(server.errors.text)")
  }

  @Test("A server that has no descriptors left is named, with its limit, to who waits only for so long")
  func exhaustedServer() throws {
    let server = try bench.startScript("ulimit -n 14; exec $FILECOORD serve")
    _ = try server.output.line(containing: "serving ")
    // Each connection costs it one.
    var refused = ""
    for number in 0..<14 {
      let holder = try bench.startScript("exec $FILECOORD hold $ROOT/\(number)")
      let write = try bench.run("write", "--timeout", "2", bench.path("elsewhere"), "--", "true")
      if write.status == 75 {
        refused = write.errors
        break
      }
      _ = try holder.output.line { $0 == "holding" }
    }
    #expect(refused.contains("the process that serves this domain (pid \(server.pid) "), "\(refused)")
    #expect(
      refused.contains(" of 14 files open) doesn't answer. Raise its limit (prlimit --nofile --pid \(server.pid))"))
    server.signal(SIGTERM)
    #expect(try server.end() == 0)
    // The holders serve each other.
    #expect(try bench.run("write", bench.path("elsewhere"), "--", "true").status == 0)
  }

  @Test("A second server waits for the first")
  func secondServer() throws {
    let first = try bench.start("serve")
    _ = try first.output.line(containing: "serving ")
    let second = try bench.start("serve")
    first.signal(SIGINT)
    #expect(try first.end() == 0)
    _ = try second.output.line(containing: "serving ")
  }

  @Test("The last report of a process before its end reaches others, also if it served them")
  func lastWords() throws {
    try bench.makeFile("a")
    let holder = try bench.hold("a")
    let watcher = try bench.watch("a")
    holder.closeInput()
    #expect(try holder.end() == 0)
    _ = try watcher.output.line(containing: "pid \(holder.pid)")
  }

  @Test("In a domain of one process there's nothing to serve")
  func singleProcess() throws {
    let result = try bench.run("serve", "--domain", "process")
    #expect(result.status == 64)
    #expect(result.errors.contains("needs no server"))
  }
}
