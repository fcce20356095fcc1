@testable import FileDocuments

// Questions to the program about errors, and locks.

extension DocumentModel {
  var errandActions: [Action] {
    switch errand {
    case nil: return []
    case .consult:
      let isSaving = core.consultation?.activity == .saving || core.consultation?.activity == .keepingVersion
      let choices = RecoveryChoice.allCases.filter { choice in
        switch choice {
        // More of them in a row lead to nothing else, up to the limit.
        case .retryNow: core.retryCount < 2
        case .saveElsewhere, .stopSaving: isSaving
        case .present, .retryLater: true
        }
      }
      return choices.map { .endErrand(.decided($0)) }
    case .setLock:
      let failures: [Action] =
        isErrandCancelled
        ? [.endErrand(.failed(.cancelled))]
        : failureCount > 0 ? [.endErrand(.failed(DocumentError(.coordination, "failed")))] : []
      return (file == nil ? [.endErrand(.failed(.fileDeleted))] : [.endErrand(.done)]) + failures
    }
  }

  mutating func end(_ outcome: ErrandOutcome, _ mutant: DocumentMutant?) {
    guard let ended = errand else { return }
    errand = nil
    let activity = core.consultation?.activity
    switch (ended, outcome) {
    case (.setLock(let isLocked), .done): isFileLocked = isLocked
    case (.setLock, .failed(let error)): if error.code == .coordination { failureCount -= 1 }
    // A file that couldn't be read is read again.
    case (.consult, .decided(.retryLater)): if activity != .reloading { hidesErrors = true }
    default: break
    }
    let isLast = core.retryCount == DocumentCore.retryCountMax
    receive(.errandEnded(outcome), mutant)
    // The properties of decisions about saves.
    guard activity == .saving || activity == .keepingVersion, !isLast, core.phase == .open else { return }
    switch outcome {
    case .decided(.retryNow):
      if core.published.hasUnsavedChanges, operation == nil, errand == nil {
        violation = "nothing begins after the decision to try again at once"
      }
    case .decided(.saveElsewhere):
      if operation?.kind != .place, errand == nil { violation = "the place that the program has decided on isn't used" }
    default: break
    }
  }
}
