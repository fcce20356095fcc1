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
    return try add(contentsOf: source, status, to: item, named: name, attributes, taking: taking, hashing: hashing)
  }

  /// The same for contents whose status is known.
  private func add(
    contentsOf source: SystemPath, _ status: FileStatus, to item: ItemID, named name: SystemPath? = nil,
    _ attributes: VersionAttributes, taking: Taking, draft: SystemPath? = nil, hashing: HashingTime = .later
  ) throws(VersionStoreError) -> StoredVersion {
    guard status.kind == .regular || status.kind == .directory else { throw .notAFile(source) }
    let id = try drawID(for: item)
    let step = step(id.description)
    // From the commit of a copy on there's nothing to complete.
    let completion: Step? =
      taking == .copying
      ? nil : .add(item, source: source, status.identity, taking, draft.map { Step.Draft(name: $0, worker: worker) })
    do throws(VersionStoreError) {
      try ensureDirectory(step)
      try ensureDirectory(step.appending(StoreLayout.contentsName))
      let draft = Draft(id: id, item: item, name: name ?? source.lastComponent, attributes, status)
      let isShared = try fill(step, from: source, as: draft.name, status, taking)
      let isHashedLater = isHashedLater(status, hashing)
      let version =
        isHashedLater
        ? try describeUnhashed(draft, in: step, isShared: isShared) : try describe(draft, in: step, sharing: !isShared)
      if isHashedLater { try noteTask(version) }
      if let completion, isShared {
        // Nothing is lost as long as the file has its former name as well: so all of it gets to the disk by one wait.
        try placeShared(step, version, completion)
        if taking == .moving {
          try storing { () throws(SystemError) in try settle(version, alsoAt: [layout.mark(of: id, of: item)]) }
        }
      } else {
        try commit(step, version, completion)
      }
      // A replacement that shares the file ends when the other file is there.
      if taking == .linking && isShared { return version }
      if taking == .moving { try completeMove(of: version, from: source, status.identity) }
      if taking != .copying { try? endStep(of: id, of: item) }
      if isHashedLater { hashingIsDue?() }
      return version
    } catch {
      if try versionIfPresent(id, of: item) == nil {
        try? undo(step)
        try? unlink(layout.mark(of: id, of: item))
        removeTask(UnhashedVersion(item: item, id: id))
      } else if taking == .moving, try self.status(of: source)?.identity == status.identity {
        // It can't be taken from where it is.
        try? remove(id, of: item)
        try? unlink(layout.mark(of: id, of: item))
      }
      // The caller knows the package, and not the step.
      let draft = step.appending(StoreLayout.contentsName).appending(name ?? source.lastComponent)
      if case .notAFile(let path) = error, path.isInside(draft) {
        throw .notAFile(SystemPath(bytes: source.bytes + path.bytes.dropFirst(draft.bytes.count)))
      }
      throw error
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
  }

  /// Brings the contents into a step: as another name of the file that's handed over, or as a copy.
  ///
  /// - Returns: Whether the file has its former name as well until ``completeMove(of:from:_:)`` or
  ///   ``completeReplacement(of:from:_:)``.
  private func fill(
    _ step: SystemPath, from source: SystemPath, as name: SystemPath, _ status: FileStatus, _ taking: Taking
  ) throws(VersionStoreError) -> Bool {
    let target = step.appending(StoreLayout.contentsName).appending(name)
    if taking != .copying, status.kind == .regular, status.linkCount == 1 {
      do throws(SystemError) {
        try files.link(source, at: .workingDirectory, to: target, at: .workingDirectory, links: .noFollow)
        return true
      } catch {
        // Another file system, or one without hard links: copied, and removed at last.
      }
    }
    try storing { () throws(SystemError) in try files.copyItem(from: source, to: target, replacing: false) }
    return false
  }

  /// Reads the contents of a step and writes its record; equal contents are stored once already if `sharing`.
  ///
  /// They can't be while a program may write to the file by another name.
  private func describe(
    _ draft: Draft, in step: SystemPath, sharing: Bool
  ) throws(VersionStoreError) -> StoredVersion {
    let top = step.appending(StoreLayout.contentsName).appending(draft.name)
    var list = MemberList()
    try collect(top, SystemPath(bytes: []), &list, sharing: sharing)
    if draft.status.kind == .directory {
      try writeDraft(list.bytes, to: step.appending(StoreLayout.members))
    }
    let version = StoredVersion(
      id: draft.id, item: draft.item, attributes: draft.attributes, isPackage: draft.status.kind == .directory,
      hash: draft.status.kind == .directory ? ContentHash(of: list.bytes) : list.hashOfOnly ?? ContentHash(of: []),
      size: list.size, name: draft.name, mode: draft.status.mode, modificationTime: draft.status.modificationTime)
    try writeDraft(version.record.bytes, to: step.appending(StoreLayout.record))
    return version
  }

  /// Writes the record of a file in a step that isn't read before it's a version.
  ///
  /// A copy is sealed: nobody has it open. A file that `isShared` is sealed when it has its former name no more.
  private func describeUnhashed(
    _ draft: Draft, in step: SystemPath, isShared: Bool
  ) throws(VersionStoreError) -> StoredVersion {
    let path = step.appending(StoreLayout.contentsName).appending(draft.name)
    guard let status = try status(of: path) else { throw .nothingThere(path) }
    if !isShared { try seal(path) }
    let version = StoredVersion(
      id: draft.id, item: draft.item, attributes: draft.attributes, isPackage: false, hash: nil, size: status.size,
      name: draft.name, mode: draft.status.mode, modificationTime: draft.status.modificationTime)
    try writeDraft(version.record.bytes, to: step.appending(StoreLayout.record))
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

  /// There's something to complete from then on, unless that's `nil`.
  private func commit(_ step: SystemPath, _ version: StoredVersion, _ completion: Step?) throws(VersionStoreError) {
    let directory = layout.directory(of: version.item)
    try ensureDurableDirectory(directory)
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

  /// The same for a file that still has its former name, without waiting for the disk: see ``settle(_:with:)``.
  ///
  /// The contents of the mark needn't be on the disk when the file is replaced, because a version that has a mark and another name is known
  /// to be one that wasn't replaced. If the power fails in between, ``completeMoves(of:)`` removes what's left.
  private func placeShared(
    _ step: SystemPath, _ version: StoredVersion, _ completion: Step
  ) throws(VersionStoreError) {
    let place = layout.directory(of: version.id, of: version.item)
    try ensureDurableDirectory(place.parent)
    try mark(version.id, of: version.item, completion.record.bytes)
    try rename(step, to: place)
  }

  /// Brings a version to the disk together with the file that takes the place of the kept one only then.
  ///
  /// All waits are one, so that a file system with a journal makes one commit of all of it.
  private func settle(
    _ version: StoredVersion, with replacement: [FileDescriptor] = [], alsoAt paths: [SystemPath] = []
  ) throws(SystemError) {
    let place = layout.directory(of: version.id, of: version.item)
    try synchronize(
      parts(of: version, in: place) + [place.parent, layout.marks(of: version.item)] + paths, with: replacement)
  }

  /// Everything that has to be on the disk of the version of a file, with its directory.
  private func parts(of version: StoredVersion, in directory: SystemPath) -> [SystemPath] {
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

extension VersionStore {
  /// Keeps the contents of a file while another file takes its place: the old one becomes the version, without being
  /// copied.
  ///
  /// - Parameters:
  ///   - path: The file, as a canonical path.
  ///   - item: The item.
  ///   - attributes: The known properties of the version.
  ///   - noteOther: Called with another version, if a program that doesn't wait has written the file in the last instant: it has these
  ///     contents.
  ///   - replace: Puts another file in its place, if it returns, and only over what its first argument allows. Right before that it calls
  ///     its second argument with the complete new file, which is then on the disk, together with the version.
  /// - Returns: The version.
  /// - Throws: The error thrown by `replace`: no version was added then, unless the file was replaced all the same. Or the error of a
  ///   system call.
  /// - Complexity: O(bytes) of a small file, to hash them; O(1) for a large one.
  package func keep(
    _ path: SystemPath, of item: ItemID, _ attributes: VersionAttributes,
    noteOther: @escaping (StoredVersion) -> Void = { _ in },
    whileReplacing replace: (
      _ target: SaveTarget, _ settle: @escaping (FileDescriptor) throws(SystemError) -> Void
    ) throws -> Void
  ) throws -> StoredVersion {
    guard let former = try status(of: path) else { throw VersionStoreError.nothingThere(path) }
    let identity = former.identity
    let draft = SystemPath.temporaryName(for: path.lastComponent)
    let version = try add(contentsOf: path, former, to: item, attributes, taking: .linking, draft: draft)
    var isSettled = false
    let refusal = Refusal()
    var target = saveTarget(
      KeptState(status: former, version: version),
      orElse: { (other) throws(VersionStoreError) in
        noteOther(try add(contentsOf: other, to: item, named: path.lastComponent, attributes))
      }, refusal)
    target.temporaryName = draft
    do {
      try replace(target) { (file) throws(SystemError) in
        try settle(version, with: [file])
        isSettled = true
      }
      // A file that was written in place, or only looked at.
      if !isSettled { try settle(version) }
    } catch {
      let isReplaced = try self.status(of: path)?.identity != identity
      if isReplaced {
        try completeReplacement(of: version, from: path, identity)
        try endStep(of: version.id, of: item)
        if version.hash == nil { hashingIsDue?() }
      } else {
        try remove(version.id, of: item)
        try? unlink(layout.mark(of: version.id, of: item))
      }
      if let refusal = refusal.error { throw refusal }
      throw error
    }
    try completeReplacement(of: version, from: path, identity)
    try endStep(of: version.id, of: item)
    if version.hash == nil { hashingIsDue?() }
    return version
  }
}

/// The members of a version: a line for each, in the order of their names.
struct MemberList {
  private(set) var size: Int64 = 0
  /// The hash of the first file.
  private(set) var hashOfOnly: ContentHash?
  private var text = ""

  var bytes: [UInt8] { Array(text.utf8) }

  mutating func add(_ path: SystemPath, _ status: FileStatus, _ hash: ContentHash?, target: SystemPath? = nil) {
    let kind =
      switch status.kind {
      case .directory: "directory"
      case .symbolicLink: "link"
      default: "file"
      }
    let mode = String(status.mode, radix: 8)
    let contents = hash.map { " \(status.size) \(status.modificationTime) \($0)" } ?? ""
    let link = target.map { " \(PercentEncoding.encode($0.bytes))" } ?? ""
    text += "\(kind) \(mode) \(PercentEncoding.encode(path.bytes))\(contents)\(link)\n"
    if let hash {
      size += status.size
      hashOfOnly = hashOfOnly ?? hash
    }
  }
}
