import Foundation
import TestSupport
import Testing

@Suite("The commands of the command-line tool", .blocking)
struct CommandTests {
  /// All commands of the tool.
  private static let commands = [
    "read", "write", "move", "copy", "delete", "watch", "hold", "tree", "explain", "predicate", "query", "doctor",
    "serve",
    "tour",
    "completion",
    "help",
  ]
  private static let options = [
    "--timeout", "--wait-report", "--domain", "--label", "--help", "--version", "--for", "--replace", "--json",
    "--events", "--relinquish", "--read", "--write", "--print-unit", "--spotlight", "--untrusted",
  ]

  @Test("help --man prints a manual page with all commands and their options, in which no text begins a request")
  func manualPage() throws {
    let page = try Tool.run(["help", "--man"])
    #expect(page.status == 0 && page.output.hasPrefix(".TH FILECOORD 1 "))
    for name in Self.commands { #expect(page.output.contains("\n.SS filecoord \(name)"), "\(name)") }
    for option in Self.options {
      #expect(page.output.contains("\n" + option.replacing("-", with: "\\-")), "\(option)")
    }
    let requests = Set(
      page.output.split(separator: "\n").filter { $0.hasPrefix(".") || $0.hasPrefix("'") }.map { $0.prefix(3) })
    #expect(requests == [".TH", ".SH", ".SS", ".PP", ".TP", ".RS", ".RE", ".nf", ".fi"])
  }

  @Test(
    "A command line that isn't understood ends with 64, and the message names the mistake and the choices",
    arguments: [
      (["nonsense"], "there is no command 'nonsense'"),
      (["wirte"], "there is no command 'wirte'; did you mean 'write'?"),
      ([], "name a command"),
      ([""], "there is no command ''"),
      (["tour", "faster"], "'tour' takes nothing and no more, and got 'faster'"),
      (["--no-such-option"], "there is no option '--no-such-option'"),
      (["--tiemout", "3", "tree"], "there is no option '--tiemout'; did you mean '--timeout'?"),
      (["tree", "--jsno"], "there is no option '--jsno'; did you mean '--json'?"),
      (["move", "--json", "a", "b"], "there is no option '--json'"),
      (["tree", "--json=yes"], "'--json' takes no value, and got 'yes'"),
      (["tree", "--timeout"], "'--timeout' needs SECONDS after it"),
      (["tree", "--timeout", "soon"], "'--timeout' takes a number of seconds such as 2.5, not 'soon'"),
      (["tree", "--timeout=-1"], "'--timeout' takes a number of seconds such as 2.5, not '-1'"),
      (["tree", "--timeout=nan"], "'--timeout' takes a number of seconds such as 2.5, not 'nan'"),
      (["tree", "--timeout=1e99"], "'--timeout' takes a number of seconds such as 2.5, not '1e99'"),
      (["watch", "--events", "0", "a"], "'--events' takes a number above 0, not '0'"),
      (
        ["write", "--for", "moveing", "a", "--", "true"],
        "'--for' takes deleting, moving, merging or replacing, not 'moveing'; did you mean 'moving'?"
      ),
      (["--domain", "usr", "tree"], "'--domain' takes user, process, or socket: and an absolute path, not 'usr'"),
      (["move", "a"], "'move' needs FILE NEW-PATH"),
      (["move", "a", "b", "c"], "'move' takes FILE NEW-PATH and no more, and got 'c'"),
      (["delete", ""], "an empty word names no file"),
      (
        ["write", "a", "--timeout", "3", "--", "true"],
        "'--timeout' comes after 'a': options come first, and a file of this name is './--timeout'"
      ),
      (["read", "a"], "'read' needs '--' after the files, and then the command to run"),
      (["write", "a", "--"], "'write' needs '--' after the files, and then the command to run"),
      (["write", "--", "true"], "'write' needs FILE… -- COMMAND [ARG…]"),
      (["hold", "--read", "--write", "a"], "'--read' and '--write' exclude each other"),
      (["completion", "tcsh"], "'completion' takes bash, zsh or fish, not 'tcsh'"),
    ])
  func misunderstanding(arguments: [String], message: String) throws {
    let result = try Tool.run(arguments)
    #expect(result.status == 64)
    #expect(result.output.isEmpty)
    #expect(result.errors.hasPrefix("filecoord: \(message)\n"), "\(result.errors)")
    #expect(result.errors.contains("usage: filecoord"))
  }

  @Test("Help is printed on request", arguments: ["help", "--help", "-h"])
  func help(argument: String) throws {
    let result = try Tool.run([argument])
    #expect(result.status == 0)
    for command in Self.commands + ["--version", "--timeout"] { #expect(result.output.contains("  \(command) ")) }
    for code in [64, 66, 69, 70, 73, 74, 75, 77] { #expect(result.output.contains("\n  \(code) ")) }
    #expect(result.errors.isEmpty)
  }

  @Test("Help of each command has an example that begins with it, in lines that fit", arguments: commands)
  func commandHelp(command: String) throws {
    let result = try Tool.run(["help", command])
    #expect(result.status == 0)
    #expect(try Tool.run([command, "--help"]).output == result.output)
    let example = result.output.components(separatedBy: "Examples:\n").last ?? ""
    #expect(example.contains("filecoord") && example.contains(command))
    for line in result.output.split(separator: "\n") { #expect(line.count <= 110, "\(line)") }
  }

  @Test("The version is that of the changelog", arguments: [["--version"], ["tree", "--version"]])
  func version(arguments: [String]) throws {
    let result = try Tool.run(arguments)
    #expect(result.status == 0)
    #expect(result.output == "filecoord 0.1.0\n")
  }

  @Test("Completion scripts know every command and option", arguments: ["bash", "zsh", "fish"])
  func completion(shell: String) throws {
    let result = try Tool.run(["completion", shell])
    #expect(result.status == 0)
    for word in Self.commands { #expect(result.output.contains(word), "\(word)") }
    for option in Self.options {
      let spelling = shell == "fish" ? "-l \(option.dropFirst(2))" : option
      #expect(result.output.contains(spelling), "\(option)")
    }
    for choice in ["deleting", "moving", "merging", "replacing"] { #expect(result.output.contains(choice)) }
  }

  @Test(
    "The completion of bash completes commands, options and values",
    arguments: [
      (["tr"], "tree"), (["--ti"], "--timeout"), (["write", "--f"], "--for"), (["write", "--for", "mov"], "moving"),
      (["completion", "f"], "fish"), (["--timeout", "3", "expl"], "explain"),
    ])
  func completing(words: [String], completion: String) throws {
    let tool = try #require(Tool.location)
    let script = """
      source <("\(tool.path)" completion bash)
      COMP_WORDS=(filecoord \(words.joined(separator: " "))) COMP_CWORD=\(words.count)
      _filecoord && echo "${COMPREPLY[@]}"
      """
    let bash = try RunningTool(URL(filePath: "/bin/bash"), ["-c", script], [:])
    #expect(try bash.end() == 0, "\(bash.errors.text)")
    #expect(bash.output.text == completion + "\n")
  }

  @Test(
    "Files are completed where they're meant, not for the text of a predicate",
    arguments: [(["read", "a"], "files\n\n"), (["predicate", "a"], "\n"), (["predicate", "--unt"], "--untrusted\n")])
  func completingFiles(words: [String], expected: String) throws {
    let tool = try #require(Tool.location)
    // Outside of a completion `compopt` fails; here it prints its request.
    let script = """
      source <("\(tool.path)" completion bash)
      compopt() { [[ $* == "-o default" ]] && echo files; }
      COMP_WORDS=(filecoord \(words.joined(separator: " "))) COMP_CWORD=\(words.count)
      _filecoord && echo "${COMPREPLY[@]}"
      """
    let bash = try RunningTool(URL(filePath: "/bin/bash"), ["-c", script], [:])
    #expect(try bash.end() == 0, "\(bash.errors.text)")
    #expect(bash.output.text == expected)
    let zsh = try Tool.run(["completion", "zsh"]).output.split(separator: "\n")
    let line = try #require(zsh.first { $0.contains(" \(words[0])) ") })
    #expect(line.contains("_files") == (words[0] == "read"))
    let fish = try Tool.run(["completion", "fish"]).output
    #expect(fish.contains("'__fish_seen_subcommand_from \(words[0])' -f\n") == (words[0] == "predicate"))
  }

  @Test(
    "Without HOME and XDG_DATA_HOME each command that keeps something ends with 78, and one sentence says what to set",
    arguments: [
      #"versions "$ROOT/f""#, #"versions --sizes "$ROOT""#, #"keep "$ROOT/f""#, #"conflicts "$ROOT""#, "values list",
      "values set a b",
    ])
  func withoutHome(arguments: String) throws {
    let bench = try Workbench()
    try bench.makeFile("f")
    for settings in ["-u HOME -u XDG_DATA_HOME", "HOME=here XDG_DATA_HOME=there"] {
      let result = try Tool.run(
        "/bin/sh", ["-c", "exec env \(settings) \"$FILECOORD\" \(arguments)"], environment: bench.environment)
      #expect(result.status == 78)
      #expect(
        result.errors.split(separator: "\n").last
          == "filecoord: set HOME or XDG_DATA_HOME to an absolute path, below which versions and values are kept")
    }
  }

  @Test("With too few descriptors for the runtime of its tasks the command ends with an error, not by a trap")
  func outOfDescriptors() throws {
    let bench = try Workbench()
    let result = try Tool.run(
      "/bin/sh", ["-c", "ulimit -n 4; exec \"$FILECOORD\" help"], environment: bench.environment)
    #expect(result.status == 74)
    #expect(result.errors.contains("(EMFILE). Raise the limit of open files"), "\(result.errors)")
  }

  @Test("The units for systemd run this tool at the place where processes meet")
  func units() throws {
    let result = try Tool.run(["serve", "--print-unit"])
    #expect(result.status == 0)
    #expect(result.output.contains("\nListenStream=/tmp/file-coordination-%U/service.socket\n"))
    #expect(result.output.contains("/filecoord\" serve\n"))
  }
}
