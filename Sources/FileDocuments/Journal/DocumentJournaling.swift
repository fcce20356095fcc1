internal import ContentHashing
internal import FileCoordination
internal import FilePackages
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
  /// Writes a record.
  var writing: Task<Void, Never>?
  /// Looks for the journals of other processes, and ends after those before it.
  var search: Task<Void, Never>?
  /// Why nothing could be looked for.
  var searchError: DocumentError?
  /// How often the file has moved.
  var moveCount = 0
  /// Journals whose contents were made the document's, and that may still be there: the document's own journal replaces them.
  var replaced: Set<String> = []
  /// Journals whose contents became a version, and that couldn't be removed then: another attempt keeps no second one.
  var kept: Set<String> = []

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

/// A journal of a killed process, and its contents as they'd be the document's now.
struct RecoveredContents<Contents: Sendable>: Sendable {
  /// `nil` if the document's format can't read them.
  var contents: Contents?
  /// Members of a package that can't be restored any more, and those that others have changed.
  var missing: [SystemPath] = []
  var changed: [SystemPath] = []
  /// The file has them already.
  var isNeedless = false
}

/// Work with journals, which runs away from the document's actor.
struct JournalWork<Contents: Sendable>: Sendable {
  typealias Stored = DocumentMemory<Contents, ContentHash>.Stored

  let format: any DocumentFormat<Contents>
  let options: DocumentOptions<Contents>
  let journal: CrashJournal
  let url: URL

  /// Where the file is, as a canonical path.
  private func path() throws(DocumentError) -> SystemPath {
    SystemPath(try DocumentPresence.place(of: url, in: options.domain).key.path)
  }

  private var form: JournalRecord.Form { format is PackageFormat ? .package : .file }

  private func bytes(of contents: Contents) async throws -> Data {
    try await FormatCode.run(atMost: options.deadline, options.clock) { [format] in try format.bytes(of: contents) }
  }

  /// Contents as a record has them: their bytes or, of a package, its altered members.
  private func record(of contents: Contents, _ base: Stored?) async throws -> [UInt8] {
    let limit = journal.byteCountMax
    let bytes: [UInt8]
    if let tree = contents as? PackageTree {
      let package = (base?.contents as? PackageTree)?.top?.directory.identity
      do {
        bytes = try await FormatCode.run(atMost: options.deadline, options.clock) {
          try PackageManifest(tree, of: package, byteCountMax: limit).bytes
        }
      } catch let error as PackageError where error.code == .tooLarge {
        throw DocumentError.tooLarge(forJournal: limit)
      }
    } else {
      bytes = Array(try await self.bytes(of: contents))
    }
    if bytes.count > limit { throw DocumentError.tooLarge(forJournal: limit) }
    return bytes
  }

  private var files: any FileSystem { options.domain.configuration.fileSystem }

  /// Writes a record.
  ///
  /// - Parameters:
  ///   - contents: The unsaved contents.
  ///   - base: Those that the file had when it was read or written last.
  ///   - replaced: The journals whose contents these were, or became.
  ///   - file: The document's journal.
  /// - Returns: Why it wasn't written.
  @concurrent
  func write(
    _ contents: Contents, _ base: Stored?, replacing replaced: [String], to file: JournalFile
  ) async -> DocumentError? {
    do {
      let bytes = try await record(of: contents, base)
      let path = try path()
      try await Offload.run { () throws(SystemError) in
        let header = JournalRecord.Header(
          sequence: 0, time: journal.time(), path: path, identity: try? files.statusIfPresent(of: path)?.identity,
          base: base?.tag, form: form, replaced: replaced)
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
  ///
  /// - Parameter base: The contents that the file has.
  /// - Returns: The journals, and the reason why something is missing, if something is.
  @concurrent
  func takeOrphans(
    onto base: Stored?
  ) async -> (found: [(orphan: JournalOrphan, recovered: RecoveredContents<Contents>)], error: DocumentError?) {
    let (path, directories): (SystemPath, [SystemPath])
    do {
      path = try self.path()
      directories = try journal.directories(for: path)
    } catch { return ([], .unread(error)) }
    let (seconds, attoseconds) = journal.orphanAge.components
    let oldest = journal.time() - (seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    var (orphans, error) = await take(from: directories) { (directory) throws(SystemError) in
      try directory.takeOrphans(of: path, as: form, notBefore: oldest, byteCountMax: journal.byteCountMax)
    }
    orphans = await withoutReplaced(orphans).sorted { $0.record.header.time < $1.record.header.time }
    var found: [(orphan: JournalOrphan, recovered: RecoveredContents<Contents>)] = []
    for orphan in orphans { found.append((orphan, await recovered(orphan.record, onto: base))) }
    return (found, error)
  }

  /// Takes journals from directories.
  private func take(
    from directories: [SystemPath],
    _ body: @escaping @Sendable (JournalDirectory) throws(SystemError) -> FoundJournals
  ) async -> (orphans: [JournalOrphan], error: DocumentError?) {
    var (orphans, damaged, firstError): ([JournalOrphan], [SystemPath], DocumentError?) = ([], [], nil)
    for directory in directories {
      do throws(SystemError) {
        let found = try await Offload.run { () throws(SystemError) in
          try body(JournalDirectory(directory: directory, files: files))
        }
        orphans += found.orphans
        damaged += found.damaged
        firstError = firstError ?? found.error.map(DocumentError.unread)
      } catch { firstError = firstError ?? .unread(error) }
    }
    // This is said once, and other errors come again.
    if !damaged.isEmpty { firstError = .damaged(damaged) }
    return (orphans, firstError)
  }

  /// Takes the journals of killed processes whose files aren't at their places any more.
  ///
  /// - Parameter isOnVolume: Whether those on the volume of `url` are meant as well.
  /// - Returns: Their contents, oldest first.
  /// - Throws: ``DocumentError`` if nothing could be read.
  @concurrent
  func takeAbandoned(onVolume isOnVolume: Bool) async throws(DocumentError) -> [AbandonedContents<Contents>] {
    let directories: [SystemPath]
    do { directories = try journal.directories(for: isOnVolume ? path() : nil) } catch { throw .unread(error) }
    var (orphans, error) = await take(from: directories) { (directory) throws(SystemError) in
      try directory.takeAbandoned(as: form, byteCountMax: journal.byteCountMax)
    }
    orphans = await withoutReplaced(orphans).sorted { $0.record.header.time < $1.record.header.time }
    if orphans.isEmpty, let error { throw error }
    // Of a package only the altered members are known.
    let nothing = Stored(PackageTree() as? Contents, ContentHash(of: []))
    var found: [AbandonedContents<Contents>] = []
    for orphan in orphans {
      guard let url = try? URL(filePathBytes: orphan.record.header.path.bytes) else { continue }
      let contents = await recovered(orphan.record, onto: nothing).contents
      found.append(AbandonedContents(formerURL: url, contents: contents, orphan: orphan, work: self))
    }
    return found
  }

  /// Removes the journals that others stand for: their process was killed after those were written.
  private func withoutReplaced(_ orphans: [JournalOrphan]) async -> [JournalOrphan] {
    let replaced = Set(orphans.flatMap(\.record.header.replaced))
    // One that can't be removed isn't offered either, as long as the other one is there.
    for orphan in orphans where replaced.contains(orphan.held.name) { _ = await remove(orphan) }
    return orphans.filter { !replaced.contains($0.held.name) }
  }

  /// The contents of a record; those of a package are its changes, made to the package that's there now.
  @concurrent
  func recovered(_ record: JournalRecord, onto base: Stored?) async -> RecoveredContents<Contents> {
    guard record.header.form == .package else {
      let contents = try? await FormatCode.run(atMost: options.deadline, options.clock) { [format] in
        try format.contents(of: Data(record.contents))
      }
      return RecoveredContents(contents: contents, isNeedless: ContentHash(of: record.contents) == base?.tag)
    }
    guard let package = base?.contents as? PackageTree, let manifest = try? PackageManifest(bytes: record.contents)
    else { return RecoveredContents() }
    return await Offload.run {
      guard let applied = try? manifest.applied(to: package) else { return RecoveredContents() }
      return RecoveredContents(
        contents: applied.tree as? Contents, missing: applied.missing, changed: applied.changed,
        isNeedless: manifest.isFulfilled(by: package))
    }
  }

  /// Keeps the contents of a document as a version of its file.
  func keep(_ contents: Contents, _ presence: DocumentPresence?) async throws(DocumentError) {
    if let tree = contents as? PackageTree { return try await keepPackage(tree, presence) }
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
    do {
      try await readFile(of: presence) { access in
        let url = access.url
        try await Offload.run { () throws(FileVersionError) in
          _ = try versions.add(to: url, contents: Array(bytes), isConflict: false)
        }
      }
    } catch { throw .notKept(error) }
  }

  @concurrent
  private func keepPackage(_ tree: PackageTree, _ presence: DocumentPresence?) async throws(DocumentError) {
    do {
      try await readFile(of: presence) { access in
        var tree = tree
        // Members that weren't altered are those of the package that's there.
        if try tree.isReplaced() {
          let present = try PackageTree(openingPackageAt: access.canonicalPath, files: files)
          tree = try tree.rebased(onto: present)
        }
        try await options.versions.keep(tree, at: access.url, named: access.canonicalPath.lastComponent)
      }
    } catch { throw .notKept(error) }
  }

  private static var attemptCountMax: Int { 16 }

  /// Reads the document's file where it is by then: it may be moved at any time, and another file be at its place.
  private func readFile(
    of presence: DocumentPresence?, _ body: (borrowing FileAccess) async throws -> Void
  ) async throws {
    for _ in 0..<Self.attemptCountMax {
      let asked = presence?.presenter.url ?? url
      let isDone = try await coordinator(presence).read(asked, options: .withoutChanges) { access in
        if presence?.presenter.isOutrun(asked, at: access.url) == true { return false }
        try await body(access)
        return true
      }
      if isDone { return }
    }
    throw DocumentError(.coordination, "'\(url.path)' is moved again and again. Try again later.")
  }

  private func coordinator(_ presence: DocumentPresence?) -> FileCoordinator {
    FileCoordinator(
      label: presence?.presenter.presenterLabel ?? "document", presenter: presence?.presenter, domain: options.domain)
  }
}

extension FileVersions {
  /// Keeps a package as a version of the item that the caller has access to.
  func keep(_ tree: PackageTree, at url: URL, named name: SystemPath, isConflict: Bool = false) async throws {
    let versions = VersionsWithinAccess(self)
    try await withTemporaryDirectory(for: url) { directory in
      let source = SystemPath(directory.path(percentEncoded: false)).appending(name)
      let draft = directory.appending(path: name.description, directoryHint: .isDirectory)
      _ = try tree.write(to: source, .nothing)
      try await Offload.run { () throws(FileVersionError) in
        _ = try versions.add(to: url, contentsOf: draft, byMoving: true, isConflict: isConflict)
      }
    }
  }
}

extension DocumentError {
  fileprivate static func notKept(_ error: any Error) -> DocumentError {
    versionNotKept("No version could be kept, so nothing was overwritten or discarded", error)
  }

  fileprivate static func unread(_ error: any Error) -> DocumentError {
    DocumentError(
      .journalNotRead, "The crash journals of other processes couldn't be read: \(error)", underlyingError: error)
  }

  fileprivate static func damaged(_ files: [SystemPath]) -> DocumentError {
    let list = files.map { "'\($0)'" }.joined(separator: ", ")
    // In a directory that can't be written they have the names that they had.
    let areSetAside = files.allSatisfy {
      $0.bytes.reversed().starts(with: JournalDirectory.damagedSuffix.utf8.reversed())
    }
    return DocumentError(
      .journalDamaged,
      "Crash journals of killed processes are damaged or incomplete, so a part of what was unsaved can't be restored. "
        + (areSetAside ? "This is reported once; their files are kept as \(list)." : "Their files are \(list)."))
  }

  fileprivate static func tooLarge(forJournal limit: Int) -> DocumentError {
    DocumentError(
      .journalNotWritten,
      "The unsaved contents have more than \(limit) bytes. Save them, or allow more by 'CrashJournal.byteCountMax'.")
  }
}
