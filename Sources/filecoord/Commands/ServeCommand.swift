import FoundationEssentials

extension Option {
  static let printUnit = Option(
    name: "--print-unit", kind: .flag, help: "Print a unit and a socket for systemd, instead of serving.")
}

extension Command {
  static let serve = Command(
    name: "serve", options: [.printUnit],
    summary: "Print what systemd needs to serve the domain of a user.",
    details: """
      Processes find each other without it: one of them serves the others. With --print-unit it prints two units of
      systemd's user manager, to be split at the lines that name their files.
      """,
    examples: [
      Example(line: "filecoord serve --print-unit", explanation: "Prints the units, and what to do with them.")
    ],
    run: { session in
      guard session.invocation.has(.printUnit) else {
        throw Failure.usage("'serve' needs --print-unit: this version serves inside the processes that coordinate")
      }
      Terminal.output.write(ServiceUnit.text + "\n")
      return .success
    })
}

/// What systemd's user manager reads.
private enum ServiceUnit {
  static var text: String {
    """
    # Save the two parts in ~/.config/systemd/user under the names in their first lines. Then:
    #   systemctl --user daemon-reload && systemctl --user enable --now file-coordination.socket

    # file-coordination.socket
    [Unit]
    Description=Where programs that coordinate files meet

    [Socket]
    ListenStream=%t/file-coordination/service.socket
    SocketMode=0600
    DirectoryMode=0700

    [Install]
    WantedBy=sockets.target

    # file-coordination.service
    [Unit]
    Description=Service for programs that coordinate files
    Requires=file-coordination.socket

    [Service]
    ExecStart=\(quoted(executable)) serve
    Restart=on-failure
    """
  }

  private static var executable: String {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "filecoord"
  }

  /// As systemd.service(5) wants the words of a command line: `%` and `$` have a meaning there.
  private static func quoted(_ path: String) -> String {
    var quoted = "\""
    for scalar in path.unicodeScalars {
      switch scalar {
      case "%": quoted += "%%"
      case "$": quoted += "$$"
      case "\"", "\\": quoted += "\\\(scalar)"
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}
