internal import ContentHashing
internal import FileCoordination
internal import FilePackages
internal import FileVersions
internal import FoundationEssentials
internal import SystemInterface

// The work around the replacement of a file: the checks before it, the backup, and the leftovers of saves that were
// killed.

extension DocumentWork {
  enum Replacement {
    case replaced
    /// The contents are in their place, and may be gone after the loss of power.
    case replacedAndFailed(FileCoordinationError)
    /// Another program has written the file since it was read.
    case changedMeanwhile
    /// Another program has taken the file away since it was read.
    case missing
  }

  /// Refuses to write a locked file, and asks the program whether a save may go on that nobody has asked for.
  func checkSaving(_ access: borrowing FileAccess, _ contents: Contents, _ status: FileStatus) async throws {
    if status.isLocked { throw DocumentError.locked }
    guard isAutomatic, let check = options.autosaveCheck else { return }
    let question = DocumentAutosave(
      url: access.url, contents: contents, linkCount: Int(clamping: status.linkCount),
      modificationDate: Date(timeIntervalSince1970: Double(status.modificationTime) / 1e9))
    do {
      try await FormatCode.run(atMost: options.deadline, options.clock) { try check(question) }
    } catch let error as DocumentError where error.code == .cancelled || error.code == .timedOut {
      throw error
    } catch {
      throw DocumentError(
        .autosaveRefused,
        "The program doesn't let the document save by itself: \(error). Call 'save()' to save nevertheless, or 'save(as:)'.",
        underlyingError: error)
    }
  }

  /// Replaces the file, if it has the status and the hash that it had when it was read.
  func replace(
    _ access: borrowing FileAccess, with bytes: Data, _ status: FileStatus, _ hash: ContentHash
  ) async throws -> Replacement {
    try await keepFormer(access, hash)
    // Held before it takes its place: a program that doesn't coordinate may move it at once.
    let meet: @Sendable (SystemPath) -> Void = { [presence, options, files] path in
      if options.observesUncoordinatedChanges { presence?.hold(path, files) }
    }
    let former = presence?.heldFile
    do {
      let size = Int64(bytes.count)
      let compare: @Sendable (FileDescriptor) throws(SystemError) -> Bool = { [files] (former) throws(SystemError) in
        try files.contentHash(of: former) == hash
      }
      try await access.replaceContents(with: bytes, expecting: status, comparing: compare, meeting: meet) {
        [progress] in
        DocumentProgress.note(.writing, $0, of: size, to: progress)
      }
      return .replaced
    } catch  where error.isChangeInPlace {
      return .replacedAndFailed(error)
    } catch {
      presence?.heldFile = former
      if error.isAbsence { return .missing }
      if error.systemError?.errno == SystemError.Number.changedMeanwhile.rawValue { return .changedMeanwhile }
      if error.isRefusal {
        throw DocumentError(
          .notWritable,
          "'\(access.url.path)' can't be written. Save the contents elsewhere with 'save(as:)'. \(error.message)",
          underlyingError: error)
      }
      throw error
    }
  }

  /// Keeps what is about to be overwritten, as far as the program requests that.
  ///
  /// The tag names those contents.
  func keepFormer(_ access: borrowing FileAccess, _ tag: ContentHash) async throws {
    try await keepBackup(of: access)
    try await keepVersion(of: access, tag)
  }

  /// A save that's repeated after a failure keeps nothing twice.
  private func keepVersion(of access: borrowing FileAccess, _ tag: ContentHash) async throws {
    let now = options.clock.now
    guard let presence, presence.keptVersion?.tag != tag,
      options.versionPolicy.isDue(after: presence.keptVersion?.time, at: now)
    else { return }
    let (url, versions) = (access.url, VersionsWithinAccess(options.versions))
    do {
      try await Offload.run { () throws(FileVersionError) in
        _ = try versions.add(to: url, contentsOf: url, byMoving: false)
      }
    } catch {
      throw DocumentError.versionNotKept("No version of '\(url.path)' could be kept, so nothing was overwritten", error)
    }
    presence.keptVersion = (now, tag)
  }

  /// Keeps the contents that the file had when it was opened, before the first save overwrites them.
  private func keepBackup(of access: borrowing FileAccess) async throws {
    guard let nameBackup = options.backupName, let presence, !presence.hasBackup else { return }
    let former = access.url.lastPathComponent
    // Within the access, which is given back also if the name never comes.
    let name = try await FormatCode.run(atMost: options.deadline, options.clock) { nameBackup(former) }
    if name.isEmpty || name.contains("/") || name == access.url.lastPathComponent {
      throw DocumentError(.backupNotKept, "'\(name)' can't be the name of a backup file, so nothing was overwritten.")
    }
    let url = access.url.deletingLastPathComponent().appending(path: name, directoryHint: .notDirectory)
    let source = access.canonicalPath
    do {
      try await coordinator.write(url, options: .forReplacing) { backup in
        let (files, target) = (files, backup.canonicalPath)
        let kinds = (try files.statusIfPresent(of: source)?.kind, try files.statusIfPresent(of: target)?.kind)
        if let kind = kinds.1, kind != kinds.0 {
          throw DocumentError(.backupNotKept, "There's something else, which isn't replaced.")
        }
        try await Offload.run { () throws(SystemError) in
          try files.copyItem(from: source, to: target, replacing: true)
        }
      }
    } catch {
      throw DocumentError(
        .backupNotKept, "The backup file '\(url.path)' couldn't be made, so nothing was overwritten: \(error)",
        underlyingError: error)
    }
    presence.noteBackup()
  }

  /// In how many names of the directory leftovers of killed saves are looked for before an open returns.
  private static var quickNameCountMax: Int { 1_024 }

  /// Looks for what killed saves have left, and for versions, as far as that takes no time worth mentioning.
  ///
  /// - Returns: Whether nothing of that is left to be done.
  func looksAround(_ path: SystemPath, noting isTidied: Guarded<Bool>) -> Bool {
    guard (try? files.hasLeftovers(ofSavesOf: path, among: Self.quickNameCountMax)) == false else { return false }
    isTidied.withLock { $0 = true }
    return !VersionsWithinAccess(options.versions).mayHaveVersions(at: path)
  }

  /// Removes what saves have left beside the file that were killed: nobody else saves it while this reads.
  ///
  /// It becomes a version before, for it may be what another program has written in the last instant. Failing to do so harms nobody.
  func tidy(_ url: URL) async {
    try? await coordinator.read(url, options: .withoutChanges) { access in
      let (files, path, url) = (files, access.canonicalPath, access.url)
      let versions = VersionsWithinAccess(options.versions)
      try await Offload.run { () throws(SystemError) in
        _ = try files.removeLeftovers(ofSavesOf: path) { versions.keepLeftover($0, of: url) }
      }
    }
  }
}

extension FileSystem {
  /// Whether permissions let this process write, and the file system as well.
  func isWritable(_ path: SystemPath) -> Bool {
    do throws(SystemError) {
      try checkWritePermission(of: path, at: .workingDirectory)
      return true
    } catch { return !error.isRefusal }
  }
}

extension SystemError {
  /// Whether permissions or the file system forbid it.
  var isRefusal: Bool { [.permissionDenied, .notPermitted, .readOnlyFileSystem].contains(number) }
}

extension FileCoordinationError {
  var isRefusal: Bool { (underlyingError as? SystemError)?.isRefusal ?? false }
}
