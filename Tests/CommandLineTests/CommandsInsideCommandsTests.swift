import Foundation
import TestSupport
import Testing

@Suite("Commands inside commands", .blocking, .timeLimit(.minutes(5)))
struct CommandsInsideCommandsTests {
  private static let variable = "FILE_COORDINATION_ACCESS"
  private let bench: Workbench

  init() throws { bench = try Workbench() }

  /// A directory with one file.
  private func makeDirectory(_ name: String, _ file: String = "x", _ text: String = "text\n") throws {
    try FileManager.default.createDirectory(atPath: bench.path(name), withIntermediateDirectories: true)
    try bench.makeFile(name + "/" + file, text)
  }

  // MARK: - They just work

  @Test("A command inside a command inside a command reads what the outer ones write (C-432)")
  func threeLevels() throws {
    try makeDirectory("d")
    let tool = try bench.startScript(
      #"""
      "$FILECOORD" write --for replacing --timeout 30 "$ROOT/d" -- sh -c '
        "$FILECOORD" write --timeout 30 "$ROOT/d/x" -- sh -c "
          echo more >>\"$ROOT/d/x\"
          \"$FILECOORD\" read --timeout 30 \"$ROOT/d/x\" -- cat \"$ROOT/d/x\""'
      """#)
    #expect(try tool.end() == 0, "\(tool.errors.text)")
    #expect(tool.output.text == "text\nmore\n")
    #expect(try bench.run("write", "--timeout", "0", bench.path("d/x"), "--", "true").status == 0)
  }

  @Test("A command upgrades a read around it to a write, as long as it's the only reader (C-432)")
  func upgrade() throws {
    try bench.makeFile("a")
    let script =
      #""$FILECOORD" read "$ROOT/a" -- "$FILECOORD" write --timeout 3 "$ROOT/a" -- sh -c 'echo new >"$ROOT/a"'"#
    let alone = try bench.startScript(script)
    #expect(try alone.end() == 0, "\(alone.errors.text)")
    #expect(bench.text("a") == "new\n")
    let reader = try bench.hold("a", "--read")
    #expect(try bench.startScript(script).end() == 75)
    reader.closeInput()
  }

  @Test("make runs recipes inside of the access, also at the same time, and they exclude each other (C-432)")
  func makefile() throws {
    try makeDirectory("d", "count", "0\n")
    let names = ["a", "b", "c", "d", "e", "f"]
    try bench.makeFile(
      "d/Makefile",
      """
      all: \(names.joined(separator: " "))
      \(names.joined(separator: " ")):
      \t@"$(FILECOORD)" write --timeout 60 count -- sh -c 'n=$$(cat count); echo $$((n + 1)) >count'
      """ + "\n")
    let tool = try bench.startScript(
      #"cd "$ROOT/d" && "$FILECOORD" write --for replacing --timeout 60 . -- make -s -j 6 all"#)
    #expect(try tool.end() == 0, "\(tool.errors.text)")
    #expect(bench.text("d/count") == "6\n")
  }

  @Test("A hook of git runs inside of the access (C-432)")
  func gitHook() throws {
    try makeDirectory("d")
    let tool = try bench.startScript(
      #"""
      cd "$ROOT/d" && git init -q . && git config user.name ada && git config user.email ada@example.org || exit 99
      printf '%s\n' '#!/bin/sh' '"$FILECOORD" read --timeout 30 x -- cp x copy && git add copy' >.git/hooks/pre-commit
      chmod +x .git/hooks/pre-commit
      git add x
      "$FILECOORD" write --for replacing --timeout 30 . -- git commit -q -m "with a hook" || exit 98
      git ls-files
      """#)
    #expect(try tool.end() == 0, "\(tool.errors.text)")
    #expect(tool.output.lines == ["copy", "x"])
  }

  @Test("A script lets its programs belong to the access that it holds (C-432)")
  func holdingScript() throws {
    try bench.makeFile("a")
    let script = #"""
      coproc HOLDER { "$FILECOORD" hold --environment "$ROOT/a"; }
      read -r -u "${HOLDER[0]}"
      read -r -u "${HOLDER[0]}" variable
      "$FILECOORD" read --timeout 0 "$ROOT/a" -- true 2>/dev/null
      echo "ended with $?"
      env "$variable" "$FILECOORD" write --timeout 30 "$ROOT/a" -- cat {}
      exec {HOLDER[1]}>&-
      wait
      "$FILECOORD" hold --domain process --environment "$ROOT/a" </dev/null
      """#
    try bench.makeFile("script", script)
    let tool = try bench.startScript(#"exec bash "$ROOT/script""#)
    #expect(try tool.end() == 0, "\(tool.errors.text)")
    #expect(tool.output.text == "ended with 75\ntext\nholding\n\(Self.variable)=\n")
  }

  @Test("A child belongs to accesses of several domains, and to nothing in a domain of one process (C-435)")
  func domains() throws {
    try bench.makeFile("a")
    let other = "socket:" + bench.scratch.url.appending(path: "domain/t").path
    let script = """
      "$FILECOORD" write "$ROOT/a" -- \
        "$FILECOORD" write --domain "\(other)" "$ROOT/a" -- \
        "$FILECOORD" read --timeout 30 --domain "$FILE_COORDINATION_DOMAIN" "$ROOT/a" -- \
        "$FILECOORD" read --timeout 30 --domain "\(other)" "$ROOT/a" -- cat {}
      "$FILECOORD" write --domain process "$ROOT/a" -- sh -c 'echo "${\(Self.variable)-nothing}"'
      """
    let tool = try bench.startScript(script)
    #expect(try tool.end() == 0, "\(tool.errors.text)")
    #expect(tool.output.text == "text\nnothing\n")
  }

  // MARK: - What doesn't belong to an access

  @Test("Without the variable a command is a stranger (C-432)")
  func withoutVariable() throws {
    try bench.makeFile("a")
    let result = try Tool.run(
      ["write", bench.path("a"), "--", "env", "-u", Self.variable]
        + [Tool.location?.path ?? "", "read", "--timeout", "0", bench.path("a"), "--", "true"],
      environment: bench.environment)
    #expect(result.status == 75, "\(result.errors)")
  }

  @Test("Others wait for what children access, and are waited for (C-432)")
  func strangers() throws {
    try makeDirectory("d")
    let holder = try bench.start("write", bench.path("d"), "--", Tool.location?.path ?? "", "hold", bench.path("d/x"))
    _ = try holder.output.line { $0 == "holding" }
    #expect(try bench.run("read", "--timeout", "0", bench.path("d/x"), "--", "true").status == 75)
    holder.closeInput()
    #expect(try holder.end() == 0)
    #expect(try bench.run("read", "--timeout", "0", bench.path("d/x"), "--", "true").status == 0)
  }

  @Test("When the access has ended, its token is an error that names it (C-434)")
  func ended() throws {
    try bench.makeFile("a")
    // Serves the others as long as the test lasts.
    _ = try bench.hold("elsewhere")
    let inside = try bench.run("write", bench.path("a"), "--", "sh", "-c", "echo $PPID $\(Self.variable)")
    let words = inside.output.split(whereSeparator: \.isWhitespace).map(String.init)
    try #require(words.count == 2)
    var environment = bench.environment
    environment[Self.variable] = words[1]
    for command in ["read", "write"] {
      let result = try Tool.run([command, bench.path("b"), "--", "true"], environment: environment)
      #expect(result.status == 78)
      #expect(
        result.errors.contains("the access for writing '\(bench.path("a"))' by pid \(words[0])"), "\(result.errors)")
      #expect(result.errors.contains("'env -u \(Self.variable)'"))
    }
    // In other domains it means nothing.
    environment["FILE_COORDINATION_DOMAIN"] = "socket:" + bench.scratch.url.appending(path: "domain/t").path
    #expect(try Tool.run(["read", bench.path("a"), "--", "true"], environment: environment).status == 0)
  }

  @Test(
    "A variable that names no access is an error (C-434)",
    arguments: [
      "x", "user.0:1:2:reading:/a", "a:00000000000000000000000000000000:1:reading:/a ",
      "a:0000000000000000000000000000000G:1:reading:/a", "a:00000000000000000000000000000000:0:reading:/a",
      "a:00000000000000000000000000000000:1:looking:/a", "a:00000000000000000000000000000000:1:reading:/%61",
      "a:00000000000000000000000000000000:1:reading:/a a:10000000000000000000000000000000:1:reading:/a",
    ])
  func malformed(value: String) throws {
    var environment = bench.environment
    environment[Self.variable] = value
    let result = try Tool.run(["read", bench.path("a"), "--", "true"], environment: environment)
    #expect(result.status == 78)
    #expect(result.errors.contains("\(Self.variable) is '\(value)', which names no access"), "\(result.errors)")
  }

  // MARK: - Deaths

  @Test("When the outer tool is killed, what its children hold lasts, and new accesses of theirs are errors (C-434)")
  func outerIsKilled() throws {
    try makeDirectory("d")
    _ = try bench.hold("elsewhere")
    let script = #"""
      exec "$FILECOORD" write --for replacing "$ROOT/d" -- sh -c '
        "$FILECOORD" write "$ROOT/d/x" -- sh -c "echo inside; read line; true"
        echo "ended with $?"
        "$FILECOORD" read "$ROOT/d/x" -- true
        echo "ended with $?"'
      """#
    let outer = try bench.startScript(script)
    _ = try outer.output.line { $0 == "inside" }
    outer.signal(SIGKILL)
    // The access around has ended, and the one inside hasn't.
    #expect(try bench.run("write", "--timeout", "60", bench.path("d"), "--", "true").status == 0)
    #expect(try bench.run("read", "--timeout", "0", bench.path("d/x"), "--", "true").status == 75)
    outer.closeInput()
    try outer.output.wait { $0.contains("ended with 0\nended with 78\n") ? () : nil }
    _ = try outer.errors.line(containing: "that access has ended")
  }

  @Test("A child belongs to its access also when one service takes the place of another (C-433)")
  func takeover() throws {
    try makeDirectory("d")
    let server = try bench.start("serve")
    _ = try server.output.line(containing: "serving ")
    let script = #"""
      "$FILECOORD" write --for replacing "$ROOT/d" -- sh -c '
        "$FILECOORD" write "$ROOT/d/x" -- sh -c "
          echo inside; read line
          \"$FILECOORD\" read --timeout 30 \"$ROOT/d/x\" -- cat \"$ROOT/d/x\""
        "$FILECOORD" write --timeout 30 "$ROOT/d/x" -- cat "$ROOT/d/x" "$ROOT/d/x"'
      """#
    let outer = try bench.startScript(script)
    _ = try outer.output.line { $0 == "inside" }
    server.signal(SIGKILL)
    _ = try server.end()
    let stranger = try bench.start("read", "--timeout", "60", "--wait-report", "0.01", bench.path("d/x"), "--", "true")
    _ = try stranger.errors.line(containing: "held for writing")
    outer.closeInput()
    #expect(try outer.end() == 0, "\(outer.errors.text)")
    #expect(outer.output.text == "inside\ntext\ntext\ntext\n")
    #expect(try stranger.end() == 0, "\(stranger.errors.text)")
  }

  // MARK: - Deadlocks and reports

  @Test("Two commands whose children want each other's files are a deadlock, which names all four (C-432, D-6)")
  func deadlock() throws {
    for name in ["a", "b"] { try bench.makeFile(name) }
    let script = { (own: String, other: String) in
      """
      exec "$FILECOORD" write --label outer-\(own) "$ROOT/\(own)" -- sh -c 'echo inside; read line
        "$FILECOORD" write --label inner-\(other) "$ROOT/\(other)" -- true'
      """
    }
    let tools = [try bench.startScript(script("a", "b")), try bench.startScript(script("b", "a"))]
    for tool in tools { _ = try tool.output.line { $0 == "inside" } }
    for tool in tools { tool.closeInput() }
    let ends = try tools.map { try $0.end() }
    #expect(ends.sorted() == [0, 75], "\(tools[0].errors.text)\(tools[1].errors.text)")
    let report = tools[ends[0] == 75 ? 0 : 1].errors.text
    #expect(report.contains("waiting would never end"))
    for label in ["outer-a", "outer-b", "inner-a", "inner-b"] { #expect(report.contains("'\(label)'"), "\(report)") }
  }

  @Test("tree and explain say what an access is inside of (C-432)")
  func reports() throws {
    try makeDirectory("d")
    let holder = try bench.start(
      "write", "--label", "outer", bench.path("d"), "--", Tool.location?.path ?? "", "hold", "--label", "inner",
      bench.path("d/x"))
    _ = try holder.output.line { $0 == "holding" }
    let words = ", inside the access of 'outer' (pid \(holder.pid) 'filecoord')"
    for command in ["tree", "explain"] {
      let report = try bench.run(command, bench.path("d/x"))
      #expect(report.output.contains("by 'inner' ") && report.output.contains(words), "\(report.output)")
    }
    let json = try bench.run("tree", "--json").output
    #expect(
      json.contains(#""inside":{"label":"outer","pid":\#(holder.pid),"#) && json.contains(#""inside":null"#), "\(json)")
    holder.closeInput()
  }
}
