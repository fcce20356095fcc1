package import SystemInterface

/// An operation that may have been cut off.
enum Step: Equatable, Sendable {
  /// A version is made.
  case add(ItemID, source: SystemPath, FileIdentity, Taking, Draft? = nil)
  /// Histories move with their files.
  case move(from: SystemPath, to: SystemPath)
  /// A draft takes the place of an item, which gets the draft's name then. The number is that of the draft, so that the two are distinguished;
  /// without a number the item at the name isn't needed. The history of a replaced item is that of the last value.
  case save(SystemPath, draft: SystemPath, FileIdentity?, ItemID? = nil)
  /// A history is taken over from another store.
  case adoption(Adoption)

  /// The name of the file that takes the place of the kept one, until then, and the process that writes it.
  struct Draft: Equatable, Sendable {
    let name: SystemPath
    let worker: String
  }

  /// How the contents of an addition get into the store.
  var taking: Taking? { if case .add(_, _, _, let taking, _) = self { taking } else { nil } }

  var record: StoreRecord {
    var record = StoreRecord()
    switch self {
    case .add(let item, let source, let identity, let taking, let draft):
      record.add("step", taking.rawValue)
      record.add("item", item)
      record.add("source", bytes: source.bytes)
      record.add("device", identity.device)
      record.add("inode", identity.inode)
      if let draft {
        record.add("draft", bytes: draft.name.bytes)
        record.add("process", draft.worker)
      }
    case .move(let old, let new):
      record.add("step", "move")
      record.add("from", bytes: old.bytes)
      record.add("to", bytes: new.bytes)
    case .save(let path, let draft, let identity, let item):
      record.add("step", "save")
      record.add("path", bytes: path.bytes)
      record.add("draft", bytes: draft.bytes)
      if let identity {
        record.add("device", identity.device)
        record.add("inode", identity.inode)
      }
      if let item { record.add("item", item) }
    case .adoption(let adoption):
      record.add("step", "adopt")
      record.add("item", adoption.item)
      record.add("store", bytes: adoption.store.bytes)
      if let place = adoption.place { record.add("place", bytes: place.bytes) }
      if let newest = adoption.newest { record.add("newest", newest) }
      if adoption.isUntagged { record.add("tag", "none") }
    }
    return record
  }

  init?(_ record: StoreRecord) {
    if record.text(of: "step") == "adopt" {
      guard let item = record.text(of: "item").flatMap(ItemID.init), let store = record.value(of: "store") else {
        return nil
      }
      let newest = record.text(of: "newest").flatMap { VersionID($0) }
      self = .adoption(
        Adoption(
          item: item, store: SystemPath(bytes: store), place: record.value(of: "place").map { SystemPath(bytes: $0) },
          newest: newest, isUntagged: record.value(of: "tag") != nil))
      return
    }
    if record.text(of: "step") == "move", let old = record.value(of: "from"), let new = record.value(of: "to") {
      self = .move(from: SystemPath(bytes: old), to: SystemPath(bytes: new))
      return
    }
    if record.text(of: "step") == "save", let path = record.value(of: "path"), let draft = record.value(of: "draft") {
      let (device, inode): (UInt64?, UInt64?) = (record.number(of: "device"), record.number(of: "inode"))
      let identity = device.flatMap { device in inode.map { FileIdentity(device: device, inode: $0) } }
      let item = record.text(of: "item").flatMap(ItemID.init)
      self = .save(SystemPath(bytes: path), draft: SystemPath(bytes: draft), identity, item)
      return
    }
    guard let taking = record.text(of: "step").flatMap(Taking.init),
      let item = record.text(of: "item").flatMap(ItemID.init),
      let source = record.value(of: "source"), let device: UInt64 = record.number(of: "device"),
      let inode: UInt64 = record.number(of: "inode")
    else { return nil }
    let name = record.value(of: "draft").map { SystemPath(bytes: $0) }
    let draft = name.flatMap { name in record.text(of: "process").map { Draft(name: name, worker: $0) } }
    self = .add(item, source: SystemPath(bytes: source), FileIdentity(device: device, inode: inode), taking, draft)
  }
}

extension VersionStore {
  /// Where this process does something that has a name.
  func step(_ name: String) -> SystemPath { layout.step("\(name).\(worker)") }

  /// Makes an empty directory from which files become versions by a rename; it goes when its process has ended.
  ///
  /// - Returns: The directory.
  /// - Throws: The error of a system call.
  package func makeTemporaryDirectory() throws(VersionStoreError) -> SystemPath {
    let path = step(Self.temporaryPrefix + String(UInt64.random(in: .min ... .max), radix: 16))
    try storing { () throws(SystemError) in
      try files.makeDirectory(path, at: .workingDirectory, mode: 0o700)
    }
    return path
  }

  static let temporaryPrefix = "new-"

  /// The store in which a process has made a directory by ``makeTemporaryDirectory()``, by the directory's path alone.
  ///
  /// - Parameters:
  ///   - directory: The directory, as it was handed out.
  ///   - worker: The process.
  /// - Returns: The directory of the store; `nil` if the path has another form, or names another process.
  package static func root(ofTemporaryDirectory directory: SystemPath, madeBy worker: String) -> SystemPath? {
    let name = directory.lastComponent
    guard name.bytes.starts(with: temporaryPrefix.utf8), name.description.hasSuffix(".\(worker)") else { return nil }
    let root = directory.parent.parent
    return StoreLayout(root: root).steps == directory.parent ? root : nil
  }

  /// Whether an item is right inside a directory that this process has made for new versions; nobody else uses it.
  func isInTemporaryDirectory(_ path: SystemPath) -> Bool {
    Self.root(ofTemporaryDirectory: path.parent, madeBy: worker) == root
  }

  /// The directories of the next addition by this process, and the file of its record, which is empty.
  private var spare: SystemPath { step(Self.spareName) }

  private static let spareName = "spare"

  /// Makes directories for the next addition by this process, which then needs to make none, and the file of its record.
  ///
  /// - Throws: The error of a system call.
  /// - Complexity: O(1), one system call if they are there.
  package func prepareAddition() throws(VersionStoreError) {
    if try status(of: spare) != nil { return }
    let directory = step("preparing-" + hexadecimal(.random(in: .min ... .max)))
    do throws(VersionStoreError) {
      try storing { () throws(SystemError) in
        // Those around it aren't made: somebody may remove the store.
        for path in [directory, directory.appending(StoreLayout.contentsName)] {
          try files.makeDirectory(path, at: .workingDirectory, mode: 0o700)
        }
      }
      let record = directory.appending(StoreLayout.record)
      try writeDraft([], to: record)
      // So that the addition waits for what it changes in them, and not for all that a new file and a new directory need.
      try storing { () throws(SystemError) in
        try synchronize([record, directory.appending(StoreLayout.contentsName), directory])
      }
      try rename(directory, to: spare)
    } catch {
      // Another thread has made some, or there's no room.
      try? undo(directory)
      throw error
    }
  }

  /// Gives an addition its directories: those that are prepared, or others.
  func begin(_ step: SystemPath) throws(VersionStoreError) {
    do throws(VersionStoreError) { try rename(spare, to: step) } catch {
      try ensureDirectory(step)
      try ensureDirectory(step.appending(StoreLayout.contentsName))
    }
  }

  /// Opens the record of an addition that has begun: the prepared file, or a new one.
  func openRecord(in step: SystemPath) throws(SystemError) -> FileDescriptor {
    try files.open(
      step.appending(StoreLayout.record), at: .workingDirectory, flags: [.create, .noFollow, .writeOnly], mode: 0o600)
  }

  /// Undoes a step that wasn't committed.
  func undo(_ step: SystemPath) throws(VersionStoreError) { try dispose(of: step) }

  /// Undoes or completes what a crash has cut off, and takes over the versions that somebody had to hash.
  ///
  /// - Returns: How many operations were undone or completed.
  /// - Throws: The error of a system call.
  @discardableResult
  package func recover() throws(VersionStoreError) -> Int {
    var count = 0
    var takesOver = false
    // Saves come first: an item that one has replaced may be in a step.
    let names = try names(in: layout.steps)
    let drafts = try recoverSaves(among: names)
    count += drafts.removedCount
    for name in names where !drafts.left.contains(name) && !Self.isSave(name) && !Self.isRetyping(name) {
      let step = layout.steps.appending(name)
      guard let status = try status(of: step), !isBeingMade(name, status) else { continue }
      do throws(VersionStoreError) {
        if Self.isTask(name) {
          try takeOverTask(step)
          takesOver = true
        } else if name.bytes.starts(with: "\(Self.spareName).".utf8) {
          // Nothing was cut off.
          try undo(step)
        } else {
          try recover(step, status)
          count += 1
        }
      } catch {
        // Another process clears up as well, or the step can't be removed. It hinders nobody then.
      }
    }
    if takesOver { hashingIsDue?() }
    return count
  }

  /// In nanoseconds: a file in the making whose process isn't known is taken for a leftover when it's so old.
  private static let unnamedDraftAgeMax: Int64 = 3_600_000_000_000

  private func isBeingMade(_ name: SystemPath, _ status: FileStatus) -> Bool {
    guard name.bytes.starts(with: ".".utf8) else { return isInUse(step: name, status) }
    // A copy in the making is named after the step that it's for, which names the process. Others go when nobody has written to them for long.
    if let step = name.nameOfTemporary, !isInUse(step: step, status) { return false }
    return status.modificationTime > time() - Self.unnamedDraftAgeMax
  }

  private func recover(_ step: SystemPath, _ status: FileStatus) throws(VersionStoreError) {
    if status.kind == .directory {
      if Self.isGivenUp(step.lastComponent) { return try disposeOfGivenUp(step) }
      if try !recoverForgotten(step) { try disposeOfHistory(in: step) }
      return
    }
    // One that isn't written completely hasn't begun.
    if step.lastComponent.bytes.starts(with: Self.moveName.utf8), status.size < 1 << 16,
      let record = try recordIfIntact(at: step), case .move(let old, let new)? = Step(record)
    {
      // A file that is there again has a history of its own.
      if try self.status(of: old) == nil { try completeMove(from: old, to: new) }
    }
    if Self.isAdoption(step.lastComponent), let record = try recordIfIntact(at: step),
      case .adoption(let adoption)? = Step(record)
    {
      try complete(adoption)
    }
    try unlink(step)
  }

  /// The beginning of the name of a step in which histories move.
  static let moveName = "move-"

  /// Completes what a crash has cut off behind the commit of an item's versions: moves into the store, and replacements.
  ///
  /// Bare versions get their directories.
  ///
  /// - Parameter item: The item.
  /// - Throws: The error of a system call.
  /// - Complexity: O(additions that were cut off), and of bare versions.
  package func completeMoves(of item: ItemID) throws(VersionStoreError) {
    try completeMarkedMoves(of: item)
    try unfold(of: item)
  }

  /// The same without bare versions, which are as good as any as long as nobody looks at them.
  ///
  /// - Parameter item: The item.
  /// - Throws: The error of a system call.
  /// - Complexity: O(additions that were cut off).
  package func completeMarkedMoves(of item: ItemID) throws(VersionStoreError) {
    for id in try openVersionIDs(of: item) { try completeAddition(of: id, of: item) }
  }

  /// Completes those saves that kept a version whose process was killed: one may have left contents that nobody else has.
  ///
  /// Versions that a killed process had for itself go. Anything else that has to be completed is listed already, and the process that does it may be at work.
  ///
  /// - Throws: The error of a system call.
  /// - Complexity: O(additions that were cut off).
  func completeKilledSaves(of item: ItemID) throws(VersionStoreError) {
    for id in try openVersionIDs(of: item) {
      guard case .add(_, _, _, let taking, let draft?)? = try completion(of: id, of: item),
        taking == .linking || taking == .lending, !isAtWork(draft, of: id)
      else { continue }
      // A damaged record is reported to those who list the versions.
      do throws(VersionStoreError) { try completeAddition(of: id, of: item) } catch .damaged {}
    }
  }

  /// Whether the save that keeps a version may be going on.
  func isAtWork(_ draft: Step.Draft, of id: VersionID) -> Bool {
    isAtWork(draft.worker, since: Int64(clamping: id.time))
  }

  private func completeAddition(of id: VersionID, of item: ItemID) throws(VersionStoreError) {
    // It wasn't committed, or was removed.
    if try status(of: layout.directory(of: id, of: item)) == nil { return try unlink(layout.mark(of: id, of: item)) }
    guard case .add(_, let source, let identity, let taking, let draft)? = try completion(of: id, of: item) else {
      return try completeUnknown(id, of: item)
    }
    let present: StoredVersion?
    do throws(VersionStoreError) { present = try versionIfPresent(id, of: item) } catch .damaged(let record)
      where record == recordPath(of: id, of: item)
    {
      return try completeUnknown(id, of: item)
    }
    if let version = present {
      switch taking {
      case .copying: break
      case .lending:
        if let draft, isAtWork(draft, of: id) { return }
        try remove(id, of: item)
      case .moving:
        do throws(VersionStoreError) { try recoverMove(of: version, from: source, identity) } catch {
          // Some of a package can't be removed where it was: that's tried again.
          if version.isPackage { return }
          throw error
        }
      case .linking: try completeSave(of: version, from: source, identity, draft)
      }
    }
    try endRecoveredStep(of: id, of: item)
  }

  private func completeSave(
    of version: StoredVersion, from source: SystemPath, _ identity: FileIdentity, _ draft: Step.Draft?
  ) throws(VersionStoreError) {
    guard let draft, !isAtWork(draft, of: version.id) else {
      return try recoverReplacement(of: version, from: source, identity)
    }
    try takeDraft(draft.name, of: version, at: path(of: version), from: source, identity)
    if try isUnreplaced(version, at: source, identity) {
      // The save ended before that. The file has the contents, and the next save keeps them.
      return try remove(version.id, of: version.item)
    }
    try recoverReplacement(of: version, from: source, identity)
  }

  /// The step to complete of a version's addition; `nil` if that wasn't on the disk when the power failed.
  private func completion(of id: VersionID, of item: ItemID) throws(VersionStoreError) -> Step? {
    for path in [layout.mark(of: id, of: item), layout.ownStep(of: id, of: item)] {
      // It may be the record of the version as well, which has other lines before.
      let step = try recordIfIntact(at: path)?.sections(beginningWith: "step").first.flatMap { Step($0) }
      if let step { return step }
    }
    return nil
  }

  /// The mark goes last, because nobody looks for a step without one.
  private func endRecoveredStep(of id: VersionID, of item: ItemID) throws(VersionStoreError) {
    try unlink(layout.ownStep(of: id, of: item))
    try endStep(of: id, of: item)
  }

  /// The versions whose additions may not be completed, oldest first.
  func openVersionIDs(of item: ItemID) throws(VersionStoreError) -> [VersionID] {
    try unsortedNames(in: layout.marks(of: item)).compactMap { VersionID($0) }.sorted()
  }

  /// Notes what has to be completed of a version's addition, by the bytes of a step; the directories of the mark and of the item have to be
  /// brought to the disk with the version.
  func mark(_ id: VersionID, of item: ItemID, _ step: [UInt8]) throws(VersionStoreError) {
    let mark = layout.mark(of: id, of: item)
    do throws(VersionStoreError) { try writeDraft(step, to: mark) } catch .system(let error) where error.isAbsence {
      try ensureDirectory(mark.parent)
      try writeDraft(step, to: mark)
    }
  }

  /// Completes a replacement whose step, and perhaps whose record, wasn't on the disk when the power failed.
  ///
  /// A file that has no other name is all there is of its contents: it stays, and is listed as damaged if its record is.
  private func completeUnknown(_ id: VersionID, of item: ItemID) throws(VersionStoreError) {
    let directory = layout.directory(of: id, of: item)
    do throws(VersionStoreError) {
      guard let version = try versionIfPresent(id, of: item) else { return }
      if !version.isPackage, let status = try status(of: path(of: version)) {
        try recoverReplacement(of: version, from: path(of: version), status.identity)
      }
    } catch .damaged(let record) where record == recordPath(of: id, of: item) {
      let contents = directory.appending(StoreLayout.contentsName)
      for name in try names(in: contents) {
        guard let status = try status(of: contents.appending(name)), status.kind == .regular, status.linkCount > 1
        else {
          return
        }
      }
      return try remove(id, of: item)
    }
    try endRecoveredStep(of: id, of: item)
  }
}
