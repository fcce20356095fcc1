import Foundation
import TestSupport
import Testing

@Suite("Moving and deleting from the command line", .blocking)
struct MovingAndDeletingTests {
  private let bench: Workbench

  init() throws {
    bench = try Workbench()
    try bench.makeFile("a", "first\n")
  }

  @Test("A file is moved, also by relative paths")
  func move() throws {
    let tool = try bench.startScript("cd \"$ROOT\" && \"$FILECOORD\" move a ./b")
    #expect(try tool.end() == 0, "\(tool.errors.text)")
    #expect(bench.text("a") == nil)
    #expect(bench.text("b") == "first\n")
  }

  @Test("A move takes no other's place unless asked to, and says so with 73")
  func replacing() throws {
    try bench.makeFile("b", "second\n")
    let refused = try bench.run("move", bench.path("a"), bench.path("b"))
    #expect(refused.status == 73)
    #expect(refused.errors.contains("Pass --replace"))
    #expect(bench.text("b") == "second\n")
    #expect(try bench.run("move", "--replace", bench.path("a"), bench.path("b")).status == 0)
    #expect(bench.text("b") == "first\n")
  }

  @Test("A file is copied; the copy takes no other's place unless asked to, and says so with 73")
  func copy() throws {
    try bench.makeFile("a", "new")
    try bench.makeFile("b", "old")
    #expect(try bench.run("copy", bench.path("a"), bench.path("c")).status == 0)
    let refused = try bench.run("copy", bench.path("a"), bench.path("b"))
    #expect(refused.status == 73 && refused.errors.contains("--replace"))
    #expect(try String(contentsOfFile: bench.path("b"), encoding: .utf8) == "old")
    #expect(try bench.run("copy", "--replace", bench.path("a"), bench.path("b")).status == 0)
    for name in ["a", "b", "c"] { #expect(try String(contentsOfFile: bench.path(name), encoding: .utf8) == "new") }
  }

  @Test("An item that doesn't exist can't be moved or deleted: 66")
  func missing() throws {
    #expect(try bench.run("move", bench.path("missing"), bench.path("b")).status == 66)
    #expect(try bench.run("delete", bench.path("missing")).status == 66)
  }

  @Test("Deleting goes on after a failure, and ends with its code")
  func deleting() throws {
    try bench.makeFile("-odd")
    let result = try bench.run("delete", "--", bench.path("missing"), bench.path("a"), bench.path("-odd"))
    #expect(result.status == 66)
    #expect(result.errors.contains("(ENOENT)"))
    #expect(bench.text("a") == nil)
    #expect(bench.text("-odd") == nil)
  }

  @Test("A directory is deleted with everything in it, when the readers inside are done (C-013)")
  func deletingDirectory() throws {
    let holder = try bench.hold("a", "--read")
    let deletion = try bench.start("delete", "--wait-report", "0.01", bench.path(""))
    _ = try deletion.errors.line(containing: "held for reading by 'filecoord hold'")
    #expect(bench.text("a") == "first\n")
    holder.closeInput()
    #expect(try deletion.end() == 0)
    #expect(!FileManager.default.fileExists(atPath: bench.path("")))
  }
}
