import Foundation

/// A directory with a meeting place of its own, and the processes that were started in it: all end with it.
final class Workbench {
  let scratch: Scratch
  private var started: [RunningTool] = []

  init() throws {
    scratch = try Scratch()
    // The meeting place is outside of the directory that tests watch.
    for name in ["files", "domain"] {
      try FileManager.default.createDirectory(at: scratch.url.appending(path: name), withIntermediateDirectories: false)
    }
  }

  deinit { for tool in started { tool.kill() } }

  /// The path of the directory for files, without symbolic links.
  var root: String { scratch.url.appending(path: "files").resolvingSymlinksInPath().path }

  var domain: String { "socket:" + scratch.url.appending(path: "domain/s").path }

  var environment: [String: String] {
    [
      "FILE_COORDINATION_DOMAIN": domain, "NO_COLOR": "1", "FILECOORD": Tool.location?.path ?? "", "ROOT": root,
      "XDG_DATA_HOME": scratch.url.appending(path: "data").path,
    ]
  }

  func path(_ name: String) -> String { root + "/" + name }

  @discardableResult
  func makeFile(_ name: String, _ text: String = "text\n") throws -> String {
    try Data(text.utf8).write(to: URL(filePath: path(name)))
    return path(name)
  }

  func text(_ name: String) -> String? { try? String(contentsOfFile: path(name), encoding: .utf8) }

  /// Runs the tool to its end.
  func run(_ arguments: String...) throws -> Tool.Result { try Tool.run(arguments, environment: environment) }

  /// Starts the tool.
  func start(_ arguments: String...) throws -> RunningTool {
    guard let location = Tool.location else { throw RunningTool.Failure(description: "there is no built tool") }
    return try launch(location, arguments)
  }

  /// Starts a script of the shell, which finds the tool in `$FILECOORD` and the directory in `$ROOT`.
  func startScript(_ script: String) throws -> RunningTool { try launch(URL(filePath: "/bin/sh"), ["-c", script]) }

  /// Starts the tool with a terminal as standard error.
  func start(_ arguments: String..., on terminal: PseudoTerminal) throws -> RunningTool {
    guard let location = Tool.location else { throw RunningTool.Failure(description: "there is no built tool") }
    return try launch(location, arguments, terminal)
  }

  /// Starts a script of the shell with a terminal as standard error.
  func startScript(_ script: String, on terminal: PseudoTerminal) throws -> RunningTool {
    try launch(URL(filePath: "/bin/sh"), ["-c", script], terminal)
  }

  /// Starts a program that was built beside the tool, with a terminal as standard input and output.
  func start(program: String, _ arguments: [String], on screen: PseudoTerminal) throws -> RunningTool {
    guard let location = Tool.location else { throw RunningTool.Failure(description: "there is no built tool") }
    return try launch(
      location.deletingLastPathComponent().appending(path: program), arguments, screen: screen)
  }

  private func launch(
    _ program: URL, _ arguments: [String], _ terminal: PseudoTerminal? = nil, screen: PseudoTerminal? = nil
  ) throws -> RunningTool {
    let tool = try RunningTool(program, arguments, environment, terminal: terminal, screen: screen)
    started.append(tool)
    return tool
  }

  /// Starts a process that holds a file, and awaits that.
  func hold(_ name: String, _ options: String...) throws -> RunningTool {
    guard let location = Tool.location else { throw RunningTool.Failure(description: "there is no built tool") }
    let holder = try launch(location, ["hold"] + options + [path(name)])
    _ = try holder.output.line { $0 == "holding" }
    return holder
  }

  /// Starts a process that watches an item, and awaits that.
  func watch(_ name: String, _ options: String...) throws -> RunningTool {
    guard let location = Tool.location else { throw RunningTool.Failure(description: "there is no built tool") }
    let watcher = try launch(location, ["watch"] + options + [path(name)])
    _ = try watcher.errors.line { $0 == "watching \(self.path(name))" }
    return watcher
  }
}
