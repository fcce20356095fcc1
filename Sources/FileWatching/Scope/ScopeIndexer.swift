package import SystemInterface

/// Keeps the index of a scope current: carries out what a ``ScopeCore`` orders, and tells it what has come of it.
///
/// Nothing is seen of changes through hard links and memory maps outside of the scope, before the file is looked at for another
/// reason; see ``FileWatching/InotifyWatcher``.
///
/// For one thread at a time. Blocks as long as the file system does.
package final class ScopeIndexer {
  private var core: ScopeCore
  private let hands: ScopeHands
  /// How many directories may be watched, among all scopes of the process.
  private var watchShare: WatchShare
  /// How many threads help to read when there's much to read.
  private let helperCount: Int

  /// From how many directories on they do.
  private static let helpedDirectoryCountMin = 2

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
    self.helperCount = helperCount
    hands = ScopeHands(files: files, watcher: watcher)
    core = ScopeCore(options: options, mounts: Set(MountTable.mounts))
  }

  /// Does what is to be done at once.
  private func carryOutOrders() {
    while let order = core.next() { core.take(hands.carryOut(order)) }
  }
}

// MARK: - What is known

extension ScopeIndexer {
  /// What is known.
  package var index: FileIndex { core.index }

  /// Whether something is known that hasn't been read.
  package var hasWork: Bool { core.hasWork }

  /// How many directories have been read.
  package var readCount: Int { core.readCount }

  /// How many directories have been read or are going to be.
  package var knownDirectoryCount: Int { core.knownDirectoryCount }

  /// Whether ``poll()`` has to be called from time to time.
  package var needsPolling: Bool { core.needsPolling }

  /// Whether events were lost since it was begun to read everything; see ``readAgain()``.
  package var isBehind: Bool { core.isBehind }

  /// Whether statx(2) hasn't been asked of everything that's known.
  package var hasRefills: Bool { core.hasRefills }

  /// How well the scope is followed.
  package var health: ScopeHealth {
    var health = core.health
    health.processWatchCountMax = watchShare.budget.countMax
    return health
  }

  /// Which directory is watched under which number.
  var watches: WatchMap { core.watches }

  /// Takes what has changed since the last call.
  package func takeChanges() -> IndexChanges { core.takeChanges() }

  /// Lets numbers be used again that were given up until now, when nobody compares older states any more.
  package func recycleNumbers(before moment: Int? = nil) { core.index.recycle(before: moment ?? core.index.moment) }

  /// Lets numbers be used again that stood for nothing in some former states, which are the only ones that somebody still compares.
  package func recycleNumbers(notIn tables: [FileTable]) { core.index.recycle(notIn: tables) }

  /// What is known, to be kept for a later run.
  ///
  /// - Parameter moment: When everything was in the index that had been done before.
  /// - Returns: That, with all that's needed to write it; `nil` if it isn't everything.
  func keptState(settledAt moment: Int64) -> KeptState? { core.keptState(settledAt: moment) }
}

// MARK: - What is to be followed

extension ScopeIndexer {
  /// Whether statx(2) is asked of everything that's found.
  ///
  /// If not, see ``refill(directoryCountMax:memberCountMax:)``.
  package var readsFacts: Bool {
    get { core.readsFacts }
    set { core.readsFacts = newValue }
  }

  /// Adds what is at a path, be it there or not; read by ``work(directoryCountMax:memberCountMax:)``.
  ///
  /// - Parameters:
  ///   - path: An absolute path without symbolic links, that's neither inside another root that's searched nor around one.
  ///   - reach: What of it may be a result.
  package func addRoot(_ path: SystemPath, reach: RootReach = .contents) {
    core.addRoot(path, reach: reach)
    carryOutOrders()
  }

  /// Begins with what was known at the end of a former run, of which each directory is looked at before it counts.
  ///
  /// To be called before anything is read. Whatever the index was, what is known after reading is what is there.
  func restore(_ reader: KeptIndexReader) { core.restore(reader, at: CoarseClock.fileTime) }

  /// Looks at everything that isn't watched, and at roots that aren't there.
  package func poll() {
    core.poll()
    carryOutOrders()
  }

  /// Reads everything again after events were lost; what happens until then may not be seen.
  package func readAgain() {
    core.readAgain()
    carryOutOrders()
  }

  /// Takes in everything that was done before the call, but for directories that are to be read; see
  /// ``work(directoryCountMax:memberCountMax:)``.
  package func processEvents() {
    core.beginTurn()
    carryOutOrders()
  }
}

// MARK: - Reading

extension ScopeIndexer {
  /// Reads some directories of those that are to be read, with the help of other threads if there are several.
  ///
  /// When it returns, nothing is being read.
  ///
  /// - Parameters:
  ///   - directoryCountMax: How many directories at most.
  ///   - memberCountMax: After how many files in them no further directory is begun.
  /// - Returns: Whether all of them are read.
  @discardableResult
  package func work(directoryCountMax: Int = .max, memberCountMax: Int = .max) -> Bool {
    var directoryCount = 0
    let memberCount = core.readMemberCount
    let reader = hands.reader
    let team = ReadingTeam(reader, helperCount: core.queue.count >= Self.helpedDirectoryCountMin ? helperCount : 0)
    defer {
      team.end()
      watchShare.trim(to: core.watches.count)
      core.grantedWatchCount = watchShare.takenCount
    }
    while true {
      let isEnough = core.readMemberCount - memberCount >= memberCountMax
      if isEnough {
        for order in team.takeBackOrders() { core.takeBack(order) }
      } else {
        var orders: [ReadOrder] = []
        while directoryCount < directoryCountMax, let order = nextRead() {
          orders.append(order)
          directoryCount += 1
        }
        // The last one is taken first.
        if !orders.isEmpty { team.order(orders.reversed()) }
      }
      switch team.next() {
      case .take(let readings): for reading in readings { take(reading) }
      case .read(let order): take(reader.read(order))
      case .done:
        if core.queue.isEmpty || directoryCount >= directoryCountMax || isEnough { return core.queue.isEmpty }
      }
    }
  }

  /// Reads some directories once more of whose members only kinds are known, until statx(2) has been asked of everything.
  ///
  /// - Parameters:
  ///   - directoryCountMax: How many directories at most.
  ///   - memberCountMax: After how many files in them no further directory is begun.
  package func refill(directoryCountMax: Int, memberCountMax: Int) {
    let readsFacts = core.readsFacts
    core.readsFacts = true
    defer { core.readsFacts = readsFacts }
    core.beginRefill(directoryCountMax: directoryCountMax)
    // What isn't read now is read as anything else.
    work(directoryCountMax: directoryCountMax, memberCountMax: memberCountMax)
  }

  private func nextRead() -> ReadOrder? {
    while let step = core.nextRead() {
      switch step {
      case .read(let order): return order
      case .reserveWatch(let count): core.grantWatches(watchShare.reserve(beyond: count))
      }
    }
    return nil
  }

  private func take(_ found: (reading: DirectoryReading, rest: FileDescriptor?)) {
    defer { if let rest = found.rest { try? hands.files.close(rest) } }
    if var reading = core.take(found.reading) {
      var failure: SystemError?
      do throws(SystemError) {
        let depth: DirectoryListing.Depth = core.readsFacts ? .statuses : .kinds
        while let rest = found.rest, let listing = try hands.files.list(rest, depth) { core.take(listing, &reading) }
      } catch {
        failure = error
      }
      core.end(reading, failure)
    }
    carryOutOrders()
  }
}
