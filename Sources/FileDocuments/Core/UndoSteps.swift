internal import SystemInterface

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

/// Where a step leads.
enum UndoDirection: Sendable {
  case undo
  case redo
}

/// The former contents of a document, for as long as nobody but the document itself has changed them: a value that decides nothing else.
///
/// Each step is the contents before it, and the number of edits that are joined in it: the count of unsaved changes goes back and forth by
/// as many. Once as many steps are kept as may be, another one takes the place of the oldest, and needs no memory.
struct UndoSteps<Contents> {
  private let policy: DocumentUndoPolicy?
  private(set) var undone: StepRing<Contents>
  private var redone: StepRing<Contents>
  private var lastEdit: MonotonicTime?

  init(_ policy: DocumentUndoPolicy?) {
    self.policy = policy
    undone = StepRing(countMax: max(1, policy?.levelsMax ?? 1))
    redone = undone
  }

  var canUndo: Bool { !undone.isEmpty }
  var canRedo: Bool { !redone.isEmpty }

  /// Whether the contents before an edit at this time are to be kept.
  func keepsContents(at now: MonotonicTime) -> Bool { policy != nil && !joins(now) }

  private func joins(_ now: MonotonicTime) -> Bool {
    guard let policy, policy.joinInterval > .zero, let lastEdit, canUndo else { return false }
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
      redone.removeAll()
      undone.append(former, editCount: 1)
    } else {
      undone.joinLast()
    }
    lastEdit = now
  }

  /// Nothing can be taken back to what is known.
  mutating func removeAll() {
    undone.removeAll()
    redone.removeAll()
    lastEdit = nil
  }

  /// Goes one step back or forward.
  ///
  /// - Parameters:
  ///   - direction: Where to.
  ///   - contents: The present contents, which become those of the step.
  /// - Returns: How many edits that is; `nil` if there's no such step.
  mutating func step(_ direction: UndoDirection, _ contents: inout Contents) -> Int? {
    let taken = direction == .undo ? undone.removeLast() : redone.removeLast()
    guard let (former, count) = taken else { return nil }
    switch direction {
    case .undo: redone.append(contents, editCount: count)
    case .redo: undone.append(contents, editCount: count)
    }
    contents = former
    lastEdit = nil
    return count
  }
}

extension UndoSteps: Sendable where Contents: Sendable {}

/// The last steps, up to a certain number.
///
/// Contents and numbers are in arrays of their own, which need no other type than those of the program.
struct StepRing<Contents> {
  private let countMax: Int
  /// In the order of the steps, from `start` on and then from the beginning.
  private(set) var contents: [Contents] = []
  private(set) var editCounts: [Int] = []
  /// The oldest step; 0 unless there are as many as may be.
  private var start = 0

  init(countMax: Int) { self.countMax = countMax }

  var isEmpty: Bool { contents.isEmpty }

  mutating func append(_ added: Contents, editCount: Int) {
    if contents.count < countMax {
      contents.append(added)
      editCounts.append(editCount)
    } else {
      contents[start] = added
      editCounts[start] = editCount
      start = start == countMax - 1 ? 0 : start + 1
    }
  }

  /// One more edit belongs to the last step.
  mutating func joinLast() {
    if isEmpty { return }
    editCounts[start == 0 ? contents.count - 1 : start - 1] += 1
  }

  mutating func removeLast() -> (contents: Contents, editCount: Int)? {
    if start > 0 {
      contents = Array(contents[start...] + contents[..<start])
      editCounts = Array(editCounts[start...] + editCounts[..<start])
      start = 0
    }
    guard let editCount = editCounts.popLast(), let last = contents.popLast() else { return nil }
    return (last, editCount)
  }

  mutating func removeAll() {
    if isEmpty { return }
    contents = []
    editCounts = []
    start = 0
  }
}

extension StepRing: Sendable where Contents: Sendable {}
