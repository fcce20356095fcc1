import Glibc

/// The command-line tool: on the public API of FileCoordination only.
@main
struct Filecoord {
  static func main() async {
    // A reader that leaves, such as head(1), must not keep the tour from removing its directory.
    signal(SIGPIPE, SIG_IGN)
    let command: Command
    do {
      command = try Command(Array(CommandLine.arguments.dropFirst()))
    } catch {
      Terminal.error.write("filecoord: \(error)\n\n\(Help.usage)\n")
      exit(ExitCode.usage.rawValue)
    }
    let code = await command.run()
    exit(code.rawValue)
  }
}

/// How the tool ends, in the numbers of sysexits.h where they exist.
enum ExitCode: Int32 {
  case success = 0
  /// Something that was claimed is not so, or couldn't be tried.
  case failure = 1
  /// The command line was not understood.
  case usage = 64
}
