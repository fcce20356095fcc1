internal import SystemInterface

// Several values of one domain.

extension CoordinationDomain {
  /// The domain that a value takes part in: equal for two values whose accesses see each other.
  package enum Identity: Hashable, Sendable {
    /// A domain of one process, or one whose processes can't meet.
    case object(ObjectIdentifier)
    /// All processes that meet at the place of this name.
    case meeting(String)
  }

  /// The domain that this value takes part in.
  ///
  /// It stays the same from the moment on in which its processes can meet.
  ///
  /// - Complexity: O(length of the path), in system calls, until it's known; then O(1).
  package var identity: Identity {
    if let known = meetingName.load() { return .meeting(known.text) }
    guard !configuration.standsForProcess, let name = host.meetingGround?.foundName else {
      return .object(ObjectIdentifier(self))
    }
    return .meeting(meetingName.storeIfNil(MeetingName(name)).text)
  }

  /// The name of the place where the processes of a domain meet.
  final class MeetingName: Sendable {
    let text: String

    init(_ text: String) { self.text = text }
  }
}
