internal import ContentHashing
internal import FoundationEssentials
internal import SystemInterface

// From the document's events to those of its journal, and from that one's effects to actions.

extension FileDocument {
  /// Reports the unsaved contents to the journal after each event of the document, if they have changed.
  func noteForJournal() {
    guard let journaling else { return }
    if core.phase == .closed {
      // A format that never ends keeps nobody: neither the record nor the contents of others are needed any more.
      journaling.writing?.cancel()
      journaling.search?.cancel()
      dropRecoveries()
    }
    if core.savedRevision > journaling.core.saved { receiveForJournal(.saved(core.savedRevision)) }
    let stamp = core.hasUnsavedChanges ? journalStamp : nil
    if stamp != self.journaling?.core.target { receiveForJournal(.changed(stamp)) }
  }

  private var journalStamp: JournalStamp {
    JournalStamp(revision: core.revision, base: memory.base?.tag, move: journaling?.moveCount ?? 0)
  }

  /// The file is somewhere else, which the journal has to know.
  func noteMoveForJournal() {
    journaling?.moveCount += 1
    noteForJournal()
  }

  func receiveForJournal(_ event: JournalEvent) {
    guard var journaling else { return }
    let former = journaling.core.error
    let effects = journaling.core.receive(event, at: options.clock.now)
    self.journaling = journaling
    for effect in effects { carryOut(effect) }
    if former != journaling.core.error { publish(core.published) }
  }

  private func carryOut(_ effect: JournalEffect) {
    guard let journaling else { return }
    switch effect {
    case .armTimer(let time):
      _ = options.clock.schedule(at: time) { [weak self] in Task { await self?.receiveForJournal(.timerFired) } }
    case .write:
      guard let contents = memory.contents else { preconditionFailure("unsaved changes without contents") }
      let (work, base, file) = (journalWork(journaling.journal), memory.base, journaling.file)
      let replaced = journaling.replaced.sorted()
      self.journaling?.writing = Task {
        let error = await work.write(contents, base, replacing: replaced, to: file)
        self.journaling?.writing = nil
        receiveForJournal(.written(error))
      }
    case .remove:
      let (work, file) = (journalWork(journaling.journal), journaling.file)
      Task { receiveForJournal(.removed(await work.remove(file))) }
    case .release(let name):
      guard let orphan = self.journaling?.orphans.removeValue(forKey: name) else { return }
      let (work, former) = (journalWork(journaling.journal), journaling.releasing)
      // If it can't be removed it's offered once more, and then needless.
      self.journaling?.releasing = Task {
        await former?.value
        if await work.remove(orphan) == nil { self.journaling?.replaced.remove(name) }
      }
    case .finish(let id, let error): self.journaling?.waiting.removeValue(forKey: id)?.resume(returning: error)
    }
  }

  func journalWork(_ journal: CrashJournal) -> JournalWork<Contents> {
    JournalWork(format: format, options: options, journal: journal, url: board.snapshot.url)
  }

  /// Waits until the journal has what is unsaved, or is gone because nothing is.
  func awaitJournal() async -> DocumentError? {
    guard var journaling else { return nil }
    journaling.lastWait += 1
    let id = JournalWaitID(number: journaling.lastWait)
    self.journaling = journaling
    return await withCheckedContinuation { continuation in
      self.journaling?.waiting[id] = continuation
      receiveForJournal(.awaited(id))
    }
  }

  /// Before a call that closes the document returns: nothing needs the journal any more.
  ///
  /// If that takes longer, or the caller is cancelled, the call has ended nevertheless.
  func awaitEndOfJournal(until end: MonotonicTime?) async {
    guard journaling != nil, core.phase == .closed else { return }
    try? await wait(until: end) {
      _ = await self.awaitJournal()
      await self.journaling?.releasing?.value
      // Another document gets the journals of others that this one has taken.
      await self.journaling?.search?.value
    }
  }

  // MARK: - Those of other processes

  /// Looks for what killed processes have left behind, once the document is open.
  ///
  /// The document is open however long that takes: a format may never end with the bytes of a journal. The search goes on then.
  func awaitRecoveries(until end: MonotonicTime?) async {
    guard let journaling, core.phase != .closed else { return }
    let former = journaling.search
    let search = Task { [weak self] in
      await former?.value
      await self?.findRecoveries()
    }
    self.journaling?.search = search
    try? await wait(until: end) { await search.value }
  }

  private func findRecoveries() async {
    guard let journaling, core.phase != .closed, !Task.isCancelled else { return }
    let work = journalWork(journaling.journal)
    let (found, error) = await work.takeOrphans(onto: memory.base)
    // Closed meanwhile: they're for the next one.
    if core.phase == .closed || Task.isCancelled { return }
    self.journaling?.searchError = error
    for (orphan, recovered) in found { await note(orphan, recovered, work) }
    publish(core.published)
  }

  private func note(
    _ orphan: JournalOrphan, _ recovered: RecoveredContents<Contents>, _ work: JournalWork<Contents>
  ) async {
    let (header, bytes) = (orphan.record.header, orphan.record.contents)
    let hash = memory.base?.tag
    // Its process was killed after the save, and before the journal was gone.
    if recovered.isNeedless {
      _ = await work.remove(orphan)
      return
    }
    journaling?.orphans[orphan.held.name] = orphan
    journaling?.recoveries.append(
      DocumentRecovery(
        id: orphan.held.name, contents: recovered.contents, bytes: Data(bytes),
        date: Date(timeIntervalSince1970: Double(header.time) / 1e9), baseHash: header.base?.description,
        fileHasChanged: header.base != hash, missingMembers: recovered.missing, changedMembers: recovered.changed))
  }

  /// Nothing was decided: they stay where they are, for the next one.
  private func dropRecoveries() {
    guard let journaling, !journaling.recoveries.isEmpty else { return }
    for recovery in journaling.recoveries { self.journaling?.orphans[recovery.id] = nil }
    self.journaling?.recoveries = []
    publish(core.published)
  }
}
