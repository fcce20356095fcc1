internal import ContentHashing
package import SystemInterface

// A large file becomes a version before it's hashed, because hashing takes longer than copying. Its record has no hash then, and a
// name in `steps`, made before, says whose task the hash is. A caller that needs the hash before that makes it as well: that
// takes no claim, because nobody else changes the file of the hash. The hash gets a file of its own beside the record, by one rename,
// and the contents are shared as always. Until then, a byte that changes in the file can't be noticed, and equal contents are stored
// twice.

/// When contents are hashed that become a version.
package enum HashingTime: Sendable {
  /// Before it's a version: somebody compares the hash.
  case atOnce
  /// After that if it's a large file.
  case later
}

/// A version whose hash is the task of this process.
package struct UnhashedVersion: Hashable, Sendable {
  package let item: ItemID
  package let id: VersionID
}

extension VersionStore {
  /// How often a file is hashed again that changes meanwhile, because a program still has it open.
  private static let hashingAttemptCountMax = 3

  func isHashedLater(_ status: FileStatus, _ hashing: HashingTime) -> Bool {
    hashing == .later && status.kind == .regular && status.size > limits.sizeHashedAtOnceMax
  }

  /// A version with its hash: if it has none yet, it gets it now.
  ///
  /// Any number of processes may do so at once, whatever else is done with the version.
  ///
  /// - Parameter version: A version, as it was when it was looked at.
  /// - Returns: The version; still without hash if a program goes on writing to a file that it has open, or while the addition of the
  ///   version isn't completed.
  /// - Throws: ``VersionStoreError/versionIsGone(_:)`` or the error of a system call.
  /// - Complexity: O(1) if it's hashed already, else O(bytes).
  package func hashed(_ version: StoredVersion) throws(VersionStoreError) -> StoredVersion {
    if version.hash != nil { return version }
    let path = path(of: version)
    for _ in 0..<Self.hashingAttemptCountMax {
      let known = try known(version)
      // A file that has another name outside of the store is replaced by another file when the addition is completed.
      if known.hash != nil { return known }
      if try isOpen(version) { return version }
      guard let before = try status(of: path) else { throw .versionIsGone(version.id) }
      let hash = try hash(of: path, sizeMax: before.size)
      guard let after = try status(of: path) else { throw .versionIsGone(version.id) }
      if before != after { continue }
      try share(path, hash)
      try writeHash(hash, size: after.size, of: version)
      return version.with(hash, size: after.size)
    }
    return version
  }

  /// The version with its hash if somebody has made that.
  func known(_ version: StoredVersion) throws(VersionStoreError) -> StoredVersion {
    try known(version, in: layout.directory(of: version.id, of: version.item))
  }

  /// The same for a version in another directory than its own.
  func known(_ version: StoredVersion, in directory: SystemPath) throws(VersionStoreError) -> StoredVersion {
    if version.hash != nil { return version }
    guard let known = try recordedHash(at: directory.appending(StoreLayout.hash)) else { return version }
    return version.with(known.hash, size: known.size)
  }

  /// - Returns: `nil` if there's none; one that isn't what it was is made again.
  func recordedHash(at path: SystemPath) throws(VersionStoreError) -> (hash: ContentHash, size: Int64)? {
    guard let record = try recordIfIntact(at: path),
      let hash = record.value(of: "sha256").flatMap({ ContentHash(hexadecimal: $0) }),
      let size: Int64 = record.number(of: "size")
    else { return nil }
    return (hash, size)
  }

  private func writeHash(_ hash: ContentHash, size: Int64, of version: StoredVersion) throws(VersionStoreError) {
    var record = StoreRecord()
    record.add("sha256", hash)
    record.add("size", size)
    let directory = layout.directory(of: version.id, of: version.item)
    let draft = step("hashed-" + hexadecimal(.random(in: .min ... .max)))
    do throws(VersionStoreError) {
      try writeDraft(record.bytes, to: draft)
      try storing { () throws(SystemError) in
        // A hash that's only half on the disk would be taken for none, and then for that of whatever the file has.
        try files.synchronizeItem(at: draft)
        try files.rename(
          draft, at: .workingDirectory, to: directory.appending(StoreLayout.hash), at: .workingDirectory, .replacing)
      }
      try synchronizeNames(in: directory)
    } catch {
      try? unlink(draft)
      if case .system(let error) = error, error.isAbsence { throw .versionIsGone(version.id) }
      throw error
    }
  }
}

// MARK: - Whose task it is

extension VersionStore {
  private static let taskName = "hash-"

  private func task(_ version: UnhashedVersion) -> SystemPath { step("\(Self.taskName)\(version.item)-\(version.id)") }

  static func isTask(_ name: SystemPath) -> Bool { name.bytes.starts(with: taskName.utf8) }

  /// The version that a name in `steps` is about, and the process.
  private static func task(named name: SystemPath) -> (version: UnhashedVersion, worker: ArraySlice<UInt8>)? {
    let bytes = name.bytes.dropFirst(taskName.utf8.count)
    // 32 digits, a hyphen, 33 of the version, a dot.
    guard isTask(name), bytes.count > 67, bytes[bytes.startIndex + 32] == UInt8(ascii: "-"),
      bytes[bytes.startIndex + 66] == UInt8(ascii: "."), let item = ItemID(bytes.prefix(32)),
      let id = VersionID(bytes.dropFirst(33).prefix(33))
    else { return nil }
    return (UnhashedVersion(item: item, id: id), bytes.dropFirst(67))
  }

  /// Notes that a version has to be hashed that will be committed, before it is.
  ///
  /// Nothing waits for the disk: with a journal, the waits for the version bring the note there as well. If it's lost with the power, the
  /// version is hashed when its hash is needed.
  ///
  /// The name says everything. Another name of the record is there faster than a file of its own.
  func noteTask(_ version: StoredVersion, in directory: SystemPath) throws(VersionStoreError) {
    let task = task(UnhashedVersion(item: version.item, id: version.id))
    do throws(SystemError) {
      let record = directory.appending(StoreLayout.record)
      return try files.link(record, at: .workingDirectory, to: task, at: .workingDirectory, links: .noFollow)
    } catch {
      if error.number == .fileExists { return }
    }
    try writeDraft([], to: task)
  }

  func removeTask(_ version: UnhashedVersion) { try? unlink(task(version)) }

  /// Takes over what a process has left that has ended.
  func takeOverTask(_ step: SystemPath) throws(VersionStoreError) {
    guard let (version, _) = Self.task(named: step.lastComponent),
      let there = try versionIfPresent(version.id, of: version.item), there.hash == nil
    else { return try unlink(step) }
    let own = task(version)
    if step == own { return }
    try storing { () throws(SystemError) in
      try files.rename(step, at: .workingDirectory, to: own, at: .workingDirectory, .replacing)
    }
    // A rename between two names of one file does nothing (rename(2)).
    try unlink(step)
  }

  /// The versions whose hashes are the task of this process, oldest first.
  ///
  /// - Throws: The error of a system call.
  /// - Complexity: O(operations that are going on).
  package func unhashedVersions() throws(VersionStoreError) -> [UnhashedVersion] {
    try unsortedNames(in: layout.steps).compactMap { name in
      guard let (version, worker) = Self.task(named: name), worker.elementsEqual(self.worker.utf8) else { return nil }
      return version
    }.sorted { $0.id < $1.id }
  }

  /// The directory that is claimed to change an item's history; `nil` if the item isn't anywhere.
  package func place(of item: ItemID) throws(VersionStoreError) -> SystemPath? {
    try lastPath(of: item).map(layout.place)
  }

  /// The outcome of a task.
  package enum TaskOutcome: Hashable, Sendable {
    /// It's hashed, or was removed.
    case done
    /// The addition of the version isn't completed: it's going on, or ``completeMoves(of:)`` has to be called.
    case incomplete
    /// Later, when no program writes to it any more.
    case busy
  }

  /// Hashes a version that is this process's task.
  ///
  /// - Throws: The error of a system call; it remains the task of this process.
  /// - Complexity: O(bytes).
  package func perform(_ task: UnhashedVersion) throws(VersionStoreError) -> TaskOutcome {
    guard let version = try versionIfPresent(task.id, of: task.item) else {
      // It's committed at this moment, or was removed.
      if try status(of: step(task.id.description)) != nil { return .incomplete }
      if try status(of: layout.directory(of: task.id, of: task.item)) != nil { return .incomplete }
      removeTask(task)
      return .done
    }
    do throws(VersionStoreError) {
      if try hashed(version).hash == nil {
        return try isOpen(version) ? .incomplete : .busy
      }
    } catch .versionIsGone {
      return .incomplete
    }
    removeTask(task)
    return .done
  }

  /// Hashes whatever is this process's task.
  ///
  /// - Returns: Those that can't be hashed yet.
  /// - Throws: The error of a system call.
  @discardableResult
  package func performTasks() throws(VersionStoreError) -> [UnhashedVersion] {
    var rest: [UnhashedVersion] = []
    for task in try unhashedVersions() where try perform(task) != .done { rest.append(task) }
    return rest
  }
}
