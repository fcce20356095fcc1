internal import CompactContainers
internal import FileAccessArbiter
public import FoundationEssentials
internal import SwiftRuntimeHooks
internal import SystemInterface

/// Access to one item, valid inside the accessor that receives it and nowhere else.
///
/// It's the only way to the item's current URL, which may differ from the one asked for: the item may have been moved while
/// the access waited, a symbolic link may have been resolved, or it may be a snapshot. It can't be copied, so it can't
/// leave the accessor.
public struct FileAccess: ~Copyable, Sendable {
  let reference: AccessReference
  let index: Int

  /// Never inlined: Swift 6.3.1 crashes in its optimiser ("Cannot initialize a nonCopyable type with a guaranteed value")
  /// when it specialises a function that builds a noncopyable structure from borrowed parts.
  @inline(never)
  init(_ access: GrantedAccess, _ index: Int) {
    reference = .granted(access)
    self.index = index
  }

  /// Of a claim in the fast tier.
  @inline(__always)
  init(_ claim: FastClaim) {
    reference = .claim(claim)
    index = 0
  }

  /// The access in the arbiter; a claim of the fast tier is adopted first.
  var access: GrantedAccess {
    switch reference {
    case .granted(let access): access
    case .claim(let claim): claim.becomeKnown()
    }
  }

  /// Where the item is now, in the spelling of the URL that was asked for.
  public var url: URL {
    switch reference {
    case .granted(let access): access.waiter.url(of: index)
    case .claim(let claim): claim.known?.waiter.url(of: 0) ?? claim.item.accessURL
    }
  }

  /// Whether the item was moved while the access waited.
  public var wasMoved: Bool {
    if case .granted(let access) = reference, access.items[index].wasMoved { return true }
    return item?.wasMoved ?? false
  }

  /// Whether an access that was to delete or replace the item ended while this one waited.
  ///
  /// It may have left the item alone: check.
  public var wasReplaced: Bool { item?.wasReplaced ?? false }

  /// Whether there's anything at the item's place right now.
  ///
  /// Costs one system call.
  public var exists: Bool {
    ((try? fileSystem.statusIfPresent(of: path)) ?? nil) != nil
  }

  /// Presenters that didn't answer in time and were passed over, because their process is stopped or the deadlines said to
  /// proceed.
  ///
  /// Inside a `prepare` these include presenters of the item that didn't answer then, and aren't asked again.
  public var unansweredPresenters: [String] { grant?.unanswered ?? [] }

  /// Sockets, FIFOs and devices in a directory that's read for uploading: the archive can't hold them.
  ///
  /// Empty in any other access.
  public var pathsLeftOut: [String] {
    guard case .granted(let access) = reference else { return [] }
    return access.pathsLeftOut(of: index).map(\.description)
  }

  /// The result of the wait; `nil` when there was none.
  private var grant: Grant? {
    switch reference {
    case .granted(let access): access.grant
    case .claim: nil
    }
  }

  private var item: (wasMoved: Bool, wasReplaced: Bool)? {
    guard let items = grant?.items, !items.isEmpty else { return nil }
    return (items[index].wasMoved, items[index].wasReplaced)
  }

  var work: FileWork { FileWork(fileSystem, path) }

  var fileSystem: any FileSystem {
    switch reference {
    case .granted(let access): access.coordinator.fileSystem
    case .claim(let claim): claim.coordinator.fileSystem
    }
  }

  /// Registers a presenter of this item, whose path isn't resolved once more for that.
  ///
  /// - Parameter presenter: The presenter; its URL is that of the access, and doesn't name a symbolic link.
  /// - Returns: The registration, see ``CoordinationDomain/register(_:)-748w0``.
  /// - Throws: ``FileCoordinationError``, with code `.domainUnreachable` when there's no service for ten seconds.
  package func register(
    _ presenter: any FilePresenter
  ) async throws(FileCoordinationError) -> FilePresenterRegistration {
    let domain: CoordinationDomain
    var known: FileLocation?
    switch reference {
    case .granted(let access):
      domain = access.coordinator.domain
      let location = access.items[index].location
      // Otherwise it was moved while the access waited.
      if location.path == access.waiter.path(of: index) { known = location }
    case .claim(let claim):
      domain = claim.coordinator.domain
      if claim.known == nil { known = claim.item.location }
    }
    if let known { return try await domain.register(presenter, at: known) }
    return try await domain.register(presenter)
  }

  func checkOngoing() throws(FileCoordinationError) {
    // A claim of the fast tier is handed to accessors only, which can't keep it.
    if case .granted(let access) = reference { try access.checkOngoing(index) }
  }

  func checkWritable() throws(FileCoordinationError) {
    try checkOngoing()
    let isWrite =
      switch reference {
      case .granted(let access): access.items[index].access.isWrite
      case .claim(let claim): claim.token.state.has(SlotState.isWrite)
      }
    if !isWrite { throw .notWritable(path.description) }
  }

  var path: SystemPath {
    switch reference {
    case .granted(let access): SystemPath(bytes: access.waiter.path(of: index).bytes)
    case .claim(let claim): SystemPath(bytes: (claim.known?.waiter.path(of: 0) ?? claim.item.path).bytes)
    }
  }

  /// A number that's larger than that of every earlier grant of the item.
  ///
  /// A server can store it with data, and later refuse data with a smaller one. Such data comes from a process that
  /// lost its access without noticing, because it was stopped for too long.
  ///
  /// - Complexity: O(1) if the access was granted by the service; else the service is first notified of the access.
  public var fencingToken: FileFencingToken {
    let waiter = access.waiter
    return FileFencingToken(waiter.token, waiter.id)
  }

  /// Runs `body` if the access still lasts, as far as can be determined: for the step that makes a result visible, such
  /// as a rename.
  ///
  /// A process that couldn't be reached for too long, because it was stopped, may have lost its access to others. This
  /// asks the service right before the step. In a domain of one process no access can be lost, and no question is sent.
  ///
  /// Between the answer and the step time passes: the smaller the step, the better. A step that can't be undone needs
  /// ``fencingToken``, checked by the store.
  ///
  /// Suspends for a round trip to the service; no thread of the cooperative pool waits meanwhile.
  ///
  /// - Parameter body: The step.
  /// - Returns: The result of `body`.
  /// - Throws: ``FileCoordinationError`` with code `.accessLost` or `.domainUnreachable`, or the error thrown by `body`.
  public func commit<Result>(_ body: () async throws -> Result) async throws -> Result {
    try await validate()
    return try await body()
  }

  /// Runs `body` if the access still lasts, and blocks the thread for a round trip to the service.
  ///
  /// The twin of the suspending one, for accessors that aren't asynchronous.
  ///
  /// - Parameter body: The step.
  /// - Returns: The result of `body`.
  /// - Throws: ``FileCoordinationError`` with code `.accessLost` or `.domainUnreachable`, or the error thrown by `body`.
  public func commit<Result>(_ body: () throws -> Result) throws -> Result {
    try checkOngoing()
    try access.validate(itemIndex)
    return try body()
  }

  private func validate() async throws(FileCoordinationError) {
    try checkOngoing()
    let (access, index) = (access, itemIndex)
    try await access.host.withoutBlocking { () throws(FileCoordinationError) in try access.validate(index) }
  }

  /// The accesses that child processes of the accessor belong to.
  var accessesOfChildren: AccessesOfChildren {
    let host =
      switch reference {
      case .granted(let access): access.host
      case .claim(let claim): claim.coordinator.host
      }
    // A claim of the fast tier isn't adopted for a domain without other processes.
    let waiter = host.decidesAlone || !isKnownToLast ? nil : access.waiter
    return AccessesOfChildren((host, waiter), in: .current(.current, task: CurrentTask.number))
  }

  /// Whether the arbiter's access lasts: that of a snapshot ends before the accessor.
  private var isKnownToLast: Bool { if case .granted(let access) = reference { !access.isReleased } else { true } }

  /// The position of the item among those of the access in the arbiter.
  private var itemIndex: Int { if case .granted = reference { index } else { 0 } }

  /// Declares that the item will be moved.
  ///
  /// No presenter is notified, and nothing has to follow if the move fails (C-103).
  ///
  /// If the item is found at the new place when the access ends, and the move wasn't announced, it's announced then.
  ///
  /// - Parameter newURL: Where it will be.
  /// - Throws: ``FileCoordinationError`` when the URL can't name a file.
  public func willMove(to newURL: URL) throws(FileCoordinationError) {
    try checkOngoing()
    try access.declareMove(of: index, to: newURL)
  }

  /// Announces that the item has been moved: presenters are notified, and accesses that wait for it will get the new
  /// place.
  ///
  /// Suspends for a round trip to the service; no thread of the cooperative pool waits meanwhile.
  ///
  /// - Parameter newURL: Where it is now.
  /// - Throws: ``FileCoordinationError`` with code `.moveNotCovered` inside an access that writes neither place (C-102).
  public func didMove(to newURL: URL) async throws(FileCoordinationError) {
    try checkOngoing()
    let (access, index) = (access, index)
    try await access.host.withoutBlocking { () throws(FileCoordinationError) in
      try access.announceMove(of: index, to: newURL)
    }
  }

  /// Announces that the item has been moved, and blocks the thread for a round trip to the service.
  ///
  /// - Parameter newURL: Where it is now.
  /// - Throws: ``FileCoordinationError`` with code `.moveNotCovered` inside an access that writes neither place (C-102).
  public func didMove(to newURL: URL) throws(FileCoordinationError) {
    try checkOngoing()
    try access.announceMove(of: index, to: newURL)
  }

  /// Announces that something inside the item has been moved.
  ///
  /// Suspends for a round trip to the service; no thread of the cooperative pool waits meanwhile.
  ///
  /// - Parameters:
  ///   - oldURL: Where it was.
  ///   - newURL: Where it is now.
  /// - Throws: ``FileCoordinationError`` with code `.moveNotCovered` when the access covers neither place.
  public func didMove(itemAt oldURL: URL, to newURL: URL) async throws(FileCoordinationError) {
    try checkOngoing()
    let access = access
    try await access.host.withoutBlocking { () throws(FileCoordinationError) in
      try access.announceMove(from: oldURL, to: newURL)
    }
  }

  /// Announces that something inside the item has been moved, and blocks the thread for a round trip to the service.
  ///
  /// - Parameters:
  ///   - oldURL: Where it was.
  ///   - newURL: Where it is now.
  /// - Throws: ``FileCoordinationError`` with code `.moveNotCovered` when the access covers neither place.
  public func didMove(itemAt oldURL: URL, to newURL: URL) throws(FileCoordinationError) {
    try checkOngoing()
    try access.announceMove(from: oldURL, to: newURL)
  }

  /// Announces that a version of the item was added, removed or resolved, to all presenters, one's own included (C-112).
  ///
  /// - Parameters:
  ///   - change: The kind of change.
  ///   - version: The name of the version. A name with more than 65,535 bytes is cut to its beginning.
  public func didChangeVersion(_ change: FileVersionChange, version: String) {
    // A claim of the fast tier stays one: nobody has to know who announces that.
    if case .claim(let claim) = reference, claim.known == nil {
      return claim.coordinator.announceVersion(change, version, at: claim.item.path)
    }
    access.announceVersion(of: index, change, version)
  }
}

/// Access to the items of a request made with intents, valid inside the accessor that receives it and nowhere else.
public struct FileAccessSet: ~Copyable, Sendable {
  let access: GrantedAccess

  /// Never inlined, for the same reason as that of ``FileAccess``.
  @inline(never)
  init(_ access: GrantedAccess) { self.access = access }

  /// How many items there are: one for each intent, in the same order.
  public var count: Int { access.items.count }

  /// Access to one of the items.
  ///
  /// Don't keep it beyond the accessor. The compiler lets you, unlike the set itself, but then it reads, writes and
  /// announces nothing any more: it throws an error with code `.accessEnded`.
  ///
  /// - Parameter index: The position of its intent.
  public subscript(index: Int) -> FileAccess {
    precondition(access.items.indices.contains(index), "item \(index) of \(access.items.count)")
    return FileAccess(access, index)
  }
}
