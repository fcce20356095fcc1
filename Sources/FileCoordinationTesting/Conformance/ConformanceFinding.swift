/// Something that a presenter did which makes others wait, lose data or lose track of the item.
public struct ConformanceFinding: Hashable, Sendable, CustomStringConvertible {
  /// The kinds of findings.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A callback that somebody waits for didn't return within the deadline.
    case neverAnswered
    /// A callback that somebody waits for threw, where nothing justified it.
    case refused
    /// A completion handler was dropped without having been called.
    case answerDropped
    /// The presenter and the access that asked it waited for each other.
    case deadlock
    /// A callback that only tells, or a reacquirer, was still running when the deadline passed.
    case didNotFinish
    /// After the presenter was asked to save, the item was gone or couldn't be read.
    case savedItemIsUnreadable
    /// After the presenter was asked to save, the item didn't have its unsaved changes.
    case changesNotSaved
    /// The presenter's URL isn't the item that it was made for.
    case wrongLocation
    /// After a move the presenter still had the old URL, or wasn't reachable at the new one.
    case lostAfterMove
    /// After the item was deleted, the presenter made it again.
    case resurrectedItem
    /// A property that must be the same each time wasn't.
    case unstableDeclaration
    /// The presenter couldn't be made or registered, or an access failed for a reason that is not among the others.
    case unexpectedError
  }

  /// What kind of finding it is.
  public let kind: Kind
  /// What was being done to the item, such as `read` or `move`.
  public let step: String
  /// What was observed and what to do about it.
  public let message: String

  init(_ kind: Kind, during step: String, _ message: String) {
    self.kind = kind
    self.step = step
    self.message = message
  }

  /// The kind, the step and the message.
  public var description: String { "\(kind.rawValue) during '\(step)': \(message)" }
}
