import FileCoordination
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Watching files", .blocking)
struct WatchTests {
  private let bench: Workbench

  init() throws {
    bench = try Workbench()
    try bench.makeFile("a")
  }

  @Test("It prints who wrote a file (C-050)")
  func change() throws {
    let watcher = try bench.watch("a")
    let result = try bench.run(
      "write", "--label", "shopping", bench.path("a"), "--", "sh", "-c", "echo new >\"$1\"", "sh", "{}")
    #expect(result.status == 0)
    let line = try watcher.output.line(containing: "did change")
    #expect(line.contains("did change: \(bench.path("a")), writing by 'shopping' (pid "))
    #expect(line.prefixMatch(of: #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z /#) != nil)
  }

  @Test("It follows a file that is moved, and prints where it went")
  func move() throws {
    let watcher = try bench.watch("a", "--events", "2")
    #expect(try bench.run("move", bench.path("a"), bench.path("b")).status == 0)
    #expect(try bench.run("write", bench.path("b"), "--", "true").status == 0)
    #expect(try watcher.end() == 0)
    let lines = watcher.output.lines
    try #require(lines.count == 2)
    #expect(lines[0].contains(" did move: \(bench.path("a")) to \(bench.path("b")), "))
    #expect(lines[1].contains(" did change: \(bench.path("b")), "))
  }

  @Test("It prints what happens inside a directory, as JSON: one object on each line")
  func directory() throws {
    let watcher = try bench.watch("", "--json", "--events", "3", "--label", "observer")
    let name = "say \"hi\\\"\n\u{1}ü"
    #expect(try bench.run("write", bench.path(name), "--", "touch", "{}").status == 0)
    #expect(try bench.run("move", bench.path(name), bench.path("b")).status == 0)
    #expect(try bench.run("delete", bench.path("b")).status == 0)
    #expect(try watcher.end() == 0)
    let objects = try watcher.output.lines.map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
    try #require(objects.count == 3)
    let members: Set = [
      "time", "event", "path", "to", "detail", "by", "pid", "process", "reason", "verified", "omitted",
    ]
    for object in objects { #expect(Set(object.keys) == members) }
    #expect(objects.map { $0["path"] as? String } == [bench.path(name), bench.path(name), bench.path("b")])
    #expect(objects[1]["event"] as? String == "item inside did move")
    #expect(objects[1]["to"] as? String == bench.path("b"))
    #expect(objects[1]["by"] as? String == "filecoord move")
    #expect(objects[2]["event"] as? String == "item inside did change")
    #expect(objects[2]["reason"] as? String == "writing [.forDeleting]")
    #expect(objects[2]["verified"] as? Bool == true)
    #expect(objects[2]["to"] is NSNull)
  }

  @Test("On request it's asked as well, and prints that (C-030, C-031)")
  func questions() throws {
    let watcher = try bench.watch("a", "--relinquish", "--events", "4")
    #expect(try bench.run("read", bench.path("a"), "--", "true").status == 0)
    #expect(try bench.run("explain", bench.path("a")).output.contains("asked before reading, writing, deleting"))
    #expect(try bench.run("delete", bench.path("a")).status == 0)
    #expect(try watcher.end() == 0)
    let events = watcher.output.lines.map { $0.split(separator: " ").dropFirst().joined(separator: " ") }
    #expect(
      events.map { String($0.prefix { $0 != ":" }) }.prefix(4) == [
        "relinquish to reader", "save changes", "reacquire", "relinquish to writer",
      ])
  }

  @Test("It prints versions and attributes that other programs announce (C-203 to C-206)")
  func announcements() throws {
    let domain = CoordinationDomain.socket(bench.scratch.url.appending(path: "domain/s").path)
    let coordinator = FileCoordinator(label: "provider", domain: domain)
    let url = URL(filePath: bench.path("a"))
    // This process is the first, and so the one that serves the others: a watcher that served would take messages to the other
    // one along when it ends.
    try coordinator.blocking.read(url) { _ in }
    let watchers = try [bench.watch("a", "--json", "--events", "3"), bench.watch("", "--json", "--events", "2")]
    try coordinator.blocking.write(url) { $0.didChangeVersion(.gained, version: "v1") }
    try coordinator.item(at: url, didChangeUbiquityAttributes: ["isUploaded", "isShared"])
    let objects = try watchers.map { watcher in
      #expect(try watcher.end() == 0)
      return try watcher.output.lines.map { line in
        try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      }
    }
    let events = objects.map { $0.map { $0["event"] as? String } }
    #expect(
      events == [
        ["version gained", "did change", "attributes did change"],
        ["version inside gained", "item inside did change"],
      ])
    for versions in objects {
      #expect(versions.first?["detail"] as? String == "v1" && versions.first?["path"] as? String == url.path)
      #expect(versions.first?["by"] as? String == "provider")
    }
    #expect(objects[0].last?["detail"] as? String == "isShared isUploaded")
    #expect(objects[0].last?["reason"] as? String == "announcing")
  }

  @Test("On request it agrees to deletions, of the file and inside of a directory, and prints that (C-071)")
  func deletions() throws {
    let watchers = try [bench.watch("a", "--relinquish"), bench.watch("", "--relinquish")]
    #expect(try bench.run("delete", bench.path("a")).status == 0)
    #expect(bench.text("a") == nil)
    let item = try watchers[0].output.line(containing: "accommodate deletion")
    #expect(item.contains(" accommodate deletion: \(bench.path("a")), "))
    let inside = try watchers[1].output.line(containing: "accommodate deletion inside")
    #expect(inside.contains(" accommodate deletion inside: \(bench.path("a")), "))
    for watcher in watchers {
      watcher.signal(SIGINT)
      #expect(try watcher.end() == 0)
    }
  }

  @Test("A process that only watches is in nobody's way")
  func harmlessness() throws {
    let watcher = try bench.watch("a", "--label", "observer")
    let result = try bench.run("explain", bench.path("a"))
    #expect(result.status == 0)
    #expect(result.output.contains("nobody is in the way"))
    #expect(result.output.contains("notified afterwards:\n    'observer' (pid \(watcher.pid) 'filecoord')"))
  }

  @Test("It ends when nobody reads its output any more")
  func closedOutput() throws {
    let script = """
      "$FILECOORD" watch "$ROOT/a" | head -n 1
      """
    let reader = try bench.startScript(script)
    _ = try reader.errors.line(containing: "watching ")
    #expect(try bench.run("write", bench.path("a"), "--", "true").status == 0)
    _ = try reader.output.line(containing: "did change")
    // The line after the last one that is read finds that the reader has gone.
    while bench.isPresented("a") {
      #expect(try bench.run("write", bench.path("a"), "--", "true").status == 0)
    }
    #expect(try reader.end() == 0)
  }
}

extension Workbench {
  func isPresented(_ name: String) -> Bool {
    (try? run("tree", path(name)).output.contains("presented by")) ?? false
  }
}
