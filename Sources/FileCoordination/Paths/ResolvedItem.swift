internal import FileAccessArbiter
public import FoundationEssentials
internal import Synchronization
internal import SystemInterface

/// An item whose canonical path has been found out: a handle for code that claims the same item again and again.
///
/// Using a handle costs no system call and no look at the URL. The price is that it stays what it was made for: the handle
/// names the canonical path that the URL led to when the handle was made.
///
/// Moves made or announced through this library mark the handles that they concern as out of date, and those are resolved
/// anew at each use. Nobody tells the handle when a stranger, who doesn't coordinate, replaces a directory or symbolic link
/// *above* the item. Then the handle still claims the old canonical path, although the URL leads elsewhere now. Whoever
/// claims the item by its URL claims the new path, and the two don't exclude each other. Make a new handle where strangers
/// do such things, or pass the URL, which is checked at each call.
///
/// What happens to the item itself doesn't matter: it may appear, disappear and be replaced, as a path is claimed and not a
/// file.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | all properties | never change | |
/// | `memo` | itself: atomic operations of the fast tier | a note that saves it a look |
/// | memory of `prefixes` and `key` | written before the handle is published, freed with it | a fast path reads it through a pointer |
/// | `validity` | itself, see `IdentityValidity` | shared with other items of the same directory |
///
/// `@unchecked Sendable` for the pointers: one leads to memory that never changes but for `memo`, the other to an atomic.
@safe
public final class ResolvedItem: @unchecked Sendable {
  /// The URL that the handle was made for, as spelled.
  public let url: URL

  /// The absolute path that's claimed, as text: without links, `.` and `..` on the way.
  ///
  /// Accesses of one canonical path exclude each other, however it's spelled; reports and snapshots show it. A symbolic link in the last
  /// component stays in it unless the handle was made to follow it. What isn't UTF-8 shows as U+FFFD; ``canonicalURL`` has every byte.
  /// Of a handle that a move through this library has outdated, it's the path before that.
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

  /// The address of a word that tells in which state of what the process was lent the item was inside of that, see
  /// ``DelegationCoverage``; its lowest bit tells whether for writing too.
  private let coverage: Int

  /// The bytes that a cache finds the item by, behind the fingerprints; none for items of no cache.
  let key: UnsafeBufferPointer<UInt8>

  /// Whether the item is a package of its domain or lies inside one.
  let isInPackage: Bool

  let validity: IdentityValidity
  /// The word of `validity`, one step nearer.
  let validityWord: UnsafeMutablePointer<Atomic<UInt32>>

  init(
    _ url: URL, at location: FileLocation, followsLastLink: Bool, packages: PackageNames, validity: IdentityValidity,
    key: [UInt8] = []
  ) {
    self.url = url
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

  /// Whether something is known to have happened to a directory or link on the way: the URL has to be resolved anew.
  var isStale: Bool {
    unsafe validityWord.pointee.load(ordering: .acquiring) & IdentityValidity.stale != 0
  }

  /// Whether the item is known to be in a directory that the process was lent.
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
  /// Such an item isn't told about moves; that's for those that a cache makes.
  convenience init(
    _ url: URL, followingLastLink: Bool = false, in fileSystem: any FileSystem, packageExtensions: Set<String> = []
  ) throws(FileCoordinationError) {
    let location = try FileLocation(url, followingLastLink: followingLastLink, in: fileSystem)
    self.init(
      url, at: location, followsLastLink: followingLastLink, packages: PackageNames(packageExtensions),
      validity: IdentityValidity())
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
      location.url, at: location, followsLastLink: false, packages: packages, validity: Self.alwaysValid, key: key)
  }

  /// Of paths that are taken at their word: nothing can happen to them.
  private static let alwaysValid = IdentityValidity()
}

extension PathFingerprint {
  /// The seed of all fingerprints in this process, which nobody can know in advance.
  static let processSeed = UInt64.random(in: .min ... .max)
}
