import Foundation
import TestSupport
import Testing

@Suite("filecoord query", .blocking)
struct QueryTests {
  private let bench: Workbench

  init() throws {
    bench = try Workbench()
    try bench.makeFile("b10.md", "0123456789")
    try bench.makeFile("b9.md", "0")
    try bench.makeFile("c.txt", "012")
  }

  @Test("It prints the files that fulfil a predicate, in either language, sorted as people expect")
  func finding() throws {
    let found = try bench.run("query", "--in", bench.root, "kMDItemFSName LIKE '*.md'")
    #expect(found.status == 0 && found.errors.isEmpty)
    #expect(found.output == "\(bench.path("b9.md"))\n\(bench.path("b10.md"))\n")
    #expect(try bench.run("query", "--spotlight", "kMDItemFSName == '*.md'", bench.root).output == found.output)
  }

  @Test("Options may follow the predicate and directories, up to --")
  func optionsAnywhere() throws {
    let after = try bench.run("query", "kMDItemFSName LIKE '*.md'", "--in", bench.root, "--sort", "kMDItemFSSize")
    #expect(after.status == 0 && after.errors.isEmpty)
    #expect(after.output == "\(bench.path("b9.md"))\n\(bench.path("b10.md"))\n")
    #expect(try bench.run("query", "TRUEPREDICATE", bench.root, "--count").output == "3\n")
    #expect(try bench.run("query", "TRUEPREDICATE", "--help").output.hasPrefix("usage: filecoord query"))
    let ended = try bench.run("query", "TRUEPREDICATE", bench.root, "--", "--count")
    #expect(ended.status != 0 && ended.errors.contains("--count"))
  }

  @Test("--in may be there several times, before and behind the predicate")
  func severalDirectories() throws {
    for name in ["one", "two"] {
      try FileManager.default.createDirectory(atPath: bench.path(name), withIntermediateDirectories: false)
      try Data().write(to: URL(filePath: bench.path("\(name)/f")))
    }
    let found = try bench.run(
      "query", "--in", bench.path("one"), "TRUEPREDICATE", "--in", bench.path("two"))
    #expect(found.output == "\(bench.path("one/f"))\n\(bench.path("two/f"))\n")
  }

  /// As a user that may not read everything: root reads everything, unless it gives that up.
  private func runAsUser(_ arguments: String) throws -> Tool.Result {
    let without = geteuid() == 0 ? "setpriv --bounding-set=-dac_override,-dac_read_search --inh-caps=-all" : ""
    return try Tool.run(
      "/bin/sh", ["-c", "exec \(without) \"$FILECOORD\" \(arguments)"], environment: bench.environment)
  }

  @Test(
    "If directories can't be read, a search prints what it has found, a line for each of them, and ends with an error",
    arguments: [
      (#"query TRUEPREDICATE "$ROOT""#, 0, 5), (#"query --count TRUEPREDICATE "$ROOT""#, 0, 1),
      (#"query --audit TRUEPREDICATE "$ROOT""#, 0, 0), (#"conflicts "$ROOT""#, 0, 0),
      (#"conflicts --copies "$ROOT""#, 1, 1),
    ])
  func unreadableDirectories(arguments: String, code: Int32, lineCount: Int) throws {
    let copy = "c.sync-conflict-20260101-000000-ABCDEFG.txt"
    let isAboutCopies = arguments.contains("--copies")
    if isAboutCopies { try bench.makeFile(copy) }
    let closed = ["closed", "shut"].map(bench.path)
    for path in closed { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false) }
    #expect(try runAsUser(arguments).status == code)
    for path in closed { #expect(chmod(path, 0) == 0) }
    defer { for path in closed { chmod(path, 0o700) } }
    let found = try runAsUser(arguments)
    #expect(found.status == 77)
    #expect(found.output.split(separator: "\n").count == lineCount)
    let lines = found.errors.split(separator: "\n").filter { $0.hasPrefix("filecoord: not searched: ") }
    #expect(lines.count == 2, "\(found.errors)")
    for path in closed { #expect(lines.contains { $0.contains("'\(path)'") }, "\(found.errors)") }
  }

  @Test("--sort, --limit and --count")
  func sorting() throws {
    let sorted = try bench.run(
      "query", "--sort", "-kMDItemFSSize", "--limit", "2", "kMDItemFSSize > 0", bench.root)
    #expect(sorted.output == "\(bench.path("b10.md"))\n\(bench.path("c.txt"))\n")
    #expect(try bench.run("query", "--count", "TRUEPREDICATE", bench.root).output == "3\n")
  }

  @Test("--json prints one object on each line, and -0 the bytes of paths")
  func formats() throws {
    let name = "say \"hi\"\n"
    try bench.makeFile(name)
    let json = try bench.run("query", "--json", "kMDItemFSName BEGINSWITH 'say'", bench.root)
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
    #expect(Set(object.keys) == ["path", "name", "size", "modified", "created", "type"])
    #expect(object["name"] as? String == name && object["size"] as? Int == 5)
    #expect(
      try bench.run("query", "-0", "kMDItemFSName BEGINSWITH 'say'", bench.root).output == bench.path(name) + "\0")
  }

  @Test("--attributes prints values behind paths, and as members of objects")
  func attributes() throws {
    let names = "kMDItemFSSize,kMDItemUserTags,kMDItemFSInvisible,kMDItemContentTypeTree"
    let tree = ["public.plain-text", "public.text", "public.content", "public.data", "public.item"]
    let table = try bench.run("query", "--attributes", names, "kMDItemFSName == 'c.txt'", bench.root)
    #expect(table.output == "\(bench.path("c.txt"))\t3\t-\tfalse\t\(tree.joined(separator: ","))\n")
    let json = try bench.run("query", "--json", "--attributes", names, "kMDItemFSName == 'c.txt'", bench.root)
    let object = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
    let values = try #require(object["attributes"] as? [String: Any])
    #expect(values["kMDItemFSSize"] as? Int == 3 && values["kMDItemFSInvisible"] as? Bool == false)
    #expect(values["kMDItemUserTags"] is NSNull && values["kMDItemContentTypeTree"] as? [String] == tree)
    #expect(try bench.run("query", "--attributes", names, "-0", "TRUEPREDICATE", bench.root).status == 64)
  }

  @Test("Dates and lists of attributes are printed as text in tables and in JSON")
  func dates() throws {
    let path = bench.path("c.txt")
    let moment = Date(timeIntervalSince1970: 1_000_000_000)
    try FileManager.default.setAttributes([.modificationDate: moment], ofItemAtPath: path)
    let name = "kMDItemFSContentChangeDate"
    let table = try bench.run("query", "--attributes", name, "kMDItemFSName == 'c.txt'", bench.root)
    #expect(table.output == "\(path)\t2001-09-09T01:46:40.000Z\n")
    let json = try bench.run("query", "--json", "--attributes", name, "kMDItemFSName == 'c.txt'", bench.root)
    let object = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
    #expect((object["attributes"] as? [String: Any])?[name] as? String == "2001-09-09T01:46:40.000Z")
    #expect(object["modified"] as? String == "2001-09-09T01:46:40.000Z")
  }

  @Test("--explain says what the index answers, where is searched, and what it took")
  func explanation() throws {
    let names = try bench.run("query", "--explain", "kMDItemFSName LIKE '*.md' AND kMDItemUserTags != NIL", bench.root)
    #expect(names.status == 0 && names.errors.isEmpty)
    let lines = names.output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    #expect(lines.contains { $0.hasPrefix("kMDItemFSName: ") && $0.hasSuffix("[index]") })
    #expect(
      lines.contains { $0.contains("kMDItemUserTags") && !$0.hasPrefix("attributes") && !$0.hasSuffix("[index]") })
    #expect(lines.contains("searches \(bench.root)"))
    #expect(lines.contains("sorted by: kMDItemPath"))
    #expect(lines.contains("statx(2) for directories only, for files afterwards"))
    #expect(lines.contains { $0.hasPrefix("watches: 1 used, ") && $0.hasSuffix(" 0 directories polled") })
    #expect(lines.last == "results: 0")
    let sizes = try bench.run("query", "--explain", "kMDItemFSSize > 1", bench.root).output
    #expect(sizes.contains("statx(2) for each file: sizes, dates or owners are needed"))
    #expect(sizes.hasSuffix("results: 2\n"))
    #expect(try bench.run("query", "--explain", "--live", "TRUEPREDICATE", bench.root).status == 64)
  }

  @Test("--audit says that nothing differs; with --live it ends with 1 after a change through a link elsewhere")
  func audit() throws {
    let clean = try bench.run("query", "--audit", "FALSEPREDICATE", bench.root)
    #expect(clean.status == 0 && clean.output.isEmpty && clean.errors == "compared 4 files: 0 differ\n")
    #expect(try bench.run("query", "--audit", "--count", "TRUEPREDICATE", bench.root).status == 64)
    let outside = bench.root + ".outside"
    try FileManager.default.linkItem(atPath: bench.path("c.txt"), toPath: outside)
    defer { try? FileManager.default.removeItem(atPath: outside) }
    let tool = try bench.start("query", "--live", "--audit", "TRUEPREDICATE", bench.root)
    _ = try tool.errors.line { $0 == "watching 3 results" }
    let file = try FileHandle(forWritingTo: URL(filePath: outside))
    try file.write(contentsOf: Data("much longer".utf8))
    try file.close()
    tool.signal(SIGTERM)
    #expect(try tool.end() == 1)
    let line = try #require(tool.errors.lines.first { $0.hasPrefix("outdated \(bench.path("c.txt")): ") })
    #expect(line.contains("size 3 instead of 11"))
    #expect(tool.errors.lines.last == "compared 4 files: 1 differ")
  }

  @Test("--follow finds what a symbolic link leads to, once and under its own path")
  func follow() throws {
    for name in ["tree", "elsewhere"] {
      try FileManager.default.createDirectory(atPath: bench.path(name), withIntermediateDirectories: false)
      try bench.makeFile("\(name)/x.log", "")
    }
    for name in ["link", "again"] {
      try FileManager.default.createSymbolicLink(
        atPath: bench.path("tree/\(name)"), withDestinationPath: bench.path("elsewhere"))
    }
    let found = try bench.run("query", "kMDItemFSName LIKE '*.log'", bench.path("tree"))
    #expect(found.output == bench.path("tree/x.log") + "\n")
    let both = bench.path("elsewhere/x.log") + "\n" + bench.path("tree/x.log") + "\n"
    #expect(try bench.run("query", "--follow", "kMDItemFSName LIKE '*.log'", bench.path("tree")).output == both)
  }

  @Test("--index leaves a file with which the next search begins; both find the same, also after changes")
  func index() throws {
    try FileManager.default.createDirectory(atPath: bench.path("tree/a"), withIntermediateDirectories: true)
    try bench.makeFile("tree/a/x.log", "")
    func search() throws -> String {
      let run = try bench.run("query", "--index", bench.path("index"), "kMDItemFSName LIKE '*.log'", bench.path("tree"))
      #expect(run.status == 0 && run.errors.isEmpty)
      return run.output
    }
    let first = bench.path("tree/a/x.log") + "\n"
    #expect(try search() == first)
    #expect(try FileManager.default.contentsOfDirectory(atPath: bench.path("index")).count == 1)
    try bench.makeFile("tree/a/y.log", "")
    let both = first + bench.path("tree/a/y.log") + "\n"
    #expect(try search() == both)
    #expect(try search() == both)
    let refused = try bench.run("query", "--index", bench.path("index"), "--live", "TRUEPREDICATE", bench.path("tree"))
    #expect(refused.status == 64)
    let kept = try bench.run("query", "--index", bench.path("none/index"), "TRUEPREDICATE", bench.path("tree"))
    #expect(kept.status == 0 && kept.errors.contains("can't be kept"))
  }

  @Test("--except doesn't enter directories of a name or a pattern, also several of them")
  func except() throws {
    for name in ["node_modules", "a.build", "kept"] {
      try FileManager.default.createDirectory(atPath: bench.path(name), withIntermediateDirectories: false)
      try bench.makeFile("\(name)/x.log", "")
    }
    let found = try bench.run(
      "query", "--except", "node_modules", "--except", "*.build", "kMDItemFSName == 'x.log'", bench.root)
    #expect(found.status == 0 && found.output == bench.path("kept/x.log") + "\n")
  }

  @Test("On a terminal a short search says nothing besides")
  func terminal() throws {
    let tool = try bench.start("query", "--count", "TRUEPREDICATE", bench.root, on: PseudoTerminal(width: 80))
    #expect(try tool.end() == 0)
    #expect(tool.errors.text.isEmpty)
  }

  @Test("--live prints what is there, and then exactly what changes")
  func live() throws {
    let tool = try bench.start("query", "--live", "--events", "6", "kMDItemFSName LIKE '*.md'", bench.root)
    _ = try tool.errors.line { $0 == "watching 2 results" }
    for name in ["b9.md", "b10.md"] { _ = try tool.output.line { $0 == "+ \(self.bench.path(name))" } }
    try FileManager.default.moveItem(atPath: bench.path("b9.md"), toPath: bench.path("a.md"))
    _ = try tool.output.line { $0 == "> \(self.bench.path("a.md")) was \(self.bench.path("b9.md"))" }
    try FileManager.default.moveItem(atPath: bench.path("c.txt"), toPath: bench.path("c.md"))
    _ = try tool.output.line { $0 == "+ \(self.bench.path("c.md"))" }
    let file = try FileHandle(forWritingTo: URL(filePath: bench.path("c.md")))
    try file.write(contentsOf: Data("x".utf8))
    _ = try tool.output.line { $0 == "~ \(self.bench.path("c.md"))" }
    try file.close()
    try FileManager.default.removeItem(atPath: bench.path("a.md"))
    #expect(try tool.end() == 0)
    #expect(tool.output.lines.last == "- \(bench.path("a.md"))")
  }

  @Test("--live ends by a signal")
  func signal() throws {
    let tool = try bench.start("query", "--live", "TRUEPREDICATE", bench.root)
    _ = try tool.errors.line { $0 == "watching 3 results" }
    tool.signal(SIGTERM)
    #expect(try tool.end() == 0)
  }

  @Test("A condition that no file can fulfil causes a warning with its place, and changes nothing else")
  func warnings() throws {
    let size = try bench.run("query", "kMDItemFSName != '' AND kMDItemFSSize > '3'", bench.root)
    #expect(size.status == 0 && size.output.isEmpty)
    #expect(
      size.errors == """
        warning: impossibleComparison: kMDItemFSSize > "3" never holds: the values of 'kMDItemFSSize' are numbers. \
        Compare it with a number, without quotes.
          kMDItemFSName != '' AND kMDItemFSSize > '3'
                                  ^

        """)
    let typo = try bench.run("query", "kMDItemFSNam == 'a'", bench.root)
    #expect(typo.status == 0 && typo.errors.contains("did you mean 'kMDItemFSName'?"))
    #expect(typo.errors.hasSuffix("\n  kMDItemFSNam == 'a'\n  ^\n"))
    let explained = try bench.run("query", "--explain", "kMDItemFSSize > '3'", bench.root)
    #expect(explained.errors.isEmpty && explained.output.contains("\nwarning: impossibleComparison: "))
    let predicate = try bench.run("predicate", "kMDItemFSSize > '3' AND size > 'x'")
    #expect(predicate.output.contains("warnings:\n  impossibleComparison: kMDItemFSSize > \"3\" never holds"))
    let order = try bench.run("query", "--sort", "kMDItemFSName,-kMDItemTitle", "TRUEPREDICATE", bench.root)
    #expect(order.status == 64 && order.errors.contains("\n  kMDItemFSName,-kMDItemTitle\n                 ^\n"))
  }

  @Test("An impossible operation is reported with an exit code")
  func mistakes() throws {
    let predicate = try bench.run("query", "kMDItemFSSize >", bench.root)
    #expect(predicate.status == 65 && predicate.errors.contains("expected an expression"))
    #expect(try bench.run("query", "TRUEPREDICATE", bench.path("none")).status == 66)
    #expect(try bench.run("query", "--sort", "kMDItemTitle", "TRUEPREDICATE", bench.root).status == 64)
    #expect(try bench.run("query", "--live", "--count", "TRUEPREDICATE", bench.root).status == 64)
  }
}
