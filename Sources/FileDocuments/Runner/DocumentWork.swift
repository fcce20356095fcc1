internal import ContentHashing
internal import FileCoordination
internal import FileVersions
internal import FoundationEssentials
internal import SystemInterface

/// One operation of a document, with everything that it needs: it runs away from the document's actor.
///
/// The document goes on meanwhile; the contents are those that it had when the operation began.
///
/// A class, since each function that suspends, and each closure, would copy all of it.
final class DocumentWork<Contents: Sendable>: Sendable {
  typealias Memory = DocumentMemory<Contents, ContentHash>

  /// How an operation ended, and what it has read, written or registered.
  ///
  /// A class, since each function on its way to the document would copy it, member by member.
  ///
  /// `@unchecked Sendable`, as its base is.
  final class Result: OperationResult, @unchecked Sendable {
    var outcome: OperationOutcome
    var incoming: Memory.Stored?
    var incomingBytes: Data?
    var merged: Contents?
    var modificationDate: Date?
    /// Whether the file can be written, as far as permissions show.
    var isWritable: Bool?
    /// Whether the owner of the file may not write it.
    var isLocked: Bool?
    /// Whether the operation has made the file.
    var isNew = false
    /// Whether a write has put `incoming` in its place before it failed.
    var isPlaced = false
    /// The presenter that was registered.
    var presence: DocumentPresence?
    /// Where a file belongs that was to get another name: it isn't in the directory any more where it was.
    var rightPlace: URL?
    /// Goes on after the end of the operation, on its thread.
    var search: DocumentSearch?

    init(_ outcome: OperationOutcome) { self.outcome = outcome }
  }

  let format: any DocumentFormat<Contents>
  let traits: FormatTraits
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
  /// The file may have the document's own text without a save of it, which is no reason for a conflict.
  let mayHaveOwnText: Bool
  /// Where the progress of a long operation goes; `nil` when it has ended.
  let progress: @Sendable (DocumentProgress?) -> Void
  /// The program's access to the place of the presence that this operation will make.
  let arrivingGrant: Guarded<DocumentGrant?>
  /// Makes a presenter of the document, and enters it in the registry.
  let enter: @Sendable (URL) throws(DocumentError) -> DocumentPresence

  init(
    format: any DocumentFormat<Contents>, traits: FormatTraits, options: DocumentOptions<Contents>, memory: Memory,
    incomingBytes: Data?, presence: DocumentPresence?, isDeletionAnnounced: Bool, argument: CallArgument<Contents>,
    isAutomatic: Bool, mayHaveOwnText: Bool,
    arrivingGrant: Guarded<DocumentGrant?> = Guarded(nil), progress: @escaping @Sendable (DocumentProgress?) -> Void,
    enter: @escaping @Sendable (URL) throws(DocumentError) -> DocumentPresence
  ) {
    self.format = format
    self.traits = traits
    self.options = options
    self.memory = memory
    self.incomingBytes = incomingBytes
    self.presence = presence
    self.isDeletionAnnounced = isDeletionAnnounced
    self.argument = argument
    self.isAutomatic = isAutomatic
    self.mayHaveOwnText = mayHaveOwnText
    self.arrivingGrant = arrivingGrant
    self.progress = progress
    self.enter = enter
  }

  /// The same work at another place.
  func moved(to url: URL) -> DocumentWork {
    var argument = argument
    argument.url = url
    return DocumentWork(
      format: format, traits: traits, options: options, memory: memory, incomingBytes: incomingBytes,
      presence: presence, isDeletionAnnounced: isDeletionAnnounced, argument: argument, isAutomatic: isAutomatic,
      mayHaveOwnText: mayHaveOwnText, arrivingGrant: arrivingGrant, progress: progress, enter: enter)
  }

  @concurrent
  func perform(_ operation: DocumentOperation) async -> Result {
    defer { progress(nil) }
    do {
      switch operation {
      case .open: return try await open()
      case .check: return try await check()
      case .write: return try await write()
      case .merge: return try await merge()
      case .keep(let kept): return try await keep(kept)
      case .load(let isElsewhere): return try await load(isElsewhere)
      case .move: return try await move()
      case .delete: return try await delete()
      case .copy: return try await copy()
      case .place: return try await place()
      case .listConflicts: return try await listConflicts()
      }
    } catch { return Result(.failed(refusal(of: operation, error) ?? DocumentError(error))) }
  }

  // MARK: - Opening

  private func open() async throws -> Result {
    let presence = try enter(argument.url)
    do {
      if let result = try await openPresent(presence) { return result }
      guard let contents = argument.contents else {
        throw DocumentError(
          .fileNotFound, "Nothing is at '\(argument.url.path)'. Pass contents for a new file: 'open(creatingWith:)'.")
      }
      do { return try await openNew(presence, contents) } catch { throw refusal(of: .place, error) ?? error }
    } catch {
      presence.leave()
      throw error
    }
  }

  /// Opens the file that's there.
  ///
  /// Not on behalf of the presenter: that isn't registered before this access ends, and so the access needs the arbiter only if others are
  /// interested.
  ///
  /// - Returns: `nil` if nothing is there.
  private func openPresent(_ presence: DocumentPresence) async throws -> Result? {
    let presenter = presence.presenter
    let coordinator = FileCoordinator(label: presenter.presenterLabel, domain: options.domain)
    var result: Result?
    let registration = try await coordinator.read(presence.item, registering: presenter) { access in
      guard let file = try await present(access) else { return false }
      result = try await opened(presence, access, file)
      return true
    }
    if let registration { presence.hold(registration) }
    return result
  }

  /// Makes a file, unless one has come meanwhile.
  private func openNew(_ presence: DocumentPresence, _ contents: Contents) async throws -> Result {
    let bytes = try await bytes(of: contents)
    try checkSize(of: bytes)
    return try await coordinator(for: presence).write(presence.presenter.url) { access in
      let present = try await present(access)
      if present == nil { try await access.replaceContents(with: bytes) }
      let result = try await opened(presence, access, present ?? PresentFile(contents: bytes))
      result.isNew = present == nil
      try await presence.register(access)
      return result
    }
  }

  /// The result for a file that's open as soon as the presenter is registered.
  private func opened(
    _ presence: DocumentPresence, _ access: borrowing FileAccess, _ file: PresentFile
  ) async throws -> Result {
    if access.wasMoved { presence.presenter.url = access.url }
    let result = Result(.doneSearching)
    let hash = ContentHash(of: file.contents)
    result.incoming = Memory.Stored(try await contents(of: file.contents), hash)
    noteFile(access, file.status, in: result)
    let path = access.canonicalPath
    if options.observesUncoordinatedChanges { presence.hold(path, files) }
    result.presence = presence
    // Later, after the registration: from then on every version that's added is announced.
    result.search = DocumentSearch { [self, isTidied = presence.isTidied] in !looksAround(path, noting: isTidied) }
    return result
  }

  // MARK: - Reading and writing

  private func check() async throws -> Result {
    try await readFile { access in
      var result = Result(.unchanged)
      guard let file = try await present(access) else { return Result(.missing) }
      let hash = ContentHash(of: file.contents)
      if hash != memory.base?.tag {
        if let own = await own(hash) { result = own } else { result = try await differing(file, hash) }
      }
      hold(access)
      noteFile(access, in: result)
      return result
    }
  }

  /// The result of a check of a file with the document's own text; `nil` if it's another one.
  private func own(_ hash: ContentHash) async -> Result? {
    // After a failed save the text is written once more.
    guard mayHaveOwnText, presence?.mayLoseFile != true else { return nil }
    if let (contents, bytes) = try? await mine(), ContentHash(of: bytes) == hash {
      let result = Result(.done)
      result.incoming = Memory.Stored(contents, hash)
      return result
    }
    return await isNoted(hash) ? Result(.unchanged) : nil
  }

  /// Whether the program has said that it has put contents with this hash in the file.
  private func isNoted(_ hash: ContentHash) async -> Bool {
    guard let noted = memory.noted, let bytes = try? await bytes(of: noted) else { return false }
    return ContentHash(of: bytes) == hash
  }

  private func differing(_ file: PresentFile, _ hash: ContentHash) async throws -> Result {
    if let presence, let status = file.status, presence.hasLostFile || presence.isTaken(by: status.identity, files) {
      presence.loseFile()
      return Result(.missing)
    }
    let bytes = file.contents
    let result: Result
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
  private func write() async throws -> Result {
    let (contents, bytes) = try await mine()
    try checkSize(of: bytes)
    let hash = ContentHash(of: bytes)
    return try await writeFile { access in
      for _ in 0..<Self.attemptCountMax {
        guard let file = try await present(access), let status = file.status else { return Result(.missing) }
        let presentHash = ContentHash(of: file.contents)
        if presentHash != memory.base?.tag, presentHash != hash, await !isNoted(presentHash) {
          return try await differing(file, presentHash)
        }
        let result = Result(.done)
        // After a failure the equal contents that are there may be gone after the loss of power: then they're written once more.
        if presentHash == hash, presence?.mayLoseFile != true {
          hold(access)
        } else {
          try await checkSaving(access, contents, status)
          switch try await replace(access, with: bytes, status, presentHash) {
          case .replaced: presence?.mayLoseFile = false
          case .replacedAndFailed(let error):
            presence?.mayLoseFile = true
            result.outcome = .failed(DocumentError(error))
            result.isPlaced = true
          case .changedMeanwhile: continue
          case .missing: return Result(.missing)
          }
        }
        result.incoming = Memory.Stored(contents, hash)
        noteFile(access, in: result)
        return result
      }
      throw DocumentError(
        .coordination, "'\(access.url.path)' is written by another program again and again. Try again later.")
    }
  }

  private func load(_ isElsewhere: Bool) async throws -> Result {
    func read(_ access: borrowing FileAccess) async throws -> Result {
      guard let bytes = try await present(access)?.contents else { return Result(.missing) }
      let result = Result(.done)
      result.incoming = Memory.Stored(try await contents(of: bytes), ContentHash(of: bytes))
      if !isElsewhere { noteFile(access, in: result) }
      return result
    }
    if !isElsewhere { return try await readFile { access in try await read(access) } }
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
    let versions = VersionsWithinAccess(options.versions)
    do {
      let result = try await readFile { access in
        let url = access.url
        do {
          try await Offload.run { () throws(FileVersionError) in
            _ = try versions.add(to: url, contents: Array(bytes), isConflict: isConflict)
          }
        } catch let error as FileVersionError where error.code == .noSuchFile {
          return Result(.missing)
        }
        return Result(.done)
      }
      if result.outcome == .missing { throw DocumentError.fileDeleted }
      return result
    } catch { throw DocumentError.noVersion(error) }
  }

  private func listConflicts() async throws -> Result {
    guard let presence else { throw DocumentError.notOpen }
    if presence.takesTidying() { await tidy(presence.presenter.url) }
    for _ in 0..<Self.attemptCountMax {
      let moveCount = presence.presenter.moveCount
      let conflicts = try await options.versions.unresolvedConflicts(of: presence.presenter.url) ?? []
      // Otherwise these may be those of another file at the former place.
      if moveCount == presence.presenter.moveCount { return Result(.conflicts(!conflicts.isEmpty)) }
    }
    throw movedTooOften(presence)
  }

  private func theirs() throws(DocumentError) -> Data {
    guard let incomingBytes else { preconditionFailure("nothing has come") }
    return incomingBytes
  }

  // MARK: - Merging

  private func merge() async throws -> Result {
    guard let merge = options.merge, let base = memory.noted ?? memory.base?.contents, let mine = memory.contents,
      let theirs = memory.incoming?.contents
    else { return Result(.keptMine) }
    let texts = DocumentMerge(base: base, mine: mine, theirs: theirs)
    switch try await answer(to: texts, merge) {
    case .keepMine: return Result(.keptMine)
    case .takeTheirs: return Result(.tookTheirs)
    case .merged(let contents):
      let result = Result(.merged)
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
