package import ContentHashing
package import SystemInterface

// Contents are stored once, whichever versions have them: each version has another name of the same file.

extension VersionStore {
  static let readOnly: UInt32 = 0o444

  /// The hash of a file, which is in the store or not.
  ///
  /// - Parameter path: The file.
  /// - Returns: The hash.
  /// - Throws: The error of a system call.
  /// - Complexity: O(bytes).
  package func contentHash(of path: SystemPath) throws(VersionStoreError) -> ContentHash { try hash(of: path) }

  /// Hashes a file of the store.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - sizeMax: Ends when the file has more bytes: a program goes on writing to it, and the hash is that of no contents.
  ///   - size: How many bytes it's expected to have.
  /// - Returns: The hash.
  /// - Throws: The error of a system call.
  func hash(
    of path: SystemPath, sizeMax: Int64 = .max, expecting size: Int64 = .max
  ) throws(VersionStoreError) -> ContentHash {
    try storing { () throws(SystemError) in
      try files.withDescriptor(path, flags: [.noFollow, .nonBlocking]) { (file) throws(SystemError) in
        try hash(of: file, sizeMax: sizeMax, expecting: size)
      }
    }
  }

  /// The same for a file that's open, from its beginning.
  func hash(
    of file: FileDescriptor, sizeMax: Int64 = .max, expecting size: Int64 = .max
  ) throws(SystemError) -> ContentHash {
    var hasher = ContentHasher()
    // A large buffer is memory that the kernel makes for this call only.
    var buffer = [UInt8](repeating: 0, count: Int(min(max(size, 1 << 10), 1 << 18)))
    var size: Int64 = 0
    while size <= sizeMax {
      let count = try files.read(file, into: &buffer)
      if count == 0 { break }
      hasher.update(buffer[..<count])
      size += Int64(count)
    }
    return hasher.finalized()
  }

  /// Lets nobody write to a file of the store, and takes off what isn't contents: other versions may share it.
  func seal(_ path: SystemPath) throws(VersionStoreError) {
    try storing { () throws(SystemError) in
      try files.withDescriptor(path, flags: [.noFollow, .nonBlocking]) { (file) throws(SystemError) in
        try sealContents(file)
      }
    }
  }

  /// The same for one that's open.
  func seal(_ file: FileDescriptor) throws(VersionStoreError) {
    try storing { () throws(SystemError) in try sealContents(file) }
  }

  private func sealContents(_ file: FileDescriptor) throws(SystemError) {
    let names = (try? files.extendedAttributes(of: file)) ?? []
    // Those of security modules may have to stay.
    // A record of a bare version is the store's own, and takes as long to remove as everything else here.
    for name in names where name != .versionRecord { try? files.removeExtendedAttribute(name, of: file) }
    do throws(SystemError) { try files.setMode(of: file, to: Self.readOnly) } catch {
      // Another user's file, which nobody finds here: only the user of the store may use its directories.
      if !error.isOne(of: .notPermitted) { throw error }
    }
  }

  /// The permissions of the directories of a package that's complete.
  static let closedDirectory: UInt32 = 0o555

  /// Lets the user change the names in a directory of a version; the permissions that it had are in the list of members.
  func openDirectory(_ path: SystemPath) throws(VersionStoreError) { try setMode(ofDirectory: path, to: 0o700) }

  /// Lets nobody change the names in a directory of a version that's complete.
  ///
  /// It isn't moved any more without the directories around it: that takes the permission to write there.
  func closeDirectory(_ path: SystemPath) throws(VersionStoreError) {
    try setMode(ofDirectory: path, to: Self.closedDirectory)
  }

  private func setMode(ofDirectory path: SystemPath, to mode: UInt32) throws(VersionStoreError) {
    try storing { () throws(SystemError) in
      try files.withDescriptor(path, flags: [.directory, .noFollow]) { (directory) throws(SystemError) in
        try files.setMode(of: directory, to: mode)
      }
    }
  }

  /// Makes a sealed file of a version another name of the stored contents, which it becomes if they aren't there yet.
  ///
  /// Where a file system has no hard links, or no more of them, the version keeps a file of its own.
  func share(_ path: SystemPath, _ hash: ContentHash) throws(VersionStoreError) {
    let stored = layout.contents(of: hash)
    for _ in 0..<8 {
      do throws(SystemError) {
        try link(path, to: stored)
        return
      } catch let error {
        if error.isRefusalOfLinks { return }
        // The first version with such a hash; another process may make the directory at the same time.
        if error.isAbsence, try status(of: path) != nil {
          try ensureDirectory(stored.parent)
          continue
        }
        if error.number != .fileExists { throw .system(error) }
      }
      if try isShared(path, with: stored, hash) { return }
    }
  }

  /// - Returns: Whether the file is shared, or can't be; `false` if the stored contents were removed meanwhile.
  private func isShared(
    _ path: SystemPath, with stored: SystemPath, _ hash: ContentHash
  ) throws(VersionStoreError) -> Bool {
    guard let own = try status(of: path), let other = try status(of: stored) else { return false }
    if own.identity == other.identity { return true }
    // Stored contents that were changed by somebody must not take the place of those that are as they should be.
    do throws(VersionStoreError) {
      if own.size == other.size, try self.hash(of: stored) == hash { return try replace(path, by: stored, hash) }
    } catch .system(let error) where error.isAbsence {
      return false
    }
    return try replace(stored, by: path, hash)
  }

  private func replace(
    _ path: SystemPath, by stored: SystemPath, _ hash: ContentHash
  ) throws(VersionStoreError) -> Bool {
    let temporary = step("sharing-" + String(UInt64.random(in: .min ... .max), radix: 16))
    do throws(SystemError) {
      try link(stored, to: temporary)
      try files.rename(temporary, at: .workingDirectory, to: path, at: .workingDirectory, .replacing)
      // Somebody else did so at this moment: a rename between two names of one file does nothing (rename(2)).
      try? files.unlink(temporary, at: .workingDirectory, .file)
      return true
    } catch let error {
      try? files.unlink(temporary, at: .workingDirectory, .file)
      // A process that has removed the version meanwhile counted one name more.
      try releaseContents(hash)
      if error.isRefusalOfLinks { return true }
      if error.isAbsence { return false }
      throw .system(error)
    }
  }

  private func link(_ source: SystemPath, to target: SystemPath) throws(SystemError) {
    try files.link(source, at: .workingDirectory, to: target, at: .workingDirectory, links: .noFollow)
  }

  /// Removes the directory of a version that isn't listed any more, and contents that no other version has.
  ///
  /// Its own names go first, then those in `contents` that are the last ones, and at the end what says which these are.
  func dispose(of directory: SystemPath) throws(VersionStoreError) {
    let hashes = try contentsOfVersion(in: directory)
    try removeTree(directory.appending(StoreLayout.contentsName))
    for hash in hashes { try releaseContents(hash) }
    try removeTree(directory)
  }

  /// The hashes of a version's files by its records, or by the files if those aren't written yet.
  private func contentsOfVersion(in directory: SystemPath) throws(VersionStoreError) -> Set<ContentHash> {
    var linkCountMin: UInt64 = 2
    if let record = try? record(at: directory.appending(StoreLayout.record)), let version = StoredVersion(record) {
      // A process that hashes it may have found it before it was renamed to be removed, and shares it until it's gone.
      if version.hash == nil { linkCountMin = 1 }
      if let hash = version.hash, !version.isPackage { return [hash] }
      if let known = try recordedHash(at: directory.appending(StoreLayout.hash)) { return [known.hash] }
      if version.isPackage, let list = try? contents(of: directory.appending(StoreLayout.members)) {
        return Set(Member.members(in: list).compactMap { $0?.contents?.hash })
      }
    }
    var hashes: Set<ContentHash> = []
    try addHashes(below: directory.appending(StoreLayout.contentsName), to: &hashes, linkCountMin: linkCountMin)
    return hashes
  }

  private func addHashes(
    below path: SystemPath, to hashes: inout Set<ContentHash>, linkCountMin: UInt64
  ) throws(VersionStoreError) {
    guard let status = try status(of: path) else { return }
    if status.kind == .directory {
      for name in try names(in: path) {
        try addHashes(below: path.appending(name), to: &hashes, linkCountMin: linkCountMin)
      }
    } else if status.kind == .regular, status.linkCount >= linkCountMin, let hash = try? hash(of: path) {
      hashes.insert(hash)
    }
  }

  func removeTree(_ path: SystemPath) throws(VersionStoreError) {
    do throws(SystemError) {
      try files.withDescriptor(path.parent, flags: .directory) { (parent) throws(SystemError) in
        try files.removeTree(path.lastComponent, at: parent, overridingMode: true)
      }
    } catch {
      if !error.isAbsence { throw .system(error) }
    }
  }

  /// Removes all stored contents that no version has: a crash in the middle of a removal may leave some.
  ///
  /// - Throws: The error of a system call.
  /// - Complexity: O(stored contents).
  package func sweepContents() throws(VersionStoreError) {
    for part in try names(in: layout.contents) {
      for name in try names(in: layout.contents.appending(part)) {
        if let hash = ContentHash(name.description) { try releaseContents(hash) }
      }
    }
  }

  /// Removes stored contents that no version has.
  ///
  /// If a version gets them at this moment, it keeps them by its own name.
  private func releaseContents(_ hash: ContentHash) throws(VersionStoreError) {
    let stored = layout.contents(of: hash)
    if let status = try status(of: stored), status.linkCount == 1 { try unlink(stored) }
  }
}

extension SystemError {
  /// Whether a file can't get another name there.
  fileprivate var isRefusalOfLinks: Bool {
    isOne(of: .notPermitted, .notSupported, .tooManyLinks, .improperLink, .noFunction)
  }
}
