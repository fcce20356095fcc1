package import SystemInterface

/// Keeps the index of a scope current: reads directories, and looks at what the kernel says has happened.
///
/// Each directory is watched before it's read, so that nothing is missed that is made meanwhile. An event only says where to look:
/// what is there is always asked of the file system, through a descriptor of the directory that's known to be the one in the index,
/// because paths may lead elsewhere by then. So it does no harm if events come twice, late or in another order.
///
/// Nothing is seen of changes through hard links and memory maps outside of the scope, before the file is looked at for another
/// reason; see ``FileWatching/InotifyWatcher``.
///
/// For one thread at a time. Blocks as long as the file system does.
package final class ScopeIndexer {
  /// A place that was asked for, and its number if anything is there.
  struct Root {
    let path: SystemPath
    let reach: RootReach
    var number: FileNumber?
    /// A link has come to be on the way, which isn't followed: nothing counts as there.
    var isBehindLink = false
    /// Nobody has asked for it, but a link leads there.
    var isFollowed = false
    /// No link leads there any more: nothing of it is known, and the next one takes its place.
    var isAbandoned = false
  }

  /// What is known.
  package internal(set) var index = FileIndex()
  let files: any FileSystem
  let watcher: any FileWatcher
  let options: ScopeOptions
  /// Names of directories that aren't entered.
  let unentered: NamePatterns
  var roots: [Root] = []
  /// What tells about places that aren't inside any root.
  var ties = RootTies()
  /// Roots that may be elsewhere, or may be there now, or which nothing may tell of.
  var uncertainRoots: Set<Int> = []
  /// Roots that are where they were and may have altered.
  var alteredRoots: Set<Int> = []
  /// Roots that have to be looked at from time to time.
  var blindRoots: Set<Int> = []
  var watches = WatchMap()
  var queue = ReadQueue()
  /// Directories of whose members only kinds are known, to be read once more when there's nothing else to do.
  var refills = ReadQueue()
  /// Those of them that are being read once more.
  var refilled: Set<FileNumber> = []
  /// Whether statx(2) is asked of everything that's found.
  ///
  /// If not, see ``refill(directoryCountMax:memberCountMax:)``.
  package var readsFacts = true
  /// How many threads help to read when there's much to read.
  let helperCount: Int
  /// From how many directories on they do.
  static let helpedDirectoryCountMin = 2
  /// How many directories may be watched, among all scopes of the process.
  var watchShare: WatchShare
  /// What was mounted when it was looked at last.
  var knownMounts: Set<MountTable.Mount>
  /// How many watches those may take who are reading directories.
  var orderedWatchCount = 0
  /// How many members of directories have been read, over all.
  var readMemberCount = 0
  /// Names that something has happened to.
  var looks = LookList()
  /// What directories were in a former run, until each has been looked at.
  var kept: [FileNumber: KeptDirectory] = [:]
  /// How many of them were still the same.
  var unalteredCount = 0
  /// Directories that weren't where they should be when they were to be read, and how often.
  var misplaced: [FileNumber: Int] = [:]
  /// Files that were moved away, and nobody has said yet where to.
  var departures: [RenameCookie: FileNumber] = [:]
  /// Links that are followed, if they are.
  var links = FollowedLinks()
  /// Directories that aren't watched.
  var polled: Set<FileNumber> = []
  var unreadable: Set<FileNumber> = []
  /// Directories under whose watch the index has another one, which may just have been moved.
  var doubles: Set<FileNumber> = []
  /// The inodes of files with several names of which the others aren't known yet to be names of them.
  var unmatchedLinks: Set<UInt64> = []
  /// How many directories have been read.
  package internal(set) var readCount = 0
  var overflowCount = 0
  /// Whether events were lost since it was begun to read everything; see ``readAgain()``.
  package internal(set) var isBehind = false
  var isFull = false
  var pollingReason: String?
  var changes = IndexChanges()

  /// How often a directory that isn't where it should be is tried again before that's taken for an error.
  static let misplacementMax = 4
  /// How often the second half of a rename is waited for.
  static let arrivalWaitCountMax = 36
  /// For how many times of these the processor is offered to others; then the thread sleeps.
  static let arrivalYieldCountMax = 16
  /// For how long, in microseconds.
  static let arrivalPause: UInt32 = 100
  /// How many rounds of events and looks one call makes.
  static let roundCountMax = 32

  /// Creates an empty scope.
  ///
  /// - Parameters:
  ///   - files: Where files are.
  ///   - watcher: Who tells what happens to them; of this scope alone.
  ///   - options: How far the scope reaches.
  ///   - helperCount: How many threads help to read when there's much to read.
  ///   - watchBudget: How many directories may be watched, among all who share it.
  package init(
    _ files: any FileSystem, watcher: any FileWatcher, options: ScopeOptions = ScopeOptions(), helperCount: Int = 0,
    watchBudget: WatchBudget = .shared
  ) {
    watchShare = WatchShare(watchBudget)
    knownMounts = Set(MountTable.mounts)
    self.helperCount = helperCount
    self.files = files
    self.watcher = watcher
    self.options = options
    unentered = NamePatterns(options.unenteredNames)
  }

  /// Whether something is known that hasn't been read.
  package var hasWork: Bool {
    !queue.isEmpty || !looks.isEmpty || !misplaced.isEmpty || !departures.isEmpty || !unmatchedLinks.isEmpty
      || !uncertainRoots.isEmpty || !alteredRoots.isEmpty || links.hasWork
  }

  /// How many directories have been read or are going to be.
  package var knownDirectoryCount: Int { readCount + queue.count }

  /// Whether ``poll()`` has to be called from time to time.
  package var needsPolling: Bool {
    !polled.isEmpty || !unreadable.isEmpty || !blindRoots.isEmpty || isFull || !links.indirect.isEmpty
  }

  /// Takes what has changed since the last call.
  package func takeChanges() -> IndexChanges {
    defer { changes = IndexChanges() }
    return changes
  }

  /// Lets numbers be used again that were given up until now, when nobody compares older states any more.
  package func recycleNumbers(before moment: Int? = nil) { index.recycle(before: moment ?? index.moment) }

  /// Lets numbers be used again that stood for nothing in some former states, which are the only ones that somebody still compares.
  package func recycleNumbers(notIn tables: [FileTable]) { index.recycle(notIn: tables) }

  /// How well the scope is followed.
  package var health: ScopeHealth {
    var health = ScopeHealth()
    health.watchedDirectoryCount = watches.count
    health.polledDirectoryCount = polled.count + blindRoots.count
    health.unreadableDirectoryCount = unreadable.count
    health.overflowCount = overflowCount
    health.unalteredDirectoryCount = unalteredCount
    health.isBehind = isBehind
    health.missingRootCount = roots.count { $0.number == nil && !$0.isFollowed }
    health.isFull = isFull
    health.processWatchCountMax = watchShare.budget.countMax
    health.pollingReason = polled.isEmpty && blindRoots.isEmpty ? nil : pollingReason
    return health
  }

  /// Looks at everything that isn't watched, and at roots that aren't there.
  package func poll() {
    for place in roots.indices { checkRoot(place) }
    uncertainRoots.formUnion(blindRoots)
    for directory in polled where index.table.facts(of: directory).kind == .directory { queue.push(directory) }
    for directory in unreadable { queue.push(directory) }
    links.noteIndirect()
  }

  /// Reads everything again after events were lost; what happens until then may not be seen.
  package func readAgain() {
    isBehind = false
    // Each directory for itself, not from the top down: one that's moved meanwhile would be missed.
    var directories: [FileNumber] = []
    for root in index.table.roots {
      index.table.forEach(in: root) { if index.table.facts(of: $0).kind == .directory { directories.append($0) } }
    }
    watches.doubtAll()
    for directory in directories.reversed() { queue.push(directory) }
    for place in roots.indices { checkRoot(place) }
    noteAllLinks()
  }
}

extension ScopeIndexer {
  /// Looks whether a root is there, and is still the same.
  func checkRoot(_ place: Int) {
    if roots[place].isAbandoned { return }
    let path = roots[place].path
    if roots[place].isBehindLink {
      if let number = roots[place].number { remove(number) }
      return
    }
    let facts: FileFacts
    do throws(SystemError) {
      facts = FileFacts(try files.status(of: path, at: .workingDirectory, links: .noFollow))
    } catch {
      // What can't be looked at now may be there nevertheless.
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
    changes.files.insert(number)
    if facts.kind == .directory { queue.push(number) }
  }

  /// Takes note of what a file is now.
  func note(_ number: FileNumber, _ facts: FileFacts) {
    let old = index.table.facts(of: number)
    guard renew(number, old, facts) else { return }
    if facts.kind == .symbolicLink || old.kind == .symbolicLink { noteLink(number) }
    // It may be readable now, or not any more.
    if facts.kind == .directory, old.permissions != facts.permissions || old.owner != facts.owner { queue.push(number) }
    if old.isLinked, old.identity != facts.identity { lookAtLinks(of: number, old) }
    if facts.isLinked { noteLinks(of: number, facts, wereKnown: old.isLinked && old.identity == facts.identity) }
  }

  /// Takes note of other facts.
  ///
  /// What only the name was known of hasn't altered if it's still what it was when its name was read.
  ///
  /// - Returns: Whether they are other ones.
  func renew(_ number: FileNumber, _ old: FileFacts, _ facts: FileFacts) -> Bool {
    guard index.update(number, facts) else { return false }
    if !old.isRead, facts.changeTime < old.changeTime {
      changes.hasNewFacts = true
    } else {
      changes.files.insert(number)
    }
    return true
  }

  /// The other names of a file have the same facts, and nobody else tells of them.
  ///
  /// - Parameters:
  ///   - number: One name of the file.
  ///   - facts: What the file is now.
  ///   - wereKnown: Whether the other names have been looked for already; the kernel tells of each one that comes.
  func noteLinks(of number: FileNumber, _ facts: FileFacts, wereKnown: Bool = false) {
    let others = index.files(with: facts.identity)
    for other in others where other != number {
      _ = renew(other, index.table.facts(of: other), facts)
    }
    if others.count == 1, !wereKnown { unmatchedLinks.insert(facts.identity.inode) }
  }

  /// A file has a name less, which only looking tells.
  private func lookAtLinks(of number: FileNumber, _ facts: FileFacts) {
    for other in index.files(with: facts.identity) where other != number { lookAt(other) }
  }

  /// Finds files that had one name when they were looked at, and have got another one since.
  ///
  /// The kernel tells of the new name only. Looks through the whole index, once for many names. Files are looked at anew: what was read
  /// when the other name was seen may be old by now, and the inode that of another file.
  func settleLinks() {
    if unmatchedLinks.isEmpty { return }
    let inodes = unmatchedLinks
    unmatchedLinks = []
    for number in index.table.numbers where index.table.contains(number) {
      if inodes.contains(index.table.inode(of: number)), !index.table.facts(of: number).isLinked { lookAt(number) }
    }
  }

  /// A file isn't there any more, and nothing that was in it.
  func remove(_ top: FileNumber) {
    index.table.forEach(in: top) { number in
      let facts = index.table.facts(of: number)
      if facts.isLinked { lookAtLinks(of: number, facts) }
    }
    for place in roots.indices where roots[place].number == top {
      roots[place].number = nil
      uncertainRoots.insert(place)
    }
    for number in index.remove(top) {
      changes.files.insert(number)
      stopFollowing(number)
    }
  }

  /// What is in a directory is of no interest any more.
  func stopFollowing(_ number: FileNumber) {
    if let watch = watches.remove(number), !ties.contains(watch) { watcher.unwatch(watch) }
    queue.remove(number)
    refills.remove(number)
    refilled.remove(number)
    polled.remove(number)
    unreadable.remove(number)
    looks.remove(number)
    misplaced[number] = nil
    doubles.remove(number)
    kept[number] = nil
    links.forget(number)
  }

  /// Looks at a file by its name.
  func lookAt(_ number: FileNumber) {
    guard let parent = index.table.parent(of: number) else {
      for place in roots.indices where roots[place].number == number { checkRoot(place) }
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

  /// Whether it's known on which device a file is.
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
