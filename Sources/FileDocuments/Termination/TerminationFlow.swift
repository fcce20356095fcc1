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
    /// Documents are saved. Ends when they are, with a second signal, or at the deadline.
    case flushing(EndingSignal)
  }

  private var state = State.waiting
  private var number = 0

  /// Whether the deadline of a flush runs.
  var isFlushing: Bool { state != .waiting }

  /// Takes an event.
  mutating func receive(_ event: Event) -> Effect? {
    switch (state, event) {
    case (.waiting, .signal(let signal)):
      number += 1
      state = .flushing(signal)
      return .flush(number)
    // Somebody doesn't want to wait.
    case (.flushing, .signal(let signal)):
      state = .waiting
      return .end(signal)
    case (.flushing(let signal), .flushed(number)), (.flushing(let signal), .deadlinePassed):
      state = .waiting
      return .end(signal)
    // Of a flush that was cut short, in a process that went on.
    case (.flushing, .flushed), (.waiting, .flushed), (.waiting, .deadlinePassed): return nil
    }
  }
}
