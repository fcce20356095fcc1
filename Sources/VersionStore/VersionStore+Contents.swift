internal import ContentHashing
internal import SystemInterface

// Contents are stored once, whichever versions have them: each version has another name of the same file.

extension VersionStore {
  static let readOnly: UInt32 = 0o444

  /// Hashes a file of the store.
  func hash(of path: SystemPath) throws(VersionStoreError) -> ContentHash {
    try storing { () throws(SystemError) in
      try files.withDescriptor(path, flags: [.noFollow, .nonBlocking]) { (file) throws(SystemError) in
        var hasher = ContentHasher()
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while true {
          let count = try files.read(file, into: &buffer)
          if count == 0 { return hasher.finalized() }
          hasher.update(buffer[..<count])
        }
      }
    }
  }

  /// Lets nobody write to a file of the store.
  func seal(_ path: SystemPath) throws(VersionStoreError) {
    try storing { () throws(SystemError) in
      try files.withDescriptor(path, flags: [.noFollow, .nonBlocking]) { (file) throws(SystemError) in
        try files.setMode(of: file, to: Self.readOnly)
      }
    }
  }

  /// Makes a sealed file of a version another name of the stored contents, which it becomes if they aren't there yet.
  ///
  /// Where a file system has no hard links, or no more of them, the version keeps a file of its own.
  func share(_ path: SystemPath, _ hash: ContentHash) throws(VersionStoreError) {
    let stored = layout.contents(of: hash)
    try ensureDirectory(stored.parent)
    for _ in 0..<8 {
      do throws(SystemError) {
        try link(path, to: stored)
        return
      } catch let error {
        if error.isRefusalOfLinks { return }
        if error.number != .fileExists { throw .system(error) }
      }
      if try isShared(path, with: stored, hash) { return }
    }
  }

  /// - Returns: Whether that's settled; `false` if the stored contents were removed meanwhile.
  private func isShared(
    _ path: SystemPath, with stored: SystemPath, _ hash: ContentHash
  ) throws(VersionStoreError) -> Bool {
    guard let own = try status(of: path), let other = try status(of: stored) else { return false }
    if own.identity == other.identity { return true }
    // Stored contents that were changed by somebody must not take the place of those that are as they should be.
    if own.size == other.size, try self.hash(of: stored) == hash { return try replace(path, by: stored) }
    return try replace(stored, by: path)
  }

  private func replace(_ path: SystemPath, by stored: SystemPath) throws(VersionStoreError) -> Bool {
    let temporary = step("sharing-" + String(UInt64.random(in: .min ... .max), radix: 16))
    do throws(SystemError) {
      try link(stored, to: temporary)
      try files.rename(temporary, at: .workingDirectory, to: path, at: .workingDirectory, .replacing)
      return true
    } catch let error {
      if error.isRefusalOfLinks { return true }
      if error.isAbsence { return false }
      throw .system(error)
    }
  }

  private func link(_ source: SystemPath, to target: SystemPath) throws(SystemError) {
    try files.link(source, at: .workingDirectory, to: target, at: .workingDirectory, links: .noFollow)
  }

  /// Removes the directory of a version that isn't listed any more, and contents that no other version has.
  func dispose(of directory: SystemPath) throws(VersionStoreError) {
    let contents = directory.appending(StoreLayout.contentsName)
    for name in try names(in: contents) { try releaseContents(of: contents.appending(name)) }
    try storing { () throws(SystemError) in
      try files.withDescriptor(directory.parent, flags: .directory) { (parent) throws(SystemError) in
        try files.removeTree(directory.lastComponent, at: parent, overridingMode: true)
      }
    }
  }

  private func releaseContents(of path: SystemPath) throws(VersionStoreError) {
    guard let status = try status(of: path) else { return }
    if status.kind == .directory {
      for name in try names(in: path) { try releaseContents(of: path.appending(name)) }
    } else if status.kind == .regular {
      if status.linkCount == 2 {
        let stored = layout.contents(of: try hash(of: path))
        // If another version has got them meanwhile, it keeps them by its own name.
        if try self.status(of: stored)?.identity == status.identity { try unlink(stored) }
      }
      // The next member with the same contents may be the last one.
      try unlink(path)
    }
  }
}

extension SystemError {
  /// Whether a file can't get another name there.
  fileprivate var isRefusalOfLinks: Bool {
    isOne(of: .notPermitted, .notSupported, .tooManyLinks, .improperLink, .noFunction)
  }
}
