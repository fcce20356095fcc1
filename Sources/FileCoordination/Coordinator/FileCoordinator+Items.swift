public import FoundationEssentials
internal import FileAccessArbiter
internal import SwiftRuntimeHooks
internal import SystemInterface

// The primitives on resolved items: no part of the path has to be resolved any more.

extension FileCoordinator {
  /// Reads an item by its handle: suspends only if another party is in the way or presents it, then runs `accessor`.
  ///
  /// Like ``read(_:options:deadlines:accessor:)-(URL,_,_,_)``, without the cost of the URL.
  ///
  /// - Parameters:
  ///   - item: The item. It doesn't have to exist.
  ///   - options: How it's read; whether a link is followed was decided when the handle was made.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  ///   - accessor: The work to do while the access lasts.
  /// - Returns: The result of `accessor`.
  /// - Throws: ``FileCoordinationError`` when there's no access, or the error thrown by `accessor`.
  /// - Complexity: O(1) while nobody else is interested: some atomic operations and two small allocations.
  public func read<Result>(
    _ item: ResolvedItem, options: ReadingOptions = [], deadlines: AccessDeadlines? = nil,
    accessor: (borrowing FileAccess) async throws -> Result
  ) async throws -> Result {
    if item.isStale || options.contains(.resolvesSymbolicLink) && !item.followsLastLink {
      let item = try current(item, followingLastLink: options.contains(.resolvesSymbolicLink))
      return try await readResolved(item, options, deadlines, accessor)
    }
    return try await readResolved(item, options, deadlines, accessor)
  }

  /// Reads an item that its URL led to a moment ago.
  @inline(__always)
  func readResolved<Result>(
    _ item: ResolvedItem, _ options: ReadingOptions, _ deadlines: AccessDeadlines?,
    _ accessor: (borrowing FileAccess) async throws -> Result
  ) async throws -> Result {
    if let access = options.plainAccess, let claim = try claimSuspending(item, access) {
      return try await run(claim, item, accessor)
    }
    return try await withAccess(readingPlan(current(item), options), deadlines) {
      try await accessor(FileAccess($0, 0))
    }
  }

  /// Writes an item by its handle: suspends only if another party is in the way or presents it, then runs `accessor`.
  ///
  /// Like ``write(_:options:deadlines:accessor:)-(URL,_,_,_)``, without the cost of the URL.
  ///
  /// - Parameters:
  ///   - item: The item. It doesn't have to exist.
  ///   - options: Why it's written; at most one.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  ///   - accessor: The work to do while the access lasts.
  /// - Returns: The result of `accessor`.
  /// - Throws: ``FileCoordinationError`` when there's no access, or the error thrown by `accessor`.
  /// - Complexity: O(threads that use the domain) while nobody else is interested.
  public func write<Result>(
    _ item: ResolvedItem, options: WritingOptions = .forUpdating, deadlines: AccessDeadlines? = nil,
    accessor: (borrowing FileAccess) async throws -> Result
  ) async throws -> Result {
    if item.isStale { return try await writeResolved(current(item), options, deadlines, accessor) }
    return try await writeResolved(item, options, deadlines, accessor)
  }

  /// Writes an item that its URL led to a moment ago.
  @inline(__always)
  func writeResolved<Result>(
    _ item: ResolvedItem, _ options: WritingOptions, _ deadlines: AccessDeadlines?,
    _ accessor: (borrowing FileAccess) async throws -> Result
  ) async throws -> Result {
    if let access = options.plainAccess, let claim = try claimSuspending(item, access) {
      return try await run(claim, item, accessor)
    }
    return try await withAccess(writingPlan(current(item), options), deadlines) {
      try await accessor(FileAccess($0, 0))
    }
  }

  func claimSuspending(_ item: ResolvedItem, _ access: PlainAccess) throws -> ClaimToken? {
    let task = CurrentTask.number
    if CurrentTask.isCancelled(task) { throw FileCoordinationError.taskCancelled([item.path.description]) }
    return claim(item, access, .current, task: task, .suspending)
  }

  @inline(__always)
  func run<Result>(
    _ claim: ClaimToken, _ item: ResolvedItem, _ accessor: (borrowing FileAccess) async throws -> Result
  ) async throws -> Result {
    if !RuntimeHooks.areTested { return try await runGenerally(claim, item, accessor) }
    Lineage.binding.push(Lineage(claim, ofHost: host.number))
    defer {
      Lineage.binding.pop()
      end(claim, item)
    }
    return try await accessor(FileAccess(FastClaim(claim, item, self)))
  }

  /// The same by the standard library alone, see ``RuntimeHooks``.
  func runGenerally<Result>(
    _ claim: ClaimToken, _ item: ResolvedItem, _ accessor: (borrowing FileAccess) async throws -> Result
  ) async throws -> Result {
    defer { end(claim, item) }
    return try await Lineage.$current.withValue(Lineage(claim, ofHost: host.number)) {
      try await accessor(FileAccess(FastClaim(claim, item, self)))
    }
  }

  /// The handle itself, or a new one if it's out of date or made for the link instead of its target.
  func current(_ item: ResolvedItem, followingLastLink: Bool = false) throws(FileCoordinationError) -> ResolvedItem {
    if !item.isStale, item.followsLastLink || !followingLastLink { return item }
    return try host.identities.item(for: item.url, followingLastLink: followingLastLink || item.followsLastLink)
  }
}

extension BlockingFileCoordinator {
  /// Reads an item by its handle.
  ///
  /// While no other party is interested, the call completes without a wait, an allocation or a system call. Otherwise
  /// it blocks until access is granted, see
  /// ``FileCoordinator/read(_:options:deadlines:accessor:)-(ResolvedItem,_,_,_)``.
  ///
  /// - Parameters:
  ///   - item: The item. It doesn't have to exist.
  ///   - options: How it's read.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  ///   - accessor: The work to do while the access lasts, on the calling thread.
  /// - Returns: The result of `accessor`.
  /// - Throws: ``FileCoordinationError`` when there's no access, or the error thrown by `accessor`.
  @available(*, noasync, message: "blocks the thread; use 'try await coordinator.read'")
  public func read<Result>(
    _ item: ResolvedItem, options: FileCoordinator.ReadingOptions = [], deadlines: AccessDeadlines? = nil,
    accessor: (borrowing FileAccess) throws -> Result
  ) throws -> Result {
    if item.isStale || options.contains(.resolvesSymbolicLink) && !item.followsLastLink {
      let item = try coordinator.current(item, followingLastLink: options.contains(.resolvesSymbolicLink))
      return try readResolved(item, options, deadlines, accessor)
    }
    return try readResolved(item, options, deadlines, accessor)
  }

  /// Writes an item by its handle.
  ///
  /// While no other party is interested, the call completes without a wait, an allocation or a system call. Otherwise
  /// it blocks until access is granted, see
  /// ``FileCoordinator/write(_:options:deadlines:accessor:)-(ResolvedItem,_,_,_)``.
  ///
  /// - Parameters:
  ///   - item: The item. It doesn't have to exist.
  ///   - options: Why it's written; at most one.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  ///   - accessor: The work to do while the access lasts, on the calling thread.
  /// - Returns: The result of `accessor`.
  /// - Throws: ``FileCoordinationError`` when there's no access, or the error thrown by `accessor`.
  @available(*, noasync, message: "blocks the thread; use 'try await coordinator.write'")
  public func write<Result>(
    _ item: ResolvedItem, options: FileCoordinator.WritingOptions = .forUpdating, deadlines: AccessDeadlines? = nil,
    accessor: (borrowing FileAccess) throws -> Result
  ) throws -> Result {
    if item.isStale { return try writeResolved(coordinator.current(item), options, deadlines, accessor) }
    return try writeResolved(item, options, deadlines, accessor)
  }

  /// Reads an item that its URL led to a moment ago.
  @inline(__always)
  func readResolved<Result>(
    _ item: ResolvedItem, _ options: FileCoordinator.ReadingOptions, _ deadlines: AccessDeadlines?,
    _ accessor: (borrowing FileAccess) throws -> Result
  ) throws -> Result {
    let thread = ThreadRecord.current
    if let access = options.plainAccess, let claim = claim(item, access, thread) {
      return try run(claim, item, thread, accessor)
    }
    return try withAccess(coordinator.readingPlan(coordinator.current(item), options), deadlines) {
      try accessor(FileAccess($0, 0))
    }
  }

  /// Writes an item that its URL led to a moment ago.
  @inline(__always)
  func writeResolved<Result>(
    _ item: ResolvedItem, _ options: FileCoordinator.WritingOptions, _ deadlines: AccessDeadlines?,
    _ accessor: (borrowing FileAccess) throws -> Result
  ) throws -> Result {
    let thread = ThreadRecord.current
    if let access = options.plainAccess, let claim = claim(item, access, thread) {
      return try run(claim, item, thread, accessor)
    }
    return try withAccess(coordinator.writingPlan(coordinator.current(item), options), deadlines) {
      try accessor(FileAccess($0, 0))
    }
  }

  @inline(__always)
  private func claim(_ item: ResolvedItem, _ access: PlainAccess, _ thread: ThreadRecord) -> ClaimToken? {
    coordinator.claim(item, access, thread, task: CurrentTask.number, .blocking)
  }

  @inline(__always)
  private func run<Result>(
    _ claim: ClaimToken, _ item: ResolvedItem, _ thread: ThreadRecord,
    _ accessor: (borrowing FileAccess) throws -> Result
  ) throws -> Result {
    defer { coordinator.end(claim, item) }
    return try thread.nested(in: Nesting(claimIn: claim.slot)) {
      try accessor(FileAccess(FastClaim(claim, item, coordinator)))
    }
  }
}

extension CoordinationDomain {
  /// Finds out which item a URL names, for code that accesses it again and again.
  ///
  /// - Parameters:
  ///   - url: The item. It doesn't have to exist.
  ///   - followingLastLink: Whether a symbolic link in the last component is followed; those before it always are.
  /// - Returns: A handle on the item.
  /// - Throws: ``FileCoordinationError`` when the URL can't name a file.
  /// - Complexity: One system call if the domain has the URL already, else one pass of realpath(3).
  public func resolve(
    _ url: URL, followingLastLink: Bool = false
  ) throws(FileCoordinationError) -> ResolvedItem {
    try host.identities.item(for: url, followingLastLink: followingLastLink)
  }
}
