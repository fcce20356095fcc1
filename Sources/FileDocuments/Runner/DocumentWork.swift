internal import ContentHashing
internal import FileCoordination
internal import FileVersions
internal import FoundationEssentials
internal import SystemInterface

/// One operation of a document, with everything that it needs: it runs away from the document's actor.
///
/// The document goes on meanwhile; the contents are those that it had when the operation began.
struct DocumentWork<Contents: Sendable>: Sendable {
  typealias Memory = DocumentMemory<Contents, ContentHash>

  /// How an operation ended, and what it has read, written or registered.
  struct Result: Sendable {
    var outcome: OperationOutcome
    var incoming: Memory.Stored?
    var incomingBytes: Data?
    var merged: Contents?
    var modificationDate: Date?
    /// Whether the file can be written, as far as permissions show.
    var isWritable: Bool?
    /// The presenter that was registered.
    var presence: DocumentPresence?

    init(_ outcome: OperationOutcome) { self.outcome = outcome }
  }

  let format: any DocumentFormat<Contents>
  let options: DocumentOptions<Contents>
  let memory: Memory
  /// The bytes that another program wrote.
  let incomingBytes: Data?
  /// The present presenter; `nil` while the document isn't open.
  let presence: DocumentPresence?
  /// Nobody needs to be asked where the file is if it's gone.
  let isDeletionAnnounced: Bool
  let argument: CallArgument<Contents>
  /// Nobody has asked for this write: the document saves by itself, or because somebody reads.
  let isAutomatic: Bool
  /// Where the progress of a long operation goes; `nil` when it has ended.
  let progress: @Sendable (DocumentProgress?) -> Void
  /// Makes a presenter of the document, and enters it in the registry.
  let enter: @Sendable (URL) throws(DocumentError) -> DocumentPresence

  @concurrent
  func perform(_ operation: DocumentOperation) async -> Result {
    defer { progress(nil) }
    do {
      switch operation {
      case .open: return try await open()
      case .check: return try await following { url in try await check(url) }
      case .write: return try await following { url in try await write(url) }
      case .merge: return try await merge()
      case .keep(let kept): return try await keep(kept)
      case .load(let isElsewhere): return try await load(isElsewhere)
      case .move: return try await move()
      case .delete: return try await delete()
      case .copy: return try await copy()
      case .place: return try await place()
      case .listConflicts: return try await listConflicts()
      }
    } catch { return Result(.failed(DocumentError(error))) }
  }

  // MARK: - Opening

  private func open() async throws -> Result {
    let presence = try enter(argument.url)
    do {
      if let result = try await open(presence, creating: nil) { return result }
      guard let contents = argument.contents else {
        throw DocumentError(
          .fileNotFound, "Nothing is at '\(argument.url.path)'. Pass contents for a new file: 'open(creatingWith:)'.")
      }
      if let result = try await open(presence, creating: contents) { return result }
      preconditionFailure("neither found nor created")
    } catch {
      presence.leave()
      throw error
    }
  }

  /// - Returns: `nil` if nothing is there, and nothing is to be made.
  private func open(_ presence: DocumentPresence, creating contents: Contents?) async throws -> Result? {
    let url = presence.presenter.url
    if let contents {
      let bytes = try await bytes(of: contents)
      return try await coordinator(for: presence).write(url) { access in
        if let present = try await present(access) { return try await opened(presence, access, present) }
        try await access.replaceContents(with: bytes)
        return try await opened(presence, access, PresentFile(contents: bytes))
      }
    }
    return try await coordinator(for: presence).read(url) { access in
      guard let present = try await present(access) else { return nil }
      return try await opened(presence, access, present)
    }
  }

  private func opened(
    _ presence: DocumentPresence, _ access: borrowing FileAccess, _ file: PresentFile
  ) async throws -> Result {
    presence.presenter.url = access.url
    var result = Result(.done)
    let hash = ContentHash(of: file.contents)
    result.incoming = Memory.Stored(try await contents(of: file.contents), hash)
    presence.knownFile = file.known(hash)
    noteFile(access, file.status, in: &result)
    if options.observesUncoordinatedChanges { presence.hold(access.canonicalPath, files) }
    try await presence.register(in: options.domain)
    result.presence = presence
    // After the registration every version that's added is announced.
    if looksAround(access.canonicalPath, presence) { result.outcome = .doneWithoutVersions }
    return result
  }

  // MARK: - Reading and writing

  /// How long to wait for the report of what a program has done that doesn't coordinate.
  ///
  /// That usually takes a tenth of a second. Programs also replace files by removing them first.
  private static var reportMax: Duration { .seconds(1) }
  private static var attemptCountMax: Int { 16 }

  /// Runs `body` with the file's place, again if the file was moved before it began.
  ///
  /// A file that a program takes away which doesn't coordinate was perhaps moved a moment ago, or will be there again in a moment, and
  /// nobody has reported that yet. No access is requested before that's reported: a move that's noticed during an access for writing
  /// counts as a part of it. So a move during a write of this document is never reported, and looked for afterwards.
  func following(_ body: (URL) async throws -> Result) async throws -> Result {
    guard let presence else { throw DocumentError.notOpen }
    let presenter = presence.presenter
    let clock = options.domain.configuration.clock
    for _ in 0..<Self.attemptCountMax {
      // The file there is another document's.
      if presence.hasLostFile { return Result(.missing) }
      let url = presenter.url
      let count = presenter.messageCount
      let wasMissing = isMissing(url)
      if wasMissing {
        if await presenter.waitForMessage(after: count, atMost: Self.reportMax, clock) { continue }
        if isMissing(url), try await follow(presence) { continue }
      }
      let result = try await body(url)
      if result.outcome != .missing || presence.hasLostFile { return result }
      // Taken away just now: look for it as above, and it may be there again already.
      if presenter.url == url, wasMissing || !expectsReports { return result }
    }
    throw DocumentError(.coordination, "'\(presenter.url.path)' is moved again and again. Try again later.")
  }

  private func check(_ url: URL) async throws -> Result {
    try await coordinator.read(url, options: .withoutChanges) { access in
      var result = Result(.unchanged)
      if knownBase(access) == nil {
        guard let file = try await present(access) else { return Result(.missing) }
        let hash = ContentHash(of: file.contents)
        presence?.knownFile = file.known(hash)
        if hash != memory.base?.tag { result = try await differing(file, hash) }
      }
      hold(access)
      noteFile(access, in: &result)
      return result
    }
  }

  private func differing(_ file: PresentFile, _ hash: ContentHash) async throws -> Result {
    if let presence, let status = file.status, presence.hasLostFile || presence.isTaken(by: status.identity, files) {
      presence.loseFile()
      return Result(.missing)
    }
    let bytes = file.contents
    var result: Result
    do throws(DocumentError) {
      let contents = try await contents(of: bytes)
      result = Result(.differs(unreadable: nil))
      result.incoming = Memory.Stored(contents, hash)
    } catch {
      if error.code == .cancelled { throw error }
      result = Result(.differs(unreadable: error))
      result.incoming = Memory.Stored(nil, hash)
    }
    result.incomingBytes = bytes
    return result
  }

  /// Compares first: the text of another program is kept as a version before it's overwritten.
  private func write(_ url: URL) async throws -> Result {
    let (contents, bytes) = try await mine()
    let hash = ContentHash(of: bytes)
    return try await coordinator.write(url) { access in
      for _ in 0..<Self.attemptCountMax {
        let (presentHash, status): (ContentHash, FileStatus)
        if let known = knownBase(access) {
          (presentHash, status) = (known.hash, known.status)
        } else {
          guard let file = try await present(access), let found = file.status else { return Result(.missing) }
          (presentHash, status) = (ContentHash(of: file.contents), found)
          if presentHash != memory.base?.tag, presentHash != hash {
            return try await differing(file, presentHash)
          }
        }
        if presentHash == hash {
          hold(access)
        } else {
          try await checkSaving(access, contents, status)
          switch try await replace(access, with: bytes, status) {
          case .replaced: break
          case .changedMeanwhile: continue
          case .missing: return Result(.missing)
          }
        }
        var result = Result(.done)
        result.incoming = Memory.Stored(contents, hash)
        noteFile(access, in: &result)
        return result
      }
      throw DocumentError(
        .coordination, "'\(access.url.path)' is written by another program again and again. Try again later.")
    }
  }

  private func load(_ isElsewhere: Bool) async throws -> Result {
    func read(_ access: borrowing FileAccess) async throws -> Result {
      guard let bytes = try await present(access)?.contents else { return Result(.missing) }
      var result = Result(.done)
      result.incoming = Memory.Stored(try await contents(of: bytes), ContentHash(of: bytes))
      if !isElsewhere { noteFile(access, in: &result) }
      return result
    }
    if !isElsewhere {
      return try await following { url in
        try await coordinator.read(url, options: .withoutChanges) { access in try await read(access) }
      }
    }
    let result = try await coordinator.read(argument.url) { access in try await read(access) }
    if result.outcome == .missing {
      throw DocumentError(.fileNotFound, "Nothing is at '\(argument.url.path)', so there's nothing to go back to.")
    }
    return result
  }

  // MARK: - Versions

  private func keep(_ kept: KeptContents) async throws -> Result {
    let bytes = try await kept == .mine ? mine().bytes : theirs()
    let isConflict = memory.incoming != nil
    guard let url = presence?.presenter.url else { throw DocumentError.notOpen }
    let versions = VersionsWithinAccess(options.versions)
    do {
      try await coordinator.read(url, options: .withoutChanges) { access in
        let url = access.url
        try await Offload.run { () throws(FileVersionError) in
          _ = try versions.add(to: url, contents: Array(bytes), isConflict: isConflict)
        }
      }
    } catch let error as FileCoordinationError where error.code == .cancelled {
      throw error
    } catch {
      throw DocumentError(
        .versionNotKept, "No version could be kept, so nothing was overwritten: \(error)", underlyingError: error)
    }
    return Result(.done)
  }

  private func listConflicts() async throws -> Result {
    guard let presence else { throw DocumentError.notOpen }
    let url = presence.presenter.url
    if presence.takesTidying() { await tidy(url) }
    let conflicts = try await options.versions.unresolvedConflicts(of: url) ?? []
    return Result(.conflicts(!conflicts.isEmpty))
  }

  private func theirs() throws(DocumentError) -> Data {
    guard let incomingBytes else { preconditionFailure("nothing has come") }
    return incomingBytes
  }

  // MARK: - Merging

  private func merge() async throws -> Result {
    guard let merge = options.merge, let base = memory.base?.contents, let mine = memory.contents,
      let theirs = memory.incoming?.contents
    else { return Result(.keptMine) }
    let texts = DocumentMerge(base: base, mine: mine, theirs: theirs)
    switch try await answer(to: texts, merge) {
    case .keepMine: return Result(.keptMine)
    case .takeTheirs: return Result(.tookTheirs)
    case .merged(let contents):
      var result = Result(.merged)
      result.merged = contents
      return result
    }
  }

  /// The answer of the hook, or an error when its time is over.
  private func answer(
    to texts: DocumentMerge<Contents>, _ merge: @escaping DocumentOptions<Contents>.Merge
  ) async throws -> DocumentResolution<Contents> {
    let clock = options.clock
    return try await FileAnswer<DocumentResolution<Contents>>.wait { answer in
      let task = Task.detached {
        do { answer.succeed(try await merge(texts)) } catch { answer.fail(error) }
      }
      _ = clock.schedule(at: clock.now.advanced(by: options.mergeDeadline)) {
        answer.fail(DocumentError(.notMerged, "The document's hook didn't answer in time."))
        task.cancel()
      }
    }
  }
}
