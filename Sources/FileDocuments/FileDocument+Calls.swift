internal import FileCoordination
public import FoundationEssentials
internal import SystemInterface

// The calls of the program. Each waits for its turn, and ends with a result, an error, its task's cancellation or its deadline.

extension FileDocument {
  /// Reads the file, and presents it from then on.
  ///
  /// A document that is open already is opened once more, and closes when it has been closed as often.
  ///
  /// A document that has made its file is a draft: ``isDraft`` is true until ``save(within:)``, a move or another name succeeds. Saves that it
  /// makes by itself, and ``close(discardingChanges:within:)``, don't change that.
  ///
  /// The document looks for leftovers of killed saves, and for versions, when this has returned: until then a program that lists the directory
  /// may see leftovers. Other calls of the document wait for the end of that search, for as long as their deadlines allow.
  ///
  /// With a crash journal the unsaved contents of killed processes are looked for before this returns. If the format doesn't read them
  /// before the deadline, or this task is cancelled then, the document is open nevertheless, and ``recoveries`` has them when they're read.
  ///
  /// - Parameters:
  ///   - contents: The contents of a new file, which is made if nothing is there.
  ///   - deadline: How long to wait; that of the options unless stated.
  /// - Throws: ``DocumentError`` with code `.fileNotFound`, `.unreadableContents`, `.alreadyOpen` if another document of this process has
  ///   the file open, `.notWritable` if a new file can't be made there, `.coordination`, `.cancelled` or `.timedOut`. The document is closed
  ///   then, unless it was open before.
  /// - Complexity: O(bytes).
  /// - Note: Rules CD-01, CD-02, CD-04.
  public func open(
    creatingWith contents: Contents? = nil, within deadline: Duration? = nil
  ) async throws(DocumentError) {
    let end = endOfWait(deadline)
    try await call(.open, CallArgument(url: board.snapshot.url, contents: contents), deadline)
    await awaitRecoveries(until: end)
  }

  /// Saves what is unsaved.
  ///
  /// Saves that come while one runs have one more save together.
  ///
  /// The file keeps its permissions, owner, access list and extended attributes, and is never half written. Without unsaved changes
  /// nothing is written.
  ///
  /// - Parameter deadline: How long to wait; that of the options unless stated.
  /// - Returns: Whether something was written.
  /// - Throws: ``DocumentError``; the contents are still unsaved, and the state has the reason. With code `.fileDeleted` the file is gone, and
  ///   wasn't made again.
  /// - Complexity: O(bytes): the file is compared with its base before it's replaced.
  /// - Note: Rules CD-06…CD-08, CD-12…CD-15, CD-24.
  @discardableResult
  public func save(within deadline: Duration? = nil) async throws(DocumentError) -> Bool {
    let isWritten = try await call(.save, nil, deadline)
    noteNoDraft()
    return isWritten
  }

  /// Saves what is unsaved, and ends the presentation of the file.
  ///
  /// If the document was opened several times, it stays open for the others.
  ///
  /// The crash journal is gone when this returns, unless the deadline passes or this task is cancelled while it's being removed: that goes on
  /// then.
  ///
  /// - Parameters:
  ///   - isDiscarding: Whether unsaved changes are dropped.
  ///   - deadline: How long to wait; that of the options unless stated.
  /// - Returns: Whether something was written.
  /// - Throws: ``DocumentError`` if unsaved changes couldn't be saved. The document is still open then, and can be edited.
  /// - Note: Rule CD-09.
  @discardableResult
  public func close(
    discardingChanges isDiscarding: Bool = false, within deadline: Duration? = nil
  ) async throws(DocumentError) -> Bool {
    let end = endOfWait(deadline)
    let didSave = try await call(.close(isDiscarding: isDiscarding), nil, deadline)
    await awaitEndOfJournal(until: end)
    return didSave
  }

  /// Drops unsaved changes, and goes back to the contents of the file.
  ///
  /// The dropped contents become a version of the file first.
  ///
  /// Nothing can be edited meanwhile.
  ///
  /// - Parameter deadline: How long to wait; that of the options unless stated.
  /// - Throws: ``DocumentError``; the contents are as they were.
  /// - Note: Rule CD-25.
  public func revert(within deadline: Duration? = nil) async throws(DocumentError) {
    try await call(.revert(isElsewhere: false), nil, deadline)
  }

  /// Goes back to the contents of another file, such as a version.
  ///
  /// They're unsaved at first; the contents before become a version.
  ///
  /// - Parameters:
  ///   - url: The other file.
  ///   - deadline: How long to wait; that of the options unless stated.
  /// - Throws: ``DocumentError``; the contents are as they were.
  /// - Note: Rule CD-25.
  public func revert(toContentsOf url: URL, within deadline: Duration? = nil) async throws(DocumentError) {
    try await call(.revert(isElsewhere: true), CallArgument(url: url), deadline)
  }

  /// Moves the file.
  ///
  /// The document stays open.
  ///
  /// - Parameters:
  ///   - url: Its new place.
  ///   - isReplacing: Whether to take the place of a file that's there.
  ///   - deadline: How long to wait; that of the options unless stated.
  /// - Throws: ``DocumentError``, with code `.fileExists` if a file is there, `.locked` if it's a locked one that would be replaced,
  ///   `.notWritable` if permissions or a read-only volume forbid it, or `.fileDeleted` if the document's is gone; the file is where it
  ///   was, and so is one that would be replaced. If a copy on another volume can't be taken back, the file is at both places, and the error
  ///   says so.
  /// - Note: Rule CD-40.
  public func move(
    to url: URL, replacing isReplacing: Bool = false, within deadline: Duration? = nil
  ) async throws(DocumentError) {
    try await call(.move, CallArgument(url: url, isReplacing: isReplacing), deadline)
  }

  /// Gives the file another name in its directory.
  ///
  /// The document stays open. The directory is the one where the file is by then, also if another program has just moved it.
  ///
  /// - Parameters:
  ///   - name: The name, with its extension.
  ///   - deadline: How long to wait; that of the options unless stated.
  /// - Throws: ``DocumentError``, with code `.fileExists` if another file has the name, `.notWritable` if the directory can't be written, or
  ///   `.invalidName`; the file is where it was.
  /// - Note: Rule CD-40.
  public func rename(to name: String, within deadline: Duration? = nil) async throws(DocumentError) {
    if name.isEmpty || name == "." || name == ".." || name.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == 0 })
    {
      throw DocumentError(.invalidName, "'\(name)' can't be the name of a file.")
    }
    try await call(.move, CallArgument(url: board.snapshot.url.sibling(named: name), name: name), deadline)
  }

  /// Copies the file, with what is unsaved.
  ///
  /// The document remains that of the original.
  ///
  /// - Parameters:
  ///   - url: The place of the copy.
  ///   - isReplacing: Whether to take the place of a file that's there.
  ///   - deadline: How long to wait; that of the options unless stated.
  /// - Throws: ``DocumentError``, with code `.fileExists` if a file is there, `.notWritable` if the directory can't be written, or `.locked` if
  ///   it's a locked one that would be replaced.
  /// - Note: Rule CD-40.
  public func duplicate(
    to url: URL, replacing isReplacing: Bool = false, within deadline: Duration? = nil
  ) async throws(DocumentError) {
    try await call(.duplicate, CallArgument(url: url, isReplacing: isReplacing), deadline)
  }

  /// Writes the contents to a new file, which is the document's from then on; the former one stays as it is.
  ///
  /// Also for a document whose file was deleted.
  ///
  /// - Parameters:
  ///   - url: The place of the new file.
  ///   - isReplacing: Whether to take the place of a file that's there. The document's own file isn't replaced, since another program may have
  ///     written it: ``save(within:)`` compares.
  ///   - deadline: How long to wait; that of the options unless stated.
  /// - Throws: ``DocumentError``, with code `.fileExists` if a file is there that isn't to be replaced, or the document's own, `.notWritable`
  ///   if the directory can't be written, or `.locked` if it's a locked one.
  /// - Note: Rule CD-41.
  public func save(
    as url: URL, replacing isReplacing: Bool = false, within deadline: Duration? = nil
  ) async throws(DocumentError) {
    try await call(.saveElsewhere, CallArgument(url: url, isReplacing: isReplacing), deadline)
  }

  /// Deletes the file, and closes the document.
  ///
  /// Unsaved changes are dropped. The crash journal goes as with ``close(discardingChanges:within:)``.
  ///
  /// - Parameter deadline: How long to wait; that of the options unless stated.
  /// - Throws: ``DocumentError``, with code `.fileDeleted` if the file is gone already, or `.notWritable` if its directory can't be
  ///   written; the document is still open.
  /// - Note: Rule CD-40.
  public func delete(within deadline: Duration? = nil) async throws(DocumentError) {
    let end = endOfWait(deadline)
    try await call(.delete, nil, deadline)
    await awaitEndOfJournal(until: end)
  }

  /// When a call that begins now has to end; `nil` if it may take its time.
  func endOfWait(_ deadline: Duration?) -> MonotonicTime? {
    (deadline ?? options.deadline).map { options.clock.now.advanced(by: $0) }
  }

  /// Waits for work that isn't an operation of the document, until a time or the cancellation of this task at most.
  ///
  /// The task of the work is cancelled then, and its result is dropped.
  func wait<Value: Sendable>(
    until end: MonotonicTime?, for work: @escaping @Sendable () async throws -> Value
  ) async throws(DocumentError) -> Value {
    let duration = end.map { options.clock.now.duration(to: $0) }
    if let duration, duration <= .zero { throw .timedOut }
    do { return try await ProgramCode.run(atMost: duration, options.clock, orFail: .timedOut, work) } catch {
      throw DocumentError(error)
    }
  }

  /// Makes a call, and waits for its end.
  @discardableResult
  func call(
    _ kind: DocumentCall, _ argument: CallArgument<Contents>?, _ deadline: Duration?
  ) async throws(DocumentError) -> Bool {
    lastCall += 1
    let id = CallID(lastCall)
    arguments[id] = argument
    // The time of a call begins before its operation.
    let timer = (deadline ?? options.deadline).map { duration in
      options.clock.schedule(at: options.clock.now.advanced(by: duration)) { [weak self] in
        Task { await self?.timeOut(id) }
      }
    }
    receive(.called(id, kind))
    let result = await withTaskCancellationHandler {
      await end(of: id)
    } onCancel: {
      Task { await self.receive(.withdrawn(id, .cancelled)) }
    }
    timer?.cancel()
    let parties = partiesInTheWay.removeValue(forKey: id)
    if case .failure(let error) = result, error.code == .timedOut, let parties { throw .timedOut(behind: parties) }
    return try result.get()
  }

  /// The result of a call, which completes operations that end while it waits: the result of such an operation, and the call itself, come to
  /// the actor with one change of threads.
  private func end(of id: CallID) async -> Result<Bool, DocumentError> {
    while true {
      // Right before it waits: nobody wakes a call up that has a result and doesn't wait yet.
      if let result = callResults.removeValue(forKey: id) { return result }
      let ended = await withCheckedContinuation { waitingCalls.add(id, $0) }
      switch ended {
      case .operation(let kind, let result): complete(kind, result)
      case .search: noteEndOfSearch()
      case nil: break
      }
    }
  }

  /// Ends a call whose deadline has passed; before, it's found out who is in its way, since that's unknown once its access is given up.
  private func timeOut(_ id: CallID) async {
    let parties = await findPartiesInTheWay()
    if core.calls.contains(where: { $0.id == id }) { partiesInTheWay[id] = parties }
    receive(.withdrawn(id, .timedOut))
  }

  /// The parties behind which accesses of this process's documents to the file wait; `nil` if none does, or if that isn't known soon.
  private func findPartiesInTheWay() async -> String? {
    let domain = options.domain
    guard let path = try? DocumentPresence.place(of: board.snapshot.url, in: domain).key.path,
      let snapshot = try? await ProgramCode.run(
        atMost: .seconds(1), domain.configuration.clock, orFail: .timedOut, { try await domain.snapshot() })
    else { return nil }
    let process = "pid \(HostProcess.processIdentifier) "
    let parties = snapshot.accesses.filter { access in
      !access.isGranted && DocumentPresenter.isLabel(access.party.label) && access.party.process.hasPrefix(process)
        && access.party.items.contains { $0.path == path }
    }.flatMap(\.blockers)
    return parties.isEmpty ? nil : parties.map(\.description).joined(separator: ", ")
  }
}
