internal import ContentHashing
internal import SystemInterface

// A history that goes to another store needs room there for each of its contents once, however many versions have them.

extension VersionStore {
  /// The stored contents of this store that were compared with their hashes while a history is taken over.
  struct KnownContents {
    var intact: Set<ContentHash> = []
  }

  /// The record of the contents of a version, by paths below the directory of its contents.
  private struct RecordedContents {
    /// Those of files; none if the version isn't hashed, or if its records are damaged.
    var hashes: [SystemPath: ContentHash] = [:]
    /// All of a package; others were put there by a program since it was kept.
    var members: Set<SystemPath>?
  }

  /// Copies the directory of a version of another store, and brings it to the disk.
  ///
  /// Files of which this store has the contents become other names of these; the others are contents for those that follow.
  ///
  /// - Throws: The error of a system call; a part of the directory may be there then.
  func copyVersion(
    from source: SystemPath, in other: VersionStore, to target: SystemPath, _ known: inout KnownContents
  ) throws(VersionStoreError) {
    let recorded = try other.recordedContents(ofVersionIn: source)
    // One that isn't there isn't one without files.
    let names = try storing { () throws(SystemError) in
      try files.withDescriptor(source, flags: .directory) { (_) throws(SystemError) in try files.names(in: source) }
    }
    try makeVersionDirectory(target)
    for name in names.sorted() {
      let (from, to) = (source.appending(name), target.appending(name))
      if name == SystemPath(StoreLayout.contentsName) {
        try copyContents(from: from, to: to, SystemPath(bytes: []), recorded, &known)
      } else {
        try storing { () throws(SystemError) in try files.copyItem(from: from, to: to, replacing: false) }
      }
    }
    try synchronizeNames(in: target)
  }

  private func makeVersionDirectory(_ path: SystemPath) throws(VersionStoreError) {
    try storing { () throws(SystemError) in
      try files.makeDirectory(path, at: .workingDirectory, mode: 0o700)
    }
  }

  private func recordedContents(ofVersionIn directory: SystemPath) throws(VersionStoreError) -> RecordedContents {
    guard let record = try recordIfIntact(at: directory.appending(StoreLayout.record)),
      let version = StoredVersion(record)
    else { return RecordedContents() }
    var recorded = RecordedContents()
    if !version.isPackage {
      var hash = version.hash
      if hash == nil { hash = try recordedHash(at: directory.appending(StoreLayout.hash))?.hash }
      recorded.hashes[version.name] = hash
      return recorded
    }
    let path = directory.appending(StoreLayout.members)
    guard try status(of: path) != nil else { return recorded }
    let list = try contents(of: path)
    if ContentHash(of: list) != version.hash { return recorded }
    var members: Set<SystemPath> = []
    for member in Member.members(in: list) {
      guard let member else { return RecordedContents() }
      let path = member.path.bytes.isEmpty ? version.name : version.name.appending(member.path)
      members.insert(path)
      recorded.hashes[path] = member.contents?.hash
    }
    recorded.members = members
    return recorded
  }

  private func copyContents(
    from source: SystemPath, to target: SystemPath, _ inside: SystemPath, _ recorded: RecordedContents,
    _ known: inout KnownContents
  ) throws(VersionStoreError) {
    let status = try status(of: source)
    if status?.kind == .directory {
      try makeVersionDirectory(target)
      for name in try names(in: source) {
        let member = inside.bytes.isEmpty ? name : inside.appending(name)
        if recorded.members?.contains(member) == false { continue }
        try copyContents(from: source.appending(name), to: target.appending(name), member, recorded, &known)
      }
      // The outermost one isn't of the package.
      if !inside.bytes.isEmpty { try closeDirectory(target) }
      return try synchronizeNames(in: target)
    }
    let hash = status?.kind == .regular ? recorded.hashes[inside] : nil
    if let hash, let status, try linkContents(hash, status.size, to: target, &known) { return }
    try storing { () throws(SystemError) in try files.copyItem(from: source, to: target, replacing: false) }
    // A program may write to one that isn't hashed yet.
    guard hash != nil else { return }
    try seal(target)
    do throws(VersionStoreError) { try share(target, self.hash(of: target)) } catch {
      // It takes more room then.
      if !error.isOfFullVolume { throw error }
    }
  }

  /// Gives stored contents another name.
  ///
  /// - Returns: Whether that was done; `false` if they aren't there, aren't what they were, or can't have one more name.
  private func linkContents(
    _ hash: ContentHash, _ size: Int64, to target: SystemPath, _ known: inout KnownContents
  ) throws(VersionStoreError) -> Bool {
    let stored = layout.contents(of: hash)
    guard let status = try status(of: stored), status.kind == .regular, status.size == size else { return false }
    do throws(SystemError) {
      try files.link(stored, at: .workingDirectory, to: target, at: .workingDirectory, links: .noFollow)
    } catch {
      return false
    }
    if known.intact.contains(hash) { return true }
    // By the new name: the other one may be that of another file by now.
    if try self.hash(of: target) == hash {
      known.intact.insert(hash)
      return true
    }
    try unlink(target)
    return false
  }
}
