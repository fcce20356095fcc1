internal import FileAccessArbiter
internal import FoundationEssentials
internal import Synchronization
internal import SystemInterface

/// Where URLs lead, remembered as long as nothing on their way has changed.
///
/// The rule: ``item(for:followingLastLink:)`` gives what a full resolution at the time of the call would give. A directory, a
/// link or a gap on the way that was changed by a system call which returned before this call began is seen: inotify(7)
/// queues a change before the system call that makes it returns, and each call looks whether the queue is empty. With a
/// `checkInterval` above zero a call may leave out that look when the last one is younger, so that a change by a stranger is
/// seen at the latest that much later. Moves through the library are seen at once in both cases, see ``noteMove(from:to:)``.
///
/// What isn't seen at once, or not at all:
/// - File systems mounted or unmounted over a directory on the way: at the latest after ``mountCheckInterval`` and a tick.
/// - Search permission withdrawn from a directory on the way: the answer stays, and opening the file fails.
/// - Another root or mount namespace for this process (chroot(2), unshare(2)).
/// - A child of fork(2) takes changes away from its parent. It must not use paths before it execs.
///
/// Always resolved in full: paths through directories where inotify doesn't hear of every change (network file systems, FUSE,
/// proc(5), directories that fold case), or that can't be listed by this user; what gives an error; everything while the
/// system has no watch left (tried again after ``retryInterval``); files behind a door that isn't the host's.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `tree` | its lock, held across system calls | the names known and what is watched change together; who finds it held resolves in full instead of waiting |
/// | `table` | its lock | items by key, for all threads |
/// | the thread's table | its thread | see ``ThreadIdentityTable`` |
/// | `clocks` | itself: atomics in raw memory | looked at by every hit without a reference count |
///
/// A hit trusts an item if it finds the queue empty, then nobody taking changes out, then the item's validity unmarked, in this
/// order. Whoever takes changes out says so before (`clocks.absorbing`) and marks all items concerned before saying that it
/// ended. So a change is always seen in one of three places: in the queue, with whoever takes it out, or at the item.
///
/// `@unchecked Sendable` for the pointer to the atomics.
@safe
final class IdentityCache: @unchecked Sendable {
  /// How often a hit looks for file systems mounted and unmounted.
  static let mountCheckInterval: Int64 = 10_000_000
  /// How long paths that can't be watched are resolved in full before that is tried again.
  static let retryInterval: Int64 = 1_000_000_000

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
  /// Absent for file systems that can't tell of changes.
  let changes: (any NameChangeQueue)?
  let registry = ValidityRegistry()
  let state: Guarded<State>?
  let table: Guarded<IdentityTable>
  let clocks: UnsafeMutablePointer<Clocks>
  /// How old a look may be, in nanoseconds of the coarse clock; negative for one at each call.
  private let checkAgeMax: Int64
  let number: UInt64

  private static let lastNumber = Atomic<UInt64>(0)

  /// Creates a cache, which takes no resources until it's used.
  ///
  /// - Parameters:
  ///   - files: The door to the files.
  ///   - packageExtensions: The packages of the domain.
  ///   - checkInterval: How late a change by a stranger may be seen; zero for not at all. Intervals up to the tick of
  ///     CLOCK_MONOTONIC_COARSE (4 ms on many systems) are as good as zero.
  ///   - limits: The bounds, smaller in tests.
  ///   - itemCountMax: How many items are remembered.
  init(
    in files: any FileSystem, packageExtensions: Set<String> = [], checkInterval: Duration = .zero,
    limits: PlaceTree.Limits = PlaceTree.Limits(), itemCountMax: Int = IdentityTable.itemCountMax
  ) {
    self.files = files
    packages = PackageNames(packageExtensions)
    changes = (files as? any NameChangeSource)?.makeNameChangeQueue()
    let registry = registry
    state = changes.map { Guarded(State(tree: PlaceTree(files, $0, registry, limits: limits))) }
    table = Guarded(IdentityTable(countMax: itemCountMax))
    let interval = MonotonicTime(nanoseconds: 0).advanced(by: checkInterval).nanoseconds
    // The coarse clock may stand still for a tick: a look is up to that much older than it seems.
    checkAgeMax = interval - CoarseClock.resolution
    number = Self.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 64)
    unsafe clocks = memory.bindMemory(to: Clocks.self, capacity: 1)
    unsafe clocks.initialize(to: Clocks())
  }

  deinit {
    unsafe clocks.deinitialize(count: 1)
    unsafe UnsafeMutableRawPointer(clocks).deallocate()
  }
}

// MARK: - Asking

extension IdentityCache {
  /// The item that a URL leads to now.
  ///
  /// - Parameters:
  ///   - url: A file URL.
  ///   - followingLastLink: Whether a symbolic link in the last component is followed. Links before it always are.
  /// - Returns: The item, shared with others who ask for the same.
  /// - Throws: What resolving the URL in full would throw.
  /// - Complexity: A hit is one system call, or none within the check interval; see ``IdentityCache``.
  func item(for url: URL, followingLastLink: Bool = false) throws(FileCoordinationError) -> ResolvedItem {
    let text = url.absoluteString
    let kind: IdentityKind = followingLastLink ? .followedURL : .url
    let (hash, found) = unsafe withKey(text, kind) { hash, key in
      let entry = unsafe ThreadIdentityTable.entry(for: hash)
      guard unsafe isHit(entry, hash, key, url) else { return (hash, nil) as (UInt64, ResolvedItem?) }
      return (hash, unsafe entry.pointee.item?.takeUnretainedValue())
    }
    if let found { return found }
    return try missed(url, text, hash, kind)
  }

  /// Lends the item that a URL leads to now.
  ///
  /// Like ``item(for:followingLastLink:)``, except that a hit touches no reference count: the entry of the thread's table keeps
  /// the item alive as long as `body` runs.
  ///
  /// - Parameters:
  ///   - url: A file URL.
  ///   - followingLastLink: Whether a symbolic link in the last component is followed.
  ///   - body: Uses the item. It may ask for other items.
  /// - Returns: What `body` returned.
  /// - Throws: What resolving throws, and what `body` throws.
  @inline(__always)
  func withItem<Result>(
    for url: URL, followingLastLink: Bool = false, _ body: (borrowing ResolvedItem) throws -> Result
  ) throws -> Result {
    let text = url.absoluteString
    let kind: IdentityKind = followingLastLink ? .followedURL : .url
    let (hash, entry) = unsafe withKey(text, kind) { hash, key in
      let entry = unsafe ThreadIdentityTable.entry(for: hash)
      return unsafe (hash, isHit(entry, hash, key, url) ? entry : nil)
    }
    if let entry = unsafe entry { return try unsafe Self.lend(entry, body) }
    return try body(missed(url, text, hash, kind))
  }

  /// The item at a path that is taken at its word: no link is looked for, no system call made.
  ///
  /// - Parameter path: An absolute path. `.`, `..` and spare slashes are removed lexically.
  /// - Returns: The item, shared with others who ask for the same.
  /// - Throws: ``FileCoordinationError`` for a relative or empty path, one with a NUL, or one that is too long.
  func item(atLexicalPath path: String) throws(FileCoordinationError) -> ResolvedItem {
    let (hash, found) = unsafe withKey(path, .lexicalPath) { hash, key in
      let entry = unsafe ThreadIdentityTable.entry(for: hash)
      guard unsafe entry.pointee.matches(hash, number, key) else { return (hash, nil) as (UInt64, ResolvedItem?) }
      return (hash, unsafe entry.pointee.item?.takeUnretainedValue())
    }
    if let found { return found }
    return try missedLexical(path, hash)
  }

  /// Lends the item at a path that is taken at its word; a hit touches no reference count.
  ///
  /// - Parameters:
  ///   - path: An absolute path. `.`, `..` and spare slashes are removed lexically.
  ///   - body: Uses the item. It may ask for other items.
  /// - Returns: What `body` returned.
  /// - Throws: ``FileCoordinationError`` as ``item(atLexicalPath:)``, and what `body` throws.
  @inline(__always)
  func withItem<Result>(
    atLexicalPath path: String, _ body: (borrowing ResolvedItem) throws -> Result
  ) throws -> Result {
    let (hash, entry) = unsafe withKey(path, .lexicalPath) { hash, key in
      let entry = unsafe ThreadIdentityTable.entry(for: hash)
      return unsafe (hash, entry.pointee.matches(hash, number, key) ? entry : nil)
    }
    if let entry = unsafe entry { return try unsafe Self.lend(entry, body) }
    return try body(missedLexical(path, hash))
  }

  @inline(__always)
  private static func lend<Result>(
    _ entry: UnsafeMutablePointer<ThreadIdentityTable.Entry>, _ body: (borrowing ResolvedItem) throws -> Result
  ) throws -> Result {
    unsafe entry.pointee.pinCount += 1
    defer { unsafe entry.pointee.pinCount -= 1 }
    guard let item = unsafe entry.pointee.item else { preconditionFailure("a hit without an item") }
    return try unsafe item._withUnsafeGuaranteedRef { try body($0) }
  }

  /// Calls `body` with the bytes of a key and their hash.
  @inline(__always)
  private func withKey<Result>(
    _ text: String, _ kind: IdentityKind, _ body: (UInt64, UnsafeBufferPointer<UInt8>) -> Result
  ) -> Result {
    var text = text
    return text.withUTF8 { bytes in
      let name = unsafe RawSpan(_unsafeElements: bytes)
      let hash = PathFingerprint.root(seed: PathFingerprint.processSeed &+ kind.rawValue).child(named: name).rawValue
      return unsafe body(hash, bytes)
    }
  }
}

// MARK: - Is it still so?

extension IdentityCache {
  @inline(__always)
  private func isHit(
    _ entry: UnsafeMutablePointer<ThreadIdentityTable.Entry>, _ hash: UInt64, _ key: UnsafeBufferPointer<UInt8>,
    _ url: URL
  ) -> Bool {
    guard unsafe entry.pointee.matches(hash, number, key), let validity = unsafe entry.pointee.validity else {
      return false
    }
    // A relative URL has the same text as the absolute one, and is refused.
    return unsafe isCurrent(validity) && url.baseURL == nil
  }

  /// Whether what was found out still holds; the order of the steps is explained at ``IdentityCache``.
  @inline(__always)
  func isCurrent(_ validity: UnsafeMutablePointer<Atomic<UInt32>>) -> Bool {
    let now = CoarseClock.now
    let mountsCheckedAt = unsafe clocks.pointee.mountsCheckedAt.load(ordering: .relaxed)
    if now &- mountsCheckedAt > Self.mountCheckInterval { return false }
    let checkedAt = unsafe clocks.pointee.checkedAt.load(ordering: .relaxed)
    if now &- checkedAt >= checkAgeMax {
      guard let changes, changes.isEmpty, unsafe clocks.pointee.absorbing.load(ordering: .acquiring) == 0 else {
        return false
      }
      if checkAgeMax > 0 { unsafe clocks.pointee.checkedAt.store(now, ordering: .releasing) }
    }
    let bits = unsafe validity.pointee.load(ordering: .acquiring)
    return unsafe bits == IdentityValidity.used || markUsed(validity, bits)
  }

  @inline(never)
  private func markUsed(_ validity: UnsafeMutablePointer<Atomic<UInt32>>, _ bits: UInt32) -> Bool {
    let before = unsafe validity.pointee.bitwiseOr(IdentityValidity.used, ordering: .acquiring).oldValue
    return before & (IdentityValidity.stale | IdentityValidity.unwatched) == 0
  }
}
