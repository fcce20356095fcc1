internal import FileAccessArbiter
internal import FoundationEssentials
internal import Synchronization
internal import SystemInterface

/// Where URLs lead, remembered as long as nothing on their way has changed.
///
/// The rule: ``item(for:followingLastLink:)`` gives what a full resolution at the time of the call would give. A change
/// of a directory, a link or a gap on the way is seen if its system call returned before this call began: inotify(7)
/// queues a change before the system call that makes it returns, and each call checks whether the queue is empty. With
/// a `checkInterval` above zero a call may leave out that check when the last one is younger, so that an uncoordinated
/// change is seen at the latest that much later. Moves through the library are seen at once in both cases, see
/// ``noteMove(from:to:)``.
///
/// Changes that aren't seen at once, or not at all:
/// - File systems mounted or unmounted over a directory on the way: at the latest after ``Limits/mountCheckInterval`` and a tick.
/// - Search permission withdrawn from a directory on the way: the answer stays, and opening the file fails.
/// - Another root or mount namespace for this process (chroot(2), unshare(2)).
/// - A child of fork(2) takes changes away from its parent. It must not use paths before it execs.
///
/// Always resolved in full: paths through directories where inotify doesn't report every change (network file systems,
/// FUSE, proc(5), directories that fold case), or that can't be listed by this user; paths that give an error;
/// everything while the system has no watch left (tried again after ``Limits/retryInterval``); files behind a door that
/// isn't the host's.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `tree` | its lock, held across system calls | the recorded names and the watches change together; a thread that finds it held resolves in full instead of waiting |
/// | `table` | its lock | items by key, for all threads |
/// | the thread's table | its thread | see ``ThreadResolutionTable`` |
/// | `clocks` | itself: atomics in raw memory | read by every hit without a reference count |
///
/// A hit trusts an item if it finds the queue empty, then no thread taking changes out, then the item's validity
/// unmarked, in this order. A thread that takes changes out announces that before (`clocks.absorbing`), and marks all
/// items concerned before it announces the end. So a change is always seen in one of three places: in the queue, with
/// the thread that takes it out, or at the item.
///
/// `@unchecked Sendable` for the pointer to the atomics.
@safe
final class ResolutionCache: @unchecked Sendable {
  /// The bounds, which tests change.
  struct Limits: Sendable {
    /// How many items are remembered.
    var itemCountMax = ResolutionTable.itemCountMax
    var placeCountMax = PlaceCore.placeCountMax
    var watchCountMax = PlaceCore.watchCountMax
    /// How often a hit checks for file systems mounted and unmounted; below zero at each call.
    var mountCheckInterval = Duration.milliseconds(10)
    /// How long paths that can't be watched are resolved in full before watching them is tried again.
    var retryInterval = Duration.seconds(1)
  }

  @safe
  struct Clocks: ~Copyable {
    /// How many are taking changes out of the queue: 0 or 1.
    let absorbing = Atomic<Int>(0)
    /// When the queue was last seen empty, on ``SystemInterface/CoarseClock``.
    let checkedAt = Atomic<Int64>(.min / 2)
    let mountsCheckedAt = Atomic<Int64>(.min / 2)
  }

  struct State {
    var tree: PlaceTree
    /// Directories that can't be watched, and until when not to try again.
    var refusals: [SystemPath: Int64] = [:]
    var pausedUntil = Int64.min
  }

  let files: any FileSystem
  let packages: PackageNames
  /// Absent for file systems that can't report changes.
  let changes: (any NameChangeQueue)?
  /// The same when it's the kernel's queue: to ask it without counting references, which all threads would do at one place.
  private let hostChanges: Unmanaged<HostNameChangeQueue>?
  let registry = ValidityRegistry()
  let state: Guarded<State>?
  let table: Guarded<ResolutionTable>
  let clocks: UnsafeMutablePointer<Clocks>
  /// How old a check may be, in nanoseconds of the coarse clock; negative for a check at each call.
  private let checkAgeMax: Int64
  let mountCheckAgeMax: Int64
  let retryInterval: Int64
  /// Distinguishes the caches of a process, in the tables of its threads.
  let number: UInt64
  private let seed = PathFingerprint.processSeed
  private let ofThread = ThreadResolutionTable.ofThread

  private static let lastNumber = Atomic<UInt64>(0)

  /// Creates a cache, which takes no resources until it's used.
  ///
  /// - Parameters:
  ///   - files: The door to the files.
  ///   - packageExtensions: The packages of the domain.
  ///   - checkInterval: How late a change by a stranger may be seen; zero for not at all. Intervals up to the tick of
  ///     CLOCK_MONOTONIC_COARSE (4 ms on many systems) are as good as zero.
  ///   - limits: The bounds.
  convenience init(
    in files: any FileSystem, packageExtensions: Set<String> = [], checkInterval: Duration = .zero,
    limits: Limits = Limits()
  ) {
    self.init(
      in: files, changes: (files as? any NameChangeSource)?.makeNameChangeQueue(), packageExtensions,
      checkInterval: checkInterval, limits: limits)
  }

  init(
    in files: any FileSystem, changes: (any NameChangeQueue)?, _ packageExtensions: Set<String>,
    checkInterval: Duration,
    limits: Limits
  ) {
    self.files = files
    self.changes = changes
    unsafe hostChanges = (changes as? HostNameChangeQueue).map { unsafe Unmanaged.passUnretained($0) }
    packages = PackageNames(packageExtensions)
    table = Guarded(ResolutionTable(countMax: limits.itemCountMax))
    func nanoseconds(_ duration: Duration) -> Int64 {
      MonotonicTime(nanoseconds: 0).advanced(by: duration).nanoseconds
    }
    // The coarse clock may stand still for a tick: a check is up to that much older than it seems.
    checkAgeMax = nanoseconds(checkInterval) - CoarseClock.resolution
    mountCheckAgeMax = nanoseconds(limits.mountCheckInterval)
    retryInterval = nanoseconds(limits.retryInterval)
    number = Self.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 64)
    unsafe clocks = memory.bindMemory(to: Clocks.self, capacity: 1)
    unsafe clocks.initialize(to: Clocks())
    if let changes {
      let hands = unsafe PlaceHands(
        files: files, changes: changes, registry: registry, clocks: clocks, mountCheckAgeMax: mountCheckAgeMax)
      state = Guarded(State(tree: PlaceTree(PlaceCore(limits: limits), hands)))
    } else {
      state = nil
    }
  }

  deinit {
    unsafe clocks.deinitialize(count: 1)
    unsafe UnsafeMutableRawPointer(clocks).deallocate()
  }
}

// MARK: - Asking

extension ResolutionCache {
  /// The item that a URL leads to now.
  ///
  /// - Parameters:
  ///   - url: A file URL.
  ///   - followingLastLink: Whether a symbolic link in the last component is followed. Links before it always are.
  /// - Returns: The item, shared with other callers that ask for the same.
  /// - Throws: The error that resolving the URL in full would throw.
  /// - Complexity: A hit is one system call, or none within the check interval; see ``ResolutionCache``.
  func item(for url: URL, followingLastLink: Bool = false) throws(FileCoordinationError) -> ResolvedItem {
    let text = url.absoluteString
    let kind: ResolutionKind = followingLastLink ? .followedURL : .url
    let found = unsafe withKey(of: text, kind) { hash, key -> ResolvedItem? in
      let entry = unsafe ThreadResolutionTable.entry(for: hash, ofThread)
      guard unsafe isHit(entry, hash, key, url) else { return nil }
      return unsafe entry.pointee.item?.takeUnretainedValue()
    }
    if let found { return found }
    return try missed(url, text, kind)
  }

  /// Passes `body` the item that a URL leads to now.
  ///
  /// Like ``item(for:followingLastLink:)``, except that a hit touches no reference count: the entry of the thread's table keeps
  /// the item alive as long as `body` runs.
  ///
  /// - Parameters:
  ///   - url: A file URL.
  ///   - followingLastLink: Whether a symbolic link in the last component is followed.
  ///   - body: Uses the item. It may ask for other items.
  /// - Returns: The result of `body`.
  /// - Throws: The errors of resolving and of `body`.
  @inline(__always)
  func withItem<Result>(
    for url: URL, followingLastLink: Bool = false, _ body: (borrowing ResolvedItem) throws -> Result
  ) throws -> Result {
    let text = url.absoluteString
    let kind: ResolutionKind = followingLastLink ? .followedURL : .url
    let entry = unsafe withKey(of: text, kind) { hash, key in
      let entry = unsafe ThreadResolutionTable.entry(for: hash, ofThread)
      return unsafe isHit(entry, hash, key, url) ? entry : nil
    }
    if let entry = unsafe entry { return try unsafe Self.lend(entry, body) }
    return try body(missed(url, text, kind))
  }

  /// The item at a path that is taken at its word: no link is followed, no system call made.
  ///
  /// - Parameter path: An absolute path. `.`, `..` and spare slashes are removed lexically.
  /// - Returns: The item, shared with other callers that ask for the same.
  /// - Throws: ``FileCoordinationError`` for a relative or empty path, one with a NUL, or one that is too long.
  func item(atLexicalPath path: String) throws(FileCoordinationError) -> ResolvedItem {
    let found = unsafe withKey(of: path, .lexicalPath) { hash, key -> ResolvedItem? in
      let entry = unsafe ThreadResolutionTable.entry(for: hash, ofThread)
      guard unsafe entry.pointee.matches(hash, number, key) else { return nil }
      return unsafe entry.pointee.item?.takeUnretainedValue()
    }
    if let found { return found }
    return try missedLexical(path)
  }

  /// Passes `body` the item at a path that is taken at its word; a hit touches no reference count.
  ///
  /// - Parameters:
  ///   - path: An absolute path. `.`, `..` and spare slashes are removed lexically.
  ///   - body: Uses the item. It may ask for other items.
  /// - Returns: The result of `body`.
  /// - Throws: ``FileCoordinationError`` as ``item(atLexicalPath:)``, and the error of `body`.
  @inline(__always)
  func withItem<Result>(
    atLexicalPath path: String, _ body: (borrowing ResolvedItem) throws -> Result
  ) throws -> Result {
    let entry = unsafe withKey(of: path, .lexicalPath) { hash, key in
      let entry = unsafe ThreadResolutionTable.entry(for: hash, ofThread)
      return unsafe entry.pointee.matches(hash, number, key) ? entry : nil
    }
    if let entry = unsafe entry { return try unsafe Self.lend(entry, body) }
    return try body(missedLexical(path))
  }

  @inline(__always)
  private static func lend<Result>(
    _ entry: UnsafeMutablePointer<ThreadResolutionTable.Entry>, _ body: (borrowing ResolvedItem) throws -> Result
  ) throws -> Result {
    unsafe entry.pointee.pinCount += 1
    defer { unsafe entry.pointee.pinCount -= 1 }
    guard let item = unsafe entry.pointee.item else { preconditionFailure("a hit without an item") }
    return try unsafe item._withUnsafeGuaranteedRef { try body($0) }
  }

  /// Calls `body` with the bytes of a key and their hash.
  @inline(__always)
  func withKey<Result>(
    of text: String, _ kind: ResolutionKind, _ body: (UInt64, UnsafeBufferPointer<UInt8>) -> Result
  ) -> Result {
    // The bytes where they are: a copy of the string, or an iterator over it, would count references.
    unsafe text.utf8Span.span.withUnsafeBufferPointer { key in
      unsafe body(ResolutionKey.hash(key, kind, seed: seed), key)
    }
  }
}

// MARK: - Is it still so?

extension ResolutionCache {
  @inline(__always)
  private func isHit(
    _ entry: UnsafeMutablePointer<ThreadResolutionTable.Entry>, _ hash: UInt64, _ key: UnsafeBufferPointer<UInt8>,
    _ url: URL
  ) -> Bool {
    guard unsafe entry.pointee.matches(hash, number, key), let validity = unsafe entry.pointee.validity else {
      return false
    }
    // A relative URL has the same text as the absolute one, and is refused.
    return unsafe isCurrent(validity) && url.baseURL == nil
  }

  /// Whether a recorded item still holds; the order of the steps is explained at ``ResolutionCache``.
  @inline(__always)
  func isCurrent(_ validity: UnsafeMutablePointer<Atomic<UInt32>>) -> Bool {
    let now = CoarseClock.now
    let mountsCheckedAt = unsafe clocks.pointee.mountsCheckedAt.load(ordering: .acquiring)
    if now &- mountsCheckedAt > mountCheckAgeMax { return false }
    let checkedAt = unsafe clocks.pointee.checkedAt.load(ordering: .acquiring)
    if now &- checkedAt >= checkAgeMax {
      guard queueIsEmpty, unsafe clocks.pointee.absorbing.load(ordering: .acquiring) == 0 else {
        return false
      }
      if checkAgeMax > 0 { unsafe clocks.pointee.checkedAt.store(now, ordering: .releasing) }
    }
    let bits = unsafe validity.pointee.load(ordering: .acquiring)
    return unsafe bits == ResolutionValidity.used || markUsed(validity, bits)
  }

  @inline(__always)
  private var queueIsEmpty: Bool {
    if let hostChanges = unsafe hostChanges { return unsafe hostChanges._withUnsafeGuaranteedRef { $0.isEmpty } }
    return changes?.isEmpty ?? false
  }

  @inline(never)
  private func markUsed(_ validity: UnsafeMutablePointer<Atomic<UInt32>>, _ bits: UInt32) -> Bool {
    let before = unsafe validity.pointee.bitwiseOr(ResolutionValidity.used, ordering: .acquiring).oldValue
    return before & (ResolutionValidity.stale | ResolutionValidity.unwatched) == 0
  }
}
