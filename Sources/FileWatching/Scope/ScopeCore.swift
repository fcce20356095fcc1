internal import SystemInterface

/// The index of a scope, and the work that keeps it current: a value that decides.
///
/// It gives orders and takes their outcomes, see ``ScopeOrder`` and ``ReadOrder``. It uses no file, descriptor, thread
/// or clock; ``ScopeIndexer`` carries its orders out. Between an order and its outcome the files may change in any way.
///
/// Each directory is watched before it's read, so that nothing is missed that is made meanwhile. An event only says
/// where to check: the file system is always asked for the state there, through a descriptor of the directory that's
/// known to be the one in the index, because paths may lead elsewhere by then. So it does no harm if events come twice,
/// late or in another order.
struct ScopeCore: WatchingCore, Sendable {
  typealias Order = ScopeOrder
  typealias Outcome = ScopeOutcome

  /// A place that was asked for, and its number if there's a file.
  struct Root: Sendable {
    let path: SystemPath
    let reach: RootReach
    var number: FileNumber?
    /// A link has come to be on the way, which isn't followed: nothing counts as there.
    var isBehindLink = false
    /// The place wasn't asked for, but a link leads there.
    var isFollowed = false
    /// No link leads there any more: nothing of it is in the index, and the next one takes its place.
    var isAbandoned = false
  }

  /// The files that have been found.
  var index = FileIndex()
  let options: ScopeOptions
  /// Names of directories that aren't entered.
  let unentered: NamePatterns
  var roots: [Root] = []
  /// Which of them is there under a number.
  private var rootPlaces: [FileNumber: Int] = [:]
  /// The watches for places that aren't inside any root.
  var ties = RootTies()
  /// Roots that may be elsewhere, or may be there now, or whose watches may be missing.
  var uncertainRoots: Set<Int> = []
  /// Roots that are where they were and may have altered.
  var alteredRoots: Set<Int> = []
  /// Roots that have to be polled.
  var blindRoots: Set<Int> = []
  var watches = WatchMap()
  var queue = ReadQueue()
  /// Directories of whose members only kinds are known, to be read once more when there's nothing else to do.
  var refills = ReadQueue()
  /// Those of them that are being read once more.
  var refilled: Set<FileNumber> = []
  /// Whether statx(2) is asked of everything that's found.
  ///
  /// If not, directories are read once more later, see ``refills``.
  var readsFacts = true
  /// How many directories may be watched without asking for more.
  var grantedWatchCount = 0
  /// No more may be watched than that.
  var isGrantRefused = false
  /// The mounts at the last check.
  var knownMounts: Set<MountTable.Mount>
  /// The orders to be carried out at once.
  var agenda = OrderQueue<ScopeOrder>()
  /// How far events have been taken in; `nil` between two calls of ``beginTurn()``.
  var turn: ScopeTurn?
  /// How many watches the threads may take that are reading directories.
  var orderedWatchCount = 0
  /// How many members of directories have been read, over all.
  var readMemberCount = 0
  /// Names with events.
  var looks = LookList()
  /// The facts of directories in a former run, until each has been checked.
  var kept: [FileNumber: KeptDirectory] = [:]
  /// Directories of a former run that haven't been read in this one: only kinds are known of their members.
  var restored: Set<FileNumber> = []
  /// How many of them were still the same.
  var unalteredCount = 0
  /// Directories that weren't where they should be when they were to be read, and how often.
  var misplaced: [FileNumber: Int] = [:]
  /// Files that were moved away, and whose new place hasn't been reported yet.
  var departures: [RenameCookie: FileNumber] = [:]
  /// Links that are followed, if they are.
  var links = FollowedLinks()
  /// Directories that aren't watched.
  var polled: Set<FileNumber> = []
  /// Directories that can't be read, or have members that can't be inspected, each with the last reason.
  var unreadable: [FileNumber: SystemError] = [:]
  /// Directories under whose watch the index has another one, which may just have been moved.
  var doubles: Set<FileNumber> = []
  /// The inodes of files with several names of which the others haven't been found yet.
  var unmatchedLinks: Set<UInt64> = []
  /// How many directories have been read.
  var readCount = 0
  var overflowCount = 0
  /// Whether events were lost since it was begun to read everything; see ``readAgain()``.
  var isBehind = false
  var isFull = false
  var pollingReason: String?
  var changes = IndexChanges()

  /// How often a directory that isn't where it should be is tried again before that's taken for an error.
  static let misplacementMax = 4
  /// How often the second half of a rename is waited for.
  static let arrivalWaitCountMax = 36
  /// How many rounds of events and checks one call makes.
  static let roundCountMax = 32

  /// Creates an empty scope.
  ///
  /// - Parameters:
  ///   - options: How far the scope reaches.
  ///   - mounts: The present mounts.
  init(options: ScopeOptions, mounts: Set<MountTable.Mount>) {
    self.options = options
    knownMounts = mounts
    unentered = NamePatterns(options.unenteredNames)
  }

  /// Whether there's anything to read or check.
  var hasWork: Bool {
    !queue.isEmpty || !looks.isEmpty || !misplaced.isEmpty || !departures.isEmpty || !unmatchedLinks.isEmpty
      || !uncertainRoots.isEmpty || !alteredRoots.isEmpty || links.hasWork
  }

  /// How many directories have been read or are going to be.
  var knownDirectoryCount: Int { readCount + queue.count }

  /// Whether ``poll()`` has to be called from time to time.
  var needsPolling: Bool {
    !polled.isEmpty || !unreadable.isEmpty || !blindRoots.isEmpty || isFull || !links.indirect.isEmpty
  }

  /// Takes the changes since the last call.
  mutating func takeChanges() -> IndexChanges {
    defer { changes = IndexChanges() }
    return changes
  }

  /// The directories with the lowest numbers, as many as are reported.
  private var firstUnreadable: [FileNumber] {
    var first: [FileNumber] = []
    for number in unreadable.keys {
      if first.count == ScopeHealth.unreadableErrorCountMax, let last = first.last {
        if last < number { continue }
        first.removeLast()
      }
      first.insert(number, at: first.firstIndex { number < $0 } ?? first.endIndex)
    }
    return first
  }

  /// How well the scope is followed.
  var health: ScopeHealth {
    var health = ScopeHealth()
    health.watchedDirectoryCount = watches.count
    health.polledDirectoryCount = polled.count + blindRoots.count
    health.unreadableDirectoryCount = unreadable.count
    health.unreadableErrors = firstUnreadable.compactMap { unreadable[$0] }
    health.overflowCount = overflowCount
    health.unalteredDirectoryCount = unalteredCount
    health.isBehind = isBehind
    health.missingRootCount = roots.count { $0.number == nil && !$0.isFollowed }
    health.isFull = isFull
    health.pollingReason = polled.isEmpty && blindRoots.isEmpty ? nil : pollingReason
    return health
  }

  /// Checks everything that isn't watched, and roots that aren't there.
  mutating func poll() {
    for place in roots.indices { checkRoot(place) }
    uncertainRoots.formUnion(blindRoots)
    for directory in polled.sorted() where index.table.facts(of: directory).kind == .directory { queue.push(directory) }
    for directory in unreadable.keys.sorted() { queue.push(directory) }
    links.noteIndirect()
  }

  /// Reads everything again after events were lost; changes until then may not be seen.
  mutating func readAgain() {
    isBehind = false
    // Each directory for itself, not from the top down: one that's moved meanwhile would be missed.
    var directories: [FileNumber] = []
    let table = index.table
    for root in table.roots {
      table.forEach(in: root) { if table.facts(of: $0).kind == .directory { directories.append($0) } }
    }
    watches.doubtAll()
    for directory in directories.reversed() { queue.push(directory) }
    for place in roots.indices { checkRoot(place) }
    noteAllLinks()
  }
}

extension ScopeCore {
  /// Orders a check whether a root is there, and is still the same.
  mutating func checkRoot(_ place: Int) {
    if roots[place].isAbandoned { return }
    if roots[place].isBehindLink {
      if let number = roots[place].number { remove(number) }
    } else {
      agenda.append(.check(place, roots[place].path))
    }
  }

  /// Takes the file at the place of a root.
  mutating func takeRoot(_ place: Int, _ path: SystemPath, _ outcome: Result<FileFacts, SystemError>) {
    // Another one may have taken its place, or the way may lead through a link by now.
    if roots[place].path != path || roots[place].isAbandoned { return }
    if roots[place].isBehindLink { return checkRoot(place) }
    let facts: FileFacts
    switch outcome {
    case .success(let found): facts = found
    case .failure(let error):
      // A file that can't be inspected now may be there nevertheless.
      if error.isDisplacement, let number = roots[place].number { remove(number) }
      return
    }
    if let number = roots[place].number {
      if index.table.mayBecome(number, facts) { return note(number, facts) }
      remove(number)
    }
    guard let number = index.addRoot(path, facts, reach: roots[place].reach) else {
      isFull = true
      return
    }
    roots[place].number = number
    rootPlaces[number] = place
    changes.files.insert(number)
    if facts.kind == .directory { queue.push(number) }
    if facts.isLinked { noteLinks(of: [number], facts, wereKnown: true) }
  }

  /// Takes note of a file's present facts.
  mutating func note(_ number: FileNumber, _ facts: FileFacts) {
    let old = index.table.facts(of: number)
    guard renew(number, old, facts) else { return }
    if facts.kind == .symbolicLink || old.kind == .symbolicLink { noteLink(number) }
    // It may be readable now, or not any more.
    if facts.kind == .directory, old.permissions != facts.permissions || old.owner != facts.owner { queue.push(number) }
    if old.isLinked, old.identity != facts.identity { lookAtLinks(of: number, old) }
    if facts.isLinked { noteLinks(of: [number], facts, wereKnown: old.isLinked && old.identity == facts.identity) }
  }

  /// Takes note of other facts.
  ///
  /// A file of which only the name was known hasn't altered if it hasn't changed since its name was read.
  ///
  /// - Returns: Whether they are other ones.
  mutating func renew(_ number: FileNumber, _ old: FileFacts, _ facts: FileFacts) -> Bool {
    guard index.update(number, facts) else { return false }
    if !old.isRead, facts.changeTime < old.changeTime {
      changes.hasNewFacts = true
    } else {
      changes.files.insert(number)
    }
    return true
  }

  /// All names of a file have the same facts, and the others have no events of their own.
  ///
  /// The others agree among each other, so that one of them shows whether there's anything to do: otherwise a file with many names would
  /// take the square of their number.
  ///
  /// - Parameters:
  ///   - numbers: Names of the file that are new, or have other facts.
  ///   - facts: The present facts of the file.
  ///   - wereKnown: Whether the other names have been searched for already; the kernel reports each one that comes.
  mutating func noteLinks(of numbers: Set<FileNumber>, _ facts: FileFacts, wereKnown: Bool = false) {
    let all = index.files(with: facts.identity)
    let other = all.first { !numbers.contains($0) }
    let table = index.table
    if !numbers.allSatisfy({ table.facts(of: $0) == facts }) || other.map({ table.facts(of: $0) != facts }) == true {
      for name in all { _ = renew(name, index.table.facts(of: name), facts) }
    }
    if all.count == 1, !wereKnown { unmatchedLinks.insert(facts.identity.inode) }
  }

  /// A file has a name less; only a check shows which.
  private mutating func lookAtLinks(of number: FileNumber, _ facts: FileFacts) {
    for other in index.files(with: facts.identity) where other != number { lookAt(other) }
  }

  private mutating func lookAtLinks(in top: FileNumber) {
    let table = index.table
    var linked: [FileNumber] = []
    table.forEach(in: top) { if table.facts(of: $0).isLinked { linked.append($0) } }
    for number in linked { lookAtLinks(of: number, table.facts(of: number)) }
  }

  /// Finds files that had one name when they were inspected, and have got another one since.
  ///
  /// The kernel reports the new name only. Searches the whole index, once for many names. Files are inspected anew: the
  /// facts from when the other name was seen may be old by now, and the inode that of another file.
  mutating func settleLinks() {
    if unmatchedLinks.isEmpty { return }
    let inodes = unmatchedLinks
    unmatchedLinks = []
    for number in index.table.numbers where index.table.contains(number) {
      if inodes.contains(index.table.inode(of: number)), !index.table.facts(of: number).isLinked { lookAt(number) }
    }
  }

  /// A file isn't there any more, nor are its contents.
  mutating func remove(_ top: FileNumber) {
    lookAtLinks(in: top)
    noteParent(of: top)
    if let place = rootPlaces.removeValue(forKey: top) {
      roots[place].number = nil
      uncertainRoots.insert(place)
    }
    for number in index.remove(top) {
      changes.files.insert(number)
      stopFollowing(number)
    }
  }

  /// The directory that a file is in has other members.
  mutating func noteParent(of number: FileNumber) {
    if let parent = index.table.parent(of: number) { changes.recounted.insert(parent) }
  }

  /// The contents of a directory don't matter any more.
  mutating func stopFollowing(_ number: FileNumber) {
    if let watch = watches.remove(number), !ties.contains(watch) { agenda.append(.unwatch(watch)) }
    queue.remove(number)
    refills.remove(number)
    refilled.remove(number)
    polled.remove(number)
    unreadable[number] = nil
    looks.remove(number)
    misplaced[number] = nil
    doubles.remove(number)
    kept[number] = nil
    restored.remove(number)
    links.forget(number)
  }

  /// Checks a file by its name.
  mutating func lookAt(_ number: FileNumber) {
    guard let parent = index.table.parent(of: number) else {
      if let place = rootPlaces[number] { checkRoot(place) }
      return
    }
    looks.add(index.table.name(of: number), in: parent)
  }
}

extension FileTable {
  /// Whether a number may stand for a file with other facts: for one directory always, for anything else as long as that's none.
  func mayBecome(_ number: FileNumber, _ facts: FileFacts) -> Bool {
    self.facts(of: number).kind == .directory ? isDirectory(number, facts) : facts.kind != .directory
  }

  /// Whether the device of a file is known.
  func hasVolume(_ number: FileNumber) -> Bool { self[number].volume != 0 }

  func inode(of number: FileNumber) -> UInt64 { self[number].inode }

  /// Whether a number stands for a directory that is the one which facts are of.
  func isDirectory(_ number: FileNumber, _ facts: FileFacts) -> Bool {
    let known = self.facts(of: number)
    guard known.kind == .directory, facts.kind == .directory, known.identity.inode == facts.identity.inode else {
      return false
    }
    // Beyond the number of devices and owners that the table has room for, the inode has to suffice.
    return known.identity.device == facts.identity.device || self[number].volume == 0
  }
}
