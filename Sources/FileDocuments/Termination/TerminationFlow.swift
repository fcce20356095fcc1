internal import SystemInterface

/// Decides what a signal leads to that asks the process to end: a value without thread, clock or document.
///
/// ``TerminationFlush`` runs it.
struct TerminationFlow: Hashable, Sendable {
  enum Event: Hashable, Sendable {
    case signal(EndingSignal)
    /// All documents are saved, or couldn't be; of the flush with this number.
    case flushed(Int)
    case deadlinePassed
  }

  enum Effect: Hashable, Sendable {
    /// Save all documents, and report that with this number.
    case flush(Int)
    /// Let the signal do what it did before. The process may go on all the same.
    case end(EndingSignal)
  }

  private enum State: Hashable, Sendable {
    /// Ends with a signal.
    case waiting
    /// Documents are saved since a time. Ends when they are, with a second signal, or at the deadline; the signals take effect then.
    case flushing([EndingSignal], since: MonotonicTime)
  }

  /// Signals that come within this time are one request.
  ///
  /// systemd sends SIGTERM and SIGHUP to the processes of a session that ends, and a shell and the kernel each send SIGHUP when a
  /// terminal is closed.
  static let repetitionTime = Duration.seconds(1)

  private var state = State.waiting
  private var number = 0

  /// Whether the deadline of a flush runs.
  var isFlushing: Bool { state != .waiting }

  /// Takes an event.
  ///
  /// - Parameters:
  ///   - event: The signal, or the end of what it led to.
  ///   - now: When it came.
  /// - Returns: The orders, in their order.
  mutating func receive(_ event: Event, at now: MonotonicTime) -> [Effect] {
    switch (state, event) {
    case (.waiting, .signal(let signal)):
      number += 1
      state = .flushing([signal], since: now)
      return [.flush(number)]
    case (.flushing(let signals, let start), .signal(let signal)) where start.duration(to: now) < Self.repetitionTime:
      if !signals.contains(signal) { state = .flushing(signals + [signal], since: start) }
      return []
    // Somebody doesn't want to wait.
    case (.flushing(let signals, _), .signal(let signal)):
      state = .waiting
      return ([signal] + signals.filter { $0 != signal }).map(Effect.end)
    case (.flushing(let signals, _), .flushed(number)), (.flushing(let signals, _), .deadlinePassed):
      state = .waiting
      return signals.map(Effect.end)
    // Of a flush that was cut short, in a process that went on.
    case (.flushing, .flushed), (.waiting, .flushed), (.waiting, .deadlinePassed): return []
    }
  }
}
