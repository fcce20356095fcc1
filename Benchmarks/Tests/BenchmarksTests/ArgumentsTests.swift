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

  @Test("A value may contain an equals sign")
  func equalsSign() throws {
    #expect(try Arguments.parse(["--json=a=b.json"]).jsonPath == "a=b.json")
  }

  @Test("Help and list are asked for by option", arguments: [("--help", "help"), ("-h", "help"), ("--list", "list")])
  func actions(option: String, action: String) throws {
    #expect(String(describing: try Arguments.parse([option]).action) == action)
  }

  @Test(
    "What can't be meant is refused with a reason",
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
