internal import SystemInterface

// The commit of a version, and the waits for the disk around it.

extension VersionStore {
  /// There's something to complete from then on, unless that's `nil`.
  func commit(_ step: SystemPath, _ version: StoredVersion, _ completion: Step?) throws(VersionStoreError) {
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
  func placeShared(
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
