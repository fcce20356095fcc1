// The invariants between events. Tests check them after each step.

extension DocumentCore {
  /// The properties that are violated, one sentence each.
  package var problems: [String] {
    var problems: [String] = []
    if Set(calls.map(\.id)).count != calls.count { problems.append("a call is there twice") }
    if phase == .closed && count.hasChanges { problems.append("a closed document has unsaved changes") }
    if phase != .open {
      if writerCount > 0 || isDeletionAnnounced { problems.append("a file that isn't presented has a writer") }
      if incoming != nil { problems.append("a file that isn't presented has contents to decide about") }
    }
    switch incoming {
    case nil, .found, .unread: break
    case .merging, .keepingTheirs, .keepingMine:
      if !isBusy { problems.append("a decision about contents waits for nothing") }
    }
    if isSearching || hasFoundSomething, phase != .open {
      problems.append("a file that isn't presented is searched for")
    }
    if isSearching, running != nil || errand != nil { problems.append("something is done beside a search") }
    if isSearching, hasWork, !isSearchAwaited {
      problems.append("nobody notices the end of a search that's waited for")
    }
    if running != nil, errand != nil { problems.append("an errand is run beside an operation") }
    if retryCount > Self.retryCountMax { problems.append("a failure is repeated at once without an end") }
    return problems + (isBusy ? [] : problemsAtRest)
  }

  /// Without an operation only the program, or another one, can go on.
  private var problemsAtRest: [String] {
    var problems: [String] = []
    if !questions.isEmpty { problems.append("a question waits for nothing") }
    for call in calls {
      if call.kind != .awaitEditing {
        problems.append("\(call.kind) waits for nothing")
      } else if phase == .closed || editingObstacles.isDisjoint(with: [.lease, .writer]) {
        problems.append("editing is possible, and a call waits for that")
      }
    }
    if needsConsultation { problems.append("nobody asks the program about an error") }
    if !editingObstacles.isSubset(of: [.closed, .lease, .writer, .locked]) {
      problems.append("editing is disabled for ever: \(editingObstacles)")
    }
    guard phase == .open else { return problems }
    if needsCheck { problems.append("nobody reads the contents of another program") }
    if incoming != nil { problems.append("nobody decides about the contents of another program") }
    if needsConflicts || hasFoundSomething { problems.append("nobody lists the conflicts") }
    if wantsReading, !isReadingTimerArmed { problems.append("a file that couldn't be read has no time to be read at") }
    if wantsPlace { problems.append("nobody saves where the program has decided to") }
    if hasUnsavedChanges {
      if wantsAutosave { problems.append("nobody saves, though it's time") }
      if schedule.hasTimes, !isTimerArmed, !isSavingStopped {
        problems.append("unsaved changes have no time to be saved at")
      }
    }
    return problems
  }
}
