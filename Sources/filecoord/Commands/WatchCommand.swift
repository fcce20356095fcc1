import FileCoordination
import FoundationEssentials
import Synchronization

extension Option {
  static let json = Option(name: "--json", kind: .flag, help: "Print JSON.")
  static let events = Option(name: "--events", kind: .count, help: "End after so many messages.")
  static let uncoordinated = Option(
    name: "--uncoordinated", kind: .flag, help: "Also print what programs do that don't coordinate.")
  static let relinquish = Option(
    name: "--relinquish", kind: .flag,
    help: "Also be asked to let go, to save and to make way. Answers at once; whoever asks waits for that.")
}

extension Command {
  static let watch = Command(
    name: "watch", operands: "PATH…", operandCount: 1...FileCoordinator.itemCountMax,
    options: [.json, .events, .relinquish, .uncoordinated],
    summary: "Print what happens to files and inside directories, and who does it.",
    details: """
      Presents each PATH, and prints one line for each message: when, what, the path, and by whom. Says "watching PATH" on
      standard error when it has begun. Only what is coordinated is seen, unless --uncoordinated watches the file system
      as well; what can't be watched is told on standard error. Ends with 0 by SIGINT, SIGTERM or SIGHUP, and
      when nobody reads its output any more.

      With --json each line is an object with these members:

        time      when it was printed: UTC, such as 2026-01-31T12:00:00.000Z
        event     did change, did move, item inside did appear, item inside did move,
                  item inside did change, attributes did change, version gained, version lost,
                  version resolved, version inside gained …; with --relinquish also
                  relinquish to reader, relinquish to writer, reacquire, save changes,
                  accommodate deletion, accommodate deletion inside
        path      the item: the watched one, or the one inside
        to        where it was moved to, or null
        detail    the version or the attributes, or null
        by        the label of whoever did it; empty if that's unknown
        pid       the number of its process; 0 if that's unknown
        process   the name of its process
        reason    reading, writing, evicting, preparing or announcing, with options; or uncoordinated
        verified  true if the item is known to have changed, false if it is known not to, or null
        omitted   how many earlier messages were left out, because too many waited

      Bytes of names that aren't UTF-8 are shown as U+FFFD.
      """,
    examples: [
      Example(line: "filecoord watch .", explanation: "Prints what happens in this directory."),
      Example(
        line: "filecoord watch --events 1 notes.txt && make", explanation: "Waits until somebody has touched a file."),
      Example(
        line: "filecoord watch --uncoordinated .", explanation: "Prints what git, vim and scripts do here as well."),
      Example(line: "filecoord watch --json . | jq -r .path", explanation: "Prints the paths only."),
    ],
    run: { session in try await EventPrinter(session).run() })
}

/// Prints messages until enough have come, a signal comes, or nobody reads them.
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
