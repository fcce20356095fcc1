internal import ContentHashing
internal import SystemInterface

// A bare version gets a directory like any other before somebody looks at it. Leftovers of a save that was killed are cleared up at the
// same time. A crash at any call leaves a bare version, or one that has a directory and another name still, which goes next time.

extension VersionStore {
  /// How many versions get their directories by one wait for the disk: the kernel takes about three times as many at once.
  private static let unfoldedAtOnceCountMax = 10

  /// Gives each bare version of an item a directory.
  ///
  /// Nobody else may change the history meanwhile.
  ///
  /// - Parameters:
  ///   - item: The item.
  ///   - countMax: How many at most; all unless stated.
  /// - Returns: Whether there are more.
  /// - Throws: The error of a system call; those that have none yet are bare still.
  /// - Complexity: O(bare versions of the item); one system call if there was none ever.
  @discardableResult
  package func unfold(of item: ItemID, countMax: Int = .max) throws(VersionStoreError) -> Bool {
    let ids = try bareVersionIDs(of: item)
    var rest = ids.prefix(countMax)
    while !rest.isEmpty {
      try unfold(rest.prefix(Self.unfoldedAtOnceCountMax), of: item)
      rest = rest.dropFirst(Self.unfoldedAtOnceCountMax)
    }
    return ids.count > countMax
  }

  /// A bare version that gets its place by a rename.
  private struct Unfolding {
    let version: StoredVersion
    /// `nil` if it has its place already.
    let directory: SystemPath?
    let step: Step?
  }

  /// Gives a version a directory although its file wasn't replaced: it gets a copy of what the file has now.
  func unfoldShared(_ version: StoredVersion) throws(VersionStoreError) {
    try unfold([version.id], of: version.item, isCutOff: false)
  }

  /// The same for some of them; `isCutOff` says that the saves which kept them are over.
  func unfold(
    _ ids: ArraySlice<VersionID>, of item: ItemID, isCutOff: Bool = true
  ) throws(VersionStoreError) {
    var unfoldings: [Unfolding] = []
    do throws(VersionStoreError) {
      for id in ids {
        if let unfolding = try prepareUnfolding(id, of: item, isCutOff: isCutOff) { unfoldings.append(unfolding) }
      }
      let drafts = unfoldings.compactMap(\.directory).flatMap { directory in
        [StoreLayout.record, StoreLayout.contentsName].map { directory.appending($0) } + [directory]
      }
      if !drafts.isEmpty {
        try storing { () throws(SystemError) in try synchronize(drafts) }
        for unfolding in unfoldings {
          guard let directory = unfolding.directory else { continue }
          try rename(directory, to: layout.directory(of: unfolding.version.id, of: item))
        }
        try synchronizeNames(in: layout.directory(of: item))
      }
    } catch {
      for unfolding in unfoldings { if let directory = unfolding.directory { try? undo(directory) } }
      throw error
    }
    for unfolding in unfoldings { try complete(unfolding) }
  }

  /// Makes the directory of a bare version.
  ///
  /// - Returns: `nil` if there's no such version: the file has its former place as well.
  private func prepareUnfolding(
    _ id: VersionID, of item: ItemID, isCutOff: Bool
  ) throws(VersionStoreError) -> Unfolding? {
    let bare = layout.bare(id, of: item)
    guard let status = try status(of: bare) else { return nil }
    let record = bareRecord(id, of: item)
    let step = record?.step
    do throws(VersionStoreError) {
      if let version = try versionIfPresent(id, of: item), !version.isBare {
        return Unfolding(version: version, directory: nil, step: step)
      }
    } catch .damaged {
      let place = layout.directory(of: id, of: item)
      if try !names(in: place.appending(StoreLayout.contentsName)).isEmpty {
        // That's reported to those who list it; the contents are there.
        try unlink(bare)
        return nil
      }
      try undo(place)
    }
    let recorded = record?.version
    if isCutOff, status.linkCount > 1, try !hasLost(recorded, step, bare, status, of: item) { return nil }
    let directory = self.step("unfolding-\(id)-" + hexadecimal(.random(in: .min ... .max)))
    do throws(VersionStoreError) {
      let version = try fill(directory, from: bare, status, recorded, id, of: item, isCutOff: isCutOff)
      if let version { return Unfolding(version: version, directory: directory, step: step) }
      try undo(directory)
      // The other name is that of a save that's going on, which removes it next.
      if case .add(_, _, _, _, let draft?)? = step, isAtWork(draft, of: id) { return nil }
      if let recorded { try takeDraft(of: step, recorded, at: bare) }
    } catch {
      try? undo(directory)
      throw error
    }
    try unlink(bare)
    return nil
  }

  /// Takes what the save of a version has left, if its process was killed.
  private func takeDraft(
    of step: Step?, _ version: StoredVersion, at path: SystemPath
  ) throws(VersionStoreError) {
    guard case .add(_, let source, let identity, _, let draft?)? = step, !isAtWork(draft, of: version.id) else {
      return
    }
    try takeDraft(draft.name, of: version, at: path, from: source, identity)
  }

  /// Whether a file that has other names isn't at its former place any more.
  ///
  /// If it is, and the save was cut off before that, there's no version. If the save is going on, in a domain of its own, there's none yet.
  private func hasLost(
    _ version: StoredVersion?, _ step: Step?, _ bare: SystemPath, _ status: FileStatus, of item: ItemID
  ) throws(VersionStoreError) -> Bool {
    var places = try [lastPath(of: item)].compactMap { $0 }
    if case .add(_, let source, _, _, _)? = step { places.append(source) }
    var isThere = false
    for place in places where !isThere { isThere = try self.status(of: place)?.identity == status.identity }
    if !isThere { return true }
    guard let version, case .add(_, _, _, _, let draft?)? = step, !isAtWork(draft, of: version.id) else { return false }
    try takeDraft(of: step, version, at: bare)
    try? files.withDescriptor(bare, flags: [.noFollow, .nonBlocking]) { (file) throws(SystemError) in
      try files.removeExtendedAttribute(Self.bareName, of: file)
    }
    try unlink(bare)
    return false
  }

  /// Makes the directory of a version.
  ///
  /// - Returns: The version; `nil` if the file has other contents by now that it also has elsewhere.
  private func fill(
    _ directory: SystemPath, from bare: SystemPath, _ status: FileStatus, _ recorded: StoredVersion?, _ id: VersionID,
    of item: ItemID, isCutOff: Bool
  ) throws(VersionStoreError) -> StoredVersion? {
    var name = recorded?.name
    if name == nil { name = try lastPath(of: item)?.lastComponent }
    let contents = directory.appending(StoreLayout.contentsName)
    let target = contents.appending(name ?? SystemPath(id.description))
    try ensureDirectory(directory)
    try ensureDirectory(contents)
    // By another name a program may write to it at any time. Otherwise the file itself goes there at last.
    let isShared = status.linkCount > 1
    if isShared {
      try storing { () throws(SystemError) in
        try files.copyItem(from: bare, to: target, replacing: false)
        try files.synchronizeItem(at: target)
      }
    }
    // A program that has the file open may have written to it, and the record may be anybody's: the file says what it is.
    let source = isShared ? target : bare
    guard let now = try self.status(of: source) else { throw .nothingThere(source) }
    let hash = try hash(of: source, expecting: now.size)
    if isShared, isCutOff, let recorded, hash != recorded.hash { return nil }
    if !isShared, hash != recorded?.hash {
      try storing { () throws(SystemError) in try files.synchronizeItem(at: bare) }
    }
    let version = StoredVersion(
      id: id, item: item, attributes: recorded?.attributes ?? VersionAttributes(deviceName: "", deviceID: ""),
      isPackage: false, hash: hash, size: now.size, name: target.lastComponent, mode: status.mode,
      modificationTime: (hash == recorded?.hash ? recorded?.modificationTime : nil) ?? status.modificationTime,
      clockTime: recorded?.clockTime)
    try writeDraft(version.record.bytes, to: directory.appending(StoreLayout.record))
    return version
  }

  /// Moves the file of a version to its directory, or removes it if that has a copy.
  private func complete(_ unfolding: Unfolding) throws(VersionStoreError) {
    let version = unfolding.version
    let (bare, path) = (layout.bare(version.id, of: version.item), Self.path(of: version, inStoreAt: root))
    let isCopied = try status(of: path) != nil
    let contents = isCopied ? path : bare
    try takeDraft(of: unfolding.step, version, at: contents)
    try seal(contents)
    if let hash = version.hash { try share(contents, hash) }
    if isCopied { try unlink(bare) } else { try rename(bare, to: path) }
  }
}
