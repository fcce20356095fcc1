internal import FileAccessArbiter
public import FoundationEssentials
internal import Synchronization
internal import SystemInterface

/// An item with its canonical path: a handle for code that claims the same item again and again.
///
/// Using a handle costs no system call and no work on the URL. The price is that a handle doesn't follow the URL: it
/// names the canonical path that the URL led to when the handle was made.
///
/// Moves made or announced through this library mark the handles that they concern as out of date, and those are
/// resolved anew at each use. A handle isn't notified when a stranger, a program that doesn't coordinate, replaces a
/// directory or symbolic link *above* the item. Then the handle still claims the old canonical path, although the URL
/// leads elsewhere now. An access by the URL claims the new path, and the two don't exclude each other. Make a new
/// handle where strangers make such changes, or pass the URL, which is checked at each call.
///
/// Changes of the item itself don't matter: it may appear, disappear and be replaced, as a path is claimed and not a
/// file.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | all other properties | never change | |
/// | `derivedURL` | itself: stored once | made when it's first asked for |
/// | `memo` | itself: atomic operations of the fast tier | a note that saves it a search |
/// | memory of `prefixes` and `key` | written before the handle is published, freed with it | a fast path reads it through a pointer |
/// | `validity` | itself, see `ResolutionValidity` | shared with other items of the same directory |
///
/// `@unchecked Sendable` for the pointers: one leads to memory that never changes but for `memo`, the other to an atomic.
@safe
public final class ResolvedItem: @unchecked Sendable {
  /// The URL that the handle was made for, as spelled.
  public var url: URL { givenURL ?? accessURL }

  /// Absent for items of paths.
  private let givenURL: URL?

  /// A URL that was made when it was first asked for.
  private final class DerivedURL: Sendable {
    let value: URL

    init(_ value: URL) { self.value = value }
  }

  private let derivedURL = LazyReference<DerivedURL>()

  /// The URL for accessors, which is that of the target where the last link was followed.
  var accessURL: URL {
    location.givenURL ?? (derivedURL.load() ?? derivedURL.storeIfNil(DerivedURL(location.url))).value
  }

  /// The absolute path that's claimed, as text: without links, `.` and `..` on the way.
  ///
  /// Accesses of one canonical path exclude each other, however it's spelled; reports and snapshots show it. A symbolic
  /// link in the last component stays in it unless the handle was made to follow it. Bytes that aren't UTF-8 show as
  /// U+FFFD; ``canonicalURL`` has every byte. If a move through this library has outdated the handle, it's the path
  /// before that move.
  ///
  /// - Complexity: O(*n*) in the length of the path.
  public var canonicalPath: String { location.path.description }

  /// The URL of the ``canonicalPath``, with every byte of it.
  ///
  /// - Complexity: O(*n*) in the length of the path.
  public var canonicalURL: URL { FileURLCoding.url(of: location.path.bytes) }

  /// The canonical path and the spelling; its URL names the target where the last link was followed.
  let location: FileLocation

  /// Whether a symbolic link in the last component was followed.
  let followsLastLink: Bool

  /// The fingerprints of all directories on the way, `/` first, and of the item, last, made with
  /// ``FileAccessArbiter/PathFingerprint/processSeed``.
  let prefixes: UnsafePointer<UInt64>
  let prefixCount: Int
  /// The address of a word in the same memory that is the fast tier's, see ``ClaimPath/memo``.
  private let memo: Int

  /// The address of a word with the number of the delegations under which the item was last found to be covered, see
  /// ``DelegationCoverage``; its lowest bit says whether for writing too.
  private let coverage: Int

  /// The bytes by which a cache finds the item, behind the fingerprints; none for items of no cache.
  let key: UnsafeBufferPointer<UInt8>

  /// Whether the item is a package of its domain or lies inside one.
  let isInPackage: Bool

  let validity: ResolutionValidity
  /// The word of `validity`, one step nearer.
  let validityWord: UnsafeMutablePointer<Atomic<UInt32>>

  init(
    _ url: URL?, at location: FileLocation, followsLastLink: Bool, packages: PackageNames, validity: ResolutionValidity,
    key: [UInt8] = []
  ) {
    givenURL = url
    self.location = location
    self.followsLastLink = followsLastLink
    self.validity = validity
    unsafe validityWord = validity.word
    isInPackage = packages.cover(location.path)
    prefixCount = Self.prefixCount(of: location.path)
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 16 + prefixCount * 8 + key.count, alignment: 8)
    unsafe memory.initializeMemory(as: UInt64.self, repeating: 0, count: 2)
    memo = Int(bitPattern: memory)
    coverage = memo + 8
    unsafe prefixes = Self.fingerprints(of: location.path, prefixCount, in: memory + 16)
    let keyStart = unsafe (memory + 16 + prefixCount * 8).bindMemory(to: UInt8.self, capacity: key.count)
    unsafe keyStart.initialize(from: key, count: key.count)
    unsafe self.key = UnsafeBufferPointer(start: keyStart, count: key.count)
  }

  deinit { unsafe UnsafeMutableRawPointer(bitPattern: memo)?.deallocate() }

  @inline(__always)
  var claimPath: ClaimPath { unsafe ClaimPath(prefixes, count: prefixCount, memo: memo) }

  var path: ItemPath { location.path }

  /// The fingerprint of the item.
  var fingerprint: UInt64 { unsafe prefixes[prefixCount &- 1] }

  /// Whether a directory or link on the way is marked as changed: the URL has to be resolved anew.
  var isStale: Bool {
    unsafe validityWord.pointee.load(ordering: .acquiring) & ResolutionValidity.stale != 0
  }

  /// Whether the item was found to be covered by a delegation of the process.
  @inline(__always)
  func isCovered(in current: UInt64, isWrite: Bool) -> Bool {
    let noted = ProcessMemory().loadRelaxed(coverage)
    return isWrite ? noted == current | 1 : noted & ~1 == current
  }

  func noteCoverage(_ current: UInt64, mayWrite: Bool) {
    ProcessMemory().storeRelaxed(mayWrite ? current | 1 : current, at: coverage)
  }

  private static func prefixCount(of path: ItemPath) -> Int {
    var count = 1
    if !path.isRoot { for byte in path.bytes where byte == FileURLCoding.slash { count += 1 } }
    return count
  }

  private static func fingerprints(
    of path: ItemPath, _ count: Int, in memory: UnsafeMutableRawPointer
  ) -> UnsafePointer<UInt64> {
    let words = unsafe memory.bindMemory(to: UInt64.self, capacity: count)
    var filled = 0
    unsafe PathFingerprint.forEachPrefix(of: path.bytes.span.bytes, seed: PathFingerprint.processSeed) { fingerprint in
      precondition(filled < count, "\(path) has more than \(count) prefixes")
      unsafe (words + filled).initialize(to: fingerprint.rawValue)
      filled += 1
    }
    precondition(filled == count, "\(path) has \(filled) prefixes, not \(count)")
    return unsafe UnsafePointer(words)
  }
}

extension ResolvedItem {
  /// Resolves a URL, asking the file system.
  ///
  /// Such an item isn't notified of moves; only the items of a cache are.
  convenience init(
    _ url: URL, followingLastLink: Bool = false, in fileSystem: any FileSystem, packageExtensions: Set<String> = []
  ) throws(FileCoordinationError) {
    let location = try FileLocation(url, followingLastLink: followingLastLink, in: fileSystem)
    self.init(
      url, at: location, followsLastLink: followingLastLink, packages: PackageNames(packageExtensions),
      validity: ResolutionValidity())
  }

  /// Takes an absolute path at its word: no file system is asked, symbolic links are taken for directories.
  ///
  /// `.`, `..` and spare slashes are removed lexically.
  convenience init(lexicalPath path: String, packageExtensions: Set<String> = []) throws(FileCoordinationError) {
    try self.init(lexicalPath: path, packages: PackageNames(packageExtensions))
  }

  convenience init(
    lexicalPath path: String, packages: PackageNames,
    key: [UInt8] = []
  ) throws(FileCoordinationError) {
    let location = try FileLocation(lexicalPath: path)
    self.init(
      nil, at: location, followsLastLink: false, packages: packages, validity: Self.alwaysValid, key: key)
  }

  /// Of paths that are taken at their word: it never ends.
  private static let alwaysValid = ResolutionValidity()
}

extension PathFingerprint {
  /// The seed of all fingerprints in this process, which can't be predicted.
  static let processSeed = UInt64.random(in: .min ... .max)
}
