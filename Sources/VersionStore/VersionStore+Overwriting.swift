internal import ContentHashing
package import SystemInterface

// Contents take the place of a file that other programs may write at any time, without waiting: the contents that it has in the last
// instant are kept, too.

/// The items whose place a version may take.
package enum RestoringTarget {
  /// Any item, which is lost unless it was kept before.
  case any
  /// None: EEXIST if something is there.
  case nothing
  /// The item that was kept before. If another one is there by then, that's handed over, where it's then, before it's gone.
  case kept(KeptState, orElse: (SystemPath) throws(VersionStoreError) -> Void)
}

/// The state of a file or package when it was kept.
package struct KeptState: Sendable {
  /// Its status before it was read; `nil` if there was none.
  let status: FileStatus?
  /// The version that has its contents; `nil` if there was none.
  let version: StoredVersion?

  /// That of a path where nothing was.
  package static let nothing = KeptState(status: nil, version: nil)
}

extension VersionStore {
  /// Keeps what's at a path, if anything is and the newest version isn't that already, and remembers what that was.
  ///
  /// - Parameters:
  ///   - path: A canonical path.
  ///   - item: The item.
  ///   - attributes: The attributes that the version gets.
  /// - Returns: The version, if one was added, and the state of the file.
  /// - Throws: The error of a system call; no version was added then.
  /// - Complexity: O(bytes).
  package func keepState(
    of path: SystemPath, for item: ItemID, _ attributes: VersionAttributes
  ) throws(VersionStoreError) -> (version: StoredVersion?, state: KeptState) {
    guard let status = try status(of: path) else { return (nil, .nothing) }
    if let version = try newestVersion(of: item, ifIsOf: path, status) {
      return (nil, KeptState(status: status, version: version))
    }
    let version = try add(contentsOf: path, to: item, attributes)
    return (version, KeptState(status: status, version: version))
  }

  /// The newest version of an item if it has all that a version of a file would have.
  ///
  /// A conflict goes when it's resolved, and one that's discardable at any time.
  private func newestVersion(
    of item: ItemID, ifIsOf path: SystemPath, _ status: FileStatus
  ) throws(VersionStoreError) -> StoredVersion? {
    let last: StoredVersion?
    do throws(VersionStoreError) { last = try newestVersion(of: item) } catch .damaged { return nil }
    guard let last, last.name == path.lastComponent, last.mode == status.mode, !last.attributes.isConflict,
      !last.isDiscardable, try has(last, path, status)
    else { return nil }
    // A large one that was kept a moment ago, or by a process that was killed, may not be hashed yet.
    let newest = try hashed(last)
    if newest.hash == nil { return nil }
    // The name of a version says nothing of its contents, which may have lost a byte.
    do throws(VersionStoreError) { try verify(newest) } catch .damaged { return nil }
    return newest
  }

  /// Puts the contents of a version at a path where nothing is.
  ///
  /// - Parameters:
  ///   - version: The version.
  ///   - path: A canonical path.
  /// - Returns: Whether they're there; `false` if something else is.
  /// - Throws: As ``restore(_:to:over:)`` does.
  package func restoreIfFree(_ version: StoredVersion, to path: SystemPath) throws(VersionStoreError) -> Bool {
    if try status(of: path) != nil { return false }
    do throws(VersionStoreError) {
      try restore(version, to: path, over: .nothing)
    } catch {
      if case .system(let error) = error, error.number == .fileExists { return false }
      throw error
    }
    return true
  }

  /// Gives a file new contents: all of them or none.
  ///
  /// - Parameters:
  ///   - path: The file, as a canonical path.
  ///   - contents: The new contents.
  ///   - target: The files whose place they may take.
  /// - Throws: The error of a system call, or of the function of `target`; the file is as it was then.
  package func replaceContents(
    of path: SystemPath, with contents: [UInt8], over target: RestoringTarget
  ) throws(VersionStoreError) {
    try overwriting(path, target, notedIn: self) { (target, settle) throws(SystemError) in
      try files.replaceContents(of: path, with: contents, over: target, settling: settle)
    }
  }

  /// Runs a save whose errors may be those of the function that is handed what the save takes the place of.
  ///
  /// As long as it lasts, a step says which file it leaves beside its own if the process is killed, see ``takeLeftovers(at:_:claimed:)``. It's in
  /// the store of the path.
  func overwriting(
    _ path: SystemPath, _ target: RestoringTarget, notedIn notes: VersionStore,
    _ save: (SaveTarget, (FileDescriptor) throws(SystemError) -> Void) throws(SystemError) -> Void
  ) throws(VersionStoreError) {
    let refusal = Refusal()
    let name = SystemPath.temporaryName(for: path.lastComponent)
    let draft = path.parent.appending(name)
    let item = try notes.place(at: path)?.item
    try notes.noteSave(at: path, draft: draft, of: item)
    defer { try? notes.endSave(at: path, draft: draft) }
    func settle(_ file: FileDescriptor) throws(SystemError) {
      let identity = try files.status(of: file).identity
      do throws(VersionStoreError) {
        try notes.noteSave(at: path, draft: draft, identity, of: item)
      } catch { throw refusal.passing(error, at: path) }
      try synchronize([notes.saveStep(at: path), notes.layout.steps], with: [file])
    }
    do throws(SystemError) {
      var saveTarget =
        switch target {
        case .any: SaveTarget.any
        case .nothing: SaveTarget.nothing
        case .kept(let state, let handOver): self.saveTarget(state, orElse: handOver, refusal)
        }
      saveTarget.temporaryName = name
      try save(saveTarget, settle)
    } catch {
      throw refusal.error ?? .system(error)
    }
  }

  /// A target of a save that hands over what isn't what was kept.
  func saveTarget(
    _ state: KeptState, orElse handOver: @escaping (SystemPath) throws(VersionStoreError) -> Void, _ refusal: Refusal
  ) -> SaveTarget {
    .inspected { (path, there) throws(SystemError) in
      do throws(VersionStoreError) {
        if try !isKept(path, there, state) { try handOver(path) }
      } catch {
        throw refusal.passing(error, at: path)
      }
    }
  }

  /// Makes an item, and moves it to its place; the one that's there is removed, after it was kept.
  ///
  /// As long as that lasts, a step says where the one that was replaced is if the process is killed.
  func place(
    at path: SystemPath, over target: RestoringTarget, notedIn notes: VersionStore, from draft: SystemPath,
    made make: () throws(VersionStoreError) -> Void
  ) throws(VersionStoreError) {
    let item = try notes.place(at: path)?.item
    try notes.noteSave(at: path, draft: draft, of: item)
    defer { try? notes.endSave(at: path, draft: draft) }
    var made: FileIdentity?
    do throws(VersionStoreError) {
      try make()
      made = try status(of: draft)?.identity
      try notes.noteSave(at: path, draft: draft, made, of: item)
      try storing { () throws(SystemError) in try synchronize([notes.saveStep(at: path), notes.layout.steps]) }
      try place(draft, at: path, over: target)
      guard try status(of: draft) != nil else { return }
      // The replaced item is kept, and nobody is to keep a part of it that the next call hasn't removed yet.
      try notes.noteSave(at: path, draft: draft, of: item)
      try storing { () throws(SystemError) in try files.removeItem(at: draft) }
    } catch {
      // The replaced item stays if it couldn't go back.
      if made == nil || (try? status(of: draft))??.identity == made { try? removeTree(draft) }
      throw error
    }
  }

  /// Moves a complete item to its place.
  ///
  /// - Postcondition: The replaced item is where the draft was, or gone.
  private func place(
    _ draft: SystemPath, at path: SystemPath, over target: RestoringTarget
  ) throws(VersionStoreError) {
    guard case .kept(let state, let handOver) = target, try status(of: path) != nil else {
      var replaces = true
      if case .nothing = target { replaces = false }
      return try storing { () throws(SystemError) in try files.moveItem(from: draft, to: path, replacing: replaces) }
    }
    let refusal = Refusal()
    do throws(SystemError) {
      try files.exchangeItem(at: draft, with: path) { (item) throws(SystemError) in
        let path = item.place.appending(item.name)
        do throws(VersionStoreError) {
          guard let there = try status(of: path) else { return }
          if try !isKept(path, there, state) { try handOver(path) }
        } catch {
          throw refusal.passing(error, at: path)
        }
      }
    } catch {
      throw refusal.error ?? .system(error)
    }
  }

  /// Whether an item is what was kept, wherever it's now.
  ///
  /// A file that was written within one tick of the file system's clock has the same status, so that a copy which was read quickly is
  /// compared. A file that was kept by another name of its own has the version's contents in any case.
  func isKept(
    _ path: SystemPath, _ there: FileStatus, _ state: KeptState
  ) throws(VersionStoreError) -> Bool {
    guard let version = state.version, let status = state.status, status.kind == there.kind else { return false }
    if there.kind == .regular {
      if !there.hasContents(of: status) { return false }
      guard let hash = version.hash, there.linkCount == 1 else { return true }
      return try self.hash(of: path) == hash
    }
    return try contents(ofItemAt: path)?.hash == version.hash
  }
}

/// An error of the store that passes through a save, which undoes what it has done.
final class Refusal {
  private(set) var error: VersionStoreError?

  /// Stands for the error meanwhile: EBUSY(3), after which no save tries another way.
  func passing(_ error: VersionStoreError, at path: SystemPath) -> SystemError {
    self.error = error
    if case .system(let error) = error, !error.isAbsence { return error }
    return SystemError(call: "replaceContents", paths: [path], errno: 16)
  }
}
