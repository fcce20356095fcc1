internal import KeyValueReplicas
internal import SystemInterface

/// The work of one replica in a shared folder.
///
/// Functions block for system calls; any thread may call them at once.
///
/// A change is carried out when its file gets its name: link(2) gives a name once. So all agree on the order, and a process that ends at
/// any call leaves the whole change or nothing. Now and then a process writes a file with everything, and removes old changes. The number of a
/// removed change is free again for a process that stood still since it has looked. So each reader and writer looks at the newest such file
/// *after* it has read or written a change: if it names the number as removed, the change is none.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `cache` | its lock | any thread puts what it has read; a state is never altered in place |
final class FolderContents: Sendable {
  /// How many changes are kept, and how many make a file with everything due.
  struct Compaction: Hashable, Sendable {
    /// So many changes after the last file with everything, the next one is written.
    var interval: Int64 = 256
    /// So many of the last changes stay for those who were away.
    var keptCount: Int64 = 128
    /// So many removed keys are kept.
    var removalCountMax = 4096
  }

  /// A state, and the directory that it was read from.
  struct Known: Hashable, Sendable {
    var state: SharedState
    var identity: FileIdentity
    /// The revision of the newest file with everything.
    var valuesRevision: Int64
  }

  private static let attemptCountMax = 64
  private static let missingCountMax = 3
  private static let uploadAttemptCountMax = 1024

  let folder: FolderFiles
  let replica: ReplicaID
  private let limits: StoreLimits
  private let compaction: Compaction
  private let cache = Guarded<Known?>(nil)

  init(_ folder: FolderFiles, _ replica: ReplicaID, _ limits: StoreLimits, _ compaction: Compaction = Compaction()) {
    self.folder = folder
    self.replica = replica
    self.limits = limits
    self.compaction = compaction
  }

  /// Everything up to the last change.
  func readAll() throws(SharedStorageFailure) -> SharedBatch {
    try folder.withDirectory { (directory) throws(SharedStorageFailure) in
      try current(directory).state.everything(for: replica)
    }
  }

  // MARK: Uploads

  func upload(
    _ upload: Upload, isCancelled: () -> Bool = { false }
  ) throws(SharedStorageFailure) -> UploadOutcome {
    try folder.withDirectory { (directory) throws(SharedStorageFailure) in
      for _ in 0..<Self.uploadAttemptCountMax {
        if isCancelled() { throw SharedStorageFailure(.unreachable, "the task was cancelled before the upload") }
        let known = try current(directory)
        switch known.state.decision(on: upload, of: replica, limits) {
        case .outdated: return .outdated
        case .overQuota: return .overQuota
        case .change(let change):
          switch try folder.make(change, directory) {
          case .taken: continue
          case .unknown: return .unknown
          case .made: if let outcome = settle(change, known, directory) { return outcome }
          }
        }
      }
      throw SharedStorageFailure(
        .unreachable, "other devices write to '\(folder.path)' all the time, so that no upload was the next one")
    }
  }

  /// Finds out whether a change whose file was made is part of the history.
  ///
  /// - Returns: `nil` if it isn't.
  private func settle(_ change: SharedTransaction, _ known: Known, _ directory: FileDescriptor) -> UploadOutcome? {
    guard let survey = try? folder.survey(directory) else { return .unknown }
    if survey.floor >= change.revision {
      // Many changes have come since the state was read. Either this one was the first of them, or its number was free again.
      cache.withLock { $0 = nil }
      guard let next = try? current(directory) else { return .unknown }
      let last = next.state.acknowledgement(of: replica)
      guard let last, last.upload == change.upload else { return nil }
      return .applied(revision: last.revision)
    }
    var next = known
    next.state.apply(change)
    keep(next)
    if change.revision - known.valuesRevision >= compaction.interval { compact(next, directory) }
    return .applied(revision: change.revision)
  }

  // MARK: The state

  private func keep(_ known: Known) {
    cache.withLock { cache in
      if let cache, cache.identity == known.identity, cache.state.revision > known.state.revision { return }
      cache = known
    }
  }

  /// Reads what has come since the last call.
  private func current(_ directory: FileDescriptor) throws(SharedStorageFailure) -> Known {
    var (start, missingCount) = (cache.withLock { $0 }, 0)
    for _ in 0..<Self.attemptCountMax {
      if start == nil { start = try first(directory) }
      guard var known = start else { continue }
      let revision = known.state.revision
      while let change = try folder.change(known.state.revision + 1, directory) { known.state.apply(change) }
      let survey = try folder.survey(directory)
      known.valuesRevision = survey.newestValues?.revision ?? 0
      switch survey.identity == known.identity
        ? survey.verdict(from: revision, to: known.state.revision) : .tooOld
      {
      case .right:
        keep(known)
        return known
      case .tooOld:
        start = nil
        cache.withLock { $0 = nil }
      case .incomplete where known.state.revision > revision:
        start = known
        missingCount = 0
      case .incomplete:
        missingCount += 1
        if missingCount > Self.missingCountMax { throw missing(revision + 1) }
      }
    }
    throw SharedStorageFailure(.unreachable, "'\(folder.path)' is altered so fast that it can't be read")
  }

  /// - Returns: The newest file with everything; `nil` if it was removed meanwhile.
  private func first(_ directory: FileDescriptor) throws(SharedStorageFailure) -> Known? {
    let survey = try folder.survey(directory)
    guard let values = survey.newestValues else {
      return Known(state: SharedState(), identity: survey.identity, valuesRevision: 0)
    }
    return try folder.state(values, directory).map {
      Known(state: $0, identity: survey.identity, valuesRevision: values.revision)
    }
  }

  private func missing(_ revision: Int64) -> SharedStorageFailure {
    let file = folder.path.appending(FolderName.change(revision).path)
    return SharedStorageFailure(
      .damaged,
      "'\(file)' is missing, and later changes are there: another program has removed it. Restore it from a backup; or move the directory away, and devices begin a new one."
    )
  }

  // MARK: The history

  /// The change after a revision.
  ///
  /// - Parameters:
  ///   - revision: The revision.
  ///   - identity: The directory whose changes are read; set by the first call.
  /// - Returns: `nil` if there's none yet.
  /// - Throws: `gap` if it isn't kept any more; errors of reading.
  func next(
    after revision: Int64, in identity: inout FileIdentity?
  ) throws(SharedStorageFailure) -> SharedTransaction? {
    let (change, found) = try folder.withDirectory { (directory) throws(SharedStorageFailure) in
      var isKept = true
      for _ in 0...Self.missingCountMax {
        let change = try folder.change(revision + 1, directory)
        let survey = try folder.survey(directory)
        let isSame = identity.map { $0 == survey.identity } ?? true
        if !isSame || survey.floor > revision || survey.revision < revision { throw gap(revision) }
        switch survey.verdict(from: revision, to: revision + (change == nil ? 0 : 1)) {
        case .right: return (change, survey.identity)
        case .incomplete where change != nil: return (change, survey.identity)
        // It may have been made after it was looked for, and before the survey.
        case .tooOld: isKept = false
        case .incomplete: isKept = true
        }
      }
      throw isKept ? missing(revision + 1) : gap(revision)
    }
    identity = found
    return change
  }

  private func gap(_ revision: Int64) -> SharedStorageFailure {
    SharedStorageFailure(.gap, "changes after \(revision) aren't kept any more in '\(folder.path)'")
  }

  // MARK: Compaction

  /// Writes a file with everything, and removes files that nobody needs any more.
  ///
  /// Another process does it later if this one can't.
  private func compact(_ known: Known, _ directory: FileDescriptor) {
    try? folder.withCompactionLock(directory) { () throws(SharedStorageFailure) in
      let survey = try folder.survey(directory)
      // Another process may have done it meanwhile.
      guard known.state.revision > survey.newestValues?.revision ?? 0, survey.identity == known.identity else { return }
      var state = known.state
      state.forgetRemovals(keeping: compaction.removalCountMax)
      let floor = max(survey.floor, state.revision - compaction.keptCount)
      let values = FolderValues(revision: state.revision, floor: max(0, floor))
      try folder.make(values, state, directory)
      try folder.removeAll(before: values, survey, directory)
    }
  }
}
