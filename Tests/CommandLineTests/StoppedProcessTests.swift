import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FileCoordination

/// Processes that are stopped and go on, as Control-Z and `fg` do it, while others wait for them.
@Suite("Processes that are stopped", .blocking)
struct StoppedProcessTests {
  private let bench: Workbench
  private let domain: CoordinationDomain
  private let url: URL

  init() throws {
    bench = try Workbench()
    domain = .socket(bench.scratch.url.appending(path: "domain/s").path)
    url = URL(filePath: try bench.makeFile("a"))
    try bench.makeFile("elsewhere")
  }

  private func coordinator(_ deadlines: AccessDeadlines) -> FileCoordinator {
    FileCoordinator(label: "impatient", domain: domain, deadlines: deadlines)
  }

  @Test("C-187: A process that watches and is stopped keeps nobody waiting, and hears what it missed")
  func watcher() throws {
    // The first serves: a process that isn't stopped.
    let server = try bench.hold("elsewhere")
    let watcher = try bench.watch("a")
    watcher.stop()
    try coordinator(.standard).blocking.write(url) { access in try Data("new".utf8).write(to: access.url) }
    watcher.signal(SIGCONT)
    #expect(try watcher.output.line(containing: "did change").contains("by 'impatient'"))
    watcher.signal(SIGINT)
    #expect(try watcher.end() == 0)
    server.closeInput()
  }

  @Test("An item held by a stopped process goes to an impatient one; the stopped process says so when it goes on")
  func holder() throws {
    let server = try bench.hold("elsewhere")
    let holder = try bench.hold("a")
    holder.stop()
    let waiter = try bench.start("write", "--wait-report", "0.6", url.path, "--", "true")
    _ = try waiter.errors.line { $0.contains("(pid \(holder.pid) 'filecoord', stopped)") }
    let tree = try bench.run("tree", "--json", url.path)
    let object = try JSONSerialization.jsonObject(with: Data(tree.output.utf8)) as? [String: [[String: Any]]]
    let held = try #require(object?["accesses"]?.first { $0["state"] as? String == "holding" })
    #expect(held["pid"] as? Int == Int(holder.pid) && held["process"] as? String == "filecoord")
    #expect(held["stopped"] as? Bool == true)
    waiter.signal(SIGINT)
    #expect(try waiter.end() == 130)
    let taker = try bench.run("write", "--skip-stopped", "0.1", url.path, "--", "echo", "taken")
    #expect(taker.status == 0 && taker.output == "taken\n", "\(taker.errors)")
    holder.signal(SIGCONT)
    holder.closeInput()
    // No process holds it any more when it comes back, but one did.
    #expect(try holder.end() == 75)
    #expect(holder.errors.text.contains("was lost"), "\(holder.errors.text)")
    server.closeInput()
  }

  @Test("A process doesn't use an access that it was granted while it was stopped and that was taken from it again")
  func unreadGrant() async throws {
    let server = try bench.hold("elsewhere")
    let holder = try bench.hold("a")
    let waiter = try bench.start(
      "write", "--label", "waiter", "--wait-report", "0.05", url.path, "--", "touch", bench.path("touched"))
    _ = try waiter.errors.line(containing: "waiting for ")
    waiter.stop()
    holder.closeInput()
    #expect(try holder.end() == 0)
    let deadlines = AccessDeadlines(stoppedHolders: .milliseconds(100))
    try await coordinator(deadlines).write(url) { _ in
      waiter.signal(SIGCONT)
      try await domain.waitUntil { state in
        state.accesses.contains { $0.party.label == "waiter" && !$0.isGranted }
      }
      #expect(bench.text("touched") == nil)
    }
    #expect(try waiter.end() == 0, "\(waiter.errors.text)")
    #expect(bench.text("touched") != nil)
    server.closeInput()
  }

  @Test("The receiver of a report about a wait may read the domain")
  func reporter() throws {
    let holder = try bench.hold("a")
    let reported = DispatchSemaphore(value: 0)
    let seen = Seen()
    var configuration = CoordinationDomain.Configuration()
    configuration.waitReportInterval = .milliseconds(10)
    configuration.waitReporter = { _ in
      let accesses = (try? seen.domain.withLock { $0 }?.snapshot().accesses) ?? []
      seen.holders.withLock { $0 = accesses.filter(\.isGranted).map(\.party.process) }
      reported.signal()
    }
    let domain = CoordinationDomain.socket(bench.scratch.url.appending(path: "domain/s").path, configuration)
    seen.domain.withLock { $0 = domain }
    defer { seen.domain.withLock { $0 = nil } }
    let ended = DispatchSemaphore(value: 0)
    Thread.detachNewThread { [url] in
      try? FileCoordinator(label: "waiter", domain: domain).blocking.write(url) { _ in }
      ended.signal()
    }
    reported.wait()
    #expect(seen.holders.withLock { $0 } == ["pid \(holder.pid) 'filecoord'"])
    holder.closeInput()
    ended.wait()
  }

  @Test("A holder that lost its access while it was stopped says so and ends with 75")
  func loss() throws {
    let server = try bench.hold("elsewhere")
    let holder = try bench.hold("a")
    holder.stop()
    let deadlines = AccessDeadlines(stoppedHolders: .milliseconds(100))
    try coordinator(deadlines).blocking.write(url) { _ in
      holder.signal(SIGCONT)
      holder.closeInput()
      let status = try holder.end()
      #expect(status == 75)
      #expect(holder.errors.text.contains("was lost"))
    }
    server.closeInput()
  }

  @Test(
    "If the serving process is stopped, a command fails after five seconds and names it; commands work when it continues"
  )
  func service() throws {
    let server = try bench.hold("elsewhere")
    #expect(try bench.run("read", url.path, "--", "true").status == 0)
    server.stop()
    let waiter = try bench.run("write", url.path, "--", "true")
    #expect(waiter.status == 69)
    #expect(waiter.errors.contains("pid \(server.pid)") && waiter.errors.contains("kill -CONT"), "\(waiter.errors)")
    server.signal(SIGCONT)
    #expect(try bench.run("write", url.path, "--", "true").status == 0)
    server.closeInput()
    #expect(try server.end() == 0)
  }

  @Test("While the serving process is stopped, a deadline that is shorter than five seconds holds")
  func deadline() throws {
    let server = try bench.hold("elsewhere")
    let connected = coordinator(.within(.milliseconds(200)))
    try connected.blocking.read(url) { _ in }
    server.stop()
    let waiter = try bench.run("write", "--timeout", "0.2", url.path, "--", "true")
    #expect(waiter.status == 75, "\(waiter.errors)")
    #expect(waiter.errors.contains("kill -CONT \(server.pid)"), "\(waiter.errors)")
    let error = #expect(throws: FileCoordinationError.self) { try connected.blocking.write(url) { _ in } }
    #expect(error?.code == .timedOut)
    #expect(error?.description.contains("kill -CONT \(server.pid)") == true)
    server.signal(SIGCONT)
    server.closeInput()
    #expect(try server.end() == 0)
  }

  @Test("A process that finds the serving one stopped is told so, also when it asks for no access")
  func registration() throws {
    let server = try bench.hold("elsewhere")
    server.stop()
    let tree = try bench.run("tree")
    #expect(tree.status == 69)
    #expect(tree.errors.contains("kill -CONT \(server.pid)"), "\(tree.errors)")
    server.signal(SIGCONT)
    server.closeInput()
    #expect(try server.end() == 0)
  }

  @Test(
    "An access that waits for others without end, but not for answers, is told of it as well"
  )
  func deadlineOfAnswers() throws {
    let server = try bench.hold("elsewhere")
    let connected = coordinator(AccessDeadlines(waitingForAccesses: nil, waitingForAnswers: .milliseconds(200)))
    try connected.blocking.read(url) { _ in }
    server.stop()
    let error = #expect(throws: FileCoordinationError.self) { try connected.blocking.write(url) { _ in } }
    #expect(error?.code == .domainUnreachable)
    server.signal(SIGCONT)
    server.closeInput()
    #expect(try server.end() == 0)
  }

  @Test("While the serving process is stopped, an access can be cancelled")
  func cancellation() async throws {
    let server = try bench.hold("elsewhere")
    let patient = coordinator(.never)
    try await patient.read(url) { _ in }
    server.stop()
    let task = Task { [url] in try await patient.write(url) { _ in } }
    while !domain.host.isAwaitingService { await Task.yield() }
    task.cancel()
    let error = await #expect(throws: FileCoordinationError.self) { try await task.value }
    #expect(error?.code == .cancelled)
    server.signal(SIGCONT)
    server.closeInput()
    #expect(try server.end() == 0)
  }

  @Test("A process on a terminal serves alone, and leaves that to one without: Control-Z is in nobody else's way")
  func terminal() throws {
    try bench.makeFile("b")
    // Each is in a session of its own. A process that opens a terminal there has it as its controlling one.
    let first = try bench.startScript(
      "exec \"$FILECOORD\" watch \"$ROOT/a\" </proc/$$/fd/2 2>&1", on: PseudoTerminal(width: 80))
    _ = try first.output.line(containing: "watching ")
    #expect(try bench.run("doctor").output.contains("served by pid \(first.pid) "))
    let second = try bench.startScript("exec \"$FILECOORD\" watch \"$ROOT/b\" 2>&1")
    _ = try second.output.line(containing: "watching ")
    // Each presenter is notified by the next service that it may have missed something.
    for watcher in [first, second] { _ = try watcher.output.line(containing: "did change") }
    first.stop()
    let reader = try bench.run("read", bench.path("elsewhere"), "--", "echo", "read")
    #expect(reader.status == 0 && reader.output == "read\n", "\(reader.errors)")
    #expect(try bench.run("doctor").output.contains("served by pid \(second.pid) "))
    first.signal(SIGCONT)
    for watcher in [first, second] {
      watcher.signal(SIGINT)
      #expect(try watcher.end() == 0)
    }
  }

  @Test("A process that is connected already is told as well, and is granted nothing late")
  func serviceOfConnected() throws {
    let server = try bench.hold("elsewhere")
    let coordinator = coordinator(.standard)
    try coordinator.blocking.read(url) { _ in }
    server.stop()
    let error = #expect(throws: FileCoordinationError.self) {
      try coordinator.blocking.write(URL(filePath: bench.path("elsewhere"))) { _ in }
    }
    #expect(error?.code == .domainUnreachable)
    #expect(error?.description.contains("kill -CONT \(server.pid)") == true)
    server.signal(SIGCONT)
    server.closeInput()
    #expect(try server.end() == 0)
    try coordinator.blocking.write(URL(filePath: bench.path("elsewhere")), deadlines: .within(.seconds(30))) { _ in }
  }
}

/// The domain that a reporter inspects, and the holders that it sees.
private final class Seen: Sendable {
  let domain = Mutex<CoordinationDomain?>(nil)
  let holders = Mutex<[String]>([])
}
