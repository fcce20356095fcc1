internal import CoordinationService
internal import FileAccessArbiter

/// Carries a client's frames to the service of its domain, and the service's frames to the host.
///
/// It has no notion of accesses and presenters. If a service is gone, the client reports its state again to the next.
protocol ServiceTransport: AnyObject, Sendable {
  /// Takes in a frame, in the order of calls; ``flush()`` writes it.
  ///
  /// Under the host's lock, so that frames are in the order of events. Between two services it's dropped.
  func send(_ frame: ClientFrame)
  /// Writes the frames that were taken in; not under the host's lock.
  func flush()
  /// Blocks until there's a service the first time; between two services it doesn't.
  ///
  /// - Throws: ``FileCoordinationError`` with code `.domainUnreachable`, and the reason.
  func ensureConnected() throws(FileCoordinationError)
  /// A frame that's answered was sent: finds a service, and monitors it.
  ///
  /// - Parameter limit: How long the wait for the answer may last.
  func expectAnswer(before limit: Nanoseconds?)
  /// Runs `ask`, which sends the service a question, and reads until that's answered, if no other thread reads.
  ///
  /// Blocks. When another thread reads, or the service has gone, it returns without an answer, which comes later.
  func reading<Question, Failure: Error>(
    _ ask: () throws(Failure) -> Question, until isAnswered: (Question) -> Bool
  ) throws(Failure) -> Question
  /// A wait is cancelled, which has an effect also while no service runs.
  func noteCancellation()
  /// Ends the connection for good.
  func end()
}

/// For a domain of one process, which sends nothing.
final class NoTransport: ServiceTransport {
  func send(_ frame: ClientFrame) { preconditionFailure("\(frame) is told in a domain of one process") }
  func flush() {}
  func ensureConnected() throws(FileCoordinationError) {}
  func expectAnswer(before limit: Nanoseconds?) {}
  func reading<Question, Failure: Error>(
    _ ask: () throws(Failure) -> Question, until isAnswered: (Question) -> Bool
  ) throws(Failure) -> Question { try ask() }
  func noteCancellation() {}
  func end() {}
}
