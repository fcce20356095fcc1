/// The locks of others, as contenders.
enum PeerContenders {
  static let dictionaryKept = "mutex-dictionary-kept"
  static let dictionaryAddedAndRemoved = "mutex-dictionary-added-removed"
  static let readerWriterLock = "pthread-rwlock"
  static let flockKept = "flock-kept"
  static let flockOpened = "flock-opened"
  static let flockOpenedThroughLink = "flock-opened-link"
  static let openFileDescription = "ofd-kept"
  static let berkeleyDB = "berkeley-db"
  static let actorTable = "actor-dictionary"

  /// - Parameters:
  ///   - tree: The files.
  ///   - absent: Gets a line for each peer that this machine doesn't have.
  /// - Returns: Those that it has.
  static func all(_ tree: TemporaryTree, absent: inout [String]) -> [Contender] {
    let kept = DictionaryLocksKept()
    let addedAndRemoved = DictionaryLocksAddedAndRemoved()
    let locks = ReaderWriterLocks(count: TemporaryTree.itemCount)
    let table = ActorTable()
    var contenders = [
      Contender(dictionaryKept, "Mutex + Dictionary, entries kept") { _, item in
        DictionaryLocksKept.Worker(table: kept, path: privateCopy(of: tree.paths[item]))
      },
      Contender(dictionaryAddedAndRemoved, "Mutex + Dictionary, added and removed") { _, item in
        DictionaryLocksAddedAndRemoved.Worker(table: addedAndRemoved, path: privateCopy(of: tree.paths[item]))
      },
      Contender(async: actorTable, "actor + Dictionary", on: .loopExecutor) { _, item in
        ActorTable.Worker(table: table, path: privateCopy(of: tree.paths[item]))
      },
      Contender(readerWriterLock, "pthread_rwlock alone, no path") { _, item in locks.worker(item) },
      Contender(flockKept, "flock, descriptor kept") { _, item in try KeptFileLockWorker(tree.paths[item]) },
      Contender(flockOpened, "open + flock + unlock + close", scenarios: Scenario.alone) { _, item in
        OpenedFileLockWorker(tree.paths[item])
      },
      Contender(flockOpenedThroughLink, "the same, through a link", scenarios: Scenario.alone) { _, item in
        OpenedFileLockWorker(tree.linkedPaths[item])
      },
      Contender(openFileDescription, "F_OFD_SETLKW, descriptor kept") { _, item in
        try OpenFileDescriptionLockWorker(tree.paths[item])
      },
    ]
    switch BerkeleyDB.open() {
    case .present(let database):
      contenders.append(
        Contender(berkeleyDB, "Berkeley DB 5.3, private") { _, item in try database.worker(tree.paths[item]) })
    case .absent(let reason):
      absent.append("Berkeley DB lock manager: \(reason)")
    }
    return contenders
  }
}
