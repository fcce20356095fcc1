internal import FileCoordination
internal import FoundationEssentials
internal import SystemInterface

// Work that neither reads nor writes contents: questions to the program about errors, locks, and grants for places.

extension FileDocument {
  func begin(_ errand: DocumentErrand, for call: CallID?) {
    switch errand {
    case .consult: consult()
    case .setLock(let isLocked):
      let work = work(for: call)
      operation = Offload.begin { await self.end(.setLock(isLocked), await work.setLock(isLocked)) }
    }
  }

  private func end(_ errand: DocumentErrand, _ outcome: ErrandOutcome) {
    operation = nil
    receive(.errandEnded(outcome))
    publish(core.published)
  }

  private func consult() {
    guard let consultation = core.consultation, let handler = options.errorHandler else {
      preconditionFailure("nobody to ask, or nothing to ask about")
    }
    let failure = DocumentFailure(
      activity: consultation.activity, error: consultation.error, url: board.snapshot.url,
      isCalled: consultation.isCalled, attempt: consultation.attempt, hasUnsavedChanges: core.hasUnsavedChanges)
    let clock = options.clock
    operation = Task.detached {
      let decision = try? await ProgramCode.run(atMost: handler.deadline, clock, orFail: .timedOut) {
        await handler.decide(failure)
      }
      await self.end(decision ?? .present)
    }
  }

  private func end(_ decision: DocumentErrorDecision) {
    if case .saveElsewhere(let url, let isReplacing) = decision {
      decidedPlace = CallArgument(url: url, isReplacing: isReplacing)
    }
    end(.consult, .decided(decision.choice))
  }

  // MARK: - The crash journal

  /// Reports the error of the journal that's in the state to the core, once.
  func noteJournalError() {
    let error = board.snapshot.state.journalError
    if isRetryingJournal || error == notedJournalError { return }
    notedJournalError = error
    receive(.journalNoted(error))
  }

  func retryJournal() {
    isRetryingJournal = true
    Task {
      _ = await awaitJournal()
      isRetryingJournal = false
      // The same error is another one now.
      notedJournalError = nil
      noteJournalError()
    }
  }

  // MARK: - Grants and drafts

  /// The place to which the file was moved needs a grant of its own: a look at the file takes it.
  func renewGrantIfMoved() {
    if options.grant != nil, let presence, presence.needsGrant { receive(.itemChanged) }
  }

  /// The file is new, or has the place that the program has chosen.
  func noteDraft(_ kind: DocumentOperation, _ result: DocumentWork<Contents>.Result) {
    switch result.outcome {
    case .done, .doneWithoutVersions, .doneSearching: break
    default: return
    }
    switch kind {
    case .open: hasMadeFile = result.isNew
    case .move, .place: hasMadeFile = false
    case .check, .write, .merge, .keep, .load, .delete, .copy, .listConflicts: break
    }
  }

  /// The program has saved the document on purpose.
  func noteNoDraft() {
    if !hasMadeFile { return }
    hasMadeFile = false
    publish(core.published)
  }
}
