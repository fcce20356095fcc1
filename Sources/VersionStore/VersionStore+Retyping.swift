internal import ContentHashing
package import SystemInterface

// A version with another extension takes the place of a file, which gets another name by that: the new file gets its name first, and the
// former one goes last. The step in between says which two files these are, so that the next process does the rest.

/// A file takes the place of another one that has another name.
struct Retyping: Equatable, Sendable {
  let old: SystemPath
  let new: SystemPath
  /// The file at the old name.
  let former: FileIdentity
  /// The file that gets the new name.
  let successor: FileIdentity
  /// Their history.
  let item: ItemID
}

extension Retyping {
  static let stepKind = "retype"

  var record: StoreRecord {
    var record = StoreRecord()
    record.add("step", Self.stepKind)
    record.add("from", bytes: old.bytes)
    record.add("to", bytes: new.bytes)
    record.add("device", former.device)
    record.add("inode", former.inode)
    record.add("new-device", successor.device)
    record.add("new-inode", successor.inode)
    record.add("item", item)
    return record
  }

  init?(_ record: StoreRecord) {
    guard record.text(of: "step") == Self.stepKind, let old = record.value(of: "from"),
      let new = record.value(of: "to"),
      let device: UInt64 = record.number(of: "device"), let inode: UInt64 = record.number(of: "inode"),
      let newDevice: UInt64 = record.number(of: "new-device"), let newInode: UInt64 = record.number(of: "new-inode"),
      let item = record.text(of: "item").flatMap(ItemID.init)
    else { return nil }
    self.init(
      old: SystemPath(bytes: old), new: SystemPath(bytes: new), former: FileIdentity(device: device, inode: inode),
      successor: FileIdentity(device: newDevice, inode: newInode), item: item)
  }
}

extension VersionStore {
  /// Puts the contents of a version at another path than that of the file whose place it takes, together with the file's history.
  ///
  /// A process that ends before the new file has its name leaves everything as it was. One that ends later leaves both files, and
  /// ``takeLeftovers(at:_:claimed:)`` removes the former one.
  ///
  /// - Parameters:
  ///   - version: The version.
  ///   - item: The history of the file.
  ///   - old: The file, as a canonical path. Its permissions, owner and attributes are kept.
  ///   - new: A canonical path where nothing is.
  ///   - state: The state of the file when it was kept.
  ///   - handOver: Called with another file that's at the old name by then, where it is then, before it's gone.
  ///   - notes: The store of the paths; this one unless stated.
  /// - Throws: As ``restore(_:to:over:notedIn:)`` does; EEXIST if something is at the new path. The file is as it was then, also by its name.
  /// - Complexity: O(bytes).
  package func restore(
    _ version: StoredVersion, of item: ItemID, from old: SystemPath, to new: SystemPath, keptAs state: KeptState,
    orElse handOver: (SystemPath) throws(VersionStoreError) -> Void, notedIn notes: VersionStore? = nil
  ) throws(VersionStoreError) {
    let notes = notes ?? self
    guard try versionIfPresent(version.id, of: version.item) != nil else { throw .versionIsGone(version.id) }
    try verify(version)
    guard let former = try status(of: old) else { throw .nothingThere(old) }
    let directory = notes.restoringPath(of: version.id, for: new)
    try notes.noteSave(at: new, draft: directory, of: item)
    var hasDraft = true
    func removeDraft() {
      // Another save of the same path has the same step from then on.
      if !hasDraft { return }
      hasDraft = false
      try? removeTree(directory)
      try? notes.endSave(at: new, draft: directory)
    }
    defer { removeDraft() }
    try storing { () throws(SystemError) in
      try files.makeDirectory(directory, at: .workingDirectory, mode: 0o700)
    }
    let draft = directory.appending(new.lastComponent)
    try make(version, at: draft, like: old, former, of: item, notes)
    guard let successor = try status(of: draft) else { throw .nothingThere(draft) }
    let retyping = Retyping(
      old: old, new: new, former: former.identity, successor: successor.identity, item: item)
    let step = try notes.note(retyping)
    do throws(VersionStoreError) {
      try storing { () throws(SystemError) in try files.moveItem(from: draft, to: new, replacing: false) }
      removeDraft()
      try notes.complete(retyping) { (displaced) throws(VersionStoreError) in
        guard let there = try status(of: displaced) else { return true }
        if try !isKept(displaced, there, state) { try handOver(displaced) }
        return true
      }
    } catch {
      if notes.undo(retyping) { try? notes.unlink(step) }
      throw error
    }
    // One that stays says nothing any more.
    try? notes.unlink(step)
  }

  /// Makes the new file, with all that the former one has but for its contents.
  private func make(
    _ version: StoredVersion, at draft: SystemPath, like old: SystemPath, _ former: FileStatus, of item: ItemID,
    _ notes: VersionStore
  ) throws(VersionStoreError) {
    if version.isPackage {
      try makePackage(version, at: draft)
    } else {
      try storing { () throws(SystemError) in
        if former.kind == .regular { try files.checkWritePermission(of: old, at: .workingDirectory) }
        let isFile = former.kind == .regular
        try files.replaceContents(
          of: draft, withContentsOf: path(of: version), mode: isFile ? 0o600 : version.mode)
        if isFile {
          try files.copyMetadata(from: old, to: draft)
          try files.synchronizeItem(at: draft)
        }
      }
    }
    // So that it's found again by that, also if another program moves it.
    notes.tag(draft, item, beside: notes.tags(of: old))
  }

  // MARK: - The rest of it

  /// Moves the history, and removes the file with the former name.
  ///
  /// Done again, it completes what was begun.
  ///
  /// - Parameters:
  ///   - retyping: The files; the new one has its name.
  ///   - inspect: Called with the former file, where it is then. If it returns false, the file goes back.
  /// - Throws: The error of a system call, or of `inspect`; the former file has its name then, unless it can't go back.
  private func complete(
    _ retyping: Retyping, _ inspect: (SystemPath) throws(VersionStoreError) -> Bool
  ) throws(VersionStoreError) {
    let (old, new) = (retyping.old, retyping.new)
    if try place(at: old)?.item == retyping.item { try completeMove(from: old, to: new) }
    if try status(of: old)?.identity != retyping.former { return }
    try synchronizeNames(in: new.parent)
    let draft = old.parent.appending(SystemPath.temporaryName(for: new.lastComponent))
    try noteSave(at: new, draft: draft, retyping.successor, of: retyping.item)
    defer { try? endSave(at: new, draft: draft) }
    try rename(old, to: draft)
    do throws(VersionStoreError) {
      if try !inspect(draft) { return try rename(draft, to: old) }
    } catch {
      try? rename(draft, to: old)
      throw error
    }
    // It's complete: one that can't be removed goes when this process has ended.
    try? noteSave(at: new, draft: draft, of: retyping.item)
    try? storing { () throws(SystemError) in try files.removeItem(at: draft) }
  }

  /// Lets the former file have its history again, and removes the new one.
  ///
  /// - Returns: Whether nothing is left of the new file; otherwise the next process does the rest of what was begun.
  private func undo(_ retyping: Retyping) -> Bool {
    let (old, new) = (retyping.old, retyping.new)
    do {
      guard try status(of: new)?.identity == retyping.successor else { return true }
      guard try status(of: old)?.identity == retyping.former else { return false }
      if try place(at: new)?.item == retyping.item { try completeMove(from: new, to: old) }
      try files.removeItem(at: new)
      return true
    } catch { return false }
  }

  // MARK: - Steps

  private static let retypingName = "retyping-"

  static func isRetyping(_ name: SystemPath) -> Bool { name.bytes.starts(with: retypingName.utf8) }

  /// Whether a step is that of a file with a name: the former one, or the new one.
  static func isRetyping(_ name: SystemPath, at path: SystemPath) -> Bool {
    isRetyping(name) && name.description.contains(digest(of: path))
  }

  static func digest(of path: SystemPath) -> String {
    String(ContentHash(of: path.bytes).description.prefix(32))
  }

  private func note(_ retyping: Retyping) throws(VersionStoreError) -> SystemPath {
    let step = step("\(Self.retypingName)\(Self.digest(of: retyping.old))-\(Self.digest(of: retyping.new))")
    try unlink(step)
    // One that isn't written completely hasn't begun.
    try writeDraft(retyping.record.bytes, to: step)
    try storing { () throws(SystemError) in try files.synchronizeItem(at: step) }
    try synchronizeNames(in: layout.steps)
    return step
  }

  /// A replacement that was cut off; `nil` if it hasn't begun, or another program has changed the new file since: both files stay then.
  func cutOffRetyping(_ name: SystemPath) throws(VersionStoreError) -> Retyping? {
    let step = layout.steps.appending(name)
    if let record = try recordIfIntact(at: step), let retyping = Retyping(record),
      try status(of: retyping.new)?.identity == retyping.successor
    {
      return retyping
    }
    try unlink(step)
    return nil
  }

  /// Does the rest of a replacement that was cut off.
  ///
  /// The caller has claimed both names. The former file stays where it is if another program has written to it since.
  func complete(_ retyping: Retyping, named name: SystemPath) throws(VersionStoreError) {
    try complete(retyping) { (former) throws(VersionStoreError) in
      try isKeptElsewhere(former, of: retyping.item, at: retyping.new)
    }
    _ = try item(at: retyping.new, creating: false)
    try unlink(layout.steps.appending(name))
  }
}
