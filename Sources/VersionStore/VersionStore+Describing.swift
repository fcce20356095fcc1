internal import ContentHashing
internal import SystemInterface

// A version gets its record when its contents have come into a step.

extension VersionStore {
  /// Files of a version that was made of a shared file: they were opened in its step, and are closed when it's complete.
  struct OpenParts {
    struct Contents {
      let file: FileDescriptor
      let status: FileStatus
    }

    /// The record and the contents, without the latter if they can't be read, or none of them.
    var opened: [FileDescriptor] = []
    var contents: Contents?
    /// The record that a bare version was given.
    var bareRecord: [UInt8]?
  }

  func close(_ parts: inout OpenParts) {
    for file in parts.opened { try? files.close(file) }
    parts = OpenParts()
  }

  /// The properties of a version that are known before its contents were read.
  struct Draft {
    let id: VersionID
    /// See ``StoredVersion/clockTime``.
    let clockTime: Int64?
    let item: ItemID
    let name: SystemPath
    let attributes: VersionAttributes
    let status: FileStatus

    init(
      id: VersionID, clockTime: Int64?, item: ItemID, name: SystemPath, _ attributes: VersionAttributes,
      _ status: FileStatus
    ) {
      self.id = id
      self.clockTime = clockTime
      self.item = item
      self.name = name
      self.attributes = attributes
      self.status = status
    }

    /// The version of a file; the status is that of the contents.
    func version(hash: ContentHash?, _ contents: FileStatus) -> StoredVersion {
      StoredVersion(
        id: id, item: item, attributes: attributes, isPackage: false, hash: hash, size: contents.size, name: name,
        mode: status.mode, modificationTime: status.modificationTime, clockTime: clockTime)
    }
  }

  /// Reads the contents of a step and writes its record; equal contents are stored once already.
  func describe(_ draft: Draft, in step: SystemPath) throws(VersionStoreError) -> StoredVersion {
    let top = step.appending(StoreLayout.contentsName).appending(draft.name)
    var list = MemberList()
    try collect(top, SystemPath(bytes: []), &list, sharing: true)
    if draft.status.kind == .directory {
      try writeDraft(list.bytes, to: step.appending(StoreLayout.members))
    }
    let version = StoredVersion(
      id: draft.id, item: draft.item, attributes: draft.attributes, isPackage: draft.status.kind == .directory,
      hash: draft.status.kind == .directory ? ContentHash(of: list.bytes) : list.hashOfOnly ?? ContentHash(of: []),
      size: list.size, name: draft.name, mode: draft.status.mode,
      modificationTime: draft.status.modificationTime, clockTime: draft.clockTime)
    try writeRecord(of: version, in: step)
    return version
  }

  /// The same for a file that has its former name as well: equal contents can't be stored once while a program may write to it by that.
  ///
  /// The record, with the step to complete if there's one, and the file stay open, because both have to be brought to the disk. The file is
  /// sealed when it has its former name no more.
  func describeShared(
    _ draft: Draft, in step: SystemPath, isHashedLater: Bool, _ completion: Step?, _ parts: inout OpenParts
  ) throws(VersionStoreError) -> StoredVersion {
    let path = step.appending(StoreLayout.contentsName).appending(draft.name)
    parts.contents = try openContents(path, mayBeUnreadable: isHashedLater)
    let version: StoredVersion
    if let contents = parts.contents {
      parts.opened.append(contents.file)
      guard contents.status.kind == .regular else { throw .notAFile(path) }
      let hash = try storing { () throws(SystemError) in
        isHashedLater ? nil : try self.hash(of: contents.file, expecting: contents.status.size)
      }
      version = draft.version(hash: hash, contents.status)
    } else {
      guard let status = try status(of: path) else { throw .nothingThere(path) }
      version = draft.version(hash: nil, status)
    }
    let record = try storing { () throws(SystemError) in try openRecord(in: step) }
    parts.opened.insert(record, at: 0)
    var lines = version.record
    if let completion { lines.add(completion.record) }
    try storing { () throws(SystemError) in try files.writeAll(lines.bytes, to: record) }
    return version
  }

  private func writeRecord(of version: StoredVersion, in step: SystemPath) throws(VersionStoreError) {
    try storing { () throws(SystemError) in
      let record = try openRecord(in: step)
      defer { try? files.close(record) }
      try files.writeAll(version.record.bytes, to: record)
    }
  }

  /// - Returns: `nil` if its user can't read the file, which isn't hashed yet.
  private func openContents(
    _ path: SystemPath, mayBeUnreadable: Bool
  ) throws(VersionStoreError) -> OpenParts.Contents? {
    let file: FileDescriptor
    do throws(SystemError) {
      file = try files.open(path, at: .workingDirectory, flags: [.noFollow, .nonBlocking], mode: 0)
    } catch {
      if mayBeUnreadable, error.isOne(of: .permissionDenied, .notPermitted) { return nil }
      throw .system(error)
    }
    do throws(SystemError) { return OpenParts.Contents(file: file, status: try files.status(of: file)) } catch {
      try? files.close(file)
      throw .system(error)
    }
  }

  /// Writes the record of a copy in a step that isn't read before it's a version; the copy is sealed, since nobody has it open.
  func describeUnhashed(_ draft: Draft, in step: SystemPath) throws(VersionStoreError) -> StoredVersion {
    let path = step.appending(StoreLayout.contentsName).appending(draft.name)
    guard let status = try status(of: path) else { throw .nothingThere(path) }
    try seal(path)
    let version = draft.version(hash: nil, status)
    try writeRecord(of: version, in: step)
    return version
  }

  /// Notes what is at a path and below it; if `sharing`, nobody can change it afterwards.
  func collect(
    _ path: SystemPath, _ inside: SystemPath, _ list: inout MemberList, sharing: Bool
  ) throws(VersionStoreError) {
    guard let status = try status(of: path) else { throw .nothingThere(path) }
    switch status.kind {
    case .regular:
      let hash = try hash(of: path, expecting: status.size)
      list.add(inside, status, hash)
      if sharing {
        try seal(path)
        try share(path, hash)
      }
    case .directory:
      list.add(inside, status, nil)
      if sharing { try openDirectory(path) }
      for name in try names(in: path) {
        try collect(path.appending(name), inside.bytes.isEmpty ? name : inside.appending(name), &list, sharing: sharing)
      }
      if sharing { try closeDirectory(path) }
    case .symbolicLink:
      let target = try storing { () throws(SystemError) in try files.readLink(path, at: .workingDirectory) }
      list.add(inside, status, nil, target: target)
    case .fifo, .socket, .characterDevice, .blockDevice, .unknown:
      throw .notAFile(path)
    }
  }
}
