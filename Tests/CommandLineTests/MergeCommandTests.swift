import Foundation
import TestSupport
import Testing

/// Conflict copies from the command line, with the real `git merge-file`.
@Suite("Merges from the command line", .blocking, .timeLimit(.minutes(4)))
struct MergeCommandTests {
  private let bench: Workbench
  private let file: String
  private let merge = "git merge-file -q {current} {base} {other}"

  init() throws {
    bench = try Workbench()
    file = try bench.makeFile("notes.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n")
  }

  private func conflict() throws {
    try bench.makeFile("notes.txt", "mine\n2\n3\n4\n5\n6\n7\n8\n9\n")
    try bench.makeFile("notes.sync-conflict-20260102-030405-ABCDEFG.txt", "1\n2\n3\n4\n5\n6\n7\n8\ntheirs\n")
  }

  private let merged = "mine\n2\n3\n4\n5\n6\n7\n8\ntheirs\n"

  @Test("CV-36: 'keep --base' keeps what git merges from, and nothing is left to a person")
  func keptBase() throws {
    let kept = try bench.run("keep", "--base", file)
    #expect(kept.status == 0 && kept.output.contains("(base)"), "\(kept.output)\(kept.errors)")
    try bench.makeFile("notes.txt", "1\n")
    _ = try bench.run("keep", file)
    try conflict()
    let result = try bench.run("resolve", file, "--copies", "--merge", merge)
    #expect(result.status == 0 && result.errors == "", "\(result.errors)")
    #expect(bench.text("notes.txt") == merged)
    #expect(try FileManager.default.contentsOfDirectory(atPath: bench.root) == ["notes.txt"])
  }

  @Test("CV-40: Without a base the version from before the conflict is one, which is said")
  func likelyBase() throws {
    _ = try bench.run("keep", file)
    try conflict()
    let result = try bench.run("resolve", file, "--copies", "--merge", merge)
    #expect(result.status == 0 && result.errors.contains("Check the result"), "\(result.errors)")
    #expect(bench.text("notes.txt") == merged)
  }

  @Test("CV-40: Without any version from before the conflict {base} is empty, which is said, and git merges nothing")
  func noBase() throws {
    try conflict()
    let before = bench.text("notes.txt")
    let result = try bench.run("resolve", file, "--copies", "--merge", merge)
    #expect(result.status != 0 && result.errors.contains("{base} is an empty file"), "\(result.errors)")
    #expect(result.errors.contains("keep --base") && bench.text("notes.txt") == before)
    let empty = try bench.run("resolve", file, "--copies", "--merge", "test ! -s {base}")
    #expect(empty.status == 0, "\(empty.errors)")
  }

  @Test("CV-36: A file with a conflict has no base, also if nobody asked for copies; it can't be kept live, either")
  func refusals() throws {
    try conflict()
    let kept = try bench.run("keep", "--base", file)
    #expect(kept.status == 1 && kept.errors.contains("has a conflict") && !kept.output.contains("(base)"))
    let live = try bench.run("keep", "--base", "--live", bench.root)
    #expect(live.status == 64 && live.errors.contains("'--base' or '--live'"))
  }

  @Test("CV-42: A conflict copy is compared with the file, and shown")
  func copies() throws {
    try conflict()
    let difference = try bench.run("diff", "--copies", file, "1")
    #expect(difference.status == 1 && difference.output.contains("-theirs\n"), "\(difference.errors)")
    #expect(difference.output.contains("+mine\n"))
    #expect(try bench.run("show", "--copies", file, "1").output.hasSuffix("theirs\n"))
    _ = try bench.run("keep", file)
    let two = try bench.run("diff", "--copies", file, "2", "1")
    #expect(two.status == 1 && two.output.contains("-mine\n") && two.output.contains("+theirs\n"), "\(two.errors)")
  }

  @Test("CV-34: A restoration of a conflict copy that's killed leaves no version behind, however often")
  func killedRestorations() throws {
    try conflict()
    let holder = try bench.hold("notes.txt")
    for _ in 0..<2 {
      let restorer = try bench.start("restore", "--copies", file, "1")
      // It has the contents of the copy then.
      while try !bench.run("tree").output.contains("(pid \(restorer.pid) 'filecoord') has waited for ") {}
      restorer.kill()
    }
    let listed = try bench.run("versions", "--copies", file)
    #expect(listed.output.split(separator: "\n").count == 1 && listed.output.contains("(conflict)"), "\(listed.output)")
    #expect(try bench.run("versions", file).output == "")
    holder.closeInput()
    _ = try bench.run("restore", "--copies", file, "1")
    #expect(bench.text("notes.txt")?.hasSuffix("theirs\n") == true)
    // The contents that it has overwritten, and the conflict.
    #expect(try bench.run("versions", "--copies", file).output.split(separator: "\n").count == 2)
  }
}
