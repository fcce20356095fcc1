import Foundation
import TestSupport
import Testing

@Suite("Running a command inside an access", .blocking)
struct RunningCommandsTests {
  private let bench: Workbench

  init() throws { bench = try Workbench() }

  @Test("Two writers of one file exclude each other (C-002)")
  func exclusion() throws {
    try bench.makeFile("counter", "0\n")
    let script = """
      for round in 1 2 3 4 5 6 7 8 9 10; do
        "$FILECOORD" write "$ROOT/counter" -- sh -c \
          'echo begin >>"$ROOT/log"; n=$(cat "$1"); echo $((n + 1)) >"$1"; echo end >>"$ROOT/log"' sh {} || exit
      done
      """
    let writers = [try bench.startScript(script), try bench.startScript(script)]
    for writer in writers { #expect(try writer.end() == 0, "\(writer.errors.text)") }
    #expect(bench.text("counter") == "20\n")
    #expect(bench.text("log") == String(repeating: "begin\nend\n", count: 20))
  }

  @Test("Two readers of one file read at the same time (C-001)")
  func sharing() throws {
    try bench.makeFile("a")
    let holder = try bench.hold("a", "--read")
    let result = try bench.run("read", bench.path("a"), "--", "cat", "{}")
    #expect(result.status == 0)
    #expect(result.output == "text\n")
    holder.closeInput()
    #expect(try holder.end() == 0)
  }

  @Test("It ends with what the command ended with", arguments: ["read", "write"], [0, 1, 64, 75, 255] as [Int32])
  func status(command: String, status: Int32) throws {
    let result = try bench.run(command, bench.path("a"), "--", "sh", "-c", "exit \(status)")
    #expect(result.status == status)
    #expect(result.errors.isEmpty)
  }

  @Test("A command that a signal ends gives 128 and the signal", arguments: [SIGKILL, SIGTERM, SIGINT, SIGSEGV])
  func signal(number: Int32) throws {
    let result = try bench.run("write", bench.path("a"), "--", "sh", "-c", "kill -\(number) $$")
    #expect(result.status == 128 + number)
  }

  @Test("A command that isn't there gives 127, and one that can't be run 126")
  func unknownCommand() throws {
    let missing = try bench.run("write", bench.path("a"), "--", bench.path("missing"))
    #expect(missing.status == 127)
    #expect(missing.errors.contains("couldn't run '\(bench.path("missing"))': No such file or directory"))
    #expect(try bench.run("write", bench.path("a"), "--", bench.makeFile("plain")).status == 126)
  }

  @Test("Braces stand for the files, also inside of a word; other braces stay")
  func braces() throws {
    let (a, b) = (bench.path("a"), bench.path("b"))
    let words = ["{}", "x{}y{2}", "{1}", "{3}", "{print $1}", "{", "{}{"]
    let result = try Tool.run(
      ["read", a, b, "--", "printf", "%s\\n"] + words, environment: bench.environment)
    #expect(result.output == [a, "x\(a)y\(b)", a, "{3}", "{print $1}", "{", "\(a){"].joined(separator: "\n") + "\n")
  }

  @Test("Braces stand for the place to which a file was moved while it was waited for")
  func followingMoves() throws {
    try bench.makeFile("a", "moved text\n")
    // Serves the others as long as the test lasts, because it's the first.
    _ = try bench.hold("elsewhere")
    let holder = try bench.hold("a", "--read")
    let mover = try bench.start("move", "--wait-report", "0.01", bench.path("a"), bench.path("b"))
    _ = try mover.errors.line(containing: "held for reading by 'filecoord hold'")
    let writer = try bench.start("write", "--wait-report", "0.01", bench.path("a"), "--", "cat", "{}", "/dev/null")
    _ = try writer.errors.line(containing: "'filecoord move'")
    holder.closeInput()
    #expect(try mover.end() == 0)
    #expect(try writer.end() == 0, "\(writer.errors.text)")
    #expect(writer.output.text == "moved text\n")
  }

  @Test("The command gets standard input and output, and signals as the tool found them")
  func inheritance() throws {
    let script = """
      echo words | "$FILECOORD" read "$ROOT/a" -- cat
      "$FILECOORD" read "$ROOT/a" -- grep -E 'Sig(Blk|Ign)' /proc/self/status
      grep -E 'Sig(Blk|Ign)' /proc/self/status
      """
    let tool = try bench.startScript(script)
    #expect(try tool.end() == 0)
    let lines = tool.output.lines
    try #require(lines.count == 5)
    #expect(lines[0] == "words")
    #expect(lines[1...2] == lines[3...4])
  }

  @Test("A name that isn't UTF-8 reaches the command as it is")
  func foreignNames() throws {
    let script = #"""
      name=$(printf 'caf\351 %%41 #')
      echo "it's me" >"$ROOT/$name"
      "$FILECOORD" read "$ROOT/$name" -- cat {}
      cd "$ROOT" && "$FILECOORD" move "$name" plain
      """#
    let tool = try bench.startScript(script)
    #expect(try tool.end() == 0, "\(tool.errors.text)")
    #expect(tool.output.text == "it's me\n")
    #expect(bench.text("plain") == "it's me\n")
  }

  @Test("A file that a command moved away without saying so is mentioned")
  func unannouncedMove() throws {
    try bench.makeFile("a")
    let result = try bench.run("write", "--for", "moving", bench.path("a"), "--", "mv", "{}", bench.path("b"))
    #expect(result.status == 0)
    #expect(result.errors.contains("'\(bench.path("a"))' has gone from its place"))
    #expect(result.errors.contains("Use 'filecoord move'."))
    let again = try bench.run("write", "--for", "moving", bench.path("b"), "--", "true")
    #expect(again.errors.isEmpty)
  }
}
