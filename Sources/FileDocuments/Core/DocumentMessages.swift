package import SystemInterface

/// Names a call of the program, as long as it isn't finished.
package struct CallID: Hashable, Sendable {
  package let number: UInt64
  package init(_ number: UInt64) { self.number = number }
}

/// Names a question to the document as a presenter, as long as it isn't answered.
package struct QuestionID: Hashable, Sendable {
  package let number: UInt64
  package init(_ number: UInt64) { self.number = number }
}

/// A request of the program to a document.
package enum DocumentCall: Hashable, Sendable {
  case open
  /// Waits until contents can be changed.
  case awaitEditing
  case save
  case close(isDiscarding: Bool)
  /// Goes back to what is saved, or to the contents of another file.
  case revert(isElsewhere: Bool)
  case move
  case delete
  case duplicate
  /// Locks the file, or unlocks it.
  case setLock(Bool)
  /// Writes the contents to a new file, which is the document's from then on.
  case saveElsewhere
  /// The same, also for a document that's closed: the program has made the contents.
  case create
}

/// Why a call ends before it's done.
package enum Withdrawal: Hashable, Sendable {
  case cancelled
  case timedOut

  var error: DocumentError {
    switch self {
    case .cancelled: .cancelled
    case .timedOut: .timedOut
    }
  }
}

/// An event of a document.
package enum DocumentEvent: Hashable, Sendable {
  // The program.
  case called(CallID, DocumentCall)
  case withdrawn(CallID, Withdrawal)
  /// The contents were changed, which was possible.
  case edited(DocumentEdit, size: Int)
  /// The contents were changed, although that was disabled perhaps; of a closed document that's none of the core's business.
  case editedRegardless(DocumentEdit, size: Int)
  case leaseTaken
  case leaseEnded
  /// The program has put the contents that a token names into the file by itself.
  case tokenSaved(DocumentEditToken)

  // Messages to the presenter; those to former ones are answered elsewhere.
  /// Another program is about to write. It may do so as soon as the effects are carried out.
  case writerArrived
  /// That program has ended.
  case writerLeft
  case saveAsked(QuestionID)
  /// The item is about to be deleted or replaced by the writer that has arrived.
  case deletionAsked
  /// Another program may have changed the contents.
  case itemChanged
  case versionsChanged

  /// The file is locked, or isn't any more.
  case lockSeen(Bool)
  /// The write that fails next has put its contents in their place, and can't promise that they stay there. They lie ready.
  case placedAndFailed
  /// The crash journal couldn't be written or read, or that's over.
  case journalNoted(DocumentError?)

  /// The time has come for which the timer was armed.
  case timerFired
  /// The time has come for which the timer of reading was armed.
  case readingTimerFired

  /// The operation has ended. It can't be the one before: there's one at a time.
  case completed(OperationOutcome)
  /// The search that an open has begun has ended.
  case searchEnded(hasFound: Bool)
  /// The errand has ended; there's one at a time, and none beside an operation.
  case errandEnded(ErrandOutcome)
}

/// Work that neither reads nor writes contents, when no operation runs.
package enum DocumentErrand: Hashable, Sendable {
  /// Asks the program about an error: ``DocumentCore/consultation`` says which one.
  case consult
  /// Locks the file, or unlocks it.
  case setLock(Bool)
}

/// How an errand ended.
package enum ErrandOutcome: Hashable, Sendable {
  /// `setLock`: it's so.
  case done
  /// `setLock`.
  case failed(DocumentError)
  /// `consult`.
  case decided(RecoveryChoice)
}

/// The consequence of an error, as the program has decided.
package enum RecoveryChoice: String, Hashable, Sendable, CaseIterable {
  /// The state has the error.
  case present
  case retryNow
  /// The state doesn't have the error, and the next attempt comes at its usual time.
  case retryLater
  /// The runner knows the place.
  case saveElsewhere
  /// Nothing is saved by itself until the next edit.
  case stopSaving
}

/// Work with files, or with foreign code: one at a time for each document.
package enum DocumentOperation: Hashable, Sendable {
  /// Reads the file and registers the presenter, in one access.
  case open
  /// Reads the file, and compares it with the base.
  case check
  /// Writes the contents, unless the file isn't the base any more.
  case write
  /// Asks the program to merge its contents with the incoming ones.
  case merge
  /// Keeps what is about to be discarded as a version of the file.
  case keep(KeptContents)
  /// Reads what the document goes back to.
  case load(isElsewhere: Bool)
  case move
  case delete
  /// Copies the file.
  case copy
  /// Makes a new file with the contents, and registers the presenter there.
  case place
  /// Counts the conflicts of the file that aren't resolved.
  case listConflicts
}

/// Which contents become a version.
package enum KeptContents: Hashable, Sendable {
  /// Those of the document.
  case mine
  /// Those that another program wrote.
  case theirs
}

/// How an operation ended.
package enum OperationOutcome: Hashable, Sendable {
  /// It did what it was to do; `check`: the file has the contents with which the operation began.
  case done
  /// `open`: the same, and the file has no versions.
  case doneWithoutVersions
  /// `open`: the same, and a search for leftovers and versions goes on.
  case doneSearching
  case failed(DocumentError)
  /// `check`: the file is the base.
  case unchanged
  /// `check` and `write`: the file isn't the base. Its contents lie ready, and the format can perhaps not read them.
  case differs(unreadable: DocumentError?)
  /// `check` and `write`: the file isn't the base. Its contents weren't loaded, because something was unsaved when the operation began.
  case differsUnread
  /// `check`, `write` and `load`: there's no file.
  case missing
  /// `merge`: the program has put both together.
  case merged
  /// `merge`: the incoming contents become those of the document.
  case tookTheirs
  /// `merge`: the document keeps its contents.
  case keptMine
  /// `keep` of theirs: it did, and those of the document have become other ones, which has theirs where they weren't altered.
  case keptAndRebased
  /// `listConflicts`.
  case conflicts(Bool)
}

extension OperationOutcome {
  /// Whether the file isn't the base.
  package var isDifference: Bool {
    switch self {
    case .differs, .differsUnread: true
    default: false
    }
  }
}

/// The change of the contents in memory after an operation.
package enum MemoryChange: Hashable, Sendable {
  /// The contents that were read become the contents in memory, and the base.
  case adoptIncoming
  /// The contents that were read become the contents in memory; the base remains.
  case useIncoming
  /// The contents that were read become the base; the contents in memory remain.
  case rebase
  /// The contents that were merged become the contents in memory, and those that were read become the base.
  case useMerged
  /// The contents that were written become the base.
  case noteWritten
  /// The contents that were read aren't needed.
  case dropIncoming
  /// The document is closed.
  case forget

  /// Whether the contents are other ones afterwards than the program has made.
  var replacesContents: Bool {
    switch self {
    case .adoptIncoming, .useIncoming, .useMerged, .forget: true
    case .rebase, .noteWritten, .dropIncoming: false
    }
  }
}

/// An order to the runner.
///
/// Orders are carried out in their sequence, without a gap.
package enum DocumentEffect: Hashable, Sendable {
  /// Begin an operation, with the contents as they are now.
  case begin(DocumentOperation, for: CallID?)
  /// Begin an errand.
  case beginErrand(DocumentErrand, for: CallID?)
  /// Let the operation, or the errand, fail if nothing has been done yet.
  case cancelOperation
  case change(MemoryChange)
  /// The presenter that the operation has registered is the document's from now on, and the former one's registration ends.
  case present
  /// End the registration of the presenter.
  case unpresent
  case finish(CallID, DocumentError?, didSave: Bool)
  case answer(QuestionID, DocumentError?)
  /// Arm the timer, which isn't armed.
  case armTimer(MonotonicTime)
  /// Arm the timer of reading, which isn't armed.
  case armReadingTimer(MonotonicTime)
  /// Report the end of the search as soon as it comes: something waits for it. Otherwise it's enough to report that before the next event, unless
  /// something was found.
  case awaitSearch
  /// Write the crash journal now, and report whether that has failed.
  case retryJournal
  case publish(DocumentState)
}
