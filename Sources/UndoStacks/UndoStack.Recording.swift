extension UndoStack {
  /// Groups that are open, each but the first one inside of the one before it.
  ///
  /// Invariants, checked by ``UndoStack/invariantViolations()``: the starts of open groups don't decrease; the complete
  /// groups in one are ranges of ``actions`` that aren't empty, in order, and don't overlap.
  struct Recording {
    /// A complete group inside of one that's open: a range of the actions.
    struct Inner {
      var start: Int
      var end: Int
      var label: Label?
      var isDiscardable: Bool
    }

    /// An open group: the actions from its start on.
    struct Open {
      var start: Int
      var inner: [Inner] = []
      var label: Label?
      var isMarkedDiscardable = false
    }

    /// The actions of all open groups, in the order of registration.
    var actions: [Action] = []
    var open: [Open] = []

    mutating func begin() { open.append(Open(start: actions.count)) }

    /// Closes a group that's inside of another one.
    mutating func endInner() {
      let closed = open.removeLast()
      guard actions.count > closed.start else { return }
      open[open.count - 1].inner.append(
        Inner(
          start: closed.start, end: actions.count, label: closed.label,
          isDiscardable: closed.isDiscardable(upTo: actions.count)))
    }

    /// Closes the only open group and takes its actions.
    mutating func endOutermost() -> Group? {
      let closed = open.removeLast()
      defer { actions = [] }
      if actions.isEmpty { return nil }
      return Group(
        actions: actions, label: closed.label, isDiscardable: closed.isDiscardable(upTo: actions.count))
    }

    /// Takes the last complete group in the innermost open one.
    ///
    /// - Returns: The group; `nil` if there's none.
    /// - Throws: ``Misuse/actionsOutsideGroup``.
    mutating func takeLastInner() throws(Misuse) -> Group? {
      guard let innermost = open.last else { return nil }
      guard actions.count > innermost.start else { return nil }
      guard let last = innermost.inner.last, last.end == actions.count else { throw .actionsOutsideGroup }
      open[open.count - 1].inner.removeLast()
      let taken = Array(actions[last.start...])
      actions.removeSubrange(last.start...)
      return Group(actions: taken, label: last.label, isDiscardable: last.isDiscardable)
    }

    /// Adds a complete group to the innermost open one.
    mutating func add(_ group: Group) {
      let start = actions.count
      actions += group.actions
      open[open.count - 1].inner.append(
        Inner(start: start, end: actions.count, label: group.label, isDiscardable: group.isDiscardable))
    }

    mutating func removeActions() {
      actions = []
      for index in open.indices {
        open[index].start = 0
        open[index].inner = []
      }
    }

    mutating func remove(where isUnwanted: (Action) -> Bool) {
      // How many actions before each place are gone.
      var goneBefore = [0]
      goneBefore.reserveCapacity(actions.count + 1)
      var kept: [Action] = []
      for action in actions {
        let isGone = isUnwanted(action)
        if !isGone { kept.append(action) }
        goneBefore.append(goneBefore[goneBefore.count - 1] + (isGone ? 1 : 0))
      }
      if kept.count == actions.count { return }
      actions = kept
      for index in open.indices {
        open[index].start -= goneBefore[open[index].start]
        open[index].inner = open[index].inner.compactMap { inner in
          var moved = inner
          moved.start -= goneBefore[inner.start]
          moved.end -= goneBefore[inner.end]
          return moved.start == moved.end ? nil : moved
        }
      }
    }
  }

  /// An undo or redo under way.
  struct Performance {
    let direction: Direction
    /// The actions still to be performed, the next one last.
    var remaining: [Action]
    /// The label of the performed group, and of the group that reverses it.
    let label: Label?
    let isDiscardable: Bool
    /// The group that reverses it, and what is open in that.
    var recording = Recording()
  }
}

extension UndoStack.Recording.Open {
  /// Whether it was marked so, or has nothing but complete groups that are discardable.
  func isDiscardable(upTo end: Int) -> Bool {
    if isMarkedDiscardable { return true }
    let counted = inner.reduce(0) { $0 + $1.end - $1.start }
    return !inner.isEmpty && counted == end - start && inner.allSatisfy(\.isDiscardable)
  }
}

extension UndoStack.Recording: Sendable where Action: Sendable, Label: Sendable {}
extension UndoStack.Recording.Inner: Sendable where Action: Sendable, Label: Sendable {}
extension UndoStack.Recording.Open: Sendable where Action: Sendable, Label: Sendable {}
extension UndoStack.Performance: Sendable where Action: Sendable, Label: Sendable {}
