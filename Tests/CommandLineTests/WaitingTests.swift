import Foundation
import TestSupport
import Testing

@Suite("Waiting for others, and not", .blocking)
struct WaitingTests {
  private let bench: Workbench

  init() throws {
    bench = try Workbench()
    try bench.makeFile("a")
  }

  @Test("A deadline ends the wait with 75, and says who is in the way", arguments: ["2", "0"])
  func deadline(seconds: String) throws {
    let holder = try bench.hold("a", "--write")
    let result = try bench.run("write", "--timeout", seconds, bench.path("a"), "--", "touch", bench.path("touched"))
    #expect(result.status == 75)
    #expect(result.errors.contains("held for writing by 'filecoord hold' (pid \(holder.pid) 'filecoord')"))
    #expect(bench.text("touched") == nil)
  }

  @Test("A deadline of zero doesn't matter when nobody is in the way")
  func impatience() throws {
    #expect(try bench.run("write", "--timeout=0", bench.path("a"), "--", "true").status == 0)
  }

  @Test("Reports of a wait name who is in the way, by the label it chose")
  func reports() throws {
    let holder = try bench.hold("a", "--label", "nightly backup")
    let reader = try bench.start("read", "--wait-report", "0.01", bench.path("a"), "--", "true")
    let line = try reader.errors.line(containing: "waiting for ")
    #expect(line.contains("'\(bench.path("a"))' held for writing by 'nightly backup' (pid \(holder.pid) 'filecoord')"))
    holder.closeInput()
    #expect(try reader.end() == 0)
  }

  @Test("The tree and the explanation name who holds and who waits")
  func lookingInside() throws {
    let holder = try bench.hold("a")
    let writer = try bench.start("write", "--wait-report", "0.01", bench.path("a"), "--", "true")
    _ = try writer.errors.line(containing: "waiting for ")
    let tree = try bench.run("tree")
    #expect(tree.output.hasPrefix(bench.path("a") + "\n"))
    #expect(tree.output.contains("held for writing by 'filecoord hold' (pid \(holder.pid) 'filecoord') for "))
    #expect(tree.output.contains("'true' (pid \(writer.pid) 'filecoord') has waited for "))
    let explanation = try bench.run("explain", bench.path("a"))
    #expect(explanation.status == 1)
    #expect(explanation.output.contains("in the way of reading and writing:"))
    #expect(explanation.output.contains("pid \(holder.pid) "))
    #expect(explanation.output.contains("pid \(writer.pid) "))
    holder.closeInput()
    #expect(try writer.end() == 0)
  }

  @Test("The tree in JSON tells the same, at one place if asked")
  func jsonTree() throws {
    try bench.makeFile("b")
    let holder = try bench.hold("a", "--read")
    _ = try bench.hold("b", "--write")
    let result = try bench.run("tree", "--json", bench.path("a"))
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: [[String: Any]]])
    #expect(object["presenters"]?.isEmpty == true)
    let access = try #require(object["accesses"]?.first)
    #expect(object["accesses"]?.count == 1)
    #expect(access["pid"] as? Int == Int(holder.pid))
    #expect(access["state"] as? String == "holding")
    #expect((access["seconds"] as? Double ?? -1) >= 0)
    let item = try #require((access["items"] as? [[String: Any]])?.first)
    #expect(item["path"] as? String == bench.path("a"))
    #expect(item["mode"] as? String == "reading")
  }

  @Test("Nobody is in the way of a file that is read, when it comes to reading")
  func explainingReaders() throws {
    #expect(try bench.run("explain", bench.path("a")).status == 0)
    _ = try bench.hold("a", "--read")
    let result = try bench.run("explain", bench.path("a"))
    #expect(result.status == 1)
    #expect(result.output.contains("in the way of writing:"))
  }

  @Test("A directory that is being deleted is in the way of what is inside; one that is written isn't (C-012, C-013)")
  func explainingDirectories() throws {
    let plain = try bench.start("write", bench.path(""), "--", "sh", "-c", "echo running; cat")
    _ = try plain.output.line(containing: "running")
    #expect(try bench.run("explain", bench.path("a")).status == 0)
    plain.closeInput()
    #expect(try plain.end() == 0)
    let deep = try bench.start("write", "--for", "deleting", bench.path(""), "--", "sh", "-c", "echo running; cat")
    _ = try deep.output.line(containing: "running")
    let result = try bench.run("explain", bench.path("a"))
    #expect(result.status == 1)
    #expect(result.output.contains("pid \(deep.pid) "))
  }

  @Test("An access to an item inside is in the way of deleting its directory (C-013)")
  func explainingContents() throws {
    let holder = try bench.hold("a")
    let result = try bench.run("explain", bench.path(""))
    #expect(result.status == 1)
    #expect(result.output.contains("in the way of deleting, moving and replacing:"))
    #expect(result.output.contains("pid \(holder.pid) "))
  }
}
