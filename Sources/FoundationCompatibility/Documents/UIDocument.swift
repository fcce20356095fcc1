#if !canImport(ObjectiveC)
  public import FileCoordination
  internal import FileDocuments
  internal import FileMetadata
  internal import FilePackages
  public import Foundation
  internal import SystemInterface

  /// A document: a file or package that's open for editing, beside other programs that read, write, move and delete it.
  ///
  /// Apple's class. A subclass overrides ``contents(forType:)`` and ``load(fromContents:ofType:)``, which exchange `Data` for a file and a
  /// ``FileWrapper`` for a package, and notes changes with ``undoManager`` or ``updateChangeCount(_:)``.
  ///
  /// **Where it runs.** A document belongs to the main actor. Its file is read and written elsewhere, one access after the other, in
  /// ``performAsynchronousFileAccess(_:)``; methods that run there are `nonisolated`. Completion handlers run once, on the queue of the
  /// call: the main queue, or the `OperationQueue` that a program in Swift 5 mode calls from. Calls from elsewhere begin in the main
  /// queue. A main thread that's blocked because the program waits for an access there does the work of documents meanwhile.
  ///
  /// **With others.** An open document presents its file. It saves before another program reads. It takes over what another program has
  /// written; if it has unsaved changes, its own contents stay, and the other ones become a conflict version first. It follows moves.
  /// When its file is deleted it's ``State/closed``, keeps its contents and is never written there again, unless the program saves it
  /// with ``SaveOperation/forCreating``. Several documents of one file may be open, and have each other's saves. If another program moves
  /// the file of one document over that of another one, the first one follows, and the other one is as if its file had been deleted.
  ///
  /// **Autosaving.** Unsaved changes are saved two seconds after the last change, and during continuous work every 15 seconds,
  /// through ``save(to:for:completionHandler:)``. Close a document before the last reference goes away.
  ///
  /// Hand-off between devices isn't here: there's no `NSUserActivity` on Linux.
  ///
  /// | state | guarded by | why |
  /// | --- | --- | --- |
  /// | `facts`, `inbox`, `saving`, `ownWrites`, `memberDigests`, `neighbour`, `answerPatience`, `awaited` | their locks | read and written on the threads of accesses |
  /// | everything else | the main actor | |
  ///
  /// - Note: Rules UD-1 to UD-23, UD-26, and CD-01 to CD-33; the module `FileDocuments` lists them.
  @MainActor @preconcurrency open class UIDocument: NSObject, NSFilePresenter {
    nonisolated let facts: Guarded<DocumentFacts>
    nonisolated let inbox = DocumentInbox()
    nonisolated let saving = Guarded(SafeSave?.none)
    /// The writes of its class without it.
    nonisolated let ownWrites = OwnWrites()
    /// The hashes of the members that were read, since it was opened.
    nonisolated let memberDigests = Guarded(MemberDigests())
    nonisolated let answerPatience = Guarded<Duration?>(.seconds(600))
    /// The handlers that methods of the class have and haven't called, the oldest first.
    nonisolated let awaited = Guarded<[ObjectIdentifier]>([])
    nonisolated let accessQueue: OperationQueue
    nonisolated let neighbour = DocumentNeighbour(in: CompatibilityDomain.current)
    private(set) lazy var runner = DocumentRunner(self)
    var undo: DocumentUndo?

    /// Makes a closed document.
    ///
    /// Nothing is read.
    ///
    /// - Parameter url: Its file, which doesn't have to exist.
    public init(fileURL url: URL) {
      facts = Guarded(DocumentFacts(url: url.absoluteURL))
      accessQueue = OperationQueue()
      accessQueue.name = "UIDocument file access"
      accessQueue.maxConcurrentOperationCount = 1
      super.init()
    }

    deinit { NSFileCoordinator.removeFilePresenter(self) }

    // MARK: - What is known of it

    /// Where the file is.
    ///
    /// May be read on any thread. It follows moves.
    open nonisolated var fileURL: URL { facts.withLock { $0.url } }

    /// The name of the file without its extension.
    ///
    /// May be read on any thread.
    open nonisolated var localizedName: String { fileURL.deletingPathExtension().lastPathComponent }

    /// The uniform type identifier that belongs to the extension of the file; `public.data` if it's unknown.
    ///
    /// May be read on any thread.
    open nonisolated var fileType: String? { ContentTypes.type(ofDocumentNamed: fileURL.lastPathComponent) }

    /// When the file was changed last, as far as the document knows; `nil` before it was opened, saved or reverted.
    ///
    /// May be read and set on any thread.
    ///
    /// - Note: Rule CD-03.
    open nonisolated var fileModificationDate: Date? {
      get { facts.withLock { $0.modificationDate } }
      set { facts.withLock { $0.modificationDate = newValue } }
    }

    /// The conditions of the document.
    ///
    /// May be read on any thread. ``stateChangedNotification`` follows each change.
    open nonisolated var documentState: State { facts.withLock { $0.state } }

    /// How far the reading or writing of a large file has come, in bytes; `nil` for files below 4 MiB, for packages, and otherwise.
    ///
    /// There exactly while ``documentState`` has `progressAvailable`. A class that overrides ``read(from:)`` or
    /// ``writeContents(_:to:for:originalContentsURL:)`` without a call of `super` has none. May be read on any thread.
    ///
    /// - Note: Rule CD-26.
    open nonisolated var progress: Progress? { facts.withLock { $0.progress } }

    // MARK: - Opening and closing

    /// Reads the file, and presents it from then on.
    ///
    /// - Parameter completionHandler: Gets whether the document is open. After an error, ``handleError(_:userInteractionPermitted:)`` has
    ///   had it before, and the document is closed.
    open func open(completionHandler: ((Bool) -> Void)? = nil) {
      begin(.open, completionHandler, async: { await $0.open() }) { $0.open($1) }
    }

    /// Reads the file, and presents it from then on.
    ///
    /// Calls ``open(completionHandler:)``. Override one of the two.
    ///
    /// - Returns: Whether the document is open.
    @discardableResult open func open() async -> Bool { await end(.open) { $0.open(completionHandler: $1) } }

    /// Saves what is unsaved, and ends the presentation of the file.
    ///
    /// - Parameter completionHandler: Gets whether the document is closed; if it couldn't be saved, it's still open.
    open func close(completionHandler: ((Bool) -> Void)? = nil) {
      begin(.close, completionHandler, async: { await $0.close() }) { $0.close($1) }
    }

    /// Saves what is unsaved, and ends the presentation of the file.
    ///
    /// Calls ``close(completionHandler:)``. Override one of the two.
    ///
    /// - Returns: Whether the document is closed.
    @discardableResult open func close() async -> Bool { await end(.close) { $0.close(completionHandler: $1) } }

    /// Drops what is unsaved, and takes over the contents of the file or of another one.
    ///
    /// The dropped contents become a version of the file first. Editing is disabled meanwhile. The contents of another file are
    /// unsaved at first, and saved soon.
    ///
    /// - Parameters:
    ///   - url: The file, or another one.
    ///   - completionHandler: Gets whether the document has the contents.
    open func revert(toContentsOf url: URL, completionHandler: ((Bool) -> Void)? = nil) {
      begin(.revert, completionHandler, async: { await $0.revert(toContentsOf: url) }) {
        $0.revert(url.absoluteURL, $1)
      }
    }

    /// Drops what is unsaved, and takes over the contents of the file or of another one.
    ///
    /// Calls ``revert(toContentsOf:completionHandler:)``. Override one of the two.
    ///
    /// - Parameter url: The file, or another one.
    /// - Returns: Whether the document has the contents.
    @discardableResult open func revert(toContentsOf url: URL) async -> Bool {
      await end(.revert) { $0.revert(toContentsOf: url, completionHandler: $1) }
    }

    // MARK: - Contents

    /// Takes over contents that were read.
    ///
    /// Override it. Runs on the main actor, when the access has ended. The members of a package are read when they're asked for, and are
    /// those of the package that was read, or `nil`.
    ///
    /// - Parameters:
    ///   - contents: `Data` of a file, or a ``FileWrapper`` of a directory.
    ///   - typeName: The ``fileType``.
    /// - Throws: Any error, if the contents make no sense: the document isn't opened then, or keeps its former
    ///   contents.
    open func load(fromContents contents: Any, ofType typeName: String?) throws {}

    /// Returns what is to be saved: a snapshot, because it's written while editing goes on.
    ///
    /// Override it. Runs on the main actor.
    ///
    /// - Parameter typeName: The ``savingFileType``.
    /// - Returns: `Data` for a file, or a ``FileWrapper`` for a package; anything else if
    ///   ``writeContents(_:to:for:originalContentsURL:)`` is overridden.
    /// - Throws: Any error; nothing is saved then.
    open func contents(forType typeName: String) throws -> Any {
      throw CocoaError(
        .featureUnsupported,
        userInfo: [NSLocalizedDescriptionKey: "\(type(of: self)) doesn't override contents(forType:)."])
    }

    // MARK: - Editing

    /// Called when the contents must not be changed any more for a while.
    ///
    /// Override it to ignore the user. ``documentState`` has ``State/editingDisabled`` already.
    open func disableEditing() {}

    /// Called when the contents can be changed again.
    open func enableEditing() {}

    /// The undo manager, whose registrations, undos and redos are changes of the document; made when it's asked for.
    ///
    /// Once it was asked for, or set, the program needs no ``updateChangeCount(_:)``.
    ///
    /// - Note: Rule CD-11.
    open var undoManager: UndoManager! {
      get {
        if undo == nil { undo = DocumentUndo(UndoManager(), of: self) }
        return undo?.manager
      }
      set { undo = newValue.map { DocumentUndo($0, of: self) } }
    }

    /// Whether the contents differ from those that were saved last.
    ///
    /// An override decides for ``autosave(completionHandler:)`` and ``close(completionHandler:)``.
    open var hasUnsavedChanges: Bool { runner.hasUnsavedChanges }

    /// Notes a change of the contents, so that it's saved soon.
    ///
    /// - Parameter change: The kind of change.
    open func updateChangeCount(_ change: ChangeKind) { runner.edit(change) }

    /// Names the contents as they are now.
    ///
    /// - Parameter saveOperation: The save that begins.
    /// - Returns: A value for ``updateChangeCount(withToken:for:)``.
    open func changeCountToken(for saveOperation: SaveOperation) -> Any { runner.core.editToken }

    /// Notes that the contents that a token names are in the file: changes since then are still unsaved.
    ///
    /// Only for a class that saves without this one's ``save(to:for:completionHandler:)``, with an ``NSFileCoordinator`` that was made for
    /// the document.
    ///
    /// - Parameters:
    ///   - changeCountToken: The result of ``changeCountToken(for:)``.
    ///   - saveOperation: The save that has ended.
    open func updateChangeCount(withToken changeCountToken: Any, for saveOperation: SaveOperation) {
      runner.noteSaved(changeCountToken)
    }

    // MARK: - Saving

    /// Saves the contents.
    ///
    /// The library saves through this method, too; an override calls `super`, or writes by itself and calls the handler. It writes with an
    /// ``NSFileCoordinator`` that was made for the document: so the document knows which contents are its own, and text of another program
    /// that's overwritten becomes a conflict version, unless the access is `.forMerging`.
    ///
    /// Saves that come while one runs have one more save together. ``contents(forType:)`` has run when this method returns, also while a save
    /// runs. If something is changed, and noted, before such a save has its turn, it takes the contents of then.
    ///
    /// Further saves, readers and the end of the document wait as long as an override keeps the handler without calling it, since the file
    /// may be half written until then. That's reported after a minute, and the save fails after ``waitingForAnswers``.
    ///
    /// An item at a place that isn't the open document's becomes a version before it's replaced, see ``NSFileVersion``. The save fails if
    /// that's impossible, or if the item is of another kind: a directory isn't replaced by a file.
    ///
    /// - Parameters:
    ///   - url: Where: the file, or another place, where the document is from then on.
    ///   - saveOperation: To make a new file, which opens the document too; or to replace the contents of the file.
    ///   - completionHandler: Gets whether it was saved.
    open func save(to url: URL, for saveOperation: SaveOperation, completionHandler: ((Bool) -> Void)? = nil) {
      begin(.save, completionHandler, async: { await $0.save(to: url, for: saveOperation) }) {
        $0.save(url.absoluteURL, saveOperation, $1)
      }
    }

    /// Saves the contents.
    ///
    /// Calls ``save(to:for:completionHandler:)``. Override one of the two.
    ///
    /// - Parameters:
    ///   - url: Where.
    ///   - saveOperation: To make a new file, or to replace its contents.
    /// - Returns: Whether it was saved.
    @discardableResult open func save(to url: URL, for saveOperation: SaveOperation) async -> Bool {
      await end(.save) { $0.save(to: url, for: saveOperation, completionHandler: $1) }
    }

    /// Saves what is unsaved; without unsaved changes nothing is written.
    ///
    /// - Parameter completionHandler: Gets whether nothing is unsaved.
    open func autosave(completionHandler: ((Bool) -> Void)? = nil) {
      begin(.autosave, completionHandler, async: { await $0.autosave() }) { $0.autosave($1) }
    }

    /// Saves what is unsaved; without unsaved changes nothing is written.
    ///
    /// Calls ``autosave(completionHandler:)``. Override one of the two.
    ///
    /// - Returns: Whether nothing is unsaved.
    @discardableResult open func autosave() async -> Bool {
      await end(.autosave) { $0.autosave(completionHandler: $1) }
    }

    /// The type that contents are saved as: the ``fileType`` unless overridden.
    ///
    /// If it's another one, the next save moves the file to the name with the extension of this type,
    /// ``fileNameExtension(forType:saveOperation:)``, in the same access. If something is there already, the save fails.
    open nonisolated var savingFileType: String? { fileType }

    /// The extension of the names of files of a type.
    ///
    /// That of the file for its own type, and the usual one for another; that of the file also if none is known. Override it for types
    /// of your own.
    ///
    /// - Parameters:
    ///   - typeName: The type.
    ///   - saveOperation: Why it's saved.
    /// - Returns: The extension, without a dot.
    open nonisolated func fileNameExtension(forType typeName: String?, saveOperation: SaveOperation) -> String {
      let own = fileURL.pathExtension
      guard let typeName, typeName != fileType else { return own }
      return ContentTypes.fileExtension(ofDocumentsOfType: typeName) ?? own
    }

    // MARK: - Files

    /// Runs `block` off the main queue: one of a document's blocks after the other, in order.
    ///
    /// - Parameter block: Reads or writes the file. It may block.
    open nonisolated func performAsynchronousFileAccess(_ block: @escaping @Sendable () -> Void) {
      accessQueue.addOperation(SteadfastOperation(block))
    }

    /// Reads the file, and lets ``load(fromContents:ofType:)`` have what was read.
    ///
    /// Called inside of an access, off the main queue. A program that calls it has an access, in
    /// ``performAsynchronousFileAccess(_:)``; then it returns when the contents were loaded.
    ///
    /// - Parameter url: The file.
    /// - Throws: `CocoaError` if it can't be read.
    open nonisolated func read(from url: URL) throws { try readContents(of: url) }

    /// Writes contents so that the file always has either the old or the new ones, also after a crash or a power failure.
    ///
    /// Lets ``writeContents(_:to:for:originalContentsURL:)`` write beside the file, and puts that in its place. Permissions, owner and
    /// extended attributes are kept. Called inside of an access, off the main queue.
    ///
    /// - Parameters:
    ///   - contents: The result of ``contents(forType:)``.
    ///   - additionalFileAttributes: Attributes with keys of `FileAttributeKey`.
    ///   - url: The file.
    ///   - saveOperation: Why it's saved.
    /// - Throws: Any error; the file is what it was.
    open nonisolated func writeContents(
      _ contents: Any, andAttributes additionalFileAttributes: [AnyHashable: Any]? = nil, safelyTo url: URL,
      for saveOperation: SaveOperation
    ) throws {
      try writeSafely(contents, additionalFileAttributes ?? [:], url, saveOperation)
    }

    /// Writes contents where nothing is.
    ///
    /// Called inside of an access, off the main queue.
    ///
    /// - Parameters:
    ///   - contents: The result of ``contents(forType:)``.
    ///   - url: A new place.
    ///   - saveOperation: Why it's saved.
    ///   - originalContentsURL: The file as it is, if there's one: unchanged parts needn't be written again.
    /// - Throws: Any error.
    open nonisolated func writeContents(
      _ contents: Any, to url: URL, for saveOperation: SaveOperation, originalContentsURL: URL?
    ) throws {
      try write(contents, url, originalContentsURL)
    }

    /// Attributes that the file gets when it's saved: none unless overridden.
    ///
    /// Called inside of an access, off the main queue.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - saveOperation: Why it's saved.
    /// - Returns: Attributes with keys of `FileAttributeKey`.
    /// - Throws: Any error; nothing is saved then.
    open nonisolated func fileAttributesToWrite(
      to url: URL, for saveOperation: SaveOperation
    ) throws -> [AnyHashable: Any] { [:] }

    // MARK: - Errors

    /// Called with each error of opening, saving and reverting, before the completion handler.
    ///
    /// An override calls ``finishedHandlingError(_:recovered:)``, now or later; the completion handler doesn't wait for it.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - userInteractionPermitted: Whether the user may be asked.
    open func handleError(_ error: any Error, userInteractionPermitted: Bool) {
      finishedHandlingError(error, recovered: false)
    }

    /// Called when an error was handled; does nothing unless overridden.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - recovered: Whether it's no error any more.
    open func finishedHandlingError(_ error: any Error, recovered: Bool) {}

    /// Called when the user can't be asked any more: never here, where programs aren't suspended.
    ///
    /// - Parameter error: The error.
    open func userInteractionNoLongerPermitted(forError error: any Error) {}

    // MARK: - Presenting

    /// Where the file is.
    open nonisolated var presentedItemURL: URL? { fileURL }

    /// The main queue.
    open nonisolated var presentedItemOperationQueue: OperationQueue { .main }

    /// All methods of a presenter, so that overrides of any of them are called.
    open nonisolated var writtenCallbacks: FilePresenterCallbacks? { .all }

    /// Whether changes by programs that don't coordinate are noticed: the value of
    /// ``NSFileCoordinator/observesUncoordinatedChanges`` unless overridden.
    open nonisolated var observesUncoordinatedChanges: Bool { NSFileCoordinator.observesUncoordinatedChanges }

    /// Lets the reader read.
    ///
    /// - Parameter reader: Takes the reacquirer, if any.
    open nonisolated func relinquishPresentedItem(
      toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void
    ) { reader(nil) }

    /// Disables editing until the writer has ended.
    ///
    /// - Parameter writer: Takes the reacquirer.
    open nonisolated func relinquishPresentedItem(
      toWriter writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void
    ) { MainTurns.enter { self.runner.relinquish(writer) } }

    /// Saves what is unsaved.
    ///
    /// - Parameter completionHandler: Takes the error if it couldn't be saved.
    open nonisolated func savePresentedItemChanges(
      completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) { MainTurns.enter { self.runner.answerSave(completionHandler) } }

    /// Lets the document be ``State/closed`` if the file is deleted.
    ///
    /// - Parameter completionHandler: Takes an error to prevent that.
    open nonisolated func accommodatePresentedItemDeletion(
      completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
      MainTurns.enter {
        self.runner.note(.deletionAsked)
        completionHandler(nil)
      }
    }

    /// Keeps the file on this machine.
    ///
    /// - Parameter completionHandler: Takes an error to prevent that.
    open nonisolated func accommodatePresentedItemEviction(
      completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) { completionHandler(CocoaError(.featureUnsupported)) }

    /// Allows it.
    ///
    /// - Parameters:
    ///   - url: The member of the package.
    ///   - completionHandler: Takes an error to prevent that.
    open nonisolated func accommodatePresentedSubitemDeletion(
      at url: URL, completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) { completionHandler(nil) }

    /// Follows the file.
    ///
    /// - Parameter newURL: Where it is now.
    open nonisolated func presentedItemDidMove(to newURL: URL) {
      facts.withLock { $0.follow(to: newURL.absoluteURL) }
      neighbour.move(to: newURL)
      // Such a move may stand for a change right before it, and conflicts may have been looked for at the former place.
      MainTurns.enter {
        self.runner.note(.itemChanged)
        self.runner.note(.versionsChanged)
      }
    }

    /// Takes over what another program has written.
    open nonisolated func presentedItemDidChange() { MainTurns.enter { self.runner.note(.itemChanged) } }

    /// Does nothing.
    ///
    /// - Parameter attributes: Those that have changed.
    open nonisolated func presentedItemDidChangeUbiquityAttributes(_ attributes: Set<URLResourceKey>) {}

    /// Sets ``State/inConflict`` if it's a conflict.
    ///
    /// - Parameter version: The version.
    open nonisolated func presentedItemDidGain(_ version: NSFileVersion) { noteVersions() }

    /// Looks for conflicts.
    ///
    /// - Parameter version: The version.
    open nonisolated func presentedItemDidLose(_ version: NSFileVersion) { noteVersions() }

    /// Looks for conflicts.
    ///
    /// - Parameter version: The version.
    open nonisolated func presentedItemDidResolveConflict(_ version: NSFileVersion) { noteVersions() }

    /// Counts as a change of the package.
    ///
    /// - Parameter url: The new member.
    open nonisolated func presentedSubitemDidAppear(at url: URL) { presentedItemDidChange() }

    /// Counts as a change of the package.
    ///
    /// - Parameters:
    ///   - oldURL: Where the member was.
    ///   - newURL: Where it is now.
    open nonisolated func presentedSubitem(at oldURL: URL, didMoveTo newURL: URL) { presentedItemDidChange() }

    /// Counts as a change of the package.
    ///
    /// - Parameter url: The member.
    open nonisolated func presentedSubitemDidChange(at url: URL) { presentedItemDidChange() }

    /// Does nothing.
    ///
    /// - Parameters:
    ///   - url: The member of the package.
    ///   - version: The version.
    open nonisolated func presentedSubitem(at url: URL, didGain version: NSFileVersion) {}

    /// Does nothing.
    ///
    /// - Parameters:
    ///   - url: The member of the package.
    ///   - version: The version.
    open nonisolated func presentedSubitem(at url: URL, didLose version: NSFileVersion) {}

    /// Does nothing.
    ///
    /// - Parameters:
    ///   - url: The member of the package.
    ///   - version: The version.
    open nonisolated func presentedSubitem(at url: URL, didResolve version: NSFileVersion) {}
  }

  extension UIDocument {
    private nonisolated func noteVersions() { MainTurns.enter { self.runner.note(.versionsChanged) } }
  }
#endif
