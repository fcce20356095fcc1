/// What the command line asks for.
enum Command {
  case tour
  case help
  case version

  /// A command line that means nothing.
  struct Misunderstanding: Error, CustomStringConvertible {
    let description: String
  }

  init(_ arguments: [String]) throws(Misunderstanding) {
    guard let name = arguments.first else { throw Misunderstanding(description: "say what to do") }
    switch name {
    case "tour": self = .tour
    case "help", "--help", "-h": self = .help
    case "version", "--version": self = .version
    default: throw Misunderstanding(description: "there is no command '\(name)'")
    }
    if arguments.count > 1 {
      throw Misunderstanding(description: "'\(name)' takes nothing else, and got '\(arguments[1])'")
    }
  }

  func run() async -> ExitCode {
    switch self {
    case .tour: return await Tour(Terminal.output).run()
    case .help: Terminal.output.write(Help.usage + "\n\n" + Help.commands + "\n")
    case .version: Terminal.output.write("filecoord \(Help.version)\n")
    }
    return .success
  }
}
