internal import ContentHashing
internal import SystemInterface

// A save that keeps a version waits for the disk, and each directory and each file that a version consists of makes this wait longer. So a
// small file that's replaced needs only another name: it's a bare version, whose record is an attribute of the file. It gets its own
// directory when somebody looks at the history, or when there are many.

extension VersionStore {
  /// The record of a bare version, and after it the step that may have to be completed of the save.
  static let bareName = ExtendedAttributeName.versionRecord

  /// Gives a file that's about to be replaced another name in the store.
  ///
  /// - Parameters:
  ///   - path: The file, as a canonical path.
  ///   - status: Its status.
  ///   - item: The item.
  ///   - attributes: The known properties of the version.
  ///   - draft: The name of the file that takes its place.
  ///   - parts: Gets the file, which has to be brought to the disk.
  /// - Returns: The version; `nil` if the file is too large, has another name already, or can't have a name or an attribute of the store's.
  ///   Nothing has changed then.
  /// - Throws: The error of a system call.
  func addBare(
    _ path: SystemPath, _ status: FileStatus, to item: ItemID, _ attributes: VersionAttributes, draft: SystemPath,
    _ parts: inout OpenParts
  ) throws(VersionStoreError) -> StoredVersion? {
    guard status.kind == .regular, status.linkCount == 1, !isHashedLater(status, .later) else { return nil }
    let (id, clockTime, _) = try drawID(for: item)
    do throws(VersionStoreError) {
      let file = try storing { () throws(SystemError) in
        try files.open(path, at: .workingDirectory, flags: [.noFollow, .nonBlocking], mode: 0)
      }
      parts.opened = [file]
      let step = Step.Draft(name: draft, worker: worker)
      let version = try describeBare(file, id, clockTime, of: item, named: path, attributes, step, &parts)
      try linkBare(path, to: layout.bare(id, of: item))
      // Another file may have been put there in between.
      let linked = try storing { () throws(SystemError) in try files.status(of: file) }
      if linked.linkCount == status.linkCount + 1, linked.identity == status.identity { return version }
    } catch {
      // It's kept in the other way, or that says why it can't be.
    }
    // The attribute stays, as after a kill: without a name in the store it means nothing, and with one it's another save's.
    try? unlink(layout.bare(id, of: item))
    close(&parts)
    return nil
  }

  private func linkBare(_ path: SystemPath, to bare: SystemPath) throws(VersionStoreError) {
    func link() throws(SystemError) {
      try files.link(path, at: .workingDirectory, to: bare, at: .workingDirectory, links: .noFollow)
    }
    do throws(SystemError) { try link() } catch {
      guard error.isAbsence else { throw .system(error) }
      // The first one of this item.
      try ensureDurableDirectory(bare.parent)
      try storing { () throws(SystemError) in try link() }
    }
  }

  /// Sets the record of a file, before that has a name in the store: the record of a bare version says whose it is.
  private func describeBare(
    _ file: FileDescriptor, _ id: VersionID, _ clockTime: Int64?, of item: ItemID, named path: SystemPath,
    _ attributes: VersionAttributes, _ draft: Step.Draft, _ parts: inout OpenParts
  ) throws(VersionStoreError) -> StoredVersion {
    let status = try storing { () throws(SystemError) in try files.status(of: file) }
    guard status.kind == .regular else { throw .notAFile(path) }
    let hash = try storing { () throws(SystemError) in try self.hash(of: file, expecting: status.size) }
    let version = StoredVersion(
      id: id, item: item, attributes: attributes, isPackage: false, hash: hash, size: status.size,
      name: path.lastComponent, mode: status.mode, modificationTime: status.modificationTime,
      clockTime: clockTime)
    var record = version.record
    record.add(Step.add(item, source: path, status.identity, .linking, draft).record)
    let bytes = record.bytes
    try storing { () throws(SystemError) in try files.setExtendedAttribute(Self.bareName, of: file, to: bytes) }
    parts.bareRecord = bytes
    parts.contents = OpenParts.Contents(file: file, status: status)
    return version
  }

  /// Brings a bare version to the disk together with the file that takes its place only then, by one wait.
  func settleBare(
    _ version: StoredVersion, _ open: OpenParts, with replacement: [FileDescriptor] = []
  ) throws(SystemError) {
    let directory = layout.bare(version.id, of: version.item).parent
    try synchronize([directory, directory.parent], with: replacement + open.opened)
  }

  /// Ends the addition of a bare version: its file was replaced, unless it has another name still.
  ///
  /// - Returns: The version; another one with the same contents if a program has removed the file from the store meanwhile.
  func endBare(_ version: StoredVersion, _ open: OpenParts) throws(VersionStoreError) -> StoredVersion {
    guard let file = open.contents?.file else { return version }
    let status = try storing { () throws(SystemError) in try files.status(of: file) }
    if status.linkCount == 0 {
      // It was hashed and shared by a process that doesn't wait, or nothing has its contents any more but this descriptor.
      if try isKept(version) { return version }
      return try addAgain(version, from: file, status)
    }
    restoreRecord(of: file, open)
    if status.linkCount > 1 { try unfoldShared(version) } else { unfoldingIsDue?(version.item) }
    return version
  }

  /// Gives a bare version its record back if a save that doesn't wait, in a domain of its own, has given its file another one.
  private func restoreRecord(of file: FileDescriptor, _ open: OpenParts) {
    let record = try? files.extendedAttribute(Self.bareName, of: file)
    if let own = open.bareRecord, let record, record != own {
      try? files.setExtendedAttribute(Self.bareName, of: file, to: own)
    }
  }

  /// Whether a version is listed, or can be brought back.
  private func isKept(_ version: StoredVersion) throws(VersionStoreError) -> Bool {
    if try versionIfPresent(version.id, of: version.item) != nil { return true }
    return try removedVersions(of: version.item).contains { $0.version.id == version.id }
  }

  /// Keeps the contents of a file that has no name any more.
  private func addAgain(
    _ version: StoredVersion, from file: FileDescriptor, _ status: FileStatus
  ) throws(VersionStoreError) -> StoredVersion {
    let copy = step("again-" + version.id.description)
    defer { try? unlink(copy) }
    try storing { () throws(SystemError) in
      _ = try files.seek(file, to: 0, .start)
      try files.withDescriptor(copy, flags: [.create, .exclusive, .writeOnly], mode: 0o600) {
        (target) throws(SystemError) in
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
          let count = try files.read(file, into: &buffer)
          if count == 0 { break }
          try files.writeAll(Array(buffer[..<count]), to: target)
        }
        try files.setMode(of: target, to: status.mode)
        try files.setModificationTime(of: target, to: status.modificationTime)
      }
    }
    return try add(contentsOf: copy, to: version.item, named: version.name, version.attributes)
  }

  /// Undoes the addition of a bare version whose file wasn't replaced.
  ///
  /// The record goes only if the file has no other name of a store: that may be another save's, in a domain of its own.
  func undoBare(_ id: VersionID, of item: ItemID, _ open: OpenParts) throws(VersionStoreError) {
    try unlink(layout.bare(id, of: item))
    guard let contents = open.contents, let status = try? files.status(of: contents.file),
      status.linkCount == contents.status.linkCount
    else { return }
    try? files.removeExtendedAttribute(Self.bareName, of: contents.file)
  }

  /// The record of a bare version, and the step of its save.
  ///
  /// Others who may write to the file may set that. So it's another item's, or leads out of a directory, only if it's none; the hash, the
  /// size and the permissions are those of the file.
  func bareRecord(
    _ id: VersionID, of item: ItemID, at path: SystemPath? = nil
  ) -> (version: StoredVersion, step: Step?)? {
    let bytes = try? files.extendedAttribute(Self.bareName, ofItemAt: path ?? layout.bare(id, of: item))
    guard let record = bytes.flatMap({ StoreRecord($0) }), var version = StoredVersion(record), version.item == item,
      !version.isPackage, version.name.isSingleName
    else { return nil }
    // Two saves that don't wait for each other, in domains of their own, give the same file a record.
    version.id = id
    let step = record.sections(beginningWith: "step").first.flatMap { Step($0) }
    guard case .add(let owner, let source, _, .linking, let draft?)? = step, owner == item, draft.name.isSingleName,
      draft.name.isTemporaryName(for: source.lastComponent)
    else { return (version, nil) }
    return (version, step)
  }

  /// A bare version as it's listed when there's no room for its directory; `nil` if its file has other names, and may not have been replaced.
  func bareVersion(_ id: VersionID, of item: ItemID) throws(VersionStoreError) -> StoredVersion? {
    try bareVersion(id, of: item, at: layout.bare(id, of: item))
  }

  /// The same by the path of the file, which has another name when the version was removed.
  func bareVersion(
    _ id: VersionID, of item: ItemID, at path: SystemPath
  ) throws(VersionStoreError) -> StoredVersion? {
    guard let status = try status(of: path), status.linkCount == 1,
      var version = bareRecord(id, of: item, at: path)?.version
    else { return nil }
    version.isBare = true
    version.mode = status.mode
    return version
  }

  /// How many bare versions an item has.
  ///
  /// - Parameter item: The item.
  /// - Returns: The number.
  /// - Throws: The error of a system call.
  /// - Complexity: O(bare versions of the item).
  package func bareVersionCount(of item: ItemID) throws(VersionStoreError) -> Int { try bareVersionIDs(of: item).count }

  /// The names of an item's bare versions, oldest first.
  func bareVersionIDs(of item: ItemID) throws(VersionStoreError) -> [VersionID] {
    try unsortedNames(in: layout.bareVersions(of: item)).compactMap { VersionID($0) }.sorted()
  }
}
