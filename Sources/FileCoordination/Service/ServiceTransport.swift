internal import CoordinationService
internal import FileAccessArbiter

/// Carries what a client tells the service of its domain, and tells the host what the service answers.
///
/// It knows nothing of accesses and presenters. What was told to a service that's gone is the client's to tell again.
protocol ServiceTransport: AnyObject, Sendable {
  /// Takes in a frame, in the order of calls; ``flush()`` writes it.
  ///
  /// Under the host's lock, so that frames are in the order in which things happened. Between two services it's dropped.
  func send(_ frame: ClientFrame)
  /// Writes what was taken in; not under the host's lock.
  func flush()
  /// Blocks until there's a service the first time; between two services it doesn't.
  ///
  /// - Throws: ``FileCoordinationError`` with code `.domainUnreachable`, which says why.
  func ensureConnected() throws(FileCoordinationError)
  /// Something was told that's answered: finds a service, and keeps an eye on it.
  ///
  /// - Parameter limit: How long the wait for the answer may last.
  func expectAnswer(before limit: Nanoseconds?)
  /// Runs `ask`, which tells the service something, and reads until that's answered, if no other thread does.
  ///
  /// Blocks. When another thread reads, or the service has gone, it returns without an answer, which comes later.
  func reading<Question, Failure: Error>(
    _ ask: () throws(Failure) -> Question, until isAnswered: (Question) -> Bool
  ) throws(Failure) -> Question
  /// Somebody gives up, which has an effect also while no service runs.
  func noteCancellation()
  /// Ends the connection for good.
  func end()
}

/// Of a domain of one process, where nothing is told to anybody.
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
