internal import CoordinationService
public import FoundationEssentials
public import SystemInterface

/// A circle of accesses and presenters that see each other.
///
/// Coordinators and presenters of one domain wait for each other and message each other; those of different domains
/// ignore each other.
///
/// | domain | participants |
/// | --- | --- |
/// | ``user`` | all processes of the user, on this machine |
/// | ``socket(_:_:)`` | all processes that name this socket |
/// | ``process`` | this process |
/// | ``init(_:)`` | code that is handed the object, on a clock, file system and executor of one's choice |
///
/// Everything uses ``standard`` unless another domain is passed.
///
/// In a domain of many processes one of them serves the others; it needn't be started. A process that's alone with a
/// directory gets a delegation of it, and claims inside it cost no more than in a domain of one process. When the
/// serving process ends, another takes over, and all report their accesses and presenters to it. If the processes can't
/// be reached, accesses fail with code `.domainUnreachable`: nothing is ever done uncoordinated in silence.
public final class CoordinationDomain: Sendable {
  /// All accesses and presenters of this process that don't name another domain.
  public static let process = CoordinationDomain(takeUsualConfiguration())

  /// All processes of the user on this machine.
  ///
  /// They meet in `/tmp/file-coordination-UID`, whatever their environments say. If another user has taken that name
  /// they meet in a directory of their own whose name begins so and goes on with a dot. Processes that see another
  /// `/tmp` don't meet them.
  public static let user = CoordinationDomain(takeUsualConfiguration(), meetingAt: .ofUser())

  /// The domain of everything that names none: ``user``, or the one in the environment variable
  /// `FILE_COORDINATION_DOMAIN`.
  ///
  /// `user`, `process`, or `socket:` and an absolute path. Anything else makes every access fail with code
  /// `.domainUnreachable`.
  public static let standard = CoordinationDomain.named(HostEnvironment.value(of: "FILE_COORDINATION_DOMAIN"))

  private static let usualConfiguration = Guarded((configuration: Configuration(), isTaken: false))

  private static func takeUsualConfiguration() -> Configuration {
    usualConfiguration.withLock { usual in
      usual.isTaken = true
      return usual.configuration
    }
  }

  /// Sets how this process takes part in ``standard``, ``user`` and ``process``: packages, deadlines, reports of waits.
  ///
  /// Call it when the program starts. These domains are made when they're used for the first time, and keep their configuration then.
  ///
  /// - Parameter configuration: How this process takes part.
  /// - Returns: Whether that was in time; `false` when one of these domains has been used already, and nothing was set.
  public static func configureStandard(_ configuration: Configuration) -> Bool {
    usualConfiguration.withLock { usual in
      if !usual.isTaken { usual.configuration = configuration }
      return !usual.isTaken
    }
  }

  /// All processes that name this socket.
  ///
  /// Each call makes a domain object that takes part for itself; keep it. Accesses of several objects of one socket see each other, and
  /// documents of theirs are documents of one domain.
  ///
  /// - Parameters:
  ///   - path: The absolute path of the socket, at most 96 bytes. Its directory has to exist, and should be writable for
  ///     one user only. A lock file and a directory are put beside it.
  ///   - configuration: How this process takes part; all have to agree on packages.
  /// - Returns: The domain. Nothing is opened before it's used.
  public static func socket(_ path: String, _ configuration: Configuration = Configuration()) -> CoordinationDomain {
    CoordinationDomain(configuration, meetingAt: .at(path))
  }

  /// How a domain is set up.
  ///
  /// Fixed once the domain exists.
  public struct Configuration: Sendable {
    /// Directories whose names end in a dot and one of these are packages: treated as one file.
    ///
    /// None unless stated.
    public var packageExtensions: Set<String>
    /// Whether accesses wait for each other, too, that name one file by different paths: by hard links, or below a directory that's
    /// mounted at several places.
    ///
    /// Off unless stated; then two such paths are two items. All processes of a domain must agree: one that doesn't fails with
    /// code `.domainUnreachable`.
    ///
    /// An access claims its items by device and inode then, and by those of all directories on the way. Each access costs a system
    /// call for each component of its paths, twice, and goes through the arbiter, or the process that serves. If another file has
    /// taken the place of an item while its access waited, the access is requested anew, behind those that wait by then; presenters
    /// are asked anew.
    ///
    /// The limits: presenters are asked and notified only about the path that they present. A file and its identity are
    /// looked up by each process itself, so a file has the same device and inode wherever it's mounted; overlay and
    /// network file systems may not keep that. If an access has replaced a file, a hard link that a stranger made to
    /// the file during that access counts as another file.
    public var coordinatesFilesByIdentity: Bool
    /// The deadlines of accesses that state none.
    public var deadlines: AccessDeadlines
    /// Receives a notice of each wait that lasts, each time ``waitReportInterval`` has passed.
    ///
    /// Runs on a thread of the clock, or in a domain of several processes on one of the library's; be brief.
    public var waitReporter: (@Sendable (WaitNotice) -> Void)?
    /// How long a wait lasts before it's reported, and again after that; at least ``waitReportIntervalMin``.
    public var waitReportInterval: Duration
    /// The shortest time between two reports of a wait; a shorter interval counts as this one.
    public static let waitReportIntervalMin = Duration.milliseconds(1)
    /// The clock of deadlines.
    ///
    /// In a domain of several processes a process that was elected keeps the deadlines of all by its own clock.
    public var clock: any CoordinationClock
    /// The door to the file system.
    package var fileSystem: any FileSystem
    /// For tests: whether the domain object counts as another process, whose documents aren't those of this one.
    package var standsForProcess = false
    /// Where presenters' callbacks run that name no executor; `nil` for threads of this library, which may block.
    public var presenterExecutor: (any TaskExecutor)?
    /// How late an access by URL may notice that a stranger replaced a directory or symbolic link on its way.
    ///
    /// Where a URL leads is remembered, and forgotten when something on its way changes. With an interval of zero,
    /// which is usual, each access asks the kernel whether anything has changed (a quarter of a microsecond), so it
    /// always goes where the URL leads when it's requested. With a longer interval it asks at most that often, and
    /// claims by URL need no system call in between: for programs in whose directories no stranger replaces directories
    /// or links. An interval up to the tick of the kernel's coarse clock, 4 ms or less, is as good as zero. Moves by
    /// this library are noticed at once.
    public var identityCheckInterval: Duration
    /// The directory for snapshots made `.forUploading`.
    ///
    /// On the file system of the items they cost no copy, where it can share blocks.
    public var snapshotDirectory: URL

    /// Creates the usual configuration: no packages, the system's clock and files, no reports.
    public init() {
      packageExtensions = []
      coordinatesFilesByIdentity = false
      deadlines = .standard
      waitReporter = nil
      waitReportInterval = .seconds(2)
      clock = HostClock.shared
      fileSystem = HostFileSystem()
      presenterExecutor = nil
      identityCheckInterval = .zero
      snapshotDirectory = URL.temporaryDirectory
    }
  }

  let host: ArbiterHost
  /// Known when it was asked for and the processes of the domain can meet.
  let meetingName = LazyReference<MeetingName>()

  private init(
    _ configuration: Configuration, meetingAt ground: MeetingGround,
    inside inherited: AccessEnvironment.Inherited = .ofProcess
  ) {
    host = ArbiterHost(configuration, meetingAt: ground, inside: inherited)
  }

  /// The domain of a socket, as a child process with such an environment takes part in it; for tests.
  static func socket(_ path: String, ofChildIn environment: [String: String]) -> CoordinationDomain {
    CoordinationDomain(
      Configuration(), meetingAt: .at(path),
      inside: AccessEnvironment.Inherited(environment[AccessEnvironment.variable]))
  }

  private static func named(_ name: String?) -> CoordinationDomain {
    switch name {
    case nil, "", "user": return .user
    case "process": return .process
    case let name? where name.hasPrefix("socket:/"):
      return .socket(String(name.dropFirst("socket:".count)), takeUsualConfiguration())
    case let name?: return CoordinationDomain(Configuration(), meetingAt: .nowhere(because: .unknownDomain(name)))
    }
  }

  /// Creates a domain of this process.
  ///
  /// - Parameter configuration: How it's set up.
  public init(_ configuration: Configuration = Configuration()) {
    host = ArbiterHost(configuration)
  }

  /// How the domain was set up.
  public var configuration: Configuration { host.configuration }
}

extension CoordinationDomain.Configuration {
  /// The settings that all processes of a domain must share.
  var agreement: Set<String> {
    coordinatesFilesByIdentity ? packageExtensions.union([Hello.filesByIdentity]) : packageExtensions
  }
}

// MARK: - Presenters

extension CoordinationDomain {
  /// Registers a presenter, so that it's asked before and notified after accesses to its item.
  ///
  /// Register inside a coordinated read of the item to miss nothing in between (C-193). Accesses that are asking
  /// presenters right now ask the newcomer too. A presenter that is registered already isn't registered twice: the
  /// returned object holds the same registration (C-196).
  ///
  /// Suspends until every other process of the domain is bound to ask it. No thread of the cooperative pool waits
  /// meanwhile.
  ///
  /// - Parameter presenter: The presenter. It isn't kept alive.
  /// - Returns: The registration, which ends when it's ended or deallocated. If the presenter is gone, that's noticed with the next
  ///   message to it.
  /// - Throws: ``FileCoordinationError`` when the presenter's URL can't name a file, or with code `.domainUnreachable` when there's
  ///   no service for ten seconds.
  /// - Complexity: O(depth of its path), plus the number of accesses that wait for this item.
  public func register(
    _ presenter: any FilePresenter
  ) async throws(FileCoordinationError) -> FilePresenterRegistration {
    try await host.withoutBlocking { () throws(FileCoordinationError) in try self.registerBlocking(presenter) }
  }

  /// Registers a presenter, and blocks the thread until every other process of the domain is bound to ask it.
  ///
  /// The twin of ``register(_:)-748w0`` for code that isn't asynchronous: a domain of one process never blocks here, another one
  /// for a round trip to the service, and for up to ten seconds while there's none.
  ///
  /// - Parameter presenter: The presenter. It isn't kept alive.
  /// - Returns: The registration, which ends when it's ended or deallocated, or when the presenter is gone.
  /// - Throws: ``FileCoordinationError`` when the presenter's URL can't name a file, or with code `.domainUnreachable`.
  /// - Complexity: O(depth of its path), plus the number of accesses that wait for this item.
  public func register(_ presenter: any FilePresenter) throws(FileCoordinationError) -> FilePresenterRegistration {
    try registerBlocking(presenter)
  }

  /// Registers a presenter at a place that the caller knows.
  func register(
    _ presenter: any FilePresenter, at location: FileLocation
  ) async throws(FileCoordinationError) -> FilePresenterRegistration {
    try await host.withoutBlocking { () throws(FileCoordinationError) in
      try self.registerBlocking(presenter, at: location)
    }
  }

  private func registerBlocking(
    _ presenter: any FilePresenter, at location: FileLocation? = nil
  ) throws(FileCoordinationError) -> FilePresenterRegistration {
    var ending: EndingClaim?
    return try registerBlocking(presenter, at: location, ending: &ending)
  }

  /// Registers a presenter in a domain of one process, and ends a claim in the same step.
  ///
  /// - Parameters:
  ///   - presenter: The presenter.
  ///   - location: Where its URL leads.
  ///   - ending: The claim; `nil` afterwards if it has ended.
  /// - Returns: The registration.
  /// - Throws: ``FileCoordinationError``; then the claim is still there.
  func registerBlocking(
    _ presenter: any FilePresenter, at location: FileLocation?, ending: inout EndingClaim?
  ) throws(FileCoordinationError) -> FilePresenterRegistration {
    while true {
      let record = try host.register(presenter, at: location, ending: &ending)
      if record.hold() { return FilePresenterRegistration(record, host) }
      // Its last registration is ending on another thread: end it here, and begin anew.
      host.unregister(record)
    }
  }

  /// Ends the registration of a presenter.
  ///
  /// Does nothing if it has none.
  ///
  /// After this returns no new message is sent to it, and no access waits for its answers (C-191, C-192). A callback that
  /// has begun goes on, and so does a reacquirer: a presenter that's registered again at once may receive messages beside them.
  ///
  /// - Parameter presenter: The presenter.
  public func unregister(_ presenter: any FilePresenter) {
    if let record = host.record(of: presenter) { host.unregister(record) }
  }

  /// The presenters registered in this domain by this process, in order of registration (C-190).
  public var presenters: [any FilePresenter] { host.presenters }
}

/// A presenter's registration.
///
/// Keep it as long as the presenter is to be asked and notified.
public final class FilePresenterRegistration: Sendable {
  let record: PresenterRecord
  let host: ArbiterHost

  init(_ record: PresenterRecord, _ host: ArbiterHost) {
    self.record = record
    self.host = host
  }

  deinit { if record.drop() { host.unregister(record) } }

  /// Ends the registration now, for every holder of it.
  ///
  /// Doing so twice does nothing.
  public func end() { host.unregister(record) }
}

extension CoordinationDomain {
  /// How many accesses the arbiter has ever had: requested, or adopted from the fast tier.
  package var knownAccessCount: UInt64 { host.withState { $0.lastAccess } }
}
