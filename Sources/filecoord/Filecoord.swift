import FileVersions
import Glibc

/// The command-line tool: on the public API of FileCoordination only.
@main
struct Filecoord {
  /// Not `async`: the main thread of an `async` program sleeps where it takes every signal.
  static func main() {
    // Before there are other threads.
    let signals = Signals()
    Task.detached {
      let code = await run(signals)
      // Others would do it, but equal contents would be stored twice until somebody uses the store again.
      await FileVersions.waitForHashes()
      exit(code.rawValue)
    }
    signals.take()
  }

  private static func run(_ signals: Signals) async -> ExitCode {
    do throws(Failure) {
      let invocation = try Parser.parse(Argument.ofProcess)
      do {
        let code = try await invocation.command.run(Session(invocation, signals))
        if code == .success { try Terminal.checkOutput() }
        return code
      } catch {
        throw Failure(error).about(invocation.command)
      }
    } catch {
      Terminal.error.write(error.text)
      return error.code
    }
  }
}
