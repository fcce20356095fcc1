extension UndoStack {
  /// Begins to undo the last step: the next actions come from ``nextAction()``.
  ///
  /// The open group is closed first if it's the only one.
  ///
  /// - Returns: `false` if there's nothing to undo: nothing is under way then.
  /// - Throws: ``Misuse/innerGroupsOpen`` or ``Misuse/performing``.
  public mutating func beginUndo() throws(Misuse) -> Bool {
    if performance != nil { throw .performing }
    if current.open.count > 1 { throw .innerGroupsOpen }
    if current.open.count == 1 { try endGroup() }
    guard let group = undone.removeLast() else { return false }
    begin(.undo, group)
    return true
  }

  /// Begins to undo the last complete group of the innermost open one; without an open group, the last step.
  ///
  /// - Returns: `false` if there's no such group: nothing is under way then.
  /// - Throws: ``Misuse/actionsOutsideGroup`` or ``Misuse/performing``.
  public mutating func beginUndoOfInnerGroup() throws(Misuse) -> Bool {
    if performance != nil { throw .performing }
    if current.open.isEmpty { return try beginUndo() }
    guard let group = try current.takeLastInner() else { return false }
    begin(.undo, group)
    return true
  }

  /// Begins to redo what was undone last.
  ///
  /// - Returns: `false` if there's nothing to redo: nothing is under way then.
  /// - Throws: ``Misuse/performing``.
  public mutating func beginRedo() throws(Misuse) -> Bool {
    if performance != nil { throw .performing }
    guard let group = redone.removeLast() else { return false }
    begin(.redo, group)
    return true
  }

  /// The next action to perform, the last registered first; `nil` after the last one, or if nothing is under way.
  public mutating func nextAction() -> Action? { performance?.remaining.popLast() }

  /// Ends a performance: the actions that were registered meanwhile become one group that reverses it.
  ///
  /// A redo inside an open group is a group in that. Actions that weren't taken are forgotten.
  ///
  /// - Returns: How many groups that were opened meanwhile were still open, and are closed.
  @discardableResult
  public mutating func endPerforming() -> Int {
    guard var ended = performance.take() else { return 0 }
    let leftOpen = ended.recording.open.count - 1
    for _ in 0..<leftOpen { ended.recording.endInner() }
    guard var group = ended.recording.endOutermost() else { return leftOpen }
    group.label = group.label ?? ended.label
    group.isDiscardable = group.isDiscardable || ended.isDiscardable
    switch ended.direction {
    case .undo: redone.append(group)
    case .redo where current.open.isEmpty: undone.append(group)
    case .redo: current.add(group)
    }
    trim()
    return leftOpen
  }

  private mutating func begin(_ direction: Direction, _ group: Group) {
    performance = Performance(
      direction: direction, remaining: group.actions, label: group.label, isDiscardable: group.isDiscardable)
    performance?.recording.begin()
  }
}

// MARK: - What is known of a step

extension UndoStack {
  /// The label of the user's next step in a direction: while a group is open that has actions, of that one.
  ///
  /// - Parameter direction: The direction.
  /// - Returns: The label; `nil` if it has none, or there's no such step.
  public func label(_ direction: Direction) -> Label? {
    switch direction {
    case .undo: current.actions.isEmpty ? undone.last?.label : current.open.first?.label
    case .redo: redone.last?.label
    }
  }

  /// Whether the user's next step in a direction only alters what need not be saved.
  ///
  /// A group is such a step if it was marked, or consists of groups that are.
  ///
  /// - Parameter direction: The direction.
  /// - Returns: `false` also if there's no such step.
  public func isDiscardable(_ direction: Direction) -> Bool {
    switch direction {
    case .undo:
      current.actions.isEmpty
        ? undone.last?.isDiscardable ?? false
        : current.open.first?.isDiscardable(upTo: current.actions.count) ?? false
    case .redo: redone.last?.isDiscardable ?? false
    }
  }

  /// Whether the innermost open group would be discardable if it were closed now.
  public var isInnermostGroupDiscardable: Bool {
    let recording = performance?.recording ?? current
    return recording.open.last?.isDiscardable(upTo: recording.actions.count) ?? false
  }

  /// Alters the label of all open groups; if none is open, of the user's next undo.
  ///
  /// While an undo or redo is performed, this alters the label of the group that reverses it. Unaltered, that group has the
  /// label of the performed one.
  ///
  /// - Parameter change: Gets the label and alters it.
  public mutating func updateLabel(_ change: (inout Label?) -> Void) {
    if performance == nil && current.open.isEmpty {
      undone.updateLast { change(&$0.label) }
      return
    }
    let inherited = performance?.label
    withRecording { recording in
      for index in recording.open.indices {
        if recording.open[index].label == nil { recording.open[index].label = inherited }
        change(&recording.open[index].label)
      }
    }
  }

  /// Says whether the innermost open group only alters what need not be saved; if none is open, the user's next undo.
  ///
  /// - Parameter isDiscardable: Whether it does.
  public mutating func markDiscardable(_ isDiscardable: Bool) {
    if performance == nil && current.open.isEmpty {
      undone.updateLast { $0.isDiscardable = isDiscardable }
      return
    }
    withRecording { recording in recording.open[recording.open.count - 1].isMarkedDiscardable = isDiscardable }
  }

  /// The properties that don't hold, each in a sentence: none unless there's a mistake in this type.
  ///
  /// - Returns: The sentences.
  /// - Complexity: O(*n*) in the number of groups.
  public func invariantViolations() -> [String] {
    var problems: [String] = []
    for (name, list) in [("undo", undone), ("redo", redone)] {
      if levelsMax > 0 && list.count > levelsMax { problems.append("\(name): \(list.count) of \(levelsMax) levels") }
      if list.contains(where: \.actions.isEmpty) { problems.append("\(name): a group without actions") }
    }
    for recording in [current, performance?.recording].compactMap({ $0 }) {
      if recording.open.isEmpty && !recording.actions.isEmpty { problems.append("actions outside of open groups") }
      var least = 0
      for open in recording.open {
        if open.start < least || open.start > recording.actions.count { problems.append("an open group out of order") }
        least = open.start
        for inner in open.inner {
          if inner.start < least || inner.end <= inner.start || inner.end > recording.actions.count {
            problems.append("a complete group out of order")
          }
          least = inner.end
        }
      }
    }
    if performance != nil && performance?.recording.open.isEmpty != false {
      problems.append("a performance without a record")
    }
    if disabledCount < 0 { problems.append("enabled more often than disabled") }
    return problems
  }
}
