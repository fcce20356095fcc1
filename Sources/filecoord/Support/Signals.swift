import Glibc
import Synchronization

/// The signals that ask the tool to end.
///
/// They are blocked in all threads and taken by the main thread, which waits for them, so that their consequences are
/// ordinary code. A signal that was ignored when the tool started stays ignored, as nohup(1) requires.
final class Signals: Sendable {
  struct Arrival: Sendable {
    let number: Int32
    /// Sent by a program with kill(2), rather than by a terminal to all processes of its foreground.
    let isFromProgram: Bool
  }

  typealias Handler = @Sendable (Arrival) -> Void

  private struct State {
    var first: Arrival?
    var handlers: [Int: Handler] = [:]
    var lastHandler = 0
  }

  private let state = Mutex(State())
  private let awaited: SignalSet
  /// The mask before any signal was blocked, for programs that are started.
  let originalMask: SignalSet
  /// Signals that this tool ignores and its parent did not, for programs that are started.
  let newlyIgnored: SignalSet

  /// Blocks the signals, before any other thread is started, because threads inherit the mask.
  init() {
    // A reader that leaves, such as head(1), is noticed when writing fails.
    newlyIgnored = SignalSet(Self.isIgnored(SIGPIPE) ? [] : [SIGPIPE])
    signal(SIGPIPE, SIG_IGN)
    awaited = SignalSet([SIGINT, SIGTERM, SIGHUP].filter { !Self.isIgnored($0) })
    originalMask = awaited.block()
  }

  /// The first signal that has come, if any.
  var first: Int32? { state.withLock { $0.first?.number } }

  /// Calls `handler` for each signal from now on, and at once for one that has come already, while `body` runs.
  func handling<Result>(
    _ handler: @escaping Handler, _ body: () async throws -> Result
  ) async rethrows -> Result {
    let (id, first) = state.withLock { state -> (Int, Arrival?) in
      state.lastHandler += 1
      state.handlers[state.lastHandler] = handler
      return (state.lastHandler, state.first)
    }
    // The work of `body` may have begun after the terminal had sent the signal.
    if let first { handler(Arrival(number: first.number, isFromProgram: true)) }
    defer { state.withLock { _ = $0.handlers.removeValue(forKey: id) } }
    return try await body()
  }

  /// Takes signals as long as the process lives.
  func take() -> Never {
    while true {
      if let arrival = awaited.wait() { handle(arrival) }
    }
  }

  private func handle(_ arrival: Arrival) {
    let handlers = state.withLock { state -> [Handler] in
      if state.first == nil { state.first = arrival }
      return state.handlers.sorted { $0.key < $1.key }.map(\.value)
    }
    for handler in handlers { handler(arrival) }
  }

  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    sigaction(number, nil, &action)
    // As a number, because the two that mean something are no addresses of functions.
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
      == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}

/// A set of signals.
struct SignalSet: Sendable {
  private(set) var set = sigset_t()

  init(_ numbers: [Int32]) {
    sigemptyset(&set)
    for number in numbers { sigaddset(&set, number) }
  }

  /// Blocks them in this thread and those that it starts.
  ///
  /// - Returns: The mask before.
  func block() -> SignalSet {
    var before = SignalSet([])
    var set = set
    pthread_sigmask(SIG_BLOCK, &set, &before.set)
    return before
  }

  /// Blocks the thread until one of them comes.
  func wait() -> Signals.Arrival? {
    var set = set
    var info = siginfo_t()
    let number = sigwaitinfo(&set, &info)
    // Interrupted by a stop of the process, for example.
    if number < 0 { return nil }
    return Signals.Arrival(number: number, isFromProgram: info.si_code <= 0)
  }
}
