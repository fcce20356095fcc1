import FileCoordination
import FoundationEssentials
import Glibc

extension Option {
  static let read = Option(name: "--read", kind: .flag, help: "Hold the files for reading: others may read too.")
  static let write = Option(name: "--write", kind: .flag, help: "Hold the files for writing, the default.")
}

extension Option {
  static let environment = Option(
    name: "--environment", kind: .flag,
    help: "Print the variable for programs that belong to the access, on the line behind 'holding': export it to them.")
}

extension Command {
  static let hold = Command(
    name: "hold", operands: "FILE…", operandCount: 1...FileCoordinator.itemCountMax,
    options: [.read, .write, .environment],
    summary: "Hold access to files until standard input ends or a signal comes.",
    details: """
      Prints "holding" when access is granted. Use it in scripts that do several things inside one access, or to test how other
      programs wait. Ends with 0, also by SIGINT, SIGTERM or SIGHUP once it holds.
      """,
    examples: [
      Example(line: "filecoord hold notes.txt", explanation: "Keeps all others out until Control-D."),
      Example(
        line: "coproc filecoord hold data && read -u ${COPROC[0]}",
        explanation: "In bash: continues when data is held; 'exec {COPROC[1]}>&-' ends the access."),
    ],
    run: { session in
      if session.invocation.has(.read), session.invocation.has(.write) {
        throw Failure.usage("'--read' and '--write' exclude each other")
      }
      let isReading = session.invocation.has(.read)
      let intents = try session.files.map { isReading ? FileAccessIntent.reading($0) : .writing($0) }
      return try await session.withAccess(intents) { access in
        var text = "holding\n"
        if session.invocation.has(.environment) {
          let variable = "FILE_COORDINATION_ACCESS"
          text += "\(variable)=\(try await access[0].environment()[variable] ?? "")\n"
        }
        Terminal.output.write(text)
        await untilLetGo(session)
        return .success
      }
    })

  private static func untilLetGo(_ session: Session) async {
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    await session.signals.handling({ _ in end.finish() }) {
      BlockingThread.start {
        skipInput()
        end.finish()
      }
      for await _ in ends {}
    }
  }

  /// Blocks until standard input has ended.
  private static func skipInput() {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = Glibc.read(STDIN_FILENO, &buffer, buffer.count)
      if count > 0 || (count < 0 && errno == EINTR) { continue }
      return
    }
  }
}
