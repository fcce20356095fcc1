internal import FileCoordination
internal import FoundationEssentials
internal import SystemInterface

// The work around the replacement of a file: the checks before it, the backup, and the leftovers of saves that were
// killed.

extension DocumentWork {
  enum Replacement {
    case replaced
    /// Another program has written the file since it was read.
    case changedMeanwhile
    /// Another program has taken the file away since it was read.
    case missing
  }

  /// Asks the program whether a save may go on that nobody has asked for.
  func checkSaving(_ access: borrowing FileAccess, _ contents: Contents, _ status: FileStatus) async throws {
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

  func replace(
    _ access: borrowing FileAccess, with bytes: Data, _ status: FileStatus
  ) async throws -> Replacement {
    try await keepBackup(of: access)
    // Held before it takes its place: a program that doesn't coordinate may move it at once.
    let meet: @Sendable (SystemPath) -> Void = { [presence, options, files] path in
      if options.observesUncoordinatedChanges { presence?.hold(path, files) }
    }
    let former = presence?.heldFile
    do {
      let size = Int64(bytes.count)
      try await access.replaceContents(with: bytes, expecting: status, meeting: meet) { [progress] in
        DocumentProgress.note(.writing, $0, of: size, to: progress)
      }
      return .replaced
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

  /// Keeps the contents that the file had when it was opened, before the first save overwrites them.
  private func keepBackup(of access: borrowing FileAccess) async throws {
    guard let nameBackup = options.backupName, let presence, !presence.hasBackup else { return }
    let name = nameBackup(access.url.lastPathComponent)
    if name.isEmpty || name.contains("/") || name == access.url.lastPathComponent {
      throw DocumentError(.backupNotKept, "'\(name)' can't be the name of a backup file, so nothing was overwritten.")
    }
    let url = access.url.deletingLastPathComponent().appending(path: name, directoryHint: .notDirectory)
    let source = access.canonicalPath
    do {
      try await coordinator.write(url, options: .forReplacing) { backup in
        let (files, target) = (files, backup.canonicalPath)
        if let kind = try files.statusIfPresent(of: target)?.kind, kind != .regular {
          throw DocumentError(.backupNotKept, "There's something else than a file.")
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

  /// Removes what saves have left beside the file that were killed: nobody else saves it while this reads.
  ///
  /// Failing to do so harms nobody.
  func tidy(_ url: URL) async {
    try? await coordinator.read(url, options: .withoutChanges) { access in
      let (files, path) = (files, access.canonicalPath)
      try await Offload.run { () throws(SystemError) in _ = try files.removeLeftovers(ofSavesOf: path) }
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
