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
  /// - Returns: The version that was added; `nil` if the contents are elsewhere already.
  /// - Throws: The error of a system call, or ``VersionStoreError/notAFile(_:)`` for a package with special files in it.
  /// - Complexity: O(versions), and O(bytes).
  package func addUnlessKept(
    _ leftover: SystemPath, to item: ItemID, at path: SystemPath, _ attributes: VersionAttributes
  ) throws(VersionStoreError) -> StoredVersion? {
    guard let status = try status(of: leftover) else { return nil }
    guard let hash = try contents(ofItemAt: leftover)?.hash else { throw .notAFile(leftover) }
    if try self.status(of: path)?.kind == status.kind, try contents(ofItemAt: path)?.hash == hash { return nil }
    // The replaced contents are those of the last one, as a rule.
    for version in try versions(of: item).reversed() where version.isPackage == (status.kind == .directory) {
      if try hashed(version).hash == hash { return nil }
    }
    return try add(contentsOf: leftover, to: item, named: path.lastComponent, attributes)
  }
}

// MARK: - Saves that keep a version

extension VersionStore {
  /// Takes what a save that kept a version has left beside its file, whose process was killed.
  ///
  /// The new file has the name until the exchange, and the replaced one from then on. The identity is that of the file when it was kept.
  func takeDraft(
    _ name: SystemPath, of version: StoredVersion, from path: SystemPath, _ identity: FileIdentity
  ) throws(VersionStoreError) {
    let draft = path.parent.appending(name)
    guard name.isTemporaryName, let status = try status(of: draft), let now = try self.status(of: path) else { return }
    // It's the new file as long as the kept one has its place. Otherwise it's the replaced one, which the version has unless another
    // program has written to it, or something else that another program has put in the place.
    let isKept = status.identity == identity ? try isUnchanged(version) : false
    if now.identity != identity, !isKept {
      _ = try addUnlessKept(draft, to: version.item, at: path, version.attributes)
    }
    try unlink(draft)
  }
}

extension VersionStore {
  /// Whether a version whose file may have another name, by which it can be written, has the contents that were kept.
  private func isUnchanged(_ version: StoredVersion) throws(VersionStoreError) -> Bool {
    let path = path(of: version)
    if let hash = version.hash { return try self.hash(of: path) == hash }
    return try self.status(of: path).map(version.isOf) ?? false
  }
}

// MARK: - Saves by this store

extension VersionStore {
  private static let saveName = "saving-"

  static func isSave(_ name: SystemPath) -> Bool { name.bytes.starts(with: saveName.utf8) }

  /// The beginning of the names of a path's saves, by any process.
  private func saveName(at path: SystemPath) -> String {
    Self.saveName + String(ContentHash(of: path.bytes).description.prefix(32))
  }

  func saveStep(at path: SystemPath) -> SystemPath { step(saveName(at: path)) }

  /// Notes, without waiting for the disk, where a save leaves what it replaces if the process is killed.
  ///
  /// The draft is the place of the new item until that takes its own, and from then on that of the old one until it's removed. The identity
  /// is that of the new item once it's complete.
  func noteSave(
    at path: SystemPath, draft: SystemPath, _ identity: FileIdentity? = nil
  ) throws(VersionStoreError) {
    try writeLoosely(Step.save(path, draft: draft, identity).record, to: saveStep(at: path))
  }

  /// Ends a save, unless the item that it has replaced couldn't be removed.
  func endSave(at path: SystemPath, draft: SystemPath) throws(VersionStoreError) {
    if try status(of: draft) == nil { try unlink(saveStep(at: path)) }
  }

  /// Removes the drafts of saves that were cut off before anything was replaced.
  ///
  /// - Returns: How many there were, and the names of steps that have an item which was replaced.
  func recoverSaves(
    among names: [SystemPath], _ isAlive: (_ worker: String) -> Bool
  ) throws(VersionStoreError) -> (removedCount: Int, left: Set<SystemPath>) {
    var (count, left): (Int, Set<SystemPath>) = (0, [])
    for name in names where Self.isSave(name) && !isInUse(name, isAlive) {
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
  /// - Parameter isAlive: Whether the process with a name may still be at work.
  /// - Returns: Their paths.
  /// - Throws: The error of a system call.
  /// - Complexity: O(operations that are under way).
  package func cutOffSaves(isAlive: (_ worker: String) -> Bool) throws(VersionStoreError) -> Set<SystemPath> {
    var paths: Set<SystemPath> = []
    for name in try unsortedNames(in: layout.steps) where Self.isSave(name) && !isInUse(name, isAlive) {
      if let save = try cutOffSave(name) { paths.insert(save.path) }
    }
    return paths
  }

  /// Takes what saves of an item by this store have left, whose process was killed: it becomes a version unless one has it, and is removed.
  ///
  /// Two things say that no such save is going on. The caller keeps other operations at the path from beginning, and the process that the
  /// step names has ended. The step also names the very file, so that those of other programs' saves aren't looked for.
  ///
  /// - Parameters:
  ///   - path: The item, as a canonical path. If nothing is there, the version is one of the item that was there last; without one,
  ///     what was left stays until something is there.
  ///   - attributes: The attributes that versions get.
  ///   - isAlive: Whether the process with a name may still be at work.
  /// - Returns: The versions that were added.
  /// - Throws: The error of a system call.
  /// - Complexity: O(operations that are under way), four system calls, unless something was left.
  package func takeLeftovers(
    at path: SystemPath, _ attributes: VersionAttributes, isAlive: (_ worker: String) -> Bool
  ) throws(VersionStoreError) -> [StoredVersion] {
    var added: [StoredVersion] = []
    let own = saveName(at: path) + "."
    for name in try unsortedNames(in: layout.steps) where name.bytes.starts(with: own.utf8) && !isInUse(name, isAlive) {
      guard let save = try cutOffSave(name), save.path == path else { continue }
      if !save.isUnchanged {
        var item = try item(at: path, creating: true)
        if item == nil { item = try lastItem(at: path) }
        guard let item else { continue }
        if let version = try addUnlessKept(save.draft, to: item, at: path, attributes) { added.append(version) }
      }
      try remove(save)
    }
    return added
  }

  /// The item whose file was at a path last and is gone.
  private func lastItem(at path: SystemPath) throws(VersionStoreError) -> ItemID? {
    try goneItems(at: path).max { $0.time < $1.time }?.item
  }

  private func isInUse(_ name: SystemPath, _ isAlive: (_ worker: String) -> Bool) -> Bool {
    isAlive(name.description.split(separator: ".").last.map(String.init) ?? "")
  }

  /// A save that was cut off.
  private struct CutOffSave {
    let step: SystemPath
    let path: SystemPath
    let draft: SystemPath
    /// Whether nothing was replaced: the draft is still the new item, or a part of it.
    let isUnchanged: Bool
  }

  /// - Returns: `nil` if it has left nothing.
  private func cutOffSave(_ name: SystemPath) throws(VersionStoreError) -> CutOffSave? {
    let step = layout.steps.appending(name)
    guard let record = try recordIfIntact(at: step), case .save(let path, let draft, let identity)? = Step(record),
      let status = try status(of: draft)
    else {
      try unlink(step)
      return nil
    }
    let isUnchanged = identity == nil || status.identity == identity
    return CutOffSave(step: step, path: path, draft: draft, isUnchanged: isUnchanged)
  }

  private func remove(_ save: CutOffSave) throws(VersionStoreError) {
    do throws(SystemError) { try files.removeItem(at: save.draft) } catch {
      if !error.isAbsence { throw .system(error) }
    }
    try unlink(save.step)
  }
}
