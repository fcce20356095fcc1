internal import ContentHashing
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

  /// The same for contents whose status is known, with what the caller has to close.
  func add(
    contentsOf source: SystemPath, _ status: FileStatus, to item: ItemID, named name: SystemPath? = nil,
    _ attributes: VersionAttributes, taking: Taking, draft: SystemPath? = nil, hashing: HashingTime = .later,
    _ parts: inout OpenParts
  ) throws(VersionStoreError) -> StoredVersion {
    guard status.kind == .regular || status.kind == .directory else { throw .notAFile(source) }
    let (id, hasDirectory) = try drawID(for: item)
    var addition = Addition(
      Draft(id: id, item: item, name: name ?? source.lastComponent, attributes, status), from: source, taking,
      in: step(id.description), isLent: isInTemporaryDirectory(source),
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

  /// Nothing has changed after an error: a lent file is back, the step is gone, and so is a version whose source can't be taken away.
  ///
  /// - Throws: The error of a system call: the lent file is where it is, and nothing else was undone.
  private func undo(_ addition: Addition) throws(VersionStoreError) {
    let (id, item) = (addition.draft.id, addition.draft.item)
    if addition.isLent && addition.isShared { try giveBack(addition) }
    if try versionIfPresent(id, of: item) == nil {
      try? undo(addition.step)
      try? unlink(layout.mark(of: id, of: item))
      removeTask(UnhashedVersion(item: item, id: id))
    } else if addition.taking == .moving,
      try self.status(of: addition.source)?.identity == addition.draft.status.identity
    {
      try? remove(id, of: item)
      try? unlink(layout.mark(of: id, of: item))
    }
  }

  /// Returns a file that was lent to where it was.
  private func giveBack(_ addition: Addition) throws(VersionStoreError) {
    let place = layout.directory(of: addition.draft.id, of: addition.draft.item)
    let name = SystemPath(StoreLayout.contentsName).appending(addition.draft.name)
    for path in [place.appending(name), addition.contents] where try status(of: path) != nil {
      return try storing { () throws(SystemError) in
        try files.rename(
          path, at: .workingDirectory, to: addition.source, at: .workingDirectory, .exclusive)
      }
    }
  }

  /// Whether there's something to complete of an addition, as far as that's known.
  func isOpen(_ version: StoredVersion) throws(VersionStoreError) -> Bool {
    try status(of: layout.mark(of: version.id, of: version.item)) != nil
  }

  /// Notes that there's nothing to complete any more.
  func endStep(of id: VersionID, of item: ItemID) throws(VersionStoreError) {
    try unlink(layout.mark(of: id, of: item))
  }

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
    let item: ItemID
    let name: SystemPath
    let attributes: VersionAttributes
    let status: FileStatus

    init(id: VersionID, item: ItemID, name: SystemPath, _ attributes: VersionAttributes, _ status: FileStatus) {
      self.id = id
      self.item = item
      self.name = name
      self.attributes = attributes
      self.status = status
    }

    /// The version of a file; the status is that of the contents.
    func version(hash: ContentHash?, _ contents: FileStatus) -> StoredVersion {
      StoredVersion(
        id: id, item: item, attributes: attributes, isPackage: false, hash: hash, size: contents.size, name: name,
        mode: status.mode, modificationTime: status.modificationTime)
    }
  }

  /// Brings the contents into a step: the file that's handed over, as its only name or another one, or a copy.
  ///
  /// - Returns: Whether it's the file itself, which has its former name as well until ``completeMove(of:from:_:_:)`` or
  ///   ``completeReplacement(of:from:_:)``, unless it was lent.
  private func fill(_ addition: Addition) throws(VersionStoreError) -> Bool {
    let (source, target, status) = (addition.source, addition.contents, addition.draft.status)
    if addition.taking != .copying, status.kind == .regular, status.linkCount == 1 {
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
      return try describeShared(draft, in: step, isHashedLater: isHashedLater, completion, &parts)
    }
    return isHashedLater ? try describeUnhashed(draft, in: step) : try describe(draft, in: step)
  }

  /// Reads the contents of a step and writes its record; equal contents are stored once already.
  private func describe(_ draft: Draft, in step: SystemPath) throws(VersionStoreError) -> StoredVersion {
    let top = step.appending(StoreLayout.contentsName).appending(draft.name)
    var list = MemberList()
    try collect(top, SystemPath(bytes: []), &list, sharing: true)
    if draft.status.kind == .directory {
      try writeDraft(list.bytes, to: step.appending(StoreLayout.members))
    }
    let version = StoredVersion(
      id: draft.id, item: draft.item, attributes: draft.attributes, isPackage: draft.status.kind == .directory,
      hash: draft.status.kind == .directory ? ContentHash(of: list.bytes) : list.hashOfOnly ?? ContentHash(of: []),
      size: list.size, name: draft.name, mode: draft.status.mode, modificationTime: draft.status.modificationTime)
    try writeRecord(of: version, in: step)
    return version
  }

  /// The same for a file that has its former name as well: equal contents can't be stored once while a program may write to it by that.
  ///
  /// The record, with the step to complete if there's one, and the file stay open, because both have to be brought to the disk. The file is
  /// sealed when it has its former name no more.
  private func describeShared(
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
  private func describeUnhashed(_ draft: Draft, in step: SystemPath) throws(VersionStoreError) -> StoredVersion {
    let path = step.appending(StoreLayout.contentsName).appending(draft.name)
    guard let status = try status(of: path) else { throw .nothingThere(path) }
    try seal(path)
    let version = draft.version(hash: nil, status)
    try writeRecord(of: version, in: step)
    return version
  }

  /// Notes what is at a path and below it, and seals its files.
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
    case .symbolicLink:
      let target = try storing { () throws(SystemError) in try files.readLink(path, at: .workingDirectory) }
      list.add(inside, status, nil, target: target)
    case .fifo, .socket, .characterDevice, .blockDevice, .unknown:
      throw .notAFile(path)
    }
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
    if addition.taking == .copying { return }
    if addition.isLent && addition.isShared {
      // The version has all that its users see: if that fails, the next look completes it.
      do throws(VersionStoreError) { try completeFile(of: version, parts.contents) } catch { return }
    } else if addition.taking == .moving {
      try completeMove(of: version, from: addition.source, addition.draft.status.identity, parts.contents)
    }
    try? endStep(of: version.id, of: version.item)
  }

  /// There's something to complete from then on, unless that's `nil`.
  private func commit(_ step: SystemPath, _ version: StoredVersion, _ completion: Step?) throws(VersionStoreError) {
    let directory = layout.directory(of: version.item)
    if let completion { try mark(version.id, of: version.item, completion.record.bytes) }
    try storing { () throws(SystemError) in
      if version.isPackage { try files.synchronizeItem(at: step) }
      let own = version.isPackage ? [] : parts(of: version, in: step)
      let mark = layout.mark(of: version.id, of: version.item)
      try synchronize(own + (completion == nil ? [] : [mark, mark.parent]))
    }
    try rename(step, to: layout.directory(of: version.id, of: version.item))
    try synchronizeNames(in: directory)
  }

  /// The same for a file that still has its former name, without waiting for the disk: see ``settle(_:_:with:alsoAt:)``.
  ///
  /// The contents of the mark needn't be on the disk when the file is replaced, because a version that has a mark and another name is known
  /// to be one that wasn't replaced. If the power fails in between, ``completeMoves(of:)`` removes what's left.
  ///
  /// - Returns: Whether the mark gets to the disk with the record, of which it's another name then.
  private func placeShared(
    _ step: SystemPath, _ version: StoredVersion, _ completion: Step
  ) throws(VersionStoreError) -> Bool {
    let place = layout.directory(of: version.id, of: version.item)
    let isLinked =
      if completion.taking == .moving { try linkMark(version, to: step.appending(StoreLayout.record)) } else { false }
    if !isLinked { try mark(version.id, of: version.item, completion.record.bytes) }
    try rename(step, to: place)
    return isLinked
  }

  /// Makes the mark another name of a record that contains the step: a file of its own takes a third of the time of an addition, and most
  /// of that is for its removal.
  ///
  /// - Returns: Whether that worked: a file can't have any number of names.
  private func linkMark(_ version: StoredVersion, to record: SystemPath) throws(VersionStoreError) -> Bool {
    let mark = layout.mark(of: version.id, of: version.item)
    func link() throws(SystemError) {
      try files.link(record, at: .workingDirectory, to: mark, at: .workingDirectory, links: .noFollow)
    }
    do throws(SystemError) { try link() } catch {
      guard error.isAbsence else { return false }
      try ensureDirectory(mark.parent)
      try storing { () throws(SystemError) in try link() }
    }
    return true
  }

  /// Brings a version to the disk together with the file that takes the place of the kept one only then.
  ///
  /// All waits are one, so that a file system with a journal makes one commit of all of it.
  ///
  /// - Parameters:
  ///   - version: The version.
  ///   - open: Its files that are open.
  ///   - replacement: The file that replaces the kept one.
  ///   - paths: Others that have to be on the disk: those that tell the next process about something to complete.
  /// - Throws: The error of a system call.
  func settle(
    _ version: StoredVersion, _ open: OpenParts, with replacement: [FileDescriptor] = [],
    alsoAt paths: [SystemPath] = []
  ) throws(SystemError) {
    let place = layout.directory(of: version.id, of: version.item)
    let parts = parts(of: version, in: place).dropFirst(open.opened.count)
    try synchronize(parts + [place.parent] + paths, with: replacement + open.opened)
  }

  /// Everything that has to be on the disk of the version of a file, with its directory; the files come first, as in ``OpenParts``.
  func parts(of version: StoredVersion, in directory: SystemPath) -> [SystemPath] {
    let contents = directory.appending(StoreLayout.contentsName)
    return [directory.appending(StoreLayout.record), contents.appending(version.name), contents, directory]
  }

  /// Brings items to the disk by one wait.
  func synchronize(_ paths: [SystemPath], with others: [FileDescriptor] = []) throws(SystemError) {
    var parts: [FileDescriptor] = []
    defer { for part in parts { try? files.close(part) } }
    for path in paths {
      do throws(SystemError) {
        parts.append(try files.open(path, at: .workingDirectory, flags: [.noFollow, .nonBlocking], mode: 0))
      } catch {
        // The kept file may be one that its user can't read.
        if !error.isOne(of: .permissionDenied, .notPermitted) { throw error }
      }
    }
    try files.synchronizeAll(others + parts)
  }
}
