import Foundation
import TestSupport
import Testing

@Suite("Watching what programs do that don't coordinate", .blocking)
struct UncoordinatedWatchTests {
  private let bench: Workbench

  init() throws {
    bench = try Workbench()
    try bench.makeFile("a")
  }

  private func runScript(_ script: String) throws {
    #expect(try bench.startScript("set -e; cd \"$ROOT\"; " + script).end() == 0)
  }

  @Test("In a directory it prints what a shell, mv and a checkout of git do (C-200)")
  func directory() throws {
    let watcher = try bench.watch("", "--uncoordinated")
    try runScript("echo shell >a")
    let change = try watcher.output.line(containing: "item inside did change")
    #expect(change.hasSuffix(": \(bench.path("a")), uncoordinated"))
    try runScript("mv a b")
    let move = try watcher.output.line(containing: "item inside did move")
    #expect(move.hasSuffix(": \(bench.path("a")) to \(bench.path("b")), uncoordinated"))
    try runScript("rm b")
    _ = try watcher.output.line(containing: "did change: \(bench.path("b")), uncoordinated")
  }

  @Test(
    "A file has changed, whichever way it was saved (C-200)",
    arguments: ["echo new >a", "echo new >a.lock && mv a.lock a", "mv a a~ && echo new >a && rm a~"])
  func file(script: String) throws {
    let watcher = try bench.watch("a", "--uncoordinated", "--json")
    try runScript(script)
    let line = try watcher.output.line(containing: "did change")
    let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    #expect(object["path"] as? String == bench.path("a"))
    #expect(object["reason"] as? String == "uncoordinated")
    #expect(object["by"] as? String == "")
    #expect(object["pid"] as? Int == 0)
    #expect(object["verified"] as? Bool == true)
  }
}
