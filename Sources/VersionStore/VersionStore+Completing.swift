internal import ContentHashing
internal import SystemInterface

// The work after the commit of a version whose file has another name outside of the store, at once or after a crash.

// MARK: - Moves into the store

extension VersionStore {
  /// Ends a move into the store: from the commit on the version is there, and its source must go.
  ///
  /// Doing it twice does nothing.
  func completeMove(
    of version: StoredVersion, from source: SystemPath, _ identity: FileIdentity, _ open: OpenParts.Contents? = nil
  ) throws(VersionStoreError) {
    // Something else may have been put there meanwhile.
    if try status(of: source)?.identity == identity {
      // Nothing has that name. Not every file system can check that.
      try storing { () throws(SystemError) in
        try files.rename(
          source, at: .workingDirectory, to: removal(of: version, at: source), at: .workingDirectory, .replacing)
      }
    }
    if version.isPackage { return try removeRest(of: version, at: source) }
    try removeRest(of: version, at: source, identity)
    try completeFile(of: version, open)
  }

  /// The file of a version has no other name any more: nobody can write to it from now on, and equal versions may share it.
  func completeFile(of version: StoredVersion, _ open: OpenParts.Contents?) throws(VersionStoreError) {
    if let open { try seal(open.file) } else { try seal(path(of: version)) }
    if let hash = version.hash { try share(path(of: version), hash) }
  }

  /// The place of an item while it's removed: nobody is to take a part of a package for the whole, and a file that another program has put
  /// there in the last instant is recognized.
  private func removal(of version: StoredVersion, at source: SystemPath) -> SystemPath {
    source.parent.appending(".moved-" + version.id.description)
  }

  private func removeRest(of version: StoredVersion, at source: SystemPath) throws(VersionStoreError) {
    let rest = removal(of: version, at: source)
    if try status(of: rest) == nil { return }
    try storing { () throws(SystemError) in try files.removeItem(at: rest) }
  }

  /// The same for a file: another one has been put at the source in the last instant, and goes back.
  ///
  /// This doesn't wait for the disk once more. File systems with a journal bring the removal of the name there before the end of the step: if
  /// the power fails before, the name is there again, and the next addition removes it.
  private func removeRest(
    of version: StoredVersion, at source: SystemPath, _ identity: FileIdentity
  ) throws(VersionStoreError) {
    let rest = removal(of: version, at: source)
    guard let status = try status(of: rest) else { return }
    try storing { () throws(SystemError) in
      if status.identity == identity { return try files.unlink(rest, at: .workingDirectory, .file) }
      try files.withDescriptor(source.parent, flags: .directory) { (directory) throws(SystemError) in
        _ = try files.putBack(
          DirectoryItem(name: rest.lastComponent, directory: directory, place: source.parent),
          to: DirectoryItem(name: source.lastComponent, directory: directory, place: source.parent))
      }
    }
  }

  /// A file that was to be removed when the process ended gets its name back, and is examined like any other; if something else has
  /// its name by now, it's removed if the version has its contents.
  private func giveBackRest(of version: StoredVersion, at source: SystemPath) throws(VersionStoreError) {
    let rest = removal(of: version, at: source)
    if try status(of: rest) == nil { return }
    let isFree = try status(of: source) == nil
    if !isFree {
      let hash = try contents(ofItemAt: rest)?.hash
      if hash == nil || hash != version.hash { return }
    }
    try storing { () throws(SystemError) in
      if !isFree { return try files.removeItem(at: rest) }
      try files.rename(rest, at: .workingDirectory, to: source, at: .workingDirectory, .exclusive)
    }
  }

  /// Ends a move into the store that a crash has cut off, any time later.
  ///
  /// The source may have been changed, or be another file with the same number: only contents that the version has are
  /// removed.
  func recoverMove(
    of version: StoredVersion, from source: SystemPath, _ identity: FileIdentity
  ) throws(VersionStoreError) {
    // A version of a file that has none has lost it, and must not be taken for the file.
    if !version.isPackage, try status(of: path(of: version)) == nil { return try remove(version.id, of: version.item) }
    if version.isPackage { try removeRest(of: version, at: source) } else { try giveBackRest(of: version, at: source) }
    if version.hash == nil { return try recoverUnhashedMove(of: version, from: source, identity) }
    let there = try contents(ofItemAt: source)
    let isSource = try status(of: source)?.identity == identity
    if isSource, there?.hash == version.hash {
      do throws(VersionStoreError) { return try completeMove(of: version, from: source, identity) } catch {
        // It stays where it is as well, by a link or as a copy.
        try makeOwn(version)
        return
      }
    }
    // No caller was notified that it's kept. If the file was changed by the name that it still has, the version has the
    // changed contents, too, and is removed.
    if isSource, try status(of: path(of: version))?.identity == identity {
      return try remove(version.id, of: version.item)
    }
    if version.isPackage { return }
    if let hash = version.hash, try self.hash(of: path(of: version)) == hash {
      try seal(path(of: version))
      try share(path(of: version), hash)
    }
  }

  /// The same for a file of which there's no hash.
  private func recoverUnhashedMove(
    of version: StoredVersion, from source: SystemPath, _ identity: FileIdentity
  ) throws(VersionStoreError) {
    let path = path(of: version)
    guard let kept = try status(of: path) else { return }
    guard let there = try status(of: source), there.identity == identity else { return try seal(path) }
    let isUnchanged: Bool
    if kept.identity == identity {
      isUnchanged = version.isOf(there)
    } else {
      isUnchanged = try hash(of: path) == contents(ofItemAt: source)?.hash
    }
    if isUnchanged {
      do throws(VersionStoreError) { try completeMove(of: version, from: source, identity) } catch {
        // It stays where it is as well, by a link or as a copy.
        try makeOwn(version)
      }
    } else if kept.identity == identity {
      // No caller was notified that it's kept, and the file at the source is the same one, with its changes.
      try remove(version.id, of: version.item)
    }
  }

  /// Gives a version whose file has other names outside of the store a file of its own.
  func makeOwn(_ version: StoredVersion) throws(VersionStoreError) {
    let (path, copy) = (path(of: version), step("own-" + version.id.description))
    if version.isPackage { return }
    try unlink(copy)
    try storing { () throws(SystemError) in
      try files.copyItem(from: path, to: copy, replacing: false)
      try files.synchronizeItem(at: copy)
      try files.rename(copy, at: .workingDirectory, to: path, at: .workingDirectory, .replacing)
    }
    try seal(path)
  }
}

// MARK: - Replacements

extension VersionStore {
  /// Ends the addition of a file that got another name in the store: another file is in its place now, and nobody writes to it.
  ///
  /// If the file wasn't replaced, the version gets a copy of its own. Doing it twice does nothing.
  func completeReplacement(
    of version: StoredVersion, from source: SystemPath, _ identity: FileIdentity, _ open: OpenParts.Contents? = nil
  ) throws(VersionStoreError) {
    let path = path(of: version)
    guard let status = try status(of: path) else { return }
    if status.identity == identity, status.linkCount > 1 {
      // It wasn't replaced, or has moved away.
      try makeOwn(version)
    } else if let open, open.status.identity == status.identity {
      try seal(open.file)
    } else {
      try seal(path)
    }
    if let hash = version.hash { try share(path, hash) }
  }

  /// Whether a file that was kept for a replacement still has its place.
  func isUnreplaced(
    _ version: StoredVersion, at source: SystemPath, _ identity: FileIdentity
  ) throws(VersionStoreError) -> Bool {
    if try status(of: source)?.identity != identity { return false }
    return try status(of: path(of: version))?.identity == identity
  }

  /// Ends a replacement that a crash has cut off, any time later: if the file wasn't replaced, it may have been changed since.
  func recoverReplacement(
    of version: StoredVersion, from source: SystemPath, _ identity: FileIdentity
  ) throws(VersionStoreError) {
    let path = path(of: version)
    guard let status = try status(of: path) else { return }
    let isNamedElsewhere = status.identity == identity && status.linkCount > 1
    let isUnchanged: Bool
    if let hash = version.hash {
      if isNamedElsewhere { try makeOwn(version) }
      isUnchanged = try self.hash(of: path) == hash
    } else {
      isUnchanged = !isNamedElsewhere || version.isOf(status)
    }
    if isUnchanged {
      try completeReplacement(of: version, from: source, identity)
    } else {
      // The file has what was kept, or what was made of it.
      try remove(version.id, of: version.item)
    }
  }
}
