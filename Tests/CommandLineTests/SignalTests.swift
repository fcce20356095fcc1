import Foundation
import TestSupport
import Testing

@Suite("Signals to the command-line tool", .blocking)
struct SignalTests {
  private let bench: Workbench

  init() throws {
    bench = try Workbench()
    try bench.makeFile("a")
  }

  @Test("One that comes while it waits ends the wait, and leaves nothing behind", arguments: [SIGINT, SIGTERM, SIGHUP])
  func waiting(number: Int32) throws {
    let holder = try bench.hold("a", "--read")
    let writer = try bench.start(
      "write", "--wait-report", "0.01", bench.path("a"), "--", "touch", bench.path("touched"))
    _ = try writer.errors.line(containing: "waiting for ")
    writer.signal(number)
    #expect(try writer.end() == 128 + number)
    #expect(bench.text("touched") == nil)
    // A writer that still waited would be in the way of this reader.
    #expect(try bench.run("read", "--timeout", "0", bench.path("a"), "--", "true").status == 0)
    holder.closeInput()
    #expect(try holder.end() == 0)
    #expect(try bench.run("write", "--timeout", "0", bench.path("a"), "--", "true").status == 0)
  }

  @Test("One that comes while the command runs reaches it, and access lasts until it has ended")
  func running() throws {
    // The shell carries out its trap between two commands: the short naps are what it does, and nothing waits for them.
    let script = """
      trap 'echo signalled; read line; exit 5' INT
      echo running
      while :; do sleep 0.01; done
      """
    let writer = try bench.start("write", bench.path("a"), "--", "sh", "-c", script)
    _ = try writer.output.line(containing: "running")
    writer.signal(SIGINT)
    _ = try writer.output.line(containing: "signalled")
    #expect(try bench.run("write", "--timeout", "0", bench.path("a"), "--", "true").status == 75)
    writer.closeInput()
    #expect(try writer.end() == 5)
    #expect(try bench.run("write", "--timeout", "0", bench.path("a"), "--", "true").status == 0)
  }

  @Test("A command that ends by the signal gives 128 and the signal", arguments: [SIGINT, SIGTERM, SIGHUP])
  func ending(number: Int32) throws {
    let writer = try bench.start("write", bench.path("a"), "--", "sh", "-c", "echo running; exec cat")
    _ = try writer.output.line(containing: "running")
    writer.signal(number)
    #expect(try writer.end() == 128 + number)
  }

  @Test("The next goes on when a holder is killed")
  func killing() throws {
    let holder = try bench.hold("a")
    let writer = try bench.start("write", "--wait-report", "0.01", bench.path("a"), "--", "echo", "written")
    _ = try writer.errors.line(containing: "waiting for ")
    holder.signal(SIGKILL)
    #expect(try writer.end() == 0, "\(writer.errors.text)")
    #expect(writer.output.text == "written\n")
  }

  @Test("A process that holds, serves or waits may be killed: the others go on")
  func killingOneAfterTheOther() throws {
    let holders = [try bench.hold("a", "--read"), try bench.hold("a", "--read")]
    let writers = try (0..<3).map { _ in
      try bench.start("write", "--wait-report", "0.01", bench.path("a"), "--", "echo", "written")
    }
    for writer in writers { _ = try writer.errors.line(containing: "waiting for ") }
    holders[0].signal(SIGKILL)
    writers[0].signal(SIGKILL)
    _ = try holders[0].end()
    #expect(try bench.run("write", "--timeout", "0", bench.path("a"), "--", "true").status == 75)
    holders[1].signal(SIGKILL)
    for writer in writers.dropFirst() { #expect(try writer.end() == 0, "\(writer.errors.text)") }
  }

  @Test("A holder and a watcher end with 0", arguments: [SIGINT, SIGTERM, SIGHUP])
  func intendedEnds(number: Int32) throws {
    let holder = try bench.hold("a")
    holder.signal(number)
    #expect(try holder.end() == 0)
    let watcher = try bench.watch("a")
    watcher.signal(number)
    #expect(try watcher.end() == 0)
  }

  @Test("One that was ignored from the beginning stays ignored, as under nohup(1)")
  func ignored() throws {
    let script = """
      trap '' HUP
      exec "$FILECOORD" hold "$ROOT/a"
      """
    let holder = try bench.startScript(script)
    _ = try holder.output.line { $0 == "holding" }
    holder.signal(SIGHUP)
    #expect(try bench.run("write", "--timeout", "0", bench.path("a"), "--", "true").status == 75)
    holder.closeInput()
    #expect(try holder.end() == 0)
  }
}
