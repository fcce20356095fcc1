internal import FileAccessArbiter
public import FoundationEssentials
internal import SystemInterface

/// The verbs of a coordinator that block the calling thread until access is granted, and run the accessor on it.
///
/// For threads of one's own. Never on a thread of the cooperative pool: from `async` code use ``FileCoordinator`` itself.
/// Each verb waits, asks and fails exactly like its suspending twin; ``FileCoordinator/cancel()`` from another thread
/// ends the wait.
///
/// - Note: Rule C-180.
public struct BlockingFileCoordinator: Sendable {
  let coordinator: FileCoordinator
  /// The work of the thread while it would only wait.
  let server: (any BlockedThreadServer)?

  init(_ coordinator: FileCoordinator, serving server: (any BlockedThreadServer)? = nil) {
    self.coordinator = coordinator
    self.server = server
  }

  /// Reads an item.
  ///
  /// Blocks until access is granted. See ``FileCoordinator/read(_:options:deadlines:accessor:)-(URL,_,_,_)``.
  ///
  /// - Parameters:
  ///   - url: The item.
  ///   - options: How it's read.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  ///   - accessor: The work to do while the access lasts, on the calling thread.
  /// - Returns: The result of `accessor`.
  /// - Throws: ``FileCoordinationError`` when there's no access, or the error thrown by `accessor`.
  @available(*, noasync, message: "blocks the thread; use 'try await coordinator.read'")
  public func read<Result>(
    _ url: URL, options: FileCoordinator.ReadingOptions = [], deadlines: AccessDeadlines? = nil,
    accessor: (borrowing FileAccess) throws -> Result
  ) throws -> Result {
    if options.plainAccess == nil { _ = try options.itemAccess(url: url.absoluteString) }
    return try coordinator.withIdentities { identities in
      try identities.withItem(for: url, followingLastLink: options.contains(.resolvesSymbolicLink)) { item in
        try readResolved(item, options, deadlines, accessor)
      }
    }
  }

  /// Writes an item.
  ///
  /// Blocks until access is granted. See ``FileCoordinator/write(_:options:deadlines:accessor:)-(URL,_,_,_)``.
  ///
  /// - Parameters:
  ///   - url: The item.
  ///   - options: Why it's written; at most one.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  ///   - accessor: The work to do while the access lasts, on the calling thread.
  /// - Returns: The result of `accessor`.
  /// - Throws: ``FileCoordinationError`` when there's no access, or the error thrown by `accessor`.
  @available(*, noasync, message: "blocks the thread; use 'try await coordinator.write'")
  public func write<Result>(
    _ url: URL, options: FileCoordinator.WritingOptions = .forUpdating, deadlines: AccessDeadlines? = nil,
    accessor: (borrowing FileAccess) throws -> Result
  ) throws -> Result {
    try coordinator.withIdentities { identities in
      try identities.withItem(for: url) { item in try writeResolved(item, options, deadlines, accessor) }
    }
  }

  /// Reads one item and writes another, granted together.
  ///
  /// Blocks until they are.
  ///
  /// - Parameters:
  ///   - readingURL: The item to read.
  ///   - readingOptions: How it's read.
  ///   - writingURL: The item to write.
  ///   - writingOptions: Why it's written; at most one.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  ///   - accessor: The work to do while the access lasts, on the calling thread.
  /// - Returns: The result of `accessor`.
  /// - Throws: ``FileCoordinationError`` when there's no access, or the error thrown by `accessor`.
  @available(*, noasync, message: "blocks the thread; use 'try await coordinator.read'")
  public func read<Result>(
    _ readingURL: URL, options readingOptions: FileCoordinator.ReadingOptions = [],
    writing writingURL: URL, writingOptions: FileCoordinator.WritingOptions = .forUpdating,
    deadlines: AccessDeadlines? = nil,
    accessor: (borrowing FileAccess, borrowing FileAccess) throws -> Result
  ) throws -> Result {
    let plan = try coordinator.readingAndWritingPlan(readingURL, readingOptions, writingURL, writingOptions)
    return try withAccess(plan, deadlines) { try accessor(FileAccess($0, 0), FileAccess($0, 1)) }
  }

  /// Writes two items, granted together.
  ///
  /// Blocks until they are.
  ///
  /// - Parameters:
  ///   - firstURL: The first item.
  ///   - firstOptions: Why it's written; at most one.
  ///   - secondURL: The second item.
  ///   - secondOptions: Why it's written; at most one.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  ///   - accessor: The work to do while the access lasts, on the calling thread.
  /// - Returns: The result of `accessor`.
  /// - Throws: ``FileCoordinationError`` when there's no access, or the error thrown by `accessor`.
  @available(*, noasync, message: "blocks the thread; use 'try await coordinator.write'")
  public func write<Result>(
    _ firstURL: URL, options firstOptions: FileCoordinator.WritingOptions = .forUpdating,
    and secondURL: URL, secondOptions: FileCoordinator.WritingOptions = .forUpdating,
    deadlines: AccessDeadlines? = nil,
    accessor: (borrowing FileAccess, borrowing FileAccess) throws -> Result
  ) throws -> Result {
    let plan = try coordinator.writingTwoPlan(firstURL, firstOptions, secondURL, secondOptions)
    return try withAccess(plan, deadlines) { try accessor(FileAccess($0, 0), FileAccess($0, 1)) }
  }

  /// Accesses any number of items, granted together.
  ///
  /// Blocks until they are.
  ///
  /// - Parameters:
  ///   - intents: The accesses to request, one for each of the items.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  ///   - accessor: The work to do while the access lasts, on the calling thread.
  /// - Returns: The result of `accessor`.
  /// - Throws: ``FileCoordinationError`` when there's no access, or the error thrown by `accessor`.
  @available(*, noasync, message: "blocks the thread; use 'try await coordinator.coordinate'")
  public func coordinate<Result>(
    _ intents: [FileAccessIntent], deadlines: AccessDeadlines? = nil,
    accessor: (borrowing FileAccessSet) throws -> Result
  ) throws -> Result {
    try withAccess(coordinator.plan(for: intents), deadlines) { try accessor(FileAccessSet($0)) }
  }

  /// Asks the presenters of many items in advance, runs `body`, and blocks until its completion handler was called.
  ///
  /// The wait for the handler, from when `body` returned, lasts no longer than ``AccessDeadlines/waitingForAccesses``:
  /// pass more for a preparation that lasts long, or `nil`. The end of the wait doesn't end the preparation.
  ///
  /// - Parameters:
  ///   - reading: Items to be read.
  ///   - readingOptions: How; not `.resolvesSymbolicLink`.
  ///   - writing: Items to be written.
  ///   - writingOptions: Why; not `.forReplacing`.
  ///   - deadlines: How long presenters and the preparation may take; those of the coordinator unless stated.
  ///   - body: The accesses that were prepared. It receives the presenters whose answers are missing, and calls the
  ///     handler when all is done, on any thread (C-138).
  /// - Throws: ``FileCoordinationError`` when a presenter refused, with code `.answerDropped` when the handler was dropped without
  ///   having been called, with code `.timedOut` when it was kept and not called in time, or with code `.cancelled` when
  ///   ``FileCoordinator/cancel()`` was called meanwhile.
  @available(*, noasync, message: "blocks the thread; use 'try await coordinator.prepare'")
  public func prepare(
    reading: [URL] = [], readingOptions: FileCoordinator.ReadingOptions = [],
    writing: [URL] = [], writingOptions: FileCoordinator.WritingOptions = .forUpdating,
    deadlines: AccessDeadlines? = nil,
    body: (FilePreparation, FileAnswer<Void>) throws -> Void
  ) throws {
    let plan = try coordinator.preparationPlan(reading, readingOptions, writing, writingOptions)
    try withAccess(plan, deadlines) { access in
      var deadline: ScheduledAction?
      defer {
        deadline?.cancel()
        coordinator.forgetEnd(of: access.waiter.id)
      }
      try FileAnswer<Void>.waitBlocking(serving: server) { answer in
        coordinator.note(answer, of: access.waiter.id)
        try body(FilePreparation(access), answer)
        deadline = coordinator.limit(answer, by: deadlines ?? coordinator.deadlines, plan.subjects)
      }
    }
  }

  func withAccess<Result>(
    _ plan: AccessPlan, _ deadlines: AccessDeadlines?, _ body: (GrantedAccess) throws -> Result
  ) throws -> Result {
    let isByIdentity = coordinator.host.configuration.coordinatesFilesByIdentity
    let access = try isByIdentity ? accessByIdentity(plan, deadlines) : access(plan, deadlines)
    var hasFailed = true
    defer { access.end(afterFailure: hasFailed) }
    if access.hasUploads { try access.takeSnapshots() }
    let result = try run(body, access)
    hasFailed = false
    return result
  }

  private func run<Result>(_ body: (GrantedAccess) throws -> Result, _ access: GrantedAccess) throws -> Result {
    guard let lineage = access.lineage else { return try body(access) }
    return try withExtendedLifetime(lineage) {
      try ThreadRecord.current.nested(in: Nesting(lineage)) { try body(access) }
    }
  }

  @inline(__always)
  private func access(
    _ plan: AccessPlan, _ deadlines: AccessDeadlines?
  ) throws(FileCoordinationError) -> GrantedAccess {
    let waiter = try request(plan, deadlines)
    if waiter.answer == nil { waiter.block(serving: server, at: coordinator.host) }
    return try GrantedAccess(coordinator, waiter, plan)
  }

  /// Repeats the request until the claimed identities are those of the items.
  private func accessByIdentity(
    _ plan: AccessPlan, _ deadlines: AccessDeadlines?
  ) throws(FileCoordinationError) -> GrantedAccess {
    var plan = plan
    var deadlines = deadlines
    let budget = RepeatedRequest(coordinator.host, deadlines ?? coordinator.deadlines)
    for _ in 0..<GrantedAccess.aliasAttemptCountMax {
      let access = try access(plan, deadlines)
      guard let next = try access.planForOtherAliases(plan) else { return access }
      access.end(afterFailure: true)
      (plan, deadlines) = (next, budget.remainder)
    }
    throw .replacedTooOften(plan.subjects, GrantedAccess.aliasAttemptCountMax)
  }

  private func request(_ plan: AccessPlan, _ deadlines: AccessDeadlines?) throws(FileCoordinationError) -> AccessWaiter
  {
    // A thread that reads the service's messages can do nothing else.
    if server != nil { return try coordinator.begin(plan, deadlines, blocks: true) }
    return try coordinator.host.transport.reading { () throws(FileCoordinationError) in
      try coordinator.begin(plan, deadlines, blocks: true)
    } until: {
      $0.answer != nil
    }
  }
}
