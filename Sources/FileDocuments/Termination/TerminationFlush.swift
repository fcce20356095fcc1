internal import SystemInterface

/// Saves all open documents when the process is asked to end, and lets it end then.
///
/// ```swift
/// try TerminationFlush.start(on: [.terminate, .hangUp], within: .seconds(5))
/// ```
///
/// Service managers send SIGTERM, and some seconds later SIGKILL. In between the unsaved changes of all documents go to their files, and to their crash journals,
/// whichever is there first. Then the signal does what it did before: the program's own handler is called, or the process ends by the
/// signal. A second signal ends the wait at once if it comes a second later or more: several that come together are one request, as at the
/// end of a session and of a terminal.
///
/// Documents are saved on the actors in which they live: a main thread that's blocked keeps documents of the main actor from it, until the
/// deadline.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock | the program starts and stops on any thread, signals are taken on another one |
///
/// - Note: Rules CD-66 and CD-67.
public enum TerminationFlush {
  /// The signals that ask a process to end.
  public struct Signals: OptionSet, Hashable, Sendable {
    /// The signals as bits.
    public let rawValue: UInt

    /// Creates a set.
    ///
    /// - Parameter rawValue: The signals as bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// SIGTERM: a service manager, the end of a login session, or kill(1).
    public static let terminate = Signals(rawValue: 1)
    /// SIGINT: Control-C in a terminal.
    public static let interrupt = Signals(rawValue: 2)
    /// SIGHUP: the terminal is gone.
    public static let hangUp = Signals(rawValue: 4)

    fileprivate var signals: [EndingSignal] {
      let all: [(Signals, EndingSignal)] = [
        (.terminate, .terminate), (.interrupt, .interrupt), (.hangUp, .hangUp),
      ]
      return all.filter { contains($0.0) }.map(\.1)
    }
  }

  private struct State: Sendable {
    var signals: Signals = []
    var deadline = Duration.seconds(10)
    var hasThread = false
    /// The number of the flush that has ended last.
    var flushed = 0
  }

  private static let state = Guarded(State())

  /// Saves from now on when one of these signals comes.
  ///
  /// The handlers that the program has set by now are called afterwards; set others before this, or after ``stop()``. A signal that's
  /// ignored stays so, as nohup(1) requires. Programs that a process starts have the usual actions. Calling this again replaces
  /// what was said before.
  ///
  /// - Parameters:
  ///   - signals: Those on which to save.
  ///   - deadline: How long saving may take in all.
  /// - Throws: ``DocumentError`` with code `.coordination` when the system refuses a descriptor or a thread.
  public static func start(
    on signals: Signals = .terminate, within deadline: Duration = .seconds(10)
  ) throws(DocumentError) {
    stop()
    state.withLock {
      $0.signals = signals
      $0.deadline = deadline
    }
    do throws(SystemError) {
      for signal in signals.signals { _ = try SignalPipe.report(signal) }
    } catch {
      stop()
      throw DocumentError(.coordination, "Signals can't be taken: \(error)", underlyingError: error)
    }
    let needsThread = state.withLock { state in
      defer { state.hasThread = true }
      return !state.hasThread
    }
    if !needsThread { return }
    let code = HostThread.tryStart(name: "documents-end") { takeSignals() }
    if code == 0 { return }
    state.withLock { $0.hasThread = false }
    stop()
    throw DocumentError(.coordination, "No thread can be started that takes signals: errno \(code).")
  }

  /// Restores what the signals did before.
  ///
  /// Actions that somebody has set since stay. A flush that has begun is completed.
  public static func stop() {
    let signals = state.withLock { state in
      defer { state.signals = [] }
      return state.signals
    }
    for signal in signals.signals { SignalPipe.restore(signal) }
  }

  /// Runs on a thread of its own, as long as the process lives.
  private static func takeSignals() {
    var flow = TerminationFlow()
    var deadline: MonotonicTime?
    while true {
      let event: TerminationFlow.Event =
        switch SignalPipe.next(until: deadline) {
        case .signal(let signal): .signal(signal)
        case .woken: .flushed(state.withLock { $0.flushed })
        case .nothing: .deadlinePassed
        }
      for effect in flow.receive(event, at: MonotonicTime.host()) {
        switch effect {
        case .flush(let number):
          let duration = state.withLock { $0.deadline }
          deadline = MonotonicTime.host().advanced(by: duration)
          flush(number, within: duration)
        case .end(let signal):
          SignalPipe.end(by: signal) { state.withLock { $0.signals.signals.contains(signal) } }
        }
      }
      if !flow.isFlushing { deadline = nil }
    }
  }

  private static func flush(_ number: Int, within deadline: Duration) {
    Task.detached(priority: .high) {
      await withTaskGroup(of: Void.self) { group in
        for document in documents {
          group.addTask { await document.saveBeforeEnd(within: deadline) }
        }
      }
      state.withLock { $0.flushed = number }
      SignalPipe.wake()
    }
  }
}

// MARK: - Documents of other kinds

/// A document that can save when the process is about to end.
package protocol EndingDocument: AnyObject, Sendable {
  /// Saves what is unsaved, or returns at the deadline.
  func saveBeforeEnd(within deadline: Duration) async
}

/// A weak reference that never changes.
///
/// `@unchecked Sendable`: `document` is set once, in the initializer, and the runtime clears it atomically.
private final class WeakEndingDocument: @unchecked Sendable {
  private(set) weak var document: (any EndingDocument)?

  init(_ document: any EndingDocument) { self.document = document }
}

extension TerminationFlush {
  /// All that are saved.
  static var documents: [any EndingDocument] {
    DocumentRegistry.shared.documents.compactMap { $0 as? any EndingDocument }
      + others.withLock { $0.values.compactMap(\.document) }
  }

  /// Those that aren't in the registry of documents that are presented: of other kinds, and those whose files are gone.
  ///
  /// Their lock is their own.
  private static let others = Guarded<[ObjectIdentifier: WeakEndingDocument]>([:])

  /// Saves a document as well from now on, as long as it's alive.
  ///
  /// - Parameter document: The document; it isn't kept alive.
  package static func enter(_ document: any EndingDocument) {
    let entry = WeakEndingDocument(document)
    others.withLock { others in
      others = others.filter { $0.value.document != nil }
      others[ObjectIdentifier(document)] = entry
    }
  }

  /// Doesn't save a document any more.
  ///
  /// - Parameter document: The document.
  package static func leave(_ document: any EndingDocument) {
    others.withLock { $0[ObjectIdentifier(document)] = nil }
  }
}

extension FileDocument: EndingDocument {
  /// Saves what is unsaved; until that's done, and if it can't be, it's in the crash journal.
  ///
  /// A journal that isn't needed any more is gone at the end: the next program would be offered what was saved already. Edits that
  /// come meanwhile are in the journal.
  package func saveBeforeEnd(within deadline: Duration) async {
    if core.hasUnsavedChanges {
      async let journal = awaitJournal()
      _ = try? await save(within: deadline)
      _ = await journal
    }
    _ = await awaitJournal()
    await journaling?.releasing?.value
  }
}
