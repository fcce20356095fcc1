internal import CoordinationService
internal import FileAccessArbiter
public import FoundationEssentials
internal import SystemInterface

// The primitives, suspending. Their blocking twins are in `BlockingFileCoordinator`.

extension FileCoordinator {
  /// Reads an item: suspends until nobody writes it and its presenters have let go and saved, then runs `accessor`.
  ///
  /// `accessor` runs on the caller's actor, never under a lock. Others may read meanwhile; writers wait until it
  /// returns.
  ///
  /// - Parameters:
  ///   - url: The item. It doesn't have to exist.
  ///   - options: How it's read.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  ///   - accessor: The work to do while the access lasts.
  /// - Returns: The result of `accessor`.
  /// - Throws: ``FileCoordinationError`` when there's no access, or the error thrown by `accessor`.
  /// - Complexity: O(depth of the path) while nobody else is interested.
  /// - Note: Rules C-001…C-048.
  public func read<Result>(
    _ url: URL, options: ReadingOptions = [], deadlines: AccessDeadlines? = nil,
    accessor: (borrowing FileAccess) async throws -> Result
  ) async throws -> Result {
    if options.plainAccess == nil { _ = try options.itemAccess(url: url.absoluteString) }
    let item = try host.identities.item(for: url, followingLastLink: options.contains(.resolvesSymbolicLink))
    return try await readResolved(item, options, deadlines, accessor)
  }

  /// Writes an item: suspends until nobody else accesses it and its presenters have let go, then runs `accessor`.
  ///
  /// `accessor` runs on the caller's actor, never under a lock. Presenters are notified afterwards.
  ///
  /// - Parameters:
  ///   - url: The item. It doesn't have to exist (C-021).
  ///   - options: Why it's written; at most one.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  ///   - accessor: The work to do while the access lasts.
  /// - Returns: The result of `accessor`.
  /// - Throws: ``FileCoordinationError`` when there's no access, or the error thrown by `accessor`.
  /// - Complexity: O(depth of the path) while nobody else is interested.
  /// - Note: Rules C-002…C-018 and C-050…C-081.
  public func write<Result>(
    _ url: URL, options: WritingOptions = .forUpdating, deadlines: AccessDeadlines? = nil,
    accessor: (borrowing FileAccess) async throws -> Result
  ) async throws -> Result {
    let item = try host.identities.item(for: url)
    return try await writeResolved(item, options, deadlines, accessor)
  }

  /// Reads one item and writes another, granted together, so that two such calls can't deadlock (C-025, C-134).
  ///
  /// - Parameters:
  ///   - readingURL: The item to read.
  ///   - readingOptions: How it's read.
  ///   - writingURL: The item to write.
  ///   - writingOptions: Why it's written; at most one.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  ///   - accessor: The work to do while the access lasts, with both items in the order of the arguments.
  /// - Returns: The result of `accessor`.
  /// - Throws: ``FileCoordinationError`` when there's no access, or the error thrown by `accessor`.
  public func read<Result>(
    _ readingURL: URL, options readingOptions: ReadingOptions = [],
    writing writingURL: URL, writingOptions: WritingOptions = .forUpdating,
    deadlines: AccessDeadlines? = nil,
    accessor: (borrowing FileAccess, borrowing FileAccess) async throws -> Result
  ) async throws -> Result {
    let plan = try readingAndWritingPlan(readingURL, readingOptions, writingURL, writingOptions)
    return try await withAccess(plan, deadlines) { access in
      try await accessor(FileAccess(access, 0), FileAccess(access, 1))
    }
  }

  /// Writes two items, granted together, so that two such calls can't deadlock (C-025).
  ///
  /// - Parameters:
  ///   - firstURL: The first item.
  ///   - firstOptions: Why it's written; at most one.
  ///   - secondURL: The second item.
  ///   - secondOptions: Why it's written; at most one.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  ///   - accessor: The work to do while the access lasts, with both items in the order of the arguments.
  /// - Returns: The result of `accessor`.
  /// - Throws: ``FileCoordinationError`` when there's no access, or the error thrown by `accessor`.
  public func write<Result>(
    _ firstURL: URL, options firstOptions: WritingOptions = .forUpdating,
    and secondURL: URL, secondOptions: WritingOptions = .forUpdating,
    deadlines: AccessDeadlines? = nil,
    accessor: (borrowing FileAccess, borrowing FileAccess) async throws -> Result
  ) async throws -> Result {
    let plan = try writingTwoPlan(firstURL, firstOptions, secondURL, secondOptions)
    return try await withAccess(plan, deadlines) { access in
      try await accessor(FileAccess(access, 0), FileAccess(access, 1))
    }
  }

  /// Accesses any number of items, granted together whatever their order (C-023, C-024).
  ///
  /// - Parameters:
  ///   - intents: The accesses to request, one for each item; at most ``itemCountMax``. They never block each other.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  ///   - accessor: The work to do while the access lasts.
  /// - Returns: The result of `accessor`.
  /// - Throws: ``FileCoordinationError`` when there's no access, or the error thrown by `accessor`.
  public func coordinate<Result>(
    _ intents: [FileAccessIntent], deadlines: AccessDeadlines? = nil,
    accessor: (borrowing FileAccessSet) async throws -> Result
  ) async throws -> Result {
    try await withAccess(plan(for: intents), deadlines) { access in
      try await accessor(FileAccessSet(access))
    }
  }

  /// Asks the presenters of many items, and of everything inside them, in advance, and then runs `body`.
  ///
  /// Grants nothing: every item still needs an access of its own inside `body`, usually with `.withoutChanges`, because
  /// saving has been asked for already (C-135…C-141). `body` receives the presenters whose answers are missing: such a
  /// presenter may hold text that isn't in its file. ``FileAccess/unansweredPresenters`` of the accesses inside names
  /// them for each item.
  ///
  /// - Parameters:
  ///   - reading: Items to be read.
  ///   - readingOptions: How; not `.resolvesSymbolicLink`.
  ///   - writing: Items to be written.
  ///   - writingOptions: Why; not `.forReplacing`.
  ///   - deadlines: How long presenters may take; those of the coordinator unless stated.
  ///   - body: The accesses that were prepared.
  /// - Returns: The result of `body`.
  /// - Throws: ``FileCoordinationError`` when a presenter refused, or the error thrown by `body`.
  public func prepare<Result>(
    reading: [URL] = [], readingOptions: ReadingOptions = [],
    writing: [URL] = [], writingOptions: WritingOptions = .forUpdating,
    deadlines: AccessDeadlines? = nil,
    body: (FilePreparation) async throws -> Result
  ) async throws -> Result {
    let plan = try preparationPlan(reading, readingOptions, writing, writingOptions)
    return try await withAccess(plan, deadlines) { try await body(FilePreparation($0)) }
  }

  func withAccess<Result>(
    _ plan: AccessPlan, _ deadlines: AccessDeadlines?, _ body: (GrantedAccess) async throws -> Result
  ) async throws -> Result {
    let isByIdentity = host.configuration.coordinatesFilesByIdentity
    let access = try await isByIdentity ? accessByIdentity(plan, deadlines) : access(plan, deadlines)
    var hasFailed = true
    defer { access.end(afterFailure: hasFailed) }
    if access.hasUploads {
      try await Offload.run { () throws(FileCoordinationError) in try access.takeSnapshots() }
      if Task.isCancelled { throw FileCoordinationError.taskCancelled(plan.subjects) }
    }
    let result = try await Lineage.$current.withValue(access.lineage ?? Lineage.current) {
      try await body(access)
    }
    hasFailed = false
    return result
  }

  @inline(__always)
  private func access(_ plan: AccessPlan, _ deadlines: AccessDeadlines?) async throws -> GrantedAccess {
    if Task.isCancelled { throw FileCoordinationError.taskCancelled(plan.subjects) }
    let waiter = try begin(plan, deadlines, blocks: false)
    if waiter.answer == nil {
      let host = host
      await withTaskCancellationHandler {
        await waiter.suspend()
      } onCancel: {
        host.cancel(waiter.id)
      }
    }
    return try GrantedAccess(self, waiter, plan)
  }

  /// Repeats the request until the claimed identities are those of the items.
  private func accessByIdentity(_ plan: AccessPlan, _ deadlines: AccessDeadlines?) async throws -> GrantedAccess {
    var plan = plan
    var deadlines = deadlines
    let budget = RepeatedRequest(host, deadlines ?? self.deadlines)
    for _ in 0..<GrantedAccess.aliasAttemptCountMax {
      let access = try await access(plan, deadlines)
      guard let next = try access.planForOtherAliases(plan) else { return access }
      access.end(afterFailure: true)
      (plan, deadlines) = (next, budget.remainder)
    }
    throw FileCoordinationError.replacedTooOften(plan.subjects, GrantedAccess.aliasAttemptCountMax)
  }
}

/// Work that blocks its thread, done on threads for such work, so that no thread of the cooperative pool is blocked.
///
/// Its threads are others than those of presenters' callbacks, so that callbacks that block keep no file from being read.
package enum Offload {
  private static let threads = ElasticThreadPool(threadCountMax: 64)

  package static func run<Result: Sendable, Failure: Error>(
    _ work: @escaping @Sendable () throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let outcome = await withTaskExecutorPreference(threads) { await capture(work) }
    return try outcome.get()
  }

  /// Begins a task on these threads, for work that blocks several times: between them it stays on one thread.
  package static func begin(_ work: sending @escaping () async -> Void) -> Task<Void, Never> {
    Task(executorPreference: threads, operation: work)
  }

  @concurrent
  private static func capture<Result: Sendable, Failure: Error>(
    _ work: @Sendable () throws(Failure) -> Result
  ) async -> Swift.Result<Result, Failure> {
    do throws(Failure) { return .success(try work()) } catch { return .failure(error) }
  }
}
