import Testing
import benchmarks

@Suite("Arguments")
struct ArgumentsTests {
  @Test("Without arguments everything is run in full")
  func defaults() throws {
    let arguments = try Arguments.parse([])
    #expect(arguments == Arguments())
    #expect(arguments.action == .run)
    #expect(arguments.filter == nil)
    #expect(!arguments.isTiny)
  }

  @Test(
    "Values follow their option, or an equals sign",
    arguments: [
      ["--filter", "claims", "--tiny", "--json", "a.json", "--plot", "b.svg"],
      ["--plot=b.svg", "--json=a.json", "--tiny", "--filter=claims"],
    ])
  func values(line: [String]) throws {
    let arguments = try Arguments.parse(line)
    #expect(arguments.filter == "claims")
    #expect(arguments.isTiny)
    #expect(arguments.jsonPath == "a.json")
    #expect(arguments.plotPath == "b.svg")
  }

  @Test(
    "A filter selects suites by the beginning of their names, or one suite by that of a row",
    arguments: [
      ("claims/table", ["claims/table"], true), ("claims/1-thread-read", ["claims/table"], false),
      ("claims/presenters/hop", ["claims/presenters"], false),
      ("processes", ["processes", "processes/scale"], true), ("processes/first", ["processes"], false),
      ("clai", [], false),
    ] as [(String, [String], Bool)])
  func filters(filter: String, expected: [String], isNamed: Bool) {
    let suites = Suite.selected(by: filter)
    #expect(suites.map(\.name) == expected)
    #expect(suites.contains { $0.isNamed(by: filter) } == isNamed)
  }

  @Test("A value may contain an equals sign")
  func equalsSign() throws {
    #expect(try Arguments.parse(["--json=a=b.json"]).jsonPath == "a=b.json")
  }

  @Test("Help and list are asked for by option", arguments: [("--help", "help"), ("-h", "help"), ("--list", "list")])
  func actions(option: String, action: String) throws {
    #expect(String(describing: try Arguments.parse([option]).action) == action)
  }

  @Test(
    "A meaningless argument is refused with a reason",
    arguments: [
      (["--fitler", "claims"], "unknown option '--fitler'"), (["claims"], "unknown argument 'claims'"),
      (["--json"], "--json needs a value"), (["--json="], "--json needs a value"),
      (["--json", "--tiny"], "--json needs a value"), (["--tiny=yes"], "--tiny takes no value"),
    ] as [([String], String)])
  func problems(line: [String], reason: String) {
    let problem = #expect(throws: Arguments.Problem.self) { try Arguments.parse(line) }
    #expect(problem?.description == reason)
  }
}
