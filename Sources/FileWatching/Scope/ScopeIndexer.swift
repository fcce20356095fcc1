package import SystemInterface

/// Keeps the index of a scope current: carries out the orders of a ``ScopeCore``, and passes their outcomes back.
///
/// Changes through hard links and memory maps outside of the scope aren't seen before the file is inspected for another
/// reason; see ``FileWatching/InotifyWatcher``.
///
/// For one thread at a time. Blocks as long as the file system does.
package final class ScopeIndexer {
  private var core: ScopeCore
  private var hands: ScopeHands
  /// How many directories may be watched, among all scopes of the process.
  private var watchShare: WatchShare
  /// How many threads help to read when there's much to read.
  private let helperCount: Int

  /// With so many directories to read the helping threads read too.
  private static let helpedDirectoryCountMin = 2

  /// Creates an empty scope.
  ///
  /// - Parameters:
  ///   - files: Where files are.
  ///   - watcher: Reports their changes; for this scope alone.
  ///   - options: How far the scope reaches.
  ///   - helperCount: How many threads help to read when there's much to read.
  ///   - watchBudget: How many directories may be watched, among all users of the budget.
  package init(
    _ files: any FileSystem, watcher: any FileWatcher, options: ScopeOptions = ScopeOptions(), helperCount: Int = 0,
    watchBudget: WatchBudget = .shared
  ) {
    watchShare = WatchShare(watchBudget)
    self.helperCount = helperCount
    hands = ScopeHands(files: files, watcher: watcher)
    core = ScopeCore(options: options, mounts: Set(MountTable.mounts))
  }

  /// Carries out the orders that are due at once.
  private func carryOutOrders() {
    core.carryOutOrders(by: &hands)
  }
}

// MARK: - The index

extension ScopeIndexer {
  /// The files that have been found.
  package var index: FileIndex { core.index }

  /// Whether there's anything to read or check.
  package var hasWork: Bool { core.hasWork }

  /// How many directories have been read.
  package var readCount: Int { core.readCount }

  /// How many directories have been read or are going to be.
  package var knownDirectoryCount: Int { core.knownDirectoryCount }

  /// Whether ``poll()`` has to be called from time to time.
  package var needsPolling: Bool { core.needsPolling }

  /// Whether events were lost since it was begun to read everything; see ``readAgain()``.
  package var isBehind: Bool { core.isBehind }

  /// Whether statx(2) hasn't been called for everything in the index.
  package var hasRefills: Bool { core.hasRefills }

  /// How well the scope is followed.
  package var health: ScopeHealth {
    var health = core.health
    health.processWatchCountMax = watchShare.budget.countMax
    return health
  }

  /// Which directory is watched under which number.
  var watches: WatchMap { core.watches }

  /// Takes the changes since the last call.
  package func takeChanges() -> IndexChanges { core.takeChanges() }

  /// Makes numbers usable again that were given up until now, when older states aren't compared any more.
  package func recycleNumbers(before moment: Int? = nil) { core.index.recycle(before: moment ?? core.index.moment) }

  /// Makes numbers usable again that stood for no file in the given former states: the only ones that are still
  /// compared.
  package func recycleNumbers(notIn tables: [FileTable]) { core.index.recycle(notIn: tables) }

  /// The index, to be kept for a later run.
  ///
  /// - Parameter moment: When everything was in the index that had been done before.
  /// - Returns: The index, with all that's needed to write it; `nil` if it isn't complete.
  func keptState(settledAt moment: Int64) -> KeptState? { core.keptState(settledAt: moment) }
}

// MARK: - The followed places

extension ScopeIndexer {
  /// Whether statx(2) is called for everything that's found.
  ///
  /// If not, see ``refill(directoryCountMax:memberCountMax:)``.
  package var readsFacts: Bool {
    get { core.readsFacts }
    set { core.readsFacts = newValue }
  }

  /// Adds a path, whether or not there's a file; read by ``work(directoryCountMax:memberCountMax:)``.
  ///
  /// - Parameters:
  ///   - path: An absolute path without symbolic links; it's neither inside another searched root nor around one.
  ///   - reach: The possible results there.
  package func addRoot(_ path: SystemPath, reach: RootReach = .contents) {
    core.addRoot(path, reach: reach)
    carryOutOrders()
  }

  /// Begins with the index at the end of a former run.
  ///
  /// Each of its directories is checked before it counts.
  ///
  /// To be called before anything is read. The index after reading corresponds to the disk, independent of the former
  /// index.
  func restore(_ reader: KeptIndexReader) { core.restore(reader, at: CoarseClock.fileTime) }

  /// Checks everything that isn't watched, and roots that aren't there.
  package func poll() {
    core.poll()
    carryOutOrders()
  }

  /// Reads everything again after events were lost; changes until then may not be seen.
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

  /// Reads some directories once more of whose members only kinds are known, until statx(2) has been called for
  /// everything.
  ///
  /// - Parameters:
  ///   - directoryCountMax: How many directories at most.
  ///   - memberCountMax: After how many files in them no further directory is begun.
  package func refill(directoryCountMax: Int, memberCountMax: Int) {
    let readsFacts = core.readsFacts
    core.readsFacts = true
    defer { core.readsFacts = readsFacts }
    core.beginRefill(directoryCountMax: directoryCountMax)
    // Directories that aren't read now are read like any other.
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
