import Glibc
import TestSupport
import Testing

@testable import SystemInterface

@Suite("A process is known by its number and the time it started")
struct LocalProcessTests {
  @Test("This process is alive, and found by its number")
  func current() {
    let current = ProcessIdentity.current
    #expect(current.pid == getpid())
    #expect(current.startTime > 0)
    #expect(current.isAlive)
    #expect(ProcessIdentity(of: getpid()) == current)
    #expect(ProcessIdentity.runState(of: getpid()) != nil)
  }

  @Test("A process that started at another time isn't alive, even if another process has its number now")
  func reusedNumber() {
    let current = ProcessIdentity.current
    #expect(!ProcessIdentity(pid: current.pid, startTime: current.startTime + 1).isAlive)
  }

  @Test("There is no process with such a number", arguments: [0, -1, .min, .max] as [Int32])
  func noProcess(pid: Int32) {
    #expect(ProcessIdentity(of: pid) == nil)
    #expect(ProcessIdentity.runState(of: pid) == nil)
    #expect(ProcessIdentity.name(of: pid) == nil)
    #expect(!ProcessIdentity(pid: pid, startTime: 0).isAlive)
  }

  @Test("A stopped process is alive; one that has ended isn't, even if nobody has collected it")
  func states() throws {
    let child = try ChildProcess("sleep", ["600"])
    let identity = try #require(ProcessIdentity(of: child.pid))
    #expect(identity.isAlive)
    child.send(SIGSTOP)
    child.awaitState(WSTOPPED)
    #expect(ProcessIdentity.runState(of: child.pid) == "T")
    #expect(identity.isAlive)
    child.send(SIGKILL)
    child.awaitState(WEXITED)
    #expect(ProcessIdentity.runState(of: child.pid) == "Z")
    #expect(!identity.isAlive)
    child.kill()
    #expect(!identity.isAlive)
    #expect(ProcessIdentity(of: child.pid) == nil)
  }

  @Test("A name is complete, also where the kernel keeps only a part of it")
  func names() async throws {
    try await withTemporaryDirectory { sandbox in
      let name = "a-name-longer-than-fifteen-bytes"
      try sandbox.link(name, to: "/bin/sh")
      let child = try ChildProcess(sandbox.path(name).description, ["-c", "kill -STOP $$; :"])
      // While it starts a process has the name of its parent's thread.
      child.awaitState(WSTOPPED)
      #expect(ProcessIdentity.name(of: child.pid) == name)
      child.kill()
    }
  }

  private func line(_ name: String, state: String = "S", threads: String = "3", start: String = "4711") -> [UInt8] {
    let between = (4...19).map(String.init).joined(separator: " ")
    return Array("42 (\(name)) \(state) \(between) \(threads) 0 \(start) 1 2 3\n".utf8)
  }

  @Test(
    "The fields are found behind any name",
    arguments: [
      "sleep", "", ") (", "a) Z 1 2 (b", "two words", "line\nfeed", ") R 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 9",
    ])
  func parsing(name: String) throws {
    let status = try #require(ProcessStatus(parsing: line(name)))
    #expect(status.state == "S")
    #expect(status.threadCount == 3)
    #expect(status.startTime == 4711)
    #expect(!status.hasEnded)
    #expect(status.hasTerminal)
  }

  @Test("A process has a terminal when its session has one, whatever its input is")
  func terminals() throws {
    let none = Array("42 (x) S 4 5 6 0 -1 9 10 11 12 13 14 15 16 17 18 19 3 0 4711 1\n".utf8)
    #expect(try !#require(ProcessStatus(parsing: none)).hasTerminal)
    let child = try ChildProcess("sleep", ["600"])
    defer { child.kill() }
    #expect(ProcessIdentity.hasTerminal(child.pid) == false)
  }

  @Test("A text that isn't a status is no status")
  func malformed() {
    let lines = [
      [], Array("42 (sleep".utf8), Array("42 (sleep) S 1 2".utf8), line("x", state: "SS"), line("x", threads: "many"),
      line("x", start: "-1"), line("x", start: "99999999999999999999"), [UInt8](repeating: 0xFF, count: 100),
    ]
    for line in lines { #expect(ProcessStatus(parsing: line) == nil) }
  }

  @Test("A process has ended when its last thread has, not already when its first has")
  func firstThreadEnds() throws {
    #expect(try #require(ProcessStatus(parsing: line("x", state: "Z", threads: "1"))).hasEnded)
    #expect(try !#require(ProcessStatus(parsing: line("x", state: "Z", threads: "2"))).hasEnded)
    #expect(try !#require(ProcessStatus(parsing: line("x", state: "T", threads: "1"))).hasEnded)
  }
}
