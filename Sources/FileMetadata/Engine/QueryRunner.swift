internal import FileWatching
internal import MetadataPredicates
internal import SystemInterface

/// Keeps the results of one query current: for the engine's thread alone.
///
/// It has the results that readers have, and for each file that has changed since its former and present entry. From
/// these two it can make a batch at any time, also a second one instead of a first that hasn't been taken.
final class QueryRunner {
  /// Results at one moment.
  struct Version {
    var list: OrderedList<ResultOrder> {
      didSet { entries = nil }
    }
    var snapshot: TableSnapshot
    private var entries: [UInt32: ResultEntry]?

    init(list: OrderedList<ResultOrder>, snapshot: TableSnapshot) {
      self.list = list
      self.snapshot = snapshot
    }

    /// The entry of a result, looked up and not made anew.
    ///
    /// - Complexity: O(*n*) once after each change of the list.
    mutating func entry(of number: FileNumber) -> ResultEntry? {
      let known = entries ?? Dictionary(uniqueKeysWithValues: list.elements.map { ($0.number, $0) })
      entries = known
      return known[number.rawValue]
    }
  }

  /// The former and present entry of a file; never `nil` both times.
  typealias Update = ListUpdate<ResultEntry>

  /// A batch that waits in the port.
  struct Offer {
    let version: Version
    /// The files that have changed since.
    var touched = FileNumberSet()
    let finishesGathering: Bool
  }

  var plan: QueryPlan
  let port: QueryPort
  /// The results that readers have.
  var known: Version
  var pending: [FileNumber: Update] = [:]
  /// Results besides those in `pending` that have been found in the order of their numbers, and that readers don't
  /// have.
  var found: [ResultEntry] = []
  /// Directories with results that `pending` doesn't name, and that have another path than readers know.
  var moved = MovedDirectories()
  /// All results, in the place of `pending`, when readers have none.
  var fresh: OrderedList<ResultOrder>?
  var offer: Offer?
  var schedule: BatchSchedule
  /// When files are to be evaluated again because time passes.
  var moments = MomentList()
  var isGathering = true
  /// The end of the first search hasn't been reported to the current reader.
  var owesFinish = true
  var pauseDepth = 0
  /// The index was there before the query, which hasn't received it: until then no reader receives anything.
  var isArriving = false
  var takenCount = 0
  /// A batch is due that has to wait until the engine has the number of batches that a reader has taken; ends with
  /// ``taken(_:_:_:at:)`` or ``readerBegan(_:_:_:at:)``, which follow.
  var isLate = false

  /// The number in its run of the engine that the query is with.
  let generation: Int
  /// Readers have results that an engine before this one has found.
  var isForeign: Bool

  init(_ plan: QueryPlan, _ port: QueryPort, _ table: FileTable, _ heritage: QueryPort.Heritage = .none) {
    self.plan = plan
    self.port = port
    generation = heritage.generation
    isForeign = generation > 0
    takenCount = heritage.takenCount
    pauseDepth = heritage.pauseDepth
    owesFinish = heritage.owesFinish
    known = Version(list: OrderedList(plan.order), snapshot: TableSnapshot(table))
    schedule = BatchSchedule(plan.batching)
    for _ in 0..<pauseDepth { schedule.pause() }
  }

  func note(_ progress: MetadataQueryProgress) { port.note(progress, by: generation) }

  func note(_ health: ScopeHealth) { port.note(health, by: generation) }

  /// Nothing follows.
  func end() { port.end(by: generation) }

  /// When the next batch is due.
  var deadline: MonotonicTime? { schedule.deadline }

  /// Whether older states of the index don't matter any more.
  var isCurrent: Bool { pendingCount == 0 && offer == nil }

  /// The states of the index that are compared with the present one.
  var comparedTables: [FileTable] { [known.snapshot.table] + (offer.map { [$0.version.snapshot.table] } ?? []) }

  var pendingCount: Int { isReordered ? 1 : (fresh?.count ?? pending.count + moved.count) + found.count }

  /// Whether readers have results in another order than the present one, or of another index.
  ///
  /// Then the only pending work is to find and report all of them anew.
  var isReordered: Bool { isForeign || known.list.order.descriptors != plan.order.descriptors }
}
