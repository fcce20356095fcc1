package import SystemInterface

/// How contents get into a store.
///
/// The values stand in records of steps.
package enum Taking: String, Sendable {
  /// Their blocks are shared or copied.
  case copying = "add"
  /// Nothing remains where they were.
  case moving = "move in"
  /// The file gets another name in the store: it's about to be replaced by another one, and the version isn't on the disk before that
  /// one is, see ``VersionStore/keep(_:of:_:whileReplacing:)``.
  case linking = "replace"
  /// Their blocks are shared or copied, for as long as the process needs them: the version goes with it, see
  /// ``VersionStore/lend(contentsOf:to:named:_:)``.
  case lending = "lend"
}

// A version is made in `steps`, where nobody sees it, and gets its place by one rename.

extension VersionStore {
  /// Keeps the contents of a file or of a package as a version of an item.
  ///
  /// - Parameters:
  ///   - source: The contents, as a canonical path; may be another file than the item.
  ///   - item: The item.
  ///   - name: The name that the version shows; that of `source` unless stated.
  ///   - attributes: The attributes that the version gets.
  ///   - taking: How the contents get here.
  ///   - hashing: When they are hashed.
  /// - Returns: The version.
  /// - Throws: ``VersionStoreError/nothingThere(_:)``, ``VersionStoreError/notAFile(_:)``, or the error of a system call: nothing has
  ///   changed then.
  /// - Complexity: O(bytes) to copy them where the file system can't share blocks, and to hash them unless that's done later.
  package func add(
    contentsOf source: SystemPath, to item: ItemID, named name: SystemPath? = nil, _ attributes: VersionAttributes,
    taking: Taking = .copying, hashing: HashingTime = .later
  ) throws(VersionStoreError) -> StoredVersion {
    guard let status = try status(of: source) else { throw .nothingThere(source) }
    var parts = OpenParts()
    defer { close(&parts) }
    return try add(
      contentsOf: source, status, to: item, named: name, attributes, taking: taking, hashing: hashing, &parts)
  }

  /// Keeps contents as a version that goes with this process, if that doesn't remove it before.
  ///
  /// The next look at the history removes what a killed process has left.
  ///
  /// - Parameters:
  ///   - source: The contents, as a canonical path.
  ///   - item: The item.
  ///   - name: The name that the version shows.
  ///   - attributes: The attributes that the version gets.
  /// - Returns: The version, which is hashed.
  /// - Throws: As ``add(contentsOf:to:named:_:taking:hashing:)`` does.
  /// - Complexity: O(bytes).
  package func lend(
    contentsOf source: SystemPath, to item: ItemID, named name: SystemPath, _ attributes: VersionAttributes
  ) throws(VersionStoreError) -> StoredVersion {
    guard let status = try status(of: source) else { throw .nothingThere(source) }
    var parts = OpenParts()
    defer { close(&parts) }
    return try add(
      contentsOf: source, status, to: item, named: name, attributes, taking: .lending, draft: name, hashing: .atOnce,
      &parts)
  }

  /// Removes a version that was kept by ``lend(contentsOf:to:named:_:)``.
  ///
  /// - Parameter version: The version.
  /// - Throws: The error of a system call; the version goes with the process then.
  package func endLoan(of version: StoredVersion) throws(VersionStoreError) {
    do throws(VersionStoreError) { try remove(version.id, of: version.item) } catch .versionIsGone {}
    try endStep(of: version.id, of: version.item)
  }

  /// The same for contents whose status is known, with what the caller has to close.
  func add(
    contentsOf source: SystemPath, _ status: FileStatus, to item: ItemID, named name: SystemPath? = nil,
    _ attributes: VersionAttributes, taking: Taking, draft: SystemPath? = nil, hashing: HashingTime = .later,
    _ parts: inout OpenParts
  ) throws(VersionStoreError) -> StoredVersion {
    guard status.kind == .regular || status.kind == .directory else { throw .notAFile(source) }
    let (id, clockTime, hasDirectory) = try drawID(for: item)
    var addition = Addition(
      Draft(id: id, clockTime: clockTime, item: item, name: name ?? source.lastComponent, attributes, status),
      from: source, taking, in: step(id.description), isLent: isInTemporaryDirectory(source),
      draft.map { Step.Draft(name: $0, worker: worker) })
    do throws(VersionStoreError) {
      if !hasDirectory { try ensureDurableDirectory(layout.directory(of: item)) }
      try begin(addition.step)
      addition.isShared = try fill(addition)
      let isHashedLater = isHashedLater(status, hashing)
      let version = try describe(addition, isHashedLater: isHashedLater, &parts)
      if isHashedLater { try noteTask(version, in: addition.step) }
      try commit(addition, version, parts)
      // A replacement that shares the file ends when the other file is there.
      if taking == .linking && addition.isShared { return version }
      try complete(addition, version, parts)
      if isHashedLater { hashingIsDue?() }
      return version
    } catch {
      try undo(addition)
      throw addition.forCaller(error)
    }
  }

  /// An addition that's under way.
  private struct Addition {
    let draft: Draft
    let source: SystemPath
    let taking: Taking
    let step: SystemPath
    /// The step that has to be completed from the commit on; of a copy there's none.
    let completion: Step?
    /// Whether the source is a file in a directory that the process has made for new versions.
    let isLent: Bool
    /// Whether the file itself is in the step, and no copy.
    var isShared = false

    init(
      _ draft: Draft, from source: SystemPath, _ taking: Taking, in step: SystemPath, isLent: Bool, _ save: Step.Draft?
    ) {
      self.draft = draft
      self.source = source
      self.taking = taking
      self.step = step
      self.isLent = isLent && taking == .moving && draft.status.kind == .regular
      completion = taking == .copying ? nil : .add(draft.item, source: source, draft.status.identity, taking, save)
    }

    /// The contents in the step.
    var contents: SystemPath { step.appending(StoreLayout.contentsName).appending(draft.name) }

    /// The caller knows the package, and not the step.
    func forCaller(_ error: VersionStoreError) -> VersionStoreError {
      guard case .notAFile(let path) = error, path.isInside(contents) else { return error }
      return .notAFile(SystemPath(bytes: source.bytes + path.bytes.dropFirst(contents.bytes.count)))
    }
  }

  /// Nothing has changed after an error: a lent file is back, the step is gone, and so is a version whose source is still there.
  ///
  /// - Throws: The error of a system call: the lent file is where it is, and nothing else was undone.
  private func undo(_ addition: Addition) throws(VersionStoreError) {
    let (id, item) = (addition.draft.id, addition.draft.item)
    if addition.isLent && addition.isShared {
      try giveBack(addition)
    } else if try versionIfPresent(id, of: item) != nil {
      return try undoCommitted(addition)
    }
    try? undo(addition.step)
    try? unlink(layout.mark(of: id, of: item))
    removeTask(UnhashedVersion(item: item, id: id))
  }

  /// The same for a version that's listed.
  private func undoCommitted(_ addition: Addition) throws(VersionStoreError) {
    let (id, item) = (addition.draft.id, addition.draft.item)
    switch addition.taking {
    case .copying: try? remove(id, of: item)
    case .lending:
      try? remove(id, of: item)
      try? unlink(layout.mark(of: id, of: item))
    case .moving:
      guard try status(of: addition.source)?.identity == addition.draft.status.identity else { return }
      try? remove(id, of: item)
      try? unlink(layout.mark(of: id, of: item))
    case .linking: break
    }
  }

  /// Returns a file that was lent to where it was.
  ///
  /// The version is taken off the list first: in no order of errors and kills is one listed that has no contents.
  private func giveBack(_ addition: Addition) throws(VersionStoreError) {
    let place = layout.directory(of: addition.draft.id, of: addition.draft.item)
    if try status(of: place) != nil { try rename(place, to: addition.step) }
    if try status(of: addition.contents) == nil { return }
    try storing { () throws(SystemError) in
      try files.rename(
        addition.contents, at: .workingDirectory, to: addition.source, at: .workingDirectory, .exclusive)
    }
  }

  /// Brings the contents into a step: the file that's handed over, as its only name or another one, or a copy.
  ///
  /// - Returns: Whether it's the file itself, which has its former name as well until ``completeMove(of:from:_:_:)`` or
  ///   ``completeReplacement(of:from:_:)``, unless it was lent.
  private func fill(_ addition: Addition) throws(VersionStoreError) -> Bool {
    let (source, target, status) = (addition.source, addition.contents, addition.draft.status)
    let mayShare = addition.taking == .moving || addition.taking == .linking
    if mayShare, status.kind == .regular, status.linkCount == 1 {
      do throws(SystemError) {
        if addition.isLent {
          // The process owns the directory: nobody misses the name until the commit.
          try files.rename(source, at: .workingDirectory, to: target, at: .workingDirectory, .exclusive)
        } else {
          try files.link(source, at: .workingDirectory, to: target, at: .workingDirectory, links: .noFollow)
        }
        return true
      } catch {
        // Another file system, or one without hard links: copied, and removed at last.
      }
    }
    try storing { () throws(SystemError) in try files.copyItem(from: source, to: target, replacing: false) }
    return false
  }

  /// Writes the record of what is in a step.
  private func describe(
    _ addition: Addition, isHashedLater: Bool, _ parts: inout OpenParts
  ) throws(VersionStoreError) -> StoredVersion {
    let (draft, step) = (addition.draft, addition.step)
    if addition.isShared {
      let completion = addition.taking == .moving ? addition.completion : nil
      let version = try describeShared(draft, in: step, isHashedLater: isHashedLater, completion, &parts)
      if addition.isLent { try checkLent(addition, parts.contents?.status) }
      return version
    }
    return isHashedLater ? try describeUnhashed(draft, in: step) : try describe(draft, in: step)
  }

  /// A file may have been put in the place of the lent one right before the rename, or have got another name.
  private func checkLent(_ addition: Addition, _ status: FileStatus?) throws(VersionStoreError) {
    guard let status, status.identity != addition.draft.status.identity || status.linkCount != 1 else { return }
    throw .system(
      SystemError(
        call: "rename(2)", paths: [addition.source], errno: SystemError.Number.changedMeanwhile.rawValue,
        advice:
          "The file was replaced or linked while it became a version, and is where it was. Add it when nobody changes it any more."
      ))
  }

  /// Gives a version its place: it's on the disk then, unless it's to replace a file that it shares.
  private func commit(
    _ addition: Addition, _ version: StoredVersion, _ parts: OpenParts
  ) throws(VersionStoreError) {
    guard addition.isShared, let completion = addition.completion else {
      return try commit(addition.step, version, addition.completion)
    }
    // Nothing is lost as long as the file has its former name as well: so all of it gets to the disk by one wait.
    let isMarkDurable = try placeShared(addition.step, version, completion)
    if addition.taking != .moving { return }
    // A lent file goes with the process: nothing has to be completed after the power has failed.
    let marks = addition.isLent ? [] : [layout.marks(of: version.item)]
    let others = marks + (isMarkDurable ? [] : [layout.mark(of: version.id, of: version.item)])
    try storing { () throws(SystemError) in try settle(version, parts, alsoAt: others) }
  }

  /// Takes the source away after the commit.
  private func complete(
    _ addition: Addition, _ version: StoredVersion, _ parts: OpenParts
  ) throws(VersionStoreError) {
    if addition.taking == .copying || addition.taking == .lending { return }
    if addition.isLent && addition.isShared {
      // The version has all that its users see: if that fails, the next addition completes it.
      do throws(VersionStoreError) { try completeFile(of: version, parts.contents) } catch { return }
    } else if addition.taking == .moving {
      try completeMove(of: version, from: addition.source, addition.draft.status.identity, parts.contents)
    }
    try? endStep(of: version.id, of: version.item)
  }

  /// Whether there's something to complete of an addition, as far as that's known.
  func isOpen(_ version: StoredVersion) throws(VersionStoreError) -> Bool {
    try status(of: layout.mark(of: version.id, of: version.item)) != nil
  }

  /// Notes that there's nothing to complete any more.
  func endStep(of id: VersionID, of item: ItemID) throws(VersionStoreError) {
    try unlink(layout.mark(of: id, of: item))
  }
}
