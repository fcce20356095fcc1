import FileVersions
import Glibc
import SystemInterface

/// The command-line tool: on the public API of FileCoordination only.
@main
struct Filecoord {
  /// Not `async`: the main thread of an `async` program sleeps where it takes every signal.
  static func main() {
    checkDescriptors()
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

  /// The first task takes two descriptors for its runtime, which ends the process by a trap if there are none.
  private static func checkDescriptors() {
    do throws(SystemError) { _ = try ReadinessPoller() } catch {
      Terminal.error.write("filecoord: \(error). Raise the limit of open files (ulimit -n), or pass on fewer.\n")
      exit(ExitCode.inputOutput.rawValue)
    }
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
