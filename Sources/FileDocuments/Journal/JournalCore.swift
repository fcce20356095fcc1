internal import ContentHashing
internal import SystemInterface

/// Names what a journal has to have.
struct JournalStamp: Hashable, Sendable {
  /// The contents.
  var revision: UInt64
  /// The contents from which they were made.
  var base: ContentHash?
  /// How often the file has moved.
  var move = 0
}

/// Names a wait for a journal.
struct JournalWaitID: Hashable, Sendable {
  let number: UInt64
}

/// Something that a journal has to know.
enum JournalEvent: Hashable, Sendable {
  /// The unsaved contents have changed; `nil` if nothing is unsaved.
  case changed(JournalStamp?)
  /// The file has the contents up to this revision.
  case saved(UInt64)
  /// Somebody waits until all of that is on the disk.
  case awaited(JournalWaitID)
  /// Contents that the journal of another process has were made those of the document, with this revision.
  case adopted(revision: UInt64, journal: String)
  case timerFired
  /// The record is written.
  case written(DocumentError?)
  /// The journal's files are gone.
  case removed(DocumentError?)
}

/// An order to the runner of a journal.
enum JournalEffect: Hashable, Sendable {
  /// Arm the timer, also if it's armed for a later time.
  case armTimer(MonotonicTime)
  /// Write the contents as they are now; the stamp is theirs.
  case write(JournalStamp)
  /// Remove the files of the journal.
  case remove
  /// Remove the journal of another process: its contents are safe elsewhere.
  case release(journal: String)
  case finish(JournalWaitID, DocumentError?)
}

/// Decides when the journal of a document is written and removed: a value without thread, clock or file.
///
/// After each event it settles, as ``DocumentCore`` does: at most one operation runs, and whatever is to be done is begun as soon as it can
/// be. ``problems`` states what holds between events.
struct JournalCore: Hashable, Sendable {
  enum Operation: Hashable, Sendable {
    case write(JournalStamp)
    case remove
  }

  private struct Wait: Hashable, Sendable {
    let id: JournalWaitID
    /// The contents that have to be on the disk, or not unsaved any more.
    let revision: UInt64
  }

  private struct Adoption: Hashable, Sendable {
    let revision: UInt64
    let journal: String
  }

  private static let doublingCountMax = 6

  let delay: Duration
  /// The unsaved contents.
  private(set) var target: JournalStamp?
  /// The newest contents that the file has or had: a record of them, or of earlier ones, isn't needed any more.
  private(set) var saved: UInt64 = 0
  /// The contents of a whole record on the disk.
  private(set) var kept: JournalStamp?
  /// Whether there may be files, whole or not.
  private(set) var hasFiles = false
  private(set) var running: Operation?
  /// When what is to be done is begun at the latest.
  private(set) var due: MonotonicTime?
  /// The time for which the timer was armed last, until it fires; one for a later time may fire as well.
  private(set) var armed: MonotonicTime?
  private var failureCount = 0
  private var waits: [Wait] = []
  private var adoptions: [Adoption] = []
  /// Why the last attempt has failed.
  private(set) var error: DocumentError?

  init(delay: Duration) { self.delay = delay }

  /// Takes an event.
  ///
  /// - Parameters:
  ///   - event: The event that occurred.
  ///   - now: When.
  /// - Returns: The effects to carry out, in order.
  mutating func receive(_ event: JournalEvent, at now: MonotonicTime) -> [JournalEffect] {
    var effects: [JournalEffect] = []
    switch event {
    case .changed(let stamp):
      if (stamp == nil) != (target == nil) { due = nil }
      target = stamp
    case .saved(let revision): saved = max(saved, revision)
    case .awaited(let id): waits.append(Wait(id: id, revision: target?.revision ?? 0))
    case .adopted(let revision, let journal): adoptions.append(Adoption(revision: revision, journal: journal))
    case .timerFired: armed = nil
    case .written(let error): noteWritten(error, at: now, &effects)
    case .removed(let error): noteRemoved(error, at: now, &effects)
    }
    settle(at: now, &effects)
    return effects
  }

  private mutating func noteWritten(_ error: DocumentError?, at now: MonotonicTime, _ effects: inout [JournalEffect]) {
    guard case .write(let stamp)? = running else { preconditionFailure("written while \(String(describing: running))") }
    running = nil
    // Nobody needs a record of what isn't unsaved any more: its remains go as it would.
    if let error, target != nil { return noteFailure(error, at: now, &effects) }
    if error == nil { kept = stamp }
    noteSuccess()
  }

  private mutating func noteRemoved(_ error: DocumentError?, at now: MonotonicTime, _ effects: inout [JournalEffect]) {
    precondition(running == .remove, "removed while \(String(describing: running))")
    running = nil
    if let error { return noteFailure(error, at: now, &effects) }
    kept = nil
    hasFiles = false
    // Edits that came since the save have their time already.
    let former = target == nil ? nil : due
    noteSuccess()
    due = former
  }

  private mutating func noteSuccess() {
    error = nil
    failureCount = 0
    due = nil
  }

  /// Waiting callers get the error; the next attempt comes later each time.
  private mutating func noteFailure(_ error: DocumentError, at now: MonotonicTime, _ effects: inout [JournalEffect]) {
    self.error = error
    failureCount += 1
    due = now.advanced(by: delay * (1 << min(failureCount, Self.doublingCountMax)))
    effects += waits.map { .finish($0.id, error) }
    waits = []
  }

  private mutating func settle(at now: MonotonicTime, _ effects: inout [JournalEffect]) {
    finish(&effects)
    if running != nil { return }
    guard let wish else {
      due = nil
      if target == nil { error = nil }
      return
    }
    // Files that aren't needed any more go at once, unless that has failed.
    let isUrgent = !waits.isEmpty || (wish == .remove && (due == nil || isOutdated))
    let due = due ?? now.advanced(by: delay)
    if isUrgent || due <= now {
      begin(wish, &effects)
    } else {
      self.due = due
      if armed.map({ due < $0 }) ?? true {
        armed = due
        effects.append(.armTimer(due))
      }
    }
  }

  /// The operation that is due; `nil` if the disk is as it has to be.
  private var wish: Operation? {
    // The news that contents are saved comes before the one that nothing is unsaved, and maybe when their record is due.
    guard let target, target.revision > saved else { return hasFiles ? .remove : nil }
    if isOutdated { return .remove }
    return kept == target ? nil : .write(target)
  }

  /// Whether the record was saved over: it would be offered to the next program, although the file has later contents.
  ///
  /// A record that can't be removed is replaced by the next one.
  private var isOutdated: Bool {
    guard let target, let kept, failureCount == 0 else { return false }
    return kept.revision <= saved && saved < target.revision
  }

  private mutating func begin(_ operation: Operation, _ effects: inout [JournalEffect]) {
    running = operation
    switch operation {
    case .write(let stamp):
      hasFiles = true
      effects.append(.write(stamp))
    case .remove:
      // From the first call on none of the records may be there.
      kept = nil
      effects.append(.remove)
    }
  }

  private mutating func finish(_ effects: inout [JournalEffect]) {
    let keptRevision = kept?.revision
    func isSafe(_ revision: UInt64) -> Bool {
      target == nil || saved >= revision || keptRevision.map { $0 >= revision } ?? false
    }
    for adoption in adoptions where isSafe(adoption.revision) { effects.append(.release(journal: adoption.journal)) }
    adoptions.removeAll { isSafe($0.revision) }
    func isDone(_ wait: Wait) -> Bool { isSafe(wait.revision) && (target != nil || !hasFiles) }
    for wait in waits where isDone(wait) { effects.append(.finish(wait.id, nil)) }
    waits.removeAll(where: isDone)
  }

  /// The properties that are violated, one sentence each.
  var problems: [String] {
    var problems: [String] = []
    if kept != nil && !hasFiles { problems.append("a record is in no file") }
    if running == nil {
      if isOutdated { problems.append("a record stays that was saved over") }
      if wish != nil && armed == nil { problems.append("no timer will begin the operation that is due") }
      if let target, let kept, kept.revision > target.revision {
        problems.append("the record is newer than the contents")
      }
      if !waits.isEmpty { problems.append("somebody waits for nothing") }
      if wish != nil && due == nil { problems.append("the operation that is due has no time") }
    }
    return problems
  }
}
