internal import SystemInterface
internal import UndoStacks

/// How a document keeps its former contents, so that edits can be taken back.
///
/// - Note: Rule CD-11.
public struct DocumentUndoPolicy: Hashable, Sendable {
  /// How many steps can be taken back at most.
  public var levelsMax: Int
  /// Edits that follow one another this fast are one step, as when a person types.
  public var joinInterval: Duration

  /// Creates a policy.
  ///
  /// - Parameters:
  ///   - levelsMax: How many steps can be taken back at most; at least 1.
  ///   - joinInterval: How fast edits follow one another that are one step; none unless stated.
  public init(levelsMax: Int = 100, joinInterval: Duration = .zero) {
    self.levelsMax = max(1, levelsMax)
    self.joinInterval = joinInterval
  }
}

/// The former contents of a document, for as long as nobody but the document itself has changed them: a value that decides nothing else.
///
/// Each step is the contents before it. Its label counts the edits that are joined in it: the count of unsaved changes goes back and forth
/// by as many.
struct UndoSteps<Contents> {
  private let policy: DocumentUndoPolicy?
  private var stack = UndoStack<Contents, Int>()
  private var lastEdit: MonotonicTime?

  init(_ policy: DocumentUndoPolicy?) {
    self.policy = policy
    if let policy { stack.levelsMax = policy.levelsMax }
  }

  var canUndo: Bool { stack.undoCount > 0 }
  var canRedo: Bool { stack.redoCount > 0 }

  /// Whether the contents before an edit at this time are to be kept.
  func keepsContents(at now: MonotonicTime) -> Bool { policy != nil && !joins(now) }

  private func joins(_ now: MonotonicTime) -> Bool {
    guard let policy, let lastEdit, canUndo else { return false }
    return lastEdit.duration(to: now) < policy.joinInterval
  }

  /// Notes an edit.
  ///
  /// - Parameters:
  ///   - former: The contents before it; not needed if they aren't to be kept.
  ///   - now: When it was made.
  mutating func note(_ former: Contents?, at now: MonotonicTime) {
    guard policy != nil else { return }
    if let former {
      stack.register(former)
    } else {
      stack.updateLabel { $0 = ($0 ?? 1) + 1 }
    }
    lastEdit = now
  }

  /// Nothing can be taken back to what is known.
  mutating func removeAll() {
    stack.removeAll()
    lastEdit = nil
  }

  /// Goes one step back or forward.
  ///
  /// - Parameters:
  ///   - direction: Where to.
  ///   - contents: The present contents, which become those of the step.
  /// - Returns: How many edits that is; `nil` if there's no such step.
  mutating func step(_ direction: UndoStack<Contents, Int>.Direction, _ contents: inout Contents) -> Int? {
    let count = stack.label(direction) ?? 1
    // No group is ever open, and nothing is performed, so neither can be misused.
    let hasBegun = (try? direction == .undo ? stack.beginUndo() : stack.beginRedo()) ?? false
    guard hasBegun, let former = stack.nextAction() else { return nil }
    stack.register(contents)
    contents = former
    stack.endPerforming()
    lastEdit = nil
    return count
  }
}

extension UndoSteps: Sendable where Contents: Sendable {}
