internal import ContentHashing
internal import FileCoordination
internal import FileVersions
internal import FoundationEssentials
internal import SystemInterface

/// The state of a document's crash journal; the actor's.
struct DocumentJournaling<Contents: Sendable>: Sendable {
  let journal: CrashJournal
  let file: JournalFile
  var core: JournalCore
  var lastWait: UInt64 = 0
  var waiting: [JournalWaitID: CheckedContinuation<DocumentError?, Never>] = [:]
  /// Those of other processes, by their names; this process has their locks.
  var orphans: [String: JournalOrphan] = [:]
  /// Those about which the program hasn't decided.
  var recoveries: [DocumentRecovery<Contents>] = []
  /// Ends when all those are removed that aren't needed any more.
  var releasing: Task<Void, Never>?
  /// Why nothing could be looked for.
  var searchError: DocumentError?
  /// How often the file has moved.
  var moveCount = 0

  init(_ journal: CrashJournal, _ options: DocumentOptions<Contents>) {
    self.journal = journal
    file = JournalFile(journal, options.domain.configuration.fileSystem)
    core = JournalCore(delay: journal.delay)
  }

  /// Puts into a state what the document's core doesn't know.
  func describe(in state: inout DocumentState) {
    state.journalError = core.error ?? searchError
    if state.journalError != nil { state.conditions.insert(.journalError) }
    if !recoveries.isEmpty { state.conditions.insert(.recoverable) }
  }
}

/// Work with journals, which runs away from the document's actor.
struct JournalWork<Contents: Sendable>: Sendable {
  let format: any DocumentFormat<Contents>
  let options: DocumentOptions<Contents>
  let journal: CrashJournal
  let url: URL

  /// Where the file is, as a canonical path.
  private func path() throws(DocumentError) -> SystemPath {
    SystemPath(try DocumentPresence.place(of: url, in: options.domain).key.path)
  }

  private func bytes(of contents: Contents) async throws -> Data {
    try await FormatCode.run(atMost: options.deadline, options.clock) { [format] in try format.bytes(of: contents) }
  }

  private var files: any FileSystem { options.domain.configuration.fileSystem }

  @concurrent
  func write(_ contents: Contents, _ base: ContentHash?, to file: JournalFile) async -> DocumentError? {
    do {
      let bytes = Array(try await bytes(of: contents))
      let path = try path()
      try await Offload.run { () throws(SystemError) in
        let header = JournalRecord.Header(
          sequence: 0, time: journal.time(), path: path, identity: try? files.statusIfPresent(of: path)?.identity,
          base: base)
        try file.write(bytes, header)
      }
      return nil
    } catch {
      return DocumentError(
        .journalNotWritten, "The crash journal couldn't be written, so unsaved contents are in memory alone: \(error)",
        underlyingError: error)
    }
  }

  @concurrent
  func remove(_ file: JournalFile) async -> DocumentError? {
    await removing { () throws(SystemError) in try file.remove() }
  }

  @concurrent
  func remove(_ orphan: JournalOrphan) async -> DocumentError? {
    await removing { () throws(SystemError) in
      try orphan.held.remove(newest: orphan.record.header.sequence, files)
    }
  }

  private func removing(_ work: @escaping @Sendable () throws(SystemError) -> Void) async -> DocumentError? {
    do throws(SystemError) {
      try await Offload.run(work)
      return nil
    } catch {
      return DocumentError(
        .journalNotWritten, "A crash journal that isn't needed any more couldn't be removed: \(error)",
        underlyingError: error)
    }
  }

  /// Takes the journals that other processes have left behind, as far as they can be read.
  @concurrent
  func takeOrphans() async -> (found: [(orphan: JournalOrphan, contents: Contents?)], error: DocumentError?) {
    func unread(_ error: any Error) -> DocumentError {
      DocumentError(
        .journalNotRead, "The crash journals of other processes couldn't be read: \(error)", underlyingError: error)
    }
    let (path, directories): (SystemPath, [SystemPath])
    do {
      path = try self.path()
      directories = try journal.directories(for: path)
    } catch { return ([], unread(error)) }
    let (seconds, attoseconds) = journal.orphanAge.components
    let oldest = journal.time() - (seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    var (orphans, firstError): ([JournalOrphan], DocumentError?) = ([], nil)
    for directory in directories {
      do throws(SystemError) {
        let found = try await Offload.run { () throws(SystemError) in
          try JournalDirectory(directory: directory, files: files).takeOrphans(of: path, notBefore: oldest)
        }
        orphans += found.orphans
        firstError = firstError ?? found.error.map(unread)
      } catch { firstError = firstError ?? unread(error) }
    }
    orphans.sort { $0.record.header.time < $1.record.header.time }
    return (orphans.map { orphan in (orphan, try? format.contents(of: Data(orphan.record.contents))) }, firstError)
  }

  /// Keeps the contents of a document as a version of its file.
  func keep(_ contents: Contents, _ presence: DocumentPresence?) async throws(DocumentError) {
    let bytes: Data
    do { bytes = try await self.bytes(of: contents) } catch {
      throw DocumentError(.unwritableContents, "The format can't write the contents: \(error)", underlyingError: error)
    }
    try await keep(bytes, presence)
  }

  /// Keeps contents that are in no file as a version of the document's.
  @concurrent
  func keep(_ bytes: Data, _ presence: DocumentPresence?) async throws(DocumentError) {
    let versions = VersionsWithinAccess(options.versions)
    let coordinator = FileCoordinator(
      label: presence?.presenter.presenterLabel ?? "document", presenter: presence?.presenter, domain: options.domain)
    do {
      try await coordinator.read(url, options: .withoutChanges) { access in
        let url = access.url
        try await Offload.run { () throws(FileVersionError) in
          _ = try versions.add(to: url, contents: Array(bytes), isConflict: false)
        }
      }
    } catch {
      throw DocumentError(
        .versionNotKept, "No version could be kept, so nothing was overwritten or discarded: \(error)",
        underlyingError: error)
    }
  }
}
