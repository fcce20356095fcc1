#if !canImport(ObjectiveC)
  internal import FileMetadata
  public import Foundation
  internal import SystemInterface

  /// Finds files, and keeps its results current, under Apple's name and with Apple's calls.
  ///
  /// Every query is a `MetadataQuery`; queries over the same scopes share one index and one thread. First it gathers,
  /// posting `NSMetadataQueryDidStartGathering`, `NSMetadataQueryGatheringProgress` and
  /// `NSMetadataQueryDidFinishGathering`; then it follows changes, posting `NSMetadataQueryDidUpdate`, until ``stop()``
  /// or until the query is released.
  ///
  /// **Where notifications are posted.** On ``operationQueue`` if there's one. Without it, on the main thread if that
  /// runs anything: its run loop, however busy it is, or its queue. One that computes is waited for; one that has slept
  /// for half a second outside of a run loop, such as in a semaphore, isn't, and a thread of the query's own posts. So
  /// no run loop is needed (N-4). Results change right before they're posted, on the same thread, so code that reads
  /// them there sees the results of the notification.
  ///
  /// **Change lists** are complete, whichever results were read, and all three are always there.
  ///
  /// **Predicates** may be everything that `NSPredicate(format:)` reads, and compounds of that. Blocks are asked for each item, on the
  /// thread that posts. A URL counts as its path.
  ///
  /// Not sendable, as on Apple platforms, although its methods may be called on any thread.
  ///
  /// - Note: Rules Q1 to Q31, R1 to R42, N-4 and N-5; <doc:FoundationNameRules> explains the numbers.
  open class NSMetadataQuery: NSObject {
    let core = QueryCore()

    /// The directories that `NSMetadataQueryLocalComputerScope` and empty ``searchScopes`` search.
    ///
    /// Unless set: the contents of the root directory, but for `/dev`, `/proc`, `/run`, `/sys` and volumes of other
    /// machines, and the home directory. All of it is indexed in memory by each process that searches it, so better
    /// name a scope.
    ///
    /// - Note: Rule Q24.
    public static var localComputerDirectories: [URL] {
      get {
        chosenDirectories.withLock { $0 } ?? MetadataScope.localComputer.directories
      }
      set { chosenDirectories.withLock { $0 = newValue } }
    }

    private static let chosenDirectories = Guarded<[URL]?>(nil)

    /// Makes a query that finds nothing before it has a predicate and is started.
    public override init() {
      super.init()
      core.query = self
    }

    deinit { core.stop() }

    /// Puts other objects in the place of results, and other values in the place of those they're grouped by; not kept alive.
    open weak var delegate: (any NSMetadataQueryDelegate)? {
      didSet { core.forgetReplacements() }
    }

    /// Where notifications are posted; `nil` for the main thread, or a thread of the query's own.
    ///
    /// Operations of a queue that runs several at a time are still posted one after the other.
    open var operationQueue: OperationQueue? {
      get { core.operationQueue }
      set { core.operationQueue = newValue }
    }

    // MARK: - The search

    /// The condition that a file has to fulfil.
    ///
    /// With `==` an asterisk stands for itself, which is reported at the start for names and paths: patterns need `LIKE`. A change starts a running query anew (Q13); `nil` stops it.
    open var predicate: NSPredicate? {
      get { core.configuration.predicate }
      set { core.reconfigure { $0.predicate = newValue } }
    }

    /// How results are ordered.
    ///
    /// Without any, in the order in which they were found. A change starts a running query anew (Q16). Descriptors with keys
    /// compare as queries do: texts as people expect, missing values first.
    open var sortDescriptors: [NSSortDescriptor] {
      get { core.configuration.sortDescriptors }
      set { core.reconfigure { $0.sortDescriptors = newValue } }
    }

    /// The attributes whose values are counted in ``valueLists``; a change starts a running query anew (Q14).
    open var valueListAttributes: [String] {
      get { core.configuration.valueListAttributes }
      set { core.reconfigure { $0.valueListAttributes = newValue } }
    }

    /// The attributes by which ``groupedResults`` are grouped, and their groups; a change starts a running query anew (Q15).
    open var groupingAttributes: [String]? {
      get { core.configuration.groupingAttributes }
      set { core.reconfigure { $0.groupingAttributes = newValue } }
    }

    /// How many seconds changes are gathered before they're posted; 1 unless set.
    ///
    /// As long as it isn't set, the first results are posted sooner. Counts from the next ``start()``.
    ///
    /// - Note: Rules Q18 and Q19.
    open var notificationBatchingInterval: TimeInterval {
      get { core.configuration.batchingInterval }
      set {
        core.configure {
          $0.batchingInterval = newValue
          $0.isBatchingChosen = true
        }
      }
    }

    /// Where to search: constants, file URLs and paths, taken literally; see ``localComputerDirectories`` for none.
    ///
    /// A place that doesn't exist when the query starts is found when it appears. Ubiquitous scopes are empty, because
    /// no user is signed in; to mix them with others is reported. A change starts a running query anew.
    ///
    /// - Note: Rules Q23 to Q26, Q30 and Q31.
    open var searchScopes: [Any] {
      get { core.configuration.searchScopes }
      set {
        if SearchPlaces.areMixed(newValue) {
          Misuse.report("NSMetadataQuery.searchScopes has ubiquitous scopes beside others: use two queries")
        }
        core.reconfigure { $0.searchScopes = newValue }
      }
    }

    /// Limits the search to these items, URLs and paths; `nil` doesn't.
    ///
    /// Just these are watched, be they files or directories, and their changes are reported at once. An item that
    /// doesn't exist when the query starts is found when it appears. Beside ``searchScopes``, items outside of these
    /// aren't found. A change starts a running query anew.
    ///
    /// - Note: Rules Q28, Q29 and Q31.
    open var searchItems: [Any]? {
      get { core.configuration.searchItems }
      set { core.reconfigure { $0.searchItems = newValue } }
    }

    // MARK: - Running

    /// Begins to search; results of an earlier run are dropped.
    ///
    /// Returns at once, on any thread; everything is posted later. Obstacles to the search (a predicate with variables,
    /// a system that doesn't let the program watch files) are reported to ``NSFileCoordinator/setMisuseHandler(_:)``.
    /// Changes of files before the call are found by the first search.
    ///
    /// - Returns: `false` without a predicate, when it's running already, or can't search; then nothing is posted.
    /// - Note: Rules Q2, Q3, Q4 and Q12.
    @discardableResult
    open func start() -> Bool { core.start() }

    /// Ends the search and everything that follows it; nothing is posted any more, and results stay as they are.
    ///
    /// - Note: Rules Q9, Q10 and Q11.
    open func stop() { core.stop() }

    /// Whether the query searches, or follows its results.
    open var isStarted: Bool { core.isStarted }

    /// Whether the first search goes on.
    ///
    /// - Note: Rule Q8.
    open var isGathering: Bool { core.isGathering }

    /// Whether the query doesn't run: it's stopped, or wasn't started yet.
    open var isStopped: Bool { !core.isStarted }

    /// Keeps results as they are, and posts nothing, until ``enableUpdates()`` has been called as often.
    ///
    /// - Note: Rules R1, R2 and N-5.
    open func disableUpdates() { core.disableUpdates() }

    /// Ends one ``disableUpdates()``; after the last one all changes since are posted.
    ///
    /// - Note: Rules R2 and R3.
    open func enableUpdates() {
      if !core.enableUpdates() { Misuse.report("enableUpdates() without a disableUpdates() before it") }
    }
  }
#endif
