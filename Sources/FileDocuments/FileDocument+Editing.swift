public import FoundationEssentials
internal import SystemInterface

// Changing the contents, and keeping others from doing so.

extension FileDocument {
  /// Changes the contents.
  ///
  /// Waits while another program writes the file, or its text is taken over; see ``DocumentState/editingObstacles``. The document saves
  /// by itself, see ``AutosavePolicy``: an edit of a file never waits for that, and one of a package waits until a save that runs has ended,
  /// since members that weren't read are in another directory then.
  ///
  /// - Parameters:
  ///   - edit: The meaning of the change for the count of unsaved changes: a new edit, or one taken back or made again.
  ///   - size: How much it changes, in the unit of ``AutosavePolicy/sizeMax``.
  ///   - deadline: How long to wait; that of the options unless stated.
  ///   - change: Changes the contents in place. It runs on the document's actor, and must not use the document.
  /// - Returns: The result of `change`.
  /// - Throws: ``DocumentError`` with code `.notOpen`, `.cancelled` or `.timedOut`; `change` hasn't run then.
  /// - Complexity: O(1) plus that of `change`. The first change after a save copies contents that share their memory with what is being
  ///   written.
  public func edit<Result: Sendable>(
    _ edit: DocumentEdit = .done, size: Int = 1, within deadline: Duration? = nil,
    _ change: @Sendable (inout Contents) -> Result
  ) async throws(DocumentError) -> Result {
    try await waitForEditing(within: deadline)
    return try editNow(edit, size: size, change)
  }

  /// Suspends until the contents can be changed; nothing else runs on the actor between its return and the caller's next step.
  func waitForEditing(within deadline: Duration?) async throws(DocumentError) {
    try await waitForEditing(until: endOfWait(deadline))
  }

  func waitForEditing(until end: MonotonicTime?) async throws(DocumentError) {
    while core.editingError != nil {
      try await call(.awaitEditing, nil, end.map { options.clock.now.duration(to: $0) })
    }
  }

  /// Changes the contents without waiting: for code that runs on the document's actor, such as the handler of a key.
  ///
  /// ```swift
  /// try note.assumeIsolated { try $0.editNow { $0.append(character) } }
  /// ```
  ///
  /// - Parameters:
  ///   - edit: The meaning of the change for the count of unsaved changes.
  ///   - size: How much it changes, in the unit of ``AutosavePolicy/sizeMax``.
  ///   - change: Changes the contents in place. It must not use the document.
  /// - Returns: The result of `change`.
  /// - Throws: ``DocumentError`` with code `.notOpen`, or `.editingDisabled` with the reason, also while a package is being saved; `change`
  ///   hasn't run then.
  /// - Complexity: As of ``edit(_:size:within:_:)``.
  /// - Note: Rule CD-33.
  @discardableResult
  public func editNow<Result>(
    _ edit: DocumentEdit = .done, size: Int = 1, _ change: (inout Contents) -> Result
  ) throws(DocumentError) -> Result {
    if let error = core.editingError { throw error }
    guard var contents = memory.contents else { throw .notOpen }
    // Without undo an edit reads no clock for it.
    let now = options.undo == nil ? MonotonicTime(nanoseconds: 0) : options.clock.now
    let former = edit == .done && undoSteps.keepsContents(at: now) ? contents : nil
    // With a second reference the change would copy.
    memory.contents = nil
    let result = change(&contents)
    memory.contents = contents
    // A program that counts by itself takes back what isn't known here.
    if edit == .done { undoSteps.note(former, at: now) } else { undoSteps.removeAll() }
    if edit == .done, core.noteFurtherEdit(size: size, at: options.undo == nil ? options.clock.now : now) {
      publishRevision()
    } else {
      receive(.edited(edit, size: size))
    }
    return result
  }

  /// Keeps the contents from being edited while `body` runs.
  ///
  /// Reading, saving and reloading go on. Editing is possible again afterwards, however `body` ends.
  ///
  /// - Parameter body: The work to do meanwhile. An ``edit(_:size:within:_:)`` in it would wait for its end.
  /// - Returns: The result of `body`.
  /// - Throws: The error thrown by `body`.
  /// - Note: Rule CD-39.
  public func withEditingDisabled<Result: Sendable, Failure: Error>(
    _ body: @Sendable () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    receive(.leaseTaken)
    defer { receive(.leaseEnded) }
    return try await body()
  }

  /// Names the contents as they are now, for ``noteSaved(_:)``.
  ///
  /// The document keeps the contents of the last token, so that it knows them again in the file.
  ///
  /// - Note: Rule CD-07.
  public var editToken: DocumentEditToken {
    let token = core.editToken
    tokenContents = memory.contents.map { (token, $0) }
    return token
  }

  /// Notes that the contents that a token names have been saved by the program itself: they count as not changed.
  ///
  /// If the file has them, and the token is the last one that was taken, they aren't taken for those of another program. The members of a
  /// package aren't compared: there the document takes over what the program has written, as it does with another one's.
  ///
  /// - Parameter token: The token of those contents.
  /// - Note: Rule CD-07.
  public func noteSaved(_ token: DocumentEditToken) {
    if let known = tokenContents, known.token == token, core.phase == .open { memory.note(known.contents) }
    receive(.tokenSaved(token))
  }
}

extension FileDocument {
  /// The open document of a file: the one that this process has, or a new one.
  ///
  /// Each call is matched by a ``close(discardingChanges:within:)``; the last one closes the document.
  ///
  /// - Parameters:
  ///   - url: The file.
  ///   - format: How contents are written as bytes; means nothing if the document is open already.
  ///   - contents: The contents of a new file, which is made if nothing is there.
  ///   - options: How a new document behaves.
  ///   - home: The actor in which a new document lives.
  /// - Returns: The document.
  /// - Throws: ``DocumentError``, with code `.alreadyOpen` if the open document has contents of another type.
  /// - Note: Rule CD-28.
  public static func opened(
    _ url: URL, as format: some DocumentFormat<Contents>, creatingWith contents: Contents? = nil,
    options: DocumentOptions<Contents> = DocumentOptions(), in home: (any Actor)? = #isolation
  ) async throws(DocumentError) -> FileDocument {
    let key = try DocumentPresence.place(of: url, in: options.domain).key
    for _ in 0..<Self.attemptCountMax {
      if let document = DocumentRegistry.shared.document(at: key) as? FileDocument {
        try await document.open(creatingWith: contents)
        return document
      }
      let document = FileDocument(url, as: format, options: options, in: home)
      do throws(DocumentError) {
        try await document.open(creatingWith: contents)
        return document
      } catch {
        // Another task has opened it meanwhile.
        guard error.code == .alreadyOpen, DocumentRegistry.shared.document(at: key) is FileDocument else { throw error }
      }
    }
    throw DocumentError(.alreadyOpen, "Other tasks open and close '\(url.path)' all the time. Open it once.")
  }

  private static var attemptCountMax: Int { 16 }
}
