/// What went wrong with a coordinated access, where, why, and what to do about it.
///
/// ```
/// timedOut: couldn't write '/d/f' within 5 s; held for reading by 'indexer' (pid 4711 'notesd') for 12.3 s.
/// Pass a longer deadline or end that access.
/// ```
public struct FileCoordinationError: Error, Sendable, CustomStringConvertible {
  /// The kinds of errors.
  public enum Code: String, Hashable, Sendable, CaseIterable {
    /// The coordinator or the task was cancelled before the access was granted, or the awaited state came.
    case cancelled
    /// Other accesses were in the way, or a prepared batch went on, for longer than the deadline allows.
    case timedOut
    /// Presenters didn't answer within the deadline.
    case presenterUnresponsive
    /// A presenter answered with an error, which is the ``FileCoordinationError/underlyingError``.
    case presenterFailed
    /// A presenter keeps the item's contents from being evicted.
    case evictionRefused
    /// A completion handler was dropped without having been called.
    case answerDropped
    /// The access was part of a cycle of waits that nothing could resolve.
    case deadlock
    /// The URL is no file URL.
    case notAFileURL
    /// The URL is relative.
    case relativeURL
    /// The path is empty, or has a NUL in it.
    case invalidPath
    /// The path, or one of its components, is longer than the system allows.
    case pathTooLong
    /// Symbolic links lead to each other.
    case symbolicLinkLoop
    /// More than one writing option was given.
    case conflictingOptions
    /// The option has no meaning in this call, or doesn't exist.
    case optionNotAllowed
    /// The request names no item.
    case noItems
    /// The request names more items than ``FileCoordinator/itemCountMax``.
    case tooManyItems
    /// What other processes were to be told, or to tell, doesn't fit into one message between processes.
    case messageTooLong
    /// This process has as many accesses, presenters or purposes in a domain of several processes as it may have, or nests
    /// accesses too deep.
    case limitExceeded
    /// The coordinator's purpose identifier can't be set, or not to this.
    case invalidPurposeIdentifier
    /// The coordinator has no presenter, or one without a URL, and was to access the presented item.
    case presenterWithoutURL
    /// The accessor has returned, and its access was used after that.
    case accessEnded
    /// The access only reads the item, and was to write it.
    case notWritable
    /// The access doesn't cover the items of the announced move.
    case moveNotCovered
    /// There is something at the destination, and it was not to be replaced.
    case destinationExists
    /// The processes of the domain can't be reached, so nothing would be coordinated.
    case domainUnreachable
    /// The access was lost: the process couldn't be reached for so long that others were granted access.
    case accessLost
    /// Not every change by programs that don't coordinate can be seen.
    case uncoordinatedChangesMissed
    /// A system call failed; it is the ``FileCoordinationError/underlyingError``.
    case fileSystem

    /// The code with a name, as processes tell it each other; `nil` for one that this version doesn't have.
    package init?(name: String) { self.init(rawValue: name) }

    /// The name, as processes tell it each other.
    package var name: String { rawValue }
  }

  /// What kind of error it is.
  public let code: Code

  /// The items concerned, as paths or URLs for people.
  public let subjects: [String]

  /// What happened and what to do, without the code.
  public let message: String

  /// The error that caused this one: a presenter's answer, or a `SystemError`.
  public let underlyingError: (any Error)?

  /// Who was in the way when a deadline passed; of many the first.
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
  public var description: String { "\(code.rawValue): \(message)" }
}
