import FileCoordination
import FoundationEssentials
import Synchronization

extension Option {
  static let json = Option(name: "--json", kind: .flag, help: "Print JSON.")
  static let events = Option(name: "--events", kind: .count, help: "End after this number of messages.")
  static let uncoordinated = Option(
    name: "--uncoordinated", kind: .flag, help: "Also print changes by programs that don't coordinate.")
  static let relinquish = Option(
    name: "--relinquish", kind: .flag,
    help: "Also print questions to let go, to save and to make way. Others wait for the answers, which come at once.")
}

extension Command {
  static let watch = Command(
    name: "watch", operands: "PATH…", operandCount: 1...FileCoordinator.itemCountMax,
    options: [.json, .events, .relinquish, .uncoordinated],
    summary: "Print the changes of files and inside directories, and their authors.",
    details: """
      Presents each PATH, and prints one line for each message: the time, the event, the path and the author. Prints
      "watching PATH" on standard error when it's ready. Reports coordinated changes only, unless --uncoordinated watches the
      file system as well; a warning on standard error names paths that can't be watched. Ends with 0 by SIGINT, SIGTERM or
      SIGHUP, and when its output is closed.

      With --json each line is an object with these members:

        time      the time of the line: UTC, such as 2026-01-31T12:00:00.000Z
        event     did change, did move, item inside did appear, item inside did move,
                  item inside did change, attributes did change, version gained, version lost,
                  version resolved, version inside gained …; with --relinquish also
                  relinquish to reader, relinquish to writer, reacquire, save changes,
                  accommodate deletion, accommodate deletion inside
        path      the item: the watched one, or the one inside
        to        the new place of a moved item, or null
        detail    the version or the attributes, or null
        by        the label of the author; empty if that's unknown
        pid       the number of its process; 0 if that's unknown
        process   the name of its process
        reason    reading, writing, evicting, preparing or announcing, with options; or uncoordinated
        verified  true if the item is known to have changed, false if it is known not to, or null
        omitted   the number of earlier messages that were left out because too many waited

      Bytes of names that aren't UTF-8 are shown as U+FFFD.
      """,
    examples: [
      Example(line: "filecoord watch .", explanation: "Prints the changes in this directory."),
      Example(
        line: "filecoord watch --events 1 notes.txt && make", explanation: "Waits until the file has changed."),
      Example(
        line: "filecoord watch --uncoordinated .", explanation: "Also prints changes by git, vim and scripts here."),
      Example(line: "filecoord watch --json . | jq -r .path", explanation: "Prints the paths only."),
    ],
    run: { session in try await EventPrinter(session).run() })
}

/// Prints messages until enough have come, a signal comes, or the reader has gone.
private final class EventPrinter: Sendable {
  private let session: Session
  /// How many may still be printed, or `nil` for any number.
  ///
  /// Its lock also keeps lines apart.
  private let remaining: Mutex<Int?>
  private let (ends, end) = AsyncStream.makeStream(of: Void.self)

  init(_ session: Session) {
    self.session = session
    remaining = Mutex(session.invocation.count(.events))
  }

  func run() async throws -> ExitCode {
    let label = session.invocation.text(.label) ?? "filecoord watch"
    let callbacks = session.invocation.has(.relinquish) ? Watcher.questions.union(.observing) : .observing
    let watchers = try session.files.map { file in
      Watcher(
        file, label: label, callbacks: callbacks,
        observesUncoordinatedChanges: session.invocation.has(.uncoordinated)
      ) { self.print($0) }
    }
    return try await session.signals.handling({ _ in self.end.finish() }) {
      var registrations: [FilePresenterRegistration] = []
      for (watcher, operand) in zip(watchers, session.invocation.operands) {
        let registration = try await session.domain.register(watcher)
        registrations.append(registration)
        if let problem = registration.uncoordinatedChangesProblem {
          Terminal.error.write("\(problem.description.onOneLine)\n")
        }
        Terminal.error.write("watching \(operand.text.onOneLine)\n")
      }
      for await _ in ends {}
      for registration in registrations { registration.end() }
      return .success
    }
  }

  private func print(_ event: Watcher.Event) {
    let line = session.invocation.has(.json) ? event.json.text : event.line
    let goesOn = remaining.withLock { remaining in
      if remaining == 0 { return false }
      remaining = remaining.map { $0 - 1 }
      return Terminal.output.write(line + "\n") && remaining != 0
    }
    if !goesOn { end.finish() }
  }
}

extension Watcher.Event {
  private static var time: String { Date.now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)) }

  fileprivate var line: String {
    let destination = destination.map { " to \($0.pathText.onOneLine)" } ?? ""
    let detail = detail.map { " (\($0.onOneLine))" } ?? ""
    let omission = origin.omittedMessageCount == 0 ? "" : ", after \(origin.omittedMessageCount) that were left out"
    return "\(Self.time) \(name)\(detail): \(item.pathText.onOneLine)\(destination), \(origin.description.onOneLine)"
      + omission
  }

  fileprivate var json: JSON {
    .object([
      ("time", .string(Self.time)), ("event", .string(name)), ("path", .string(item.pathText)),
      ("to", JSON(destination?.pathText)), ("detail", JSON(detail)), ("by", .string(origin.label)),
      ("pid", .integer(Int(origin.processIdentifier))), ("process", .string(origin.processName)),
      ("reason", .string(origin.kind.description)), ("verified", JSON(origin.isVerified)),
      ("omitted", .integer(origin.omittedMessageCount)),
    ])
  }
}
