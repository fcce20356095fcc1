import FileCoordination

/// The command that `read` and `write` run.
enum Program {
  static let help = """
    {} anywhere in COMMAND or an ARG stands for the path of the first FILE, and {1}, {2} … for those of the first, second ….
    These are the paths when access is granted: a file may move during the wait. All files are claimed in one request, so
    two such commands never wait for each other in a circle. COMMAND and the programs that it starts may access them again:
    the variable FILE_COORDINATION_ACCESS in their environment says that they belong to this access, as long as it lasts.

    COMMAND shares the terminal. filecoord passes on a signal that another program sends to it. The access ends when COMMAND
    ends. If SIGKILL ends filecoord itself, the access ends, but COMMAND runs on and isn't notified: end it as well.
    """

  /// Others see the name of the program, rather than that of this tool.
  static func label(_ session: Session) -> String? {
    session.invocation.program.first?.text.split(separator: "/").last.map(String.init)
  }

  static func run(_ session: Session, _ access: borrowing FileAccessSet) async throws -> ExitCode {
    let paths = (0..<access.count).map { access[$0].url.pathBytes }
    let words = session.invocation.program.map { filled($0, with: paths) }
    return try await ChildProgram.run(words, environment: access[0].environment(), signals: session.signals)
  }

  /// Replaces `{}` and `{N}` by paths; braces around anything else stay.
  static func filled(_ word: Argument, with paths: [[UInt8]]) -> Argument {
    var filled: [UInt8] = []
    var rest = word.bytes[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "{"), let end = rest.firstIndex(of: UInt8(ascii: "}")),
        let path = path(named: rest[..<end], paths)
      {
        filled += path
        rest = rest[(end + 1)...]
      } else {
        filled.append(byte)
      }
    }
    return Argument(bytes: filled)
  }

  private static func path(named digits: ArraySlice<UInt8>, _ paths: [[UInt8]]) -> [UInt8]? {
    if digits.isEmpty { return paths.first }
    guard let number = Int(String(decoding: digits, as: UTF8.self)), paths.indices.contains(number - 1) else {
      return nil
    }
    return paths[number - 1]
  }
}
