internal import ContentHashing
internal import FoundationEssentials
internal import Observation
internal import SystemInterface

// The calls for a program's crash journal, and for those of programs that were killed.

extension FileDocument {
  private static var attemptCountMax: Int { 16 }

  /// The unsaved contents of processes that were killed while they had the file open; oldest first.
  ///
  /// Found when the document is opened with ``DocumentOptions/crashJournal``; the state has ``DocumentState/Conditions/recoverable`` as
  /// long as there's any. Other processes don't get them meanwhile. Those about which nothing is decided are offered again at the next
  /// time.
  ///
  /// Journals that can't be removed, on a read-only volume for example, are offered as well, at each open and to several processes at
  /// once. Restored contents can be saved elsewhere then, see ``save(as:replacing:within:)``.
  ///
  /// - Note: Rule CD-60.
  public var recoveries: [DocumentRecovery<Contents>] {
    noteAccess()
    return journaling?.recoveries ?? []
  }

  /// Decides what becomes of contents that a killed process had not saved.
  ///
  /// - Parameters:
  ///   - recovery: One of ``recoveries``.
  ///   - decision: The decision about it. When its contents are restored, their journal stays until they're in the document's own
  ///     one, or saved.
  /// - Throws: ``DocumentError``, with code `.recoveryNotFound` if something was decided already or the document was closed,
  ///   `.unreadableContents` if the contents that are to be restored aren't in the document's format, `.versionNotKept`, or
  ///   `.journalNotWritten` if the journal can't be removed, for example on a read-only volume. The recovery is offered still then; a
  ///   version that was requested is kept, and another attempt while the document is open keeps no second one.
  /// - Complexity: O(bytes) if a version is kept.
  /// - Note: Rule CD-60.
  public func resolve(
    _ recovery: DocumentRecovery<Contents>, by decision: DocumentRecovery<Contents>.Decision
  ) async throws(DocumentError) {
    guard let journaling, let orphan = offered(recovery) else { throw Self.notOffered }
    let work = journalWork(journaling.journal)
    switch decision {
    case .discarding: break
    case .keepingAsVersion: try await keep(recovery, orphan.record, work)
    case .restoring:
      try await restore(recovery, orphan.record, work)
      forget(recovery)
      return receiveForJournal(.adopted(revision: core.revision, journal: recovery.id))
    }
    if let error = await work.remove(orphan) { throw error }
    forget(recovery)
    self.journaling?.orphans[recovery.id] = nil
  }

  private func offered(_ recovery: DocumentRecovery<Contents>) -> JournalOrphan? {
    guard let journaling, journaling.recoveries.contains(where: { $0.id == recovery.id }) else { return nil }
    return journaling.orphans[recovery.id]
  }

  private static var unreadable: DocumentError {
    DocumentError(
      .unreadableContents,
      "The document's format can't read the recovered contents. Keep it as a version, or use its bytes.")
  }

  private static var notOffered: DocumentError {
    DocumentError(
      .recoveryNotFound,
      "There's nothing to decide about: it was decided already, or the document was closed meanwhile.")
  }

  private func keep(
    _ recovery: DocumentRecovery<Contents>, _ record: JournalRecord, _ work: JournalWork<Contents>
  ) async throws(DocumentError) {
    if journaling?.kept.contains(recovery.id) == true { return }
    if traits.isPackage {
      guard let contents = await work.recovered(record, onto: memory.base).contents else { throw Self.unreadable }
      try await work.keep(contents, presence)
    } else {
      try await work.keep(recovery.bytes, presence)
    }
    journaling?.kept.insert(recovery.id)
  }

  private func forget(_ recovery: DocumentRecovery<Contents>) {
    journaling?.recoveries.removeAll { $0.id == recovery.id }
    publish(core.published)
  }

  /// Replaces the contents, once a version has what nobody else would have any more.
  private func restore(
    _ recovery: DocumentRecovery<Contents>, _ record: JournalRecord, _ work: JournalWork<Contents>
  ) async throws(DocumentError) {
    for _ in 0..<Self.attemptCountMax {
      while core.editingError != nil { try await call(.awaitEditing, nil, nil) }
      let (revision, savedRevision) = (core.revision, core.savedRevision)
      // The changes of a package are made to what's there now.
      guard let recovered = await work.recovered(record, onto: memory.base).contents else { throw Self.unreadable }
      // The file may have changed since the recovery was found: by another program, or by a save of this document.
      let isLater = memory.base?.tag.description != recovery.baseHash
      if hasUnsavedChanges || isLater, let contents = memory.contents {
        try await work.keep(contents, presence)
      }
      if offered(recovery) == nil { throw Self.notOffered }
      // Edited meanwhile: that has to be kept as well. Or saved: a package is in another directory then.
      if core.revision != revision || core.savedRevision != savedRevision || core.editingError != nil { continue }
      // From here on a record of this document's journal stands for that journal.
      journaling?.replaced.insert(recovery.id)
      do { try editNow { $0 = recovered } } catch {
        journaling?.replaced.remove(recovery.id)
        throw error
      }
      return
    }
    throw DocumentError(
      .timedOut, "The contents are edited all the time, so nothing was restored. Disable editing while you restore.")
  }

  /// Writes the crash journal now, and waits until it has what is unsaved.
  ///
  /// Without unsaved changes, or without a journal, nothing is written. Edits that are made meanwhile may be missing
  /// from it.
  ///
  /// - Throws: ``DocumentError`` with code `.journalNotWritten`: the unsaved contents are in memory alone, or in an older record.
  ///   Another attempt follows later.
  /// - Complexity: O(bytes).
  /// - Note: Rule CD-61.
  public func writeJournal() async throws(DocumentError) {
    if let error = await awaitJournal() { throw error }
  }
}
