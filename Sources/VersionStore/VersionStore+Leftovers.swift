internal import ContentHashing
package import SystemInterface

// The leftovers of killed saves, beside their items.

extension VersionStore {
  /// Keeps what a killed save has left, unless the item or one of its versions has it.
  ///
  /// - Parameters:
  ///   - leftover: A file or a package, as a canonical path.
  ///   - item: The item that was saved.
  ///   - path: Where the item is.
  ///   - attributes: The attributes that the version gets.
  ///   - unfolding: Whether versions that have no directory yet count as well.
  /// - Returns: The version that was added; `nil` if the contents are elsewhere already.
  /// - Throws: The error of a system call, or ``VersionStoreError/notAFile(_:)`` for a package with special files in it.
  /// - Complexity: O(versions), and O(bytes).
  package func addUnlessKept(
    _ leftover: SystemPath, to item: ItemID, at path: SystemPath, _ attributes: VersionAttributes,
    unfolding: Bool = true
  ) throws(VersionStoreError) -> StoredVersion? {
    if try isKeptElsewhere(leftover, of: item, at: path, unfolding: unfolding) { return nil }
    return try add(contentsOf: leftover, to: item, named: path.lastComponent, attributes)
  }

  /// Whether an item has the contents of a leftover, or one of its versions has; also if there's no leftover.
  func isKeptElsewhere(
    _ leftover: SystemPath, of item: ItemID, at path: SystemPath, unfolding: Bool = true
  ) throws(VersionStoreError) -> Bool {
    guard let status = try status(of: leftover) else { return true }
    guard let hash = try contents(ofItemAt: leftover)?.hash else { throw .notAFile(leftover) }
    if try self.status(of: path)?.kind == status.kind, try contents(ofItemAt: path)?.hash == hash { return true }
    // The replaced contents are those of the last one, as a rule.
    for version in try versions(of: item, unfolding: unfolding).reversed()
    where version.isPackage == (status.kind == .directory) {
      if try hashed(version).hash == hash, isIntact(version) { return true }
    }
    return false
  }
}

// MARK: - Saves that keep a version

extension VersionStore {
  /// Takes what a save that kept a version has left beside its file, whose process was killed.
  ///
  /// The new file has the name until the exchange, and the replaced one from then on. The identity is that of the file when it was kept.
  /// The contents that were kept are in a file of the store.
  func takeDraft(
    _ name: SystemPath, of version: StoredVersion, at kept: SystemPath, from path: SystemPath, _ identity: FileIdentity
  ) throws(VersionStoreError) {
    let draft = path.parent.appending(name)
    guard name.isTemporaryName, let status = try status(of: draft), status.kind == .regular || status.kind == .directory
    else { return }
    // The file may have moved on since, and its history with it, or be gone.
    let place = try lastPath(of: version.item) ?? path
    let now = try self.status(of: place)
    // It's the new file as long as the kept one has its place. Otherwise it's the replaced one, which the version has unless another
    // program has written to it, or something else that another program has put in the place.
    let isKept = status.identity == identity ? try isUnchanged(version, at: kept) : false
    if now?.identity != identity, !isKept {
      _ = try addUnlessKept(draft, to: version.item, at: place, version.attributes, unfolding: false)
    }
    try storing { () throws(SystemError) in try files.removeItem(at: draft) }
  }
}

extension VersionStore {
  /// Whether a version whose file may have another name, by which it can be written, has the contents that were kept.
  private func isUnchanged(_ version: StoredVersion, at path: SystemPath) throws(VersionStoreError) -> Bool {
    if let hash = version.hash { return try self.hash(of: path) == hash }
    return try self.status(of: path).map(version.isOf) ?? false
  }
}

// MARK: - Saves by this store

/// The versions that were made of the leftovers of a path.
package struct TakenLeftovers {
  /// The versions that were added, and where the files of their histories are or were.
  package var added: [(version: StoredVersion, path: SystemPath)] = []
  /// Where the histories of others are, which have moved on: the caller has to claim these as well.
  package var elsewhere: Set<SystemPath> = []
  /// The names of files of which one takes the place of the other: the caller has to claim these before it looks at their histories.
  package var unclaimed: Set<SystemPath> = []

  package init() {}
}

extension VersionStore {
  private static let saveName = "saving-"

  static func isSave(_ name: SystemPath) -> Bool { name.bytes.starts(with: saveName.utf8) }

  /// The beginning of the names of a path's saves, by any process.
  private func saveName(at path: SystemPath) -> String {
    Self.saveName + Self.digest(of: path)
  }

  func saveStep(at path: SystemPath) -> SystemPath { step(saveName(at: path)) }

  /// Notes, without waiting for the disk, where a save leaves what it replaces if the process is killed.
  ///
  /// The draft is the place of the new item until that takes its own, and from then on that of the old one until it's removed. The identity
  /// is that of the new item once it's complete. The history of a replaced item is that of `item`, wherever it is later.
  func noteSave(
    at path: SystemPath, draft: SystemPath, _ identity: FileIdentity? = nil, of item: ItemID?
  ) throws(VersionStoreError) {
    try writeLoosely(Step.save(path, draft: draft, identity, item).record, to: saveStep(at: path))
  }

  /// Ends a save, unless the item that it has replaced couldn't be removed.
  func endSave(at path: SystemPath, draft: SystemPath) throws(VersionStoreError) {
    if try status(of: draft) == nil { try unlink(saveStep(at: path)) }
  }

  /// Removes the drafts of saves that were cut off before anything was replaced.
  ///
  /// - Returns: How many there were, and the names of steps that have an item which was replaced.
  func recoverSaves(
    among names: [SystemPath]
  ) throws(VersionStoreError) -> (removedCount: Int, left: Set<SystemPath>) {
    var (count, left): (Int, Set<SystemPath>) = (0, [])
    for name in names where Self.isSave(name) {
      if try isInUse(name) { continue }
      guard let save = try cutOffSave(name) else { continue }
      if save.isUnchanged {
        try remove(save)
        count += 1
      } else {
        left.insert(save.draft.lastComponent)
      }
    }
    return (count, left)
  }

  /// The items whose saves were cut off by the end of their process, and which left what they had replaced.
  ///
  /// - Returns: Their paths.
  /// - Throws: The error of a system call.
  /// - Complexity: O(operations that are under way).
  package func cutOffSaves() throws(VersionStoreError) -> Set<SystemPath> {
    var paths: Set<SystemPath> = []
    for name in try unsortedNames(in: layout.steps) where Self.isSave(name) || Self.isRetyping(name) {
      if try isInUse(name) { continue }
      if Self.isRetyping(name) {
        if let retyping = try cutOffRetyping(name) { paths.insert(retyping.new) }
      } else if let save = try cutOffSave(name) {
        paths.insert(save.path)
      }
    }
    return paths
  }

  /// Takes what saves of an item by this store have left, whose process was killed: it becomes a version unless one has it, and is removed.
  ///
  /// Two things say that no such save is going on. The caller keeps other operations at the path from beginning, and the process that the
  /// step names has ended. The step also names the very file, so that those of other programs' saves aren't looked for.
  ///
  /// - Parameters:
  ///   - path: The item, as a canonical path.
  ///   - attributes: The attributes that versions get.
  ///   - claimed: Other paths whose histories the caller may change.
  /// - Returns: The versions that were added, and the leftovers that weren't taken.
  /// - Throws: The error of a system call.
  /// - Complexity: O(operations that are under way), four system calls, unless something was left.
  package func takeLeftovers(
    at path: SystemPath, _ attributes: VersionAttributes, claimed: Set<SystemPath> = []
  ) throws(VersionStoreError) -> TakenLeftovers {
    var taken = TakenLeftovers()
    let own = saveName(at: path) + "."
    let names = try unsortedNames(in: layout.steps)
    for name in names where Self.isRetyping(name, at: path) {
      if try isInUse(name) { continue }
      guard let retyping = try cutOffRetyping(name) else { continue }
      let both: Set = [retyping.old, retyping.new]
      if both.subtracting(claimed).subtracting([path]).isEmpty {
        try complete(retyping, named: name)
      } else {
        taken.unclaimed.formUnion(both)
      }
    }
    for name in names where name.bytes.starts(with: own.utf8) {
      if try isInUse(name) { continue }
      guard let save = try cutOffSave(name), save.path == path else { continue }
      if !save.isUnchanged {
        let history = try history(of: save)
        if history.path != path, !claimed.contains(history.path) {
          taken.elsewhere.insert(history.path)
          continue
        }
        if let version = try addUnlessKept(save.draft, to: history.item, at: history.path, attributes) {
          taken.added.append((version, history.path))
        }
      }
      try remove(save)
    }
    return taken
  }

  private func history(of save: CutOffSave) throws(VersionStoreError) -> (item: ItemID, path: SystemPath) {
    // Somebody has to look whether the file is gone.
    _ = try item(at: save.path, creating: false)
    if let item = save.item, let path = try pathIfKnown(of: item) { return (item, path) }
    return try history(ofLeftover: save.draft, at: save.path)
  }

  /// The history that gets the contents of a leftover, and where its file is or was.
  ///
  /// That's the history of the file that's at the path. If nothing is there, the leftover itself says which one it had, by its tag: the file
  /// may have moved on. Otherwise it's the history of the file that was there last; if there's none, one begins whose file is gone.
  ///
  /// - Parameters:
  ///   - leftover: A file or package that a killed save has left, as a canonical path.
  ///   - path: The item that was saved.
  /// - Returns: The history; the caller may change only those at paths that it has claimed.
  /// - Throws: The error of a system call.
  package func history(
    ofLeftover leftover: SystemPath, at path: SystemPath
  ) throws(VersionStoreError) -> (item: ItemID, path: SystemPath) {
    if let item = try item(at: path, creating: true) { return (item, path) }
    if let item = tag(of: leftover), let last = try pathIfKnown(of: item) { return (item, last) }
    if let gone = try goneItems(at: path).max(by: { $0.time < $1.time }) { return (gone.item, path) }
    return (try beginGoneHistory(at: path), path)
  }

  /// Where the file of a history is or was; `nil` if the store doesn't have that history.
  private func pathIfKnown(of item: ItemID) throws(VersionStoreError) -> SystemPath? {
    if try status(of: layout.directory(of: item)) == nil { return nil }
    return try lastPath(of: item)
  }

  /// In nanoseconds: from that age on an operation counts as cut off if nobody can tell whether its process has ended.
  ///
  /// No operation takes so long, but for one of a container that's paused.
  package static let unknownWorkerAgeMax: Int64 = 86_400_000_000_000

  /// Whether a process that began an operation at a time, in nanoseconds since 1970, may still be at work.
  func isAtWork(_ worker: String, since begin: Int64) -> Bool {
    isAlive(worker) ?? (begin > time() - Self.unknownWorkerAgeMax)
  }

  /// Whether the process that's at the end of a step's name may still be at work.
  func isInUse(_ name: SystemPath) throws(VersionStoreError) -> Bool {
    if let isAlive = isAlive(Self.worker(ofStep: name)) { return isAlive }
    guard let status = try status(of: layout.steps.appending(name)) else { return false }
    return isInUse(step: name, status)
  }

  func isInUse(step name: SystemPath, _ status: FileStatus) -> Bool {
    // Files that a program writes in one that it was lent may be in no other place, and may take it days.
    if name.bytes.starts(with: Self.temporaryPrefix.utf8) { return isAlive(Self.worker(ofStep: name)) ?? true }
    return isAtWork(Self.worker(ofStep: name), since: status.changeTime)
  }

  private static func worker(ofStep name: SystemPath) -> String {
    name.description.split(separator: ".").last.map(String.init) ?? ""
  }

  /// A save that was cut off.
  private struct CutOffSave {
    let step: SystemPath
    let path: SystemPath
    let draft: SystemPath
    let item: ItemID?
    /// Whether nothing was replaced: the draft is still the new item, or a part of it.
    let isUnchanged: Bool
  }

  /// - Returns: `nil` if it has left nothing.
  private func cutOffSave(_ name: SystemPath) throws(VersionStoreError) -> CutOffSave? {
    let step = layout.steps.appending(name)
    guard let record = try recordIfIntact(at: step),
      case .save(let path, let draft, let identity, let item)? = Step(record),
      let status = try status(of: draft)
    else {
      try unlink(step)
      return nil
    }
    let isUnchanged = identity == nil || status.identity == identity
    return CutOffSave(step: step, path: path, draft: draft, item: item, isUnchanged: isUnchanged)
  }

  private func remove(_ save: CutOffSave) throws(VersionStoreError) {
    // The directories of a version that was being restored are closed.
    if save.isUnchanged { try removeTree(save.draft) }
    do throws(SystemError) { try files.removeItem(at: save.draft) } catch {
      if !error.isAbsence { throw .system(error) }
    }
    try unlink(save.step)
  }
}
