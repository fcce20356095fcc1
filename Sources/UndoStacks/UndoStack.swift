// Public for the other targets of this package alone, which get specialized code for it; no product offers it.

/// Actions that undo changes, and those that redo them, in groups: a value that decides and never acts.
///
/// A runner registers actions, takes them out with ``beginUndo()`` and ``nextAction()``, carries them out, and calls
/// ``endPerforming()``. The actions that it registers in between become the group that reverses the performance: of redo
/// after an undo, of undo after a redo. The value calls nothing, knows no clock, and stores no object but those in actions
/// and labels.
///
/// Groups nest while they are open. A closed outermost group is one step of the user; its inner groups don't matter any more.
/// A group without an action is dropped when it's closed, so that each step has an effect.
///
/// Actions of open groups are one list, and groups are ranges of it. So neither recursion nor memory grows with the depth of
/// nesting except by one record for each open group.
///
/// - Note: Rules UD-14 and CD-10.
public struct UndoStack<Action, Label> {
  /// A call that can't be carried out now; nothing has changed then.
  public enum Misuse: Error, Hashable, Sendable {
    /// No group is open that could be closed; inside a performance, none that was opened in it.
    case noOpenGroup
    /// Inner groups are open, so the outermost one isn't complete.
    case innerGroupsOpen
    /// Actions were registered since the last inner group was closed: they don't form a group that could be undone.
    case actionsOutsideGroup
    /// An undo or redo is being performed.
    case performing
    /// Recording was enabled more often than disabled.
    case alreadyEnabled
  }

  /// The kind of actions that are performed.
  public enum Direction: Hashable, Sendable {
    /// Actions that undo.
    case undo
    /// Actions that redo.
    case redo
  }

  /// A complete group.
  struct Group {
    var actions: [Action]
    var label: Label?
    var isDiscardable: Bool
  }

  /// The groups whose undoing the user can ask for, the oldest first.
  var undone = GroupList<Group>()
  /// The groups whose redoing the user can ask for, the oldest first.
  var redone = GroupList<Group>()
  /// The groups that are open, apart from those of a performance.
  var current = Recording()
  /// Set from the beginning of a performance to its end.
  var performance: Performance?
  /// How often recording was disabled and not enabled again.
  var disabledCount = 0

  /// How many outermost groups are kept for undoing, and as many for redoing; 0 for any number.
  ///
  /// The oldest go when there are more.
  ///
  /// - Complexity: O(*n*) in the number of groups that go.
  public var levelsMax = 0 {
    didSet { trim() }
  }

  /// Makes a stack without actions.
  public init() {}

  // MARK: - State

  /// How many groups are open: while an undo or redo is performed, those of the group that reverses it.
  public var level: Int { (performance?.recording ?? current).open.count }

  /// The direction of the performance that's under way; `nil` if none is.
  public var performing: Direction? { performance?.direction }

  /// Whether registered actions are kept.
  public var isEnabled: Bool { disabledCount == 0 }

  /// How many times the user can undo, an open group with actions included.
  public var undoCount: Int { undone.count + (current.actions.isEmpty ? 0 : 1) }

  /// How many times the user can redo.
  public var redoCount: Int { redone.count }

  // MARK: - Recording

  /// Opens a group, inside of those that are open.
  public mutating func beginGroup() {
    withRecording { $0.begin() }
  }

  /// Closes the innermost group, and drops it if it has no action.
  ///
  /// - Throws: ``Misuse/noOpenGroup``.
  /// - Complexity: O(*n*) in the number of groups directly in it.
  public mutating func endGroup() throws(Misuse) {
    if performance != nil {
      // The group that the performance is recorded in is closed by its end.
      if level <= 1 { throw .noOpenGroup }
      withRecording { $0.endInner() }
      return
    }
    switch current.open.count {
    case 0: throw .noOpenGroup
    case 1:
      guard let group = current.endOutermost() else { return }
      undone.append(group)
      trim()
    default: current.endInner()
    }
  }

  /// Keeps an action for the user's next undo; for the next redo while an undo is performed.
  ///
  /// Unless something is performed, nothing can be redone afterwards. Without an open group the action is a step of its own.
  ///
  /// - Parameter action: The action.
  /// - Returns: `false` if recording is disabled: the action isn't kept then.
  @discardableResult
  public mutating func register(_ action: Action) -> Bool {
    guard isEnabled else { return false }
    if performance == nil {
      redone.removeAll()
      if current.open.isEmpty {
        undone.append(Group(actions: [action], label: nil, isDiscardable: false))
        trim()
        return true
      }
    }
    withRecording { $0.actions.append(action) }
    return true
  }

  /// Ignores actions until as many calls of ``enable()``.
  public mutating func disable() { disabledCount += 1 }

  /// Takes back one call of ``disable()``.
  ///
  /// - Throws: ``Misuse/alreadyEnabled``.
  public mutating func enable() throws(Misuse) {
    if disabledCount == 0 { throw .alreadyEnabled }
    disabledCount -= 1
  }

  // MARK: - Removal

  /// Forgets all actions, also those still to be performed, and enables recording.
  ///
  /// Open groups stay open, without their actions.
  public mutating func removeAll() {
    undone.removeAll()
    redone.removeAll()
    current.removeActions()
    performance?.remaining.removeAll()
    performance?.recording.removeActions()
    disabledCount = 0
  }

  /// Forgets the actions that fulfil a condition, and the closed groups that have no other.
  ///
  /// - Parameter isUnwanted: The condition.
  /// - Complexity: O(*n*) in the number of actions.
  public mutating func removeAll(where isUnwanted: (Action) -> Bool) {
    func keep(_ group: Group) -> Group? {
      var group = group
      group.actions.removeAll(where: isUnwanted)
      return group.actions.isEmpty ? nil : group
    }
    undone.replaceEach(keep)
    redone.replaceEach(keep)
    current.remove(where: isUnwanted)
    performance?.remaining.removeAll(where: isUnwanted)
    performance?.recording.remove(where: isUnwanted)
  }

  /// Forgets the user's next steps in a direction that have only actions that fulfil a condition.
  ///
  /// - Parameters:
  ///   - direction: The direction.
  ///   - isUseless: The condition, such as that the object is gone that an action would alter.
  /// - Complexity: O(*n*) in the number of actions that are forgotten, and of those before the first one that isn't.
  public mutating func dropUselessSteps(_ direction: Direction, where isUseless: (Action) -> Bool) {
    // While a group is open that has actions it is the next step, and may get more.
    if direction == .undo && !current.actions.isEmpty { return }
    func isUnneeded(_ group: Group) -> Bool { group.actions.allSatisfy(isUseless) }
    switch direction {
    case .undo: while let last = undone.last, isUnneeded(last) { undone.removeLast() }
    case .redo: while let last = redone.last, isUnneeded(last) { redone.removeLast() }
    }
  }

  // MARK: - Inside

  mutating func trim() {
    guard levelsMax > 0 else { return }
    undone.removeFirst(max(0, undone.count - levelsMax))
    redone.removeFirst(max(0, redone.count - levelsMax))
  }

  /// Alters the groups that are open now.
  mutating func withRecording(_ body: (inout Recording) -> Void) {
    // Taken out, so that nothing is copied.
    guard var taken = performance.take() else { return body(&current) }
    body(&taken.recording)
    performance = taken
  }
}

extension UndoStack: Sendable where Action: Sendable, Label: Sendable {}
extension UndoStack.Group: Sendable where Action: Sendable, Label: Sendable {}
