internal import CSystemShims
internal import Glibc

/// A signal by which a process is asked to end.
///
/// - Note: signal(7).
package enum EndingSignal: Int32, Hashable, Sendable, CaseIterable {
  /// The terminal is gone.
  case hangUp = 1
  /// Control-C.
  case interrupt = 2
  /// A service manager, or kill(1), requests the end.
  case terminate = 15
}

/// Takes signals as bytes of a pipe, so that their consequences are ordinary code.
///
/// The handler that the kernel calls does nothing but write(2). It takes the place of the one before, which ``end(by:)`` and
/// ``restore(_:)`` bring back. One pipe for the process: the action of a signal is the process's.
///
/// All uses of the C functions are in this file: each object file has its own copy of their variables.
package enum SignalPipe {
  /// A message from the pipe.
  package enum Message: Hashable, Sendable {
    case signal(EndingSignal)
    /// ``wake()`` was called.
    case woken
    /// The deadline has passed.
    case nothing
  }

  /// The two ends, once they're made; they're never closed, since a handler may be about to write.
  private static let ends = Guarded<(read: Int32, write: Int32)?>(nil)

  /// Reports a signal from now on.
  ///
  /// - Parameter signal: The signal.
  /// - Returns: Whether it is: a signal that's ignored stays so, as nohup(1) requires.
  /// - Throws: The error of pipe2(2) or sigaction(2).
  package static func report(_ signal: EndingSignal) throws(SystemError) -> Bool {
    let ends = try ensureEnds()
    let result = shim_report_signal(signal.rawValue, ends.write)
    if result < 0 { throw SystemError(call: "sigaction(2)", errno: errno) }
    return result > 0
  }

  private static func ensureEnds() throws(SystemError) -> (read: Int32, write: Int32) {
    var failure: Int32 = 0
    let made = ends.withLock { ends -> (read: Int32, write: Int32)? in
      if let ends { return ends }
      var (reader, writer): (Int32, Int32) = (-1, -1)
      // A handler must never wait; a byte that doesn't fit is one of very many.
      if unsafe shim_make_pipe(&reader, &writer) != 0 {
        failure = errno
        return nil
      }
      ends = (reader, writer)
      return ends
    }
    guard let made else { throw SystemError(call: "pipe2(2)", errno: failure) }
    return made
  }

  /// Restores the action that a signal had before, unless somebody has set another one since.
  package static func restore(_ signal: EndingSignal) {
    if shim_is_signal_reported(signal.rawValue) { _ = shim_restore_signal(signal.rawValue) }
  }

  /// Lets a signal do what it did before it was reported: usually the process ends.
  ///
  /// - Parameters:
  ///   - signal: The signal.
  ///   - reportingAgain: Called if the process goes on: whether the signal is to be reported again.
  package static func end(by signal: EndingSignal, reportingAgain: () -> Bool) {
    restore(signal)
    shim_raise_unblocked(signal.rawValue)
    if reportingAgain() { _ = try? report(signal) }
  }

  /// Makes the next ``next(until:)`` return.
  package static func wake() {
    var byte: UInt8 = 0
    if let ends = ends.withLock({ $0 }) { _ = unsafe write(ends.write, &byte, 1) }
  }

  /// Waits for what comes next, on the calling thread; one thread at a time.
  ///
  /// - Parameter deadline: When to give up; `nil` waits without limit.
  /// - Returns: The next message.
  package static func next(until deadline: MonotonicTime?) -> Message {
    guard let ends = ends.withLock({ $0 }) else { return .nothing }
    let count = retryingWait(until: deadline) { shim_poll(ends.read, POLLIN, $0) }
    var byte: UInt8 = 0
    guard count > 0, unsafe read(ends.read, &byte, 1) == 1 else { return .nothing }
    return EndingSignal(rawValue: Int32(byte)).map(Message.signal) ?? .woken
  }
}
