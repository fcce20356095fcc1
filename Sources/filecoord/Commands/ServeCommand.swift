import FileCoordination
import FoundationEssentials
import Synchronization

extension Option {
  static let printUnit = Option(
    name: "--print-unit", kind: .flag, help: "Print a unit and a socket for systemd, instead of serving.")
}

extension Command {
  static let serve = Command(
    name: "serve", options: [.printUnit],
    summary: "Serve the processes of the domain until a signal comes.",
    details: """
      This is optional: processes elect one among themselves to serve the others. A server that outlives them saves them the
      elections; it takes over from an elected process. With --print-unit it prints two units of systemd's user manager
      instead; split them at the lines that name their files.
      """,
    examples: [
      Example(line: "filecoord serve", explanation: "Prints 'serving' and the place, and serves until Control-C."),
      Example(line: "filecoord serve --print-unit", explanation: "Prints the units, and how to install them."),
    ],
    run: { session in
      if session.invocation.has(.printUnit) {
        Terminal.output.write(ServiceUnit.text + "\n")
        return .success
      }
      let domain = session.domain
      guard let path = try domain.meetingPath() else {
        throw Failure.usage("a domain of one process needs no server; name another by --domain")
      }
      let (ends, end) = AsyncStream.makeStream(of: Void.self)
      return try await session.signals.handling({ _ in end.finish() }) {
        // Waits while another server runs, which a signal has to be able to end.
        BlockingThread.start {
          do throws(FileCoordinationError) {
            while let server = try domain.serve() {
              Terminal.output.write("serving \(path.onOneLine)\n")
              running.withLock { $0 = server }
              server.waitUntilEnd()
              guard running.withLock({ $0 != nil }) else { return }
              Terminal.error.write("the meeting place was removed; making it again\n")
            }
          } catch {
            problem.withLock { $0 = error }
            end.finish()
          }
        }
        for await _ in ends {}
        if let problem = problem.withLock({ $0 }) { throw problem }
        running.withLock { $0.take() }?.stop()
        return .success
      }
    })

  private static let running = Mutex<CoordinationServer?>(nil)
  private static let problem = Mutex<FileCoordinationError?>(nil)
}

/// The file for systemd's user manager.
private enum ServiceUnit {
  static var text: String {
    """
    # Save the two parts in ~/.config/systemd/user under the names in their first lines. Then:
    #   systemctl --user daemon-reload && systemctl --user enable --now file-coordination.socket

    # file-coordination.socket
    [Unit]
    Description=Where programs that coordinate files meet

    [Socket]
    ListenStream=/tmp/file-coordination-%U/service.socket
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

  /// In the form that systemd.service(5) requires for the words of a command line: `%` and `$` have a meaning there.
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
