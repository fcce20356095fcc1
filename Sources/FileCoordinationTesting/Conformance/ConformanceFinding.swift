/// Something that a presenter did which makes others wait, lose data or lose track of the item.
public struct ConformanceFinding: Hashable, Sendable, CustomStringConvertible {
  /// The kinds of findings; ``ConformanceFinding/message`` names the remedy.
  ///
  /// A later version may have more of them: a `switch` needs a `default`.
  public struct Kind: Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// The number, which stays the same in all versions and is never given to another kind.
    public let number: Int
    /// The name in Swift, such as `neverAnswered`.
    public let name: String

    private init(_ number: Int, _ name: String) {
      self.number = number
      self.name = name
    }

    /// A callback that an access waits for didn't return within the deadline.
    public static let neverAnswered = Kind(1, "neverAnswered")
    /// A callback that an access waits for threw, where nothing justified it.
    public static let refused = Kind(2, "refused")
    /// A completion handler was dropped without having been called.
    public static let answerDropped = Kind(3, "answerDropped")
    /// The presenter and the access that asked it waited for each other.
    public static let deadlock = Kind(4, "deadlock")
    /// A callback that only notifies, or a reacquirer, was still running when the deadline passed.
    public static let didNotFinish = Kind(5, "didNotFinish")
    /// After the presenter was asked to save, the item was gone or couldn't be read.
    public static let savedItemIsUnreadable = Kind(6, "savedItemIsUnreadable")
    /// After the presenter was asked to save, the item didn't have its unsaved changes.
    public static let changesNotSaved = Kind(7, "changesNotSaved")
    /// The presenter's URL isn't the item that it was made for.
    public static let wrongLocation = Kind(8, "wrongLocation")
    /// After a move the presenter still had the old URL, or wasn't reachable at the new one.
    public static let lostAfterMove = Kind(9, "lostAfterMove")
    /// After the item was deleted, the presenter made it again.
    public static let resurrectedItem = Kind(10, "resurrectedItem")
    /// A property that must be the same each time wasn't.
    public static let unstableDeclaration = Kind(11, "unstableDeclaration")
    /// The presenter couldn't be made or registered, or an access failed for a reason that is not among the others.
    public static let unexpectedError = Kind(12, "unexpectedError")

    /// All kinds of this version, by number; a later version may have more.
    public static let allCases: [Kind] = [
      .neverAnswered, .refused, .answerDropped, .deadlock, .didNotFinish, .savedItemIsUnreadable, .changesNotSaved,
      .wrongLocation, .lostAfterMove, .resurrectedItem, .unstableDeclaration, .unexpectedError,
    ]

    /// The name.
    public var description: String { name }
  }

  /// The kind of finding.
  public let kind: Kind
  /// The access to the item, such as `read` or `move`.
  public let step: String
  /// The observation and the remedy.
  public let message: String

  init(_ kind: Kind, during step: String, _ message: String) {
    self.kind = kind
    self.step = step
    self.message = message
  }

  /// The kind, the step and the message.
  public var description: String { "\(kind) during '\(step)': \(message)" }
}
