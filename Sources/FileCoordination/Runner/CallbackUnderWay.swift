internal import CoordinationService
internal import FileAccessArbiter

/// The presenter's callback that a task carries out.
///
/// If the callback is a method with a completion handler, its caller reports when that method has returned: from then
/// on the presenter can get its next message, although the answer is still to come.
package struct CallbackUnderWay: Sendable {
  private let reference: HostReference
  private let message: MessageID
  private var host: ArbiterHost? { reference.host }

  init(_ message: MessageID, of host: ArbiterHost) {
    self.message = message
    reference = host.reference
  }

  /// That of the running task, if any.
  package static var current: CallbackUnderWay? { Lineage.current?.callback }

  /// The presenter's queue runs the method now, and the presenter may not have it: the answer is waited for.
  ///
  /// This never waits.
  package func hasBegun() { host?.step(.callbackBegan(message)) }

  /// The presenter's method has returned, and its completion handler will answer.
  ///
  /// After the answer this changes nothing. It never waits.
  package func hasReturned() { host?.step(.callbackReturned(message)) }
}

/// Leads to a host as long as it lives: one object for all objects that may outlive the host.
final class HostReference: Sendable {
  weak let host: ArbiterHost?

  init(_ host: ArbiterHost) { self.host = host }
}
