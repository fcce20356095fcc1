#if !canImport(ObjectiveC)
  public import FileCoordination
  public import Foundation
  internal import SystemInterface

  /// Coordinates reading and writing of files and directories, under Apple's name and with Apple's calls.
  ///
  /// Every call is one of a `FileCoordinator`, in the same domain, so that programs that use either name wait for each other and
  /// message each other's presenters (N-9). Unlike Apple's, a coordinator may be used from any thread; no wait for others lasts
  /// for ever: see ``deadlines``.
  ///
  /// **Where accessors run.** Those of the calls that block, on the calling thread. While such a call waits on a thread
  /// of a serial `OperationQueue` (the main thread, or the thread of one of the queue's operations), questions to
  /// presenters of that queue are asked on that thread, because their queue can't.
  ///
  /// **Misuse** that ends the process on Apple platforms is reported instead: see ``setMisuseHandler(_:)``.
  ///
  /// Not sendable, as on Apple platforms, although its methods may be called on any thread.
  ///
  /// - Note: Rules C-001…C-170, N-1, N-8 and N-9; <doc:FoundationNameRules> explains the numbers.
  open class NSFileCoordinator: NSObject {
    let native: FileCoordinator
    let ongoing = OngoingAccesses()
    private let chosenDeadlines = Guarded<AccessDeadlines?>(nil)
    /// The document for which its class, or the program, has made this coordinator.
    private(set) weak var document: UIDocument?

    /// Creates a coordinator whose accesses are made on behalf of a presenter.
    ///
    /// The presenter is neither asked nor notified about them, nor kept alive. It needn't be registered. Coordinators
    /// made for the same presenter have the same purpose: their accesses never wait for each other (C-113, C-115).
    ///
    /// - Parameter filePresenterOrNil: The presenter, if any.
    public init(filePresenter filePresenterOrNil: (any NSFilePresenter)?) {
      let adapter = filePresenterOrNil.map(PresenterRegistry.shared.adapter)
      native = FileCoordinator(
        label: adapter?.presenterLabel ?? "NSFileCoordinator", presenter: adapter, domain: CompatibilityDomain.current)
      document = filePresenterOrNil as? UIDocument
    }

    /// Creates a coordinator for accesses of a document, which knows what it writes.
    convenience init(ofDocument document: UIDocument) {
      self.init(filePresenter: document)
      self.document = nil
    }

    /// Creates a coordinator whose accesses are made on behalf of no presenter.
    public override convenience init() { self.init(filePresenter: nil) }

    // MARK: Presenters

    /// Registers a presenter, so that it's asked before and notified after accesses to its item.
    ///
    /// Register inside a coordinated read of the item to miss nothing in between (C-193). The presenter isn't kept alive, and may go
    /// without having been removed (N-7). Registering it twice changes nothing (C-196). If its URL can't name a file, or the
    /// domain can't be reached, that's reported to the ``setMisuseHandler(_:)``, and it gets no messages.
    ///
    /// - Parameter filePresenter: The presenter.
    open class func addFilePresenter(_ filePresenter: any NSFilePresenter) {
      PresenterRegistry.shared.add(filePresenter)
    }

    /// Ends the registration of a presenter; does nothing if it has none.
    ///
    /// After this returns it's sent no new message, and no access waits for its answers (C-191, C-192). May be called
    /// in `deinit`.
    ///
    /// - Parameter filePresenter: The presenter.
    open class func removeFilePresenter(_ filePresenter: any NSFilePresenter) {
      PresenterRegistry.shared.remove(filePresenter)
    }

    /// The presenters that this process registered, in order of registration (C-190).
    open class var filePresenters: [any NSFilePresenter] { PresenterRegistry.shared.presenters }

    // MARK: Purpose

    /// The purpose of this coordinator's accesses: accesses of equal purpose never wait for each other (C-116).
    ///
    /// Unique unless the coordinator was made for a presenter or given another. It may be set once, before the first access, and not
    /// if there's a presenter; anything else is reported to the ``setMisuseHandler(_:)`` and changes nothing (C-117, C-118).
    open var purposeIdentifier: String {
      get { native.purposeIdentifier }
      set {
        do { try native.setPurposeIdentifier(newValue) } catch { Misuse.report("\(error)") }
      }
    }

    // MARK: Presenters that don't answer

    /// The presenters whose answers the accesses and preparations of this coordinator did without, as long as their
    /// accessors run.
    ///
    /// A presenter is passed over while its process is stopped, and where ``deadlines`` say to proceed. Its file lacks
    /// the changes that it hasn't saved. Accesses inside of `prepare(…)` name the presenters of their own item that
    /// didn't answer it. Ask inside the accessor, or inside the preparation: afterwards it's empty. Apple's class has
    /// no such property, and its accesses wait as long as it takes.
    ///
    /// - Note: Rules C-141 and C-187.
    public var unansweredPresenters: [String] { ongoing.unanswered }

    // MARK: Access on the calling thread

    /// Reads an item: blocks until nobody writes it and its presenters have let go and saved, then runs `reader`.
    ///
    /// - Parameters:
    ///   - url: The item.
    ///   - options: How it's read.
    ///   - outError: Where to put the error when there's no access; else it's left alone (C-168).
    ///   - reader: The work, on the calling thread. Gets the item's present URL. Not run when there's no access.
    open func coordinate(
      readingItemAt url: URL, options: ReadingOptions = [], error outError: NSErrorPointer,
      byAccessor reader: (URL) -> Void
    ) {
      unsafe report(to: outError, AccessedItems(reading: [url])) {
        try verbs.read(url.absoluteURL, options: options.native, deadlines: deadlines) { access in
          ongoing.during(access.moveAnnouncer, without: access.unansweredPresenters) { reader(access.url) }
        }
      }
    }

    /// Writes an item: blocks until nobody else accesses it and its presenters have let go, then runs `writer`.
    ///
    /// - Parameters:
    ///   - url: The item.
    ///   - options: Why it's written; at most one.
    ///   - outError: Where to put the error when there's no access; else it's left alone (C-168).
    ///   - writer: The work, on the calling thread. Gets the item's present URL. Not run when there's no access.
    open func coordinate(
      writingItemAt url: URL, options: WritingOptions = [], error outError: NSErrorPointer,
      byAccessor writer: (URL) -> Void
    ) {
      unsafe report(to: outError, AccessedItems(writing: [url])) {
        let url = url.absoluteURL
        try verbs.write(url, options: options.native(for: url), deadlines: deadlines) { access in
          let written = try OwnWrite(document, [WrittenItem(url, access.url, options)])
          ongoing.during(access.moveAnnouncer, without: access.unansweredPresenters) { writer(access.url) }
          written?.end()
        }
      }
    }

    /// Reads one item and writes another, granted together, so that two such calls can't deadlock (C-025, C-134).
    ///
    /// - Parameters:
    ///   - readingURL: The item to read.
    ///   - readingOptions: How it's read.
    ///   - writingURL: The item to write.
    ///   - writingOptions: Why it's written; at most one.
    ///   - outError: Where to put the error when there's no access; else it's left alone.
    ///   - readerWriter: The work, on the calling thread. Gets the present URLs of both items.
    open func coordinate(
      readingItemAt readingURL: URL, options readingOptions: ReadingOptions = [],
      writingItemAt writingURL: URL, options writingOptions: WritingOptions = [],
      error outError: NSErrorPointer, byAccessor readerWriter: (URL, URL) -> Void
    ) {
      unsafe report(to: outError, AccessedItems(reading: [readingURL], writing: [writingURL])) {
        try verbs.read(
          readingURL.absoluteURL, options: readingOptions.native, writing: writingURL.absoluteURL,
          writingOptions: writingOptions.native(for: writingURL.absoluteURL), deadlines: deadlines
        ) { read, write in
          let written = try OwnWrite(document, [WrittenItem(writingURL, write.url, writingOptions)])
          ongoing.during(write.moveAnnouncer, without: read.unansweredPresenters) { readerWriter(read.url, write.url) }
          written?.end()
        }
      }
    }

    /// Writes two items, granted together, so that two such calls can't deadlock (C-025).
    ///
    /// To move a file, write its place `.forMoving` and its destination `.forReplacing`, and announce the move with
    /// ``item(at:didMoveTo:)``.
    ///
    /// - Parameters:
    ///   - url1: The first item.
    ///   - options1: Why it's written; at most one.
    ///   - url2: The second item.
    ///   - options2: Why it's written; at most one.
    ///   - outError: Where to put the error when there's no access; else it's left alone.
    ///   - writer: The work, on the calling thread. Gets the present URLs of both items.
    open func coordinate(
      writingItemAt url1: URL, options options1: WritingOptions = [],
      writingItemAt url2: URL, options options2: WritingOptions = [],
      error outError: NSErrorPointer, byAccessor writer: (URL, URL) -> Void
    ) {
      unsafe report(to: outError, AccessedItems(writing: [url1, url2])) {
        let (url1, url2) = (url1.absoluteURL, url2.absoluteURL)
        try verbs.write(
          url1, options: options1.native(for: url1), and: url2, secondOptions: options2.native(for: url2),
          deadlines: deadlines
        ) { first, second in
          let written = try OwnWrite(
            document, [WrittenItem(url1, first.url, options1), WrittenItem(url2, second.url, options2)])
          ongoing.during(first.moveAnnouncer, without: first.unansweredPresenters) { writer(first.url, second.url) }
          written?.end()
        }
      }
    }

    /// Asks the presenters of many items, and of everything inside them, in advance, and then runs `batchAccessor`.
    ///
    /// Grants nothing: every item still needs an access of its own inside. Blocks until the completion handler was
    /// called. One that's dropped without having been called ends the wait with an error, and so does ``cancel()``. If
    /// the handler is kept and not called after `batchAccessor` returned, that's reported to the
    /// ``setMisuseHandler(_:)`` after the deadline for answers. After the deadline for other accesses the wait ends
    /// with an error: after five minutes, unless ``deadlines`` say otherwise. Preparations that last longer need longer
    /// ones. The end of the wait doesn't end the preparation (C-135…C-141).
    ///
    /// - Parameters:
    ///   - readingURLs: Items to be read.
    ///   - readingOptions: How; not `.resolvesSymbolicLink`.
    ///   - writingURLs: Items to be written.
    ///   - writingOptions: Why; not `.forReplacing`.
    ///   - outError: Where to put the error; else it's left alone.
    ///   - batchAccessor: The accesses that were prepared, on the calling thread. Calls its argument when all is done, on any thread.
    open func prepare(
      forReadingItemsAt readingURLs: [URL], options readingOptions: ReadingOptions = [],
      writingItemsAt writingURLs: [URL], options writingOptions: WritingOptions = [],
      error outError: NSErrorPointer, byAccessor batchAccessor: (@escaping @Sendable () -> Void) -> Void
    ) {
      let reminder = CompletionReminder(native.label, after: (deadlines ?? native.deadlines).waitingForAnswers)
      defer { reminder.cancel() }
      unsafe report(to: outError, AccessedItems(reading: readingURLs, writing: writingURLs)) {
        let writing = writingURLs.map(\.absoluteURL)
        try verbs.prepare(
          reading: readingURLs.map(\.absoluteURL), readingOptions: readingOptions.native, writing: writing,
          writingOptions: writing.first.map { try writingOptions.native(for: $0) } ?? .forUpdating,
          deadlines: deadlines
        ) { preparation, answer in
          ongoing.during(nil, without: preparation.unansweredPresenters) { batchAccessor { answer.succeed() } }
          reminder.start()
        }
      }
    }

    // MARK: Access on a queue

    /// Accesses any number of items, granted together, without blocking.
    ///
    /// `accessor` runs exactly once, on `queue`: with `nil` when access was granted, and then the items are its until it returns; with an
    /// error, and no access, when not (N-8, C-150…C-153). Operations of `queue` that are cancelled don't take it along. While `queue` is
    /// suspended, granted items stay claimed.
    ///
    /// - Parameters:
    ///   - intents: The accesses to request, one for each item. Inside `accessor` their `url` shows where the item is.
    ///   - queue: Where `accessor` runs.
    ///   - accessor: The work.
    open func coordinate(
      with intents: [NSFileAccessIntent], queue: OperationQueue,
      byAccessor accessor: @escaping @Sendable ((any Error)?) -> Void
    ) {
      coordinateLater(intents, queue, accessor)
    }

    // MARK: Announcements

    /// Declares that an item will be moved, for moves that could fail.
    ///
    /// No presenter is notified, and nothing has to follow (C-103).
    ///
    /// If the item is found at the new place when its access ends, and the move wasn't announced, it's announced then.
    ///
    /// - Parameters:
    ///   - oldURL: Where it is.
    ///   - newURL: Where it will be.
    open func item(at oldURL: URL, willMoveTo newURL: URL) {
      // Outside of an access it has no effect.
      _ = ongoing.announce { try $0.willMove(from: oldURL.absoluteURL, to: newURL.absoluteURL) }
    }

    /// Announces that an item has been moved: presenters are notified, and accesses that wait for it will get the new
    /// place.
    ///
    /// Inside the accessor of a write of this coordinator that covers the old or the new place. Otherwise nothing is announced, and
    /// that's reported to the ``setMisuseHandler(_:)`` (C-102).
    ///
    /// - Parameters:
    ///   - oldURL: Where it was.
    ///   - newURL: Where it is now.
    open func item(at oldURL: URL, didMoveTo newURL: URL) {
      let problem = ongoing.announce { try $0.didMove(from: oldURL.absoluteURL, to: newURL.absoluteURL) }
      if let problem { Misuse.report("item(at: '\(oldURL.path)', didMoveTo: '\(newURL.path)'): \(problem)") }
    }

    /// Announces that ubiquity attributes of an item have changed, to presenters that observe at least one of them (C-205).
    ///
    /// - Parameters:
    ///   - url: The item.
    ///   - attributes: Those that changed.
    open func item(at url: URL, didChangeUbiquityAttributes attributes: Set<URLResourceKey>) {
      do {
        try native.item(at: url.absoluteURL, didChangeUbiquityAttributes: Set(attributes.map(\.rawValue)))
      } catch { Misuse.report("item(at: '\(url.path)', didChangeUbiquityAttributes:): \(error)") }
    }

    /// Ends every wait of this coordinator with `CocoaError.userCancelled`, and lets all its later calls fail with it.
    ///
    /// An accessor that runs already runs to its end. May be called from any thread, and returns at once (C-160…C-167).
    open func cancel() { native.cancel() }
  }

  // MARK: - Beyond Apple's class

  extension NSFileCoordinator {
    /// How long this coordinator's accesses wait; those of the domain while it's `nil`.
    ///
    /// Apple's class waits for ever. Here an access waits five minutes for others and one minute for presenters'
    /// answers by default, and then fails with an error that names the parties in the way.
    public var deadlines: AccessDeadlines? {
      get { chosenDeadlines.withLock { $0 } }
      set { chosenDeadlines.withLock { $0 = newValue } }
    }

    /// Where coordinators and presenters with Apple's names meet others: `CoordinationDomain.standard` unless set.
    ///
    /// Set it before the first coordinator is made and the first presenter is registered, for example to name the extensions of
    /// packages. Those that exist stay where they are.
    public static var coordinationDomain: CoordinationDomain {
      get { CompatibilityDomain.current }
      set { CompatibilityDomain.use(newValue) }
    }

    /// Whether presenters are notified of changes by programs that don't coordinate, unless their class says otherwise:
    /// yes, unless set.
    ///
    /// Set it before the first presenter is registered. Watching takes an inotify(7) watch for each presented item and each directory
    /// inside. See ``NSFilePresenter/observesUncoordinatedChanges``.
    public static var observesUncoordinatedChanges: Bool {
      get { CompatibilityDomain.observesStrangers }
      set { CompatibilityDomain.observesStrangers = newValue }
    }

    /// Receives reports of misuse that would end the process on Apple platforms; `nil`, as it is at first, for lines on
    /// standard error.
    ///
    /// Runs on the thread of the call.
    ///
    /// - Parameter handler: Gets one sentence or more for the program's author.
    public static func setMisuseHandler(_ handler: (@Sendable (String) -> Void)?) { Misuse.setHandler(handler) }
  }

  extension NSFileCoordinator {
    /// The calls that block; they serve presenters of the running queue while they wait.
    private var verbs: BlockingFileCoordinator { native.blocking(serving: PresenterTurns.shared.serverOfThisThread()) }

    /// Runs `body` and reports its error.
    private func report(to outError: NSErrorPointer, _ items: AccessedItems, _ body: () throws -> Void) {
      do {
        try body()
      } catch {
        unsafe outError?.pointee = .ofAccess(error, items)
      }
    }
  }
#endif
