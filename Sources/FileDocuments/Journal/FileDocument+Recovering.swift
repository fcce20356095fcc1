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
  ///   - deadline: How long to wait; that of the options unless stated.
  /// - Throws: ``DocumentError``, with code `.recoveryNotFound` if something was decided already or the document was closed,
  ///   `.unreadableContents` if the contents that are to be restored aren't in the document's format, `.versionNotKept`,
  ///   `.journalNotWritten` if the journal can't be removed, for example on a read-only volume, `.cancelled`, or `.timedOut`. The recovery
  ///   is offered still then, and nothing was restored; a version that was requested is kept, and another attempt while the document is open
  ///   keeps no second one, unless the time was over while it was being kept.
  /// - Complexity: O(bytes) if a version is kept.
  /// - Note: Rule CD-60.
  public func resolve(
    _ recovery: DocumentRecovery<Contents>, by decision: DocumentRecovery<Contents>.Decision,
    within deadline: Duration? = nil
  ) async throws(DocumentError) {
    guard let journaling, let orphan = offered(recovery) else { throw Self.notOffered }
    let (work, end) = (journalWork(journaling.journal), endOfWait(deadline))
    switch decision {
    case .discarding: break
    case .keepingAsVersion: try await keep(recovery, orphan.record, work, until: end)
    case .restoring:
      try await restore(recovery, orphan.record, work, until: end)
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
    _ recovery: DocumentRecovery<Contents>, _ record: JournalRecord, _ work: JournalWork<Contents>,
    until end: MonotonicTime?
  ) async throws(DocumentError) {
    if journaling?.kept.contains(recovery.id) == true { return }
    let presence = presence
    if traits.isPackage {
      let contents = try await contents(of: record, work, until: end)
      try await wait(until: end) { try await work.keep(contents, presence) }
    } else {
      try await wait(until: end) { try await work.keep(recovery.bytes, presence) }
    }
    journaling?.kept.insert(recovery.id)
  }

  private func forget(_ recovery: DocumentRecovery<Contents>) {
    journaling?.recoveries.removeAll { $0.id == recovery.id }
    publish(core.published)
  }

  /// The contents of a record; the format may never end with its bytes.
  private func contents(
    of record: JournalRecord, _ work: JournalWork<Contents>, until end: MonotonicTime?
  ) async throws(DocumentError) -> Contents {
    let base = memory.base
    guard let contents = try await wait(until: end, for: { await work.recovered(record, onto: base).contents })
    else { throw Self.unreadable }
    return contents
  }

  /// Replaces the contents, once a version has what nobody else would have any more.
  private func restore(
    _ recovery: DocumentRecovery<Contents>, _ record: JournalRecord, _ work: JournalWork<Contents>,
    until end: MonotonicTime?
  ) async throws(DocumentError) {
    for _ in 0..<Self.attemptCountMax {
      try await waitForEditing(until: end)
      let (revision, savedRevision) = (core.revision, core.savedRevision)
      // The changes of a package are made to what's there now.
      let recovered = try await contents(of: record, work, until: end)
      // The file may have changed since the recovery was found: by another program, or by a save of this document.
      let isLater = memory.base?.tag.description != recovery.baseHash
      if hasUnsavedChanges || isLater, let contents = memory.contents {
        let presence = presence
        try await wait(until: end) { try await work.keep(contents, presence) }
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
  /// - Parameter deadline: How long to wait; that of the options unless stated.
  /// - Throws: ``DocumentError`` with code `.journalNotWritten`: the unsaved contents are in memory alone, or in an older record, and
  ///   another attempt follows later. With code `.cancelled` or `.timedOut` the record is still being written.
  /// - Complexity: O(bytes).
  /// - Note: Rule CD-61.
  public func writeJournal(within deadline: Duration? = nil) async throws(DocumentError) {
    if let error = try await wait(until: endOfWait(deadline), for: { await self.awaitJournal() }) { throw error }
  }
}
