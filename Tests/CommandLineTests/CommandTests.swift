import Testing

@Suite("The commands of the command-line tool")
struct CommandTests {
  @Test(
    "What it doesn't understand ends with 64, and says what is wrong and what is possible",
    arguments: [
      (["nonsense"], "there is no command 'nonsense'"),
      ([], "say what to do"),
      (["tour", "faster"], "'tour' takes nothing else, and got 'faster'"),
      (["--no-such-option"], "there is no command '--no-such-option'"),
      ([""], "there is no command ''"),
    ])
  func misunderstanding(arguments: [String], message: String) throws {
    let result = try Tool.run(arguments)
    #expect(result.status == 64)
    #expect(result.output.isEmpty)
    #expect(result.errors.hasPrefix("filecoord: \(message)\n"))
    #expect(result.errors.contains("usage: filecoord"))
  }

  @Test("Help is printed on request", arguments: ["help", "--help", "-h"])
  func help(argument: String) throws {
    let result = try Tool.run([argument])
    #expect(result.status == 0)
    for command in ["tour", "help", "--version"] { #expect(result.output.contains("  \(command) ")) }
    #expect(result.errors.isEmpty)
  }

  @Test("The version is that of the changelog")
  func version() throws {
    let result = try Tool.run(["--version"])
    #expect(result.status == 0)
    #expect(result.output == "filecoord 0.1.0\n")
  }
}
