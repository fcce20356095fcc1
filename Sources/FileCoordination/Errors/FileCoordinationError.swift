/// The failure of a coordinated access: its kind, its place, its reason and the remedy.
///
/// ```
/// timedOut: couldn't write '/d/f' within 5 s; held for reading by 'indexer' (pid 4711 'notesd') for 12.3 s.
/// Pass a longer deadline or end that access.
/// ```
public struct FileCoordinationError: Error, Sendable, CustomStringConvertible {
  /// The kind of error.
  public let code: Code

  /// The items concerned, as paths or URLs for people.
  public let subjects: [String]

  /// The event and the remedy, without the code.
  public let message: String

  /// The error that caused this one: a presenter's answer, or a `SystemError`.
  public let underlyingError: (any Error)?

  /// The parties in the way when a deadline passed; of many the first.
  public let blockers: [CoordinationParty]

  /// How many more were in the way.
  public let omittedBlockerCount: Int

  /// The cycle of waits, when the code is ``Code/deadlock``.
  public let deadlock: DeadlockReport?

  init(
    _ code: Code, subjects: [String] = [], message: String, underlyingError: (any Error)? = nil,
    blockers: [CoordinationParty] = [], omittedBlockerCount: Int = 0, deadlock: DeadlockReport? = nil
  ) {
    self.code = code
    self.subjects = subjects
    self.message = message
    self.underlyingError = underlyingError
    self.blockers = blockers
    self.omittedBlockerCount = omittedBlockerCount
    self.deadlock = deadlock
  }

  /// The code and the message.
  public var description: String { "\(code): \(message)" }
}
