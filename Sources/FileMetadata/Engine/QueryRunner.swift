internal import FileWatching
internal import MetadataPredicates
internal import SystemInterface

/// Keeps the results of one query current: for the engine's thread alone.
///
/// It has the results that readers have, and for each file that has changed since its former and present entry. From
/// these two it can make a batch at any time, also a second one instead of a first that hasn't been taken.
final class QueryRunner {
  /// Results at one moment.
  private struct Version {
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
  private typealias Update = ListUpdate<ResultEntry>

  /// A batch that waits in the port.
  private struct Offer {
    let version: Version
    /// The files that have changed since.
    var touched = FileNumberSet()
    let finishesGathering: Bool
  }

  var plan: QueryPlan
  let port: QueryPort
  /// The results that readers have.
  private var known: Version
  private var pending: [FileNumber: Update] = [:]
  /// Results besides those in `pending` that have been found in the order of their numbers, and that readers don't
  /// have.
  private var found: [ResultEntry] = []
  /// Directories with results that `pending` doesn't name, and that have another path than readers know.
  private var moved = MovedDirectories()
  /// All results, in the place of `pending`, when readers have none.
  private var fresh: OrderedList<ResultOrder>?
  private var offer: Offer?
  private var schedule: BatchSchedule
  /// When files are to be evaluated again because time passes.
  private var moments = MomentList()
  private var isGathering = true
  /// The end of the first search hasn't been reported to the current reader.
  private var owesFinish = true
  private var pauseDepth = 0
  /// The index was there before the query, which hasn't received it: until then no reader receives anything.
  var isArriving = false
  private var takenCount = 0
  /// A batch is due that has to wait until the engine has the number of batches that a reader has taken; ends with
  /// ``taken(_:_:_:at:)`` or ``readerBegan(_:_:_:at:)``, which follow.
  private var isLate = false

  /// The number in its run of the engine that the query is with.
  private let generation: Int
  /// Readers have results that an engine before this one has found.
  private var isForeign: Bool

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

  /// Nothing follows.
  func end() { port.end(by: generation) }

  /// When the next batch is due.
  var deadline: MonotonicTime? { schedule.deadline }

  /// Whether older states of the index don't matter any more.
  var isCurrent: Bool { pendingCount == 0 && offer == nil }

  /// The states of the index that are compared with the present one.
  var comparedTables: [FileTable] { [known.snapshot.table] + (offer.map { [$0.version.snapshot.table] } ?? []) }

  private var pendingCount: Int { isReordered ? 1 : (fresh?.count ?? pending.count + moved.count) + found.count }

  /// Whether readers have results in another order than the present one, or of another index.
  ///
  /// Then the only pending work is to find and report all of them anew.
  private var isReordered: Bool { isForeign || known.list.order.descriptors != plan.order.descriptors }
}

// MARK: - Changes of files

extension QueryRunner {
  /// Some files may be others than before.
  ///
  /// - Parameters:
  ///   - numbers: The files.
  ///   - directories: Directories that have been moved, and everything in them with them.
  ///   - now: The present snapshot.
  ///   - health: How well the scope is followed.
  ///   - time: The present moment.
  func filesChanged(
    _ numbers: some Sequence<FileNumber>, movedDirectories directories: Set<FileNumber> = [], _ now: TableSnapshot,
    _ health: ScopeHealth, at time: MonotonicTime
  ) {
    // All of them are evaluated then.
    if isArriving { return }
    let directories = directories.filter(now.table.contains)
    if !directories.isEmpty, !staysWhereMoved {
      var numbers = Set(numbers)
      for directory in directories { addAffected(by: directory, now, &numbers) }
      return filesChanged(numbers, now, health, at: time)
    }
    port.note(health, by: generation)
    noteMoments(numbers, now)
    note(numbers, now)
    note(movedDirectories: directories, now)
    offer?.touched.formUnion(numbers)
    if isCurrent { known.snapshot = now }
    tell(schedule.pendingChanged(to: pendingCount, at: time), now, health, at: time)
  }

  /// Whether a moved directory needs no look at each result in it: all of them stay what and where they are.
  private var staysWhereMoved: Bool {
    plan.isSteadyInMoves && plan.resultCountMax == nil && offer == nil && fresh == nil && !isReordered
  }

  private func note(movedDirectories directories: Set<FileNumber>, _ now: TableSnapshot) {
    if directories.isEmpty && moved.isEmpty || known.list.count == 0 { return }
    let (pending, known, plan) = (pending, known, plan)
    let basis = MovedDirectories.Basis(list: known.list, before: known.snapshot.table, after: now.table) { number in
      known.list.place(of: plan.unfilteredEntry(number, known.snapshot)).isMember
    } isOther: { number in
      pending[number] != nil
    }
    let countMax = plan.batching.pendingCountMax
    if directories.isEmpty {
      moved.settle(basis, countMax: countMax)
    } else {
      moved.insert(directories, basis, countMax: countMax)
    }
  }

  /// Adds the files for which the result of the query differs because a directory was moved.
  ///
  /// Where paths decide nothing, these are results alone: however much there is in the directory, it costs no more than
  /// examining all of them.
  private func addAffected(by directory: FileNumber, _ now: TableSnapshot, _ numbers: inout Set<FileNumber>) {
    let isWhole = plan.readsPaths || offer != nil
    let countMax = isWhole ? .max : known.list.count + pending.count
    var members: [FileNumber] = []
    if now.table.forEach(in: directory, countMax: countMax, { members.append($0) }) {
      numbers.formUnion(members)
    } else {
      known.list.forEach { entry in
        let number = FileNumber(entry.number)
        if now.table.contains(number), now.table.isInside(number, directory) { numbers.insert(number) }
      }
      for number in pending.keys where now.table.contains(number) && now.table.isInside(number, directory) {
        numbers.insert(number)
      }
    }
  }

  /// Searches with another plan, before anything has been reported.
  func replanArrival(_ plan: QueryPlan) {
    self.plan = plan
    known.list = OrderedList(plan.order)
  }

  /// Searches with another plan from now on, and reports the difference at once.
  func replan(_ plan: QueryPlan, _ now: TableSnapshot, _ health: ScopeHealth, at time: MonotonicTime) {
    let isSameOrder = plan.order.descriptors == self.plan.order.descriptors
    var numbers = Set<FileNumber>()
    if !isSameOrder {
      // The pending entries are in the former order. An order that readers have may come back before they received
      // another one: files of theirs that are gone by now count as well.
      forget()
      if known.list.count == 0 { known.list = OrderedList(plan.order) }
      known.list.forEach { numbers.insert(FileNumber($0.number)) }
    }
    self.plan = plan
    moments = MomentList()
    // All of them are examined one by one.
    moved = MovedDirectories()
    numbers.formUnion(now.table.numbers)
    filesChanged(numbers, now, health, at: time)
    flush(now, health, at: time)
  }

  /// Finds everything at once in an index that's complete.
  func begin(_ now: TableSnapshot, _ health: ScopeHealth, at time: MonotonicTime) {
    port.note(health, by: generation)
    noteMoments(now.table.numbers, now)
    isArriving = false
    if !isForeign { setFresh(plan.results(now)) }
    gatheringFinished(now, health, at: time)
  }

  /// Readers have nothing.
  private func setFresh(_ list: OrderedList<ResultOrder>) {
    isForeign = false
    known.list = OrderedList(plan.order)
    forget()
    fresh = list.count == 0 ? nil : list
  }

  /// Nothing is pending.
  private func forget() {
    pending = [:]
    found = []
    moved = MovedDirectories()
    fresh = nil
  }

  /// Makes single changes of the results, of which some are going to be others.
  private func unfold() {
    for entry in found { pending[FileNumber(entry.number)] = Update(old: nil, new: entry) }
    found = []
    guard let list = fresh.take() else { return }
    for entry in list.elements { pending[FileNumber(entry.number)] = Update(old: nil, new: entry) }
  }

  private func note(_ numbers: some Sequence<FileNumber>, _ now: TableSnapshot) {
    if isReordered { return }
    let environment = plan.environment
    // Copied once, not for each file.
    let plan = plan
    let item = plan.item(in: now)
    var paths = PathComparison(known.snapshot.table, now.table)
    var leastNew = leastNewNumber
    for number in numbers {
      if let least = leastNew, number.rawValue >= least {
        if let entry = plan.entry(number, item, now, environment) { found.append(entry) }
        leastNew = Int(number.rawValue) + 1
        continue
      }
      leastNew = nil
      let missCount = plan.usesProviders ? now.provided?.missCount : nil
      let entry = plan.entry(number, item, now, environment)
      // Until it has been looked into, the query keeps its former entry.
      let isUndecided = missCount != nil && now.provided?.missCount != missCount
      if isNew(number) {
        if let entry, !isUndecided { found.append(entry) }
      } else {
        unfold()
        note(number, isUndecided ? pending[number].map(\.new) ?? knownEntry(number) : entry, now, &paths)
      }
    }
  }

  /// The number from which on files are certain to be neither reported nor pending; `nil` if that takes a check of each
  /// of them.
  private var leastNewNumber: Int? {
    if plan.usesProviders || fresh != nil || !pending.isEmpty { return nil }
    let known = known.list.count > 0 ? known.snapshot.table.capacity : 0
    return max(known, found.last.map { Int($0.number) + 1 } ?? 0)
  }

  /// Whether it's certain that a file is neither reported nor pending.
  private func isNew(_ number: FileNumber) -> Bool {
    if fresh != nil || known.list.count > 0 && known.snapshot.table.contains(number) { return false }
    if let last = found.last, last.number >= number.rawValue { return false }
    return pending.isEmpty || pending[number] == nil
  }

  private func note(
    _ number: FileNumber, _ new: ResultEntry?, _ now: TableSnapshot, _ paths: inout PathComparison
  ) {
    let old = knownEntry(number)
    let isSame =
      old == new
      && (new == nil
        || known.snapshot.table.facts(of: number).hold(for: now.table.facts(of: number)) && paths.isSame(number))
    pending[number] = isSame ? nil : Update(old: old, new: new)
  }

  private func knownEntry(_ number: FileNumber) -> ResultEntry? {
    if plan.usesProviders { return known.entry(of: number) }
    guard known.list.count > 0, known.snapshot.table.contains(number) else { return nil }
    let entry = plan.unfilteredEntry(number, known.snapshot)
    return known.list.place(of: entry).isMember ? entry : nil
  }

  /// Everything that there is has been found.
  func gatheringFinished(_ now: TableSnapshot, _ health: ScopeHealth, at time: MonotonicTime) {
    isGathering = false
    tell(schedule.gatheringFinished(at: time), now, health, at: time)
  }

  func timePassed(_ now: TableSnapshot, _ health: ScopeHealth, at time: MonotonicTime) {
    tell(schedule.timePassed(at: time), now, health, at: time)
  }
}

// MARK: - Time

extension QueryRunner {
  /// The moment from which on the result for some file may differ though it doesn't change.
  var nextMoment: MetadataDate? { moments.first }

  /// Evaluates files again whose results may differ with the passing of time.
  ///
  /// - Note: Rule R40.
  func momentPassed(_ now: TableSnapshot, _ health: ScopeHealth, at time: MonotonicTime) {
    let due = moments.takeDue(at: plan.wallClock.now())
    if !due.isEmpty { filesChanged(due, now, health, at: time) }
  }

  /// The numbers are computed only if the query depends on the time: there may be a million.
  private func noteMoments(_ numbers: @autoclosure () -> some Sequence<FileNumber>, _ now: TableSnapshot) {
    let plan = plan
    guard plan.predicate.isTimeDependent, plan.predicate.isForeseeable else { return }
    let environment = plan.environment
    let item = plan.item(in: now)
    for number in numbers() { moments.set(plan.nextMoment(of: number, item, now, environment), for: number) }
  }
}

// MARK: - Actions of readers

extension QueryRunner {
  func pause() {
    pauseDepth += 1
    schedule.pause()
  }

  /// The last one reports what has been held back.
  func resume(_ now: TableSnapshot, _ health: ScopeHealth, at time: MonotonicTime) {
    if pauseDepth == 0 { return }
    pauseDepth -= 1
    // A batch may have been refused meanwhile.
    _ = schedule.pendingChanged(to: pendingCount, at: time)
    tell(schedule.resume(at: time, flushes: pauseDepth == 0), now, health, at: time)
    tellOwedFinish(now, health, at: time)
  }

  /// A reader has taken the batch that waited, or doesn't need any.
  func taken(_ count: Int, _ now: TableSnapshot, _ health: ScopeHealth, at time: MonotonicTime) {
    takenCount = max(takenCount, count)
    let isFlushing = isLate && pauseDepth == 0
    isLate = false
    let offer = offer.take()
    if let offer {
      isForeign = false
      known = offer.version
      if offer.finishesGathering { owesFinish = false }
      forget()
      note(offer.touched, now)
    }
    // The schedule takes refused batches for delivered.
    let delivery = schedule.pendingChanged(to: pendingCount, at: time)
    tell(offer == nil ? delivery : schedule.resume(at: time, flushes: isFlushing), now, health, at: time)
    if isFlushing { flush(now, health, at: time) }
  }

  /// A reader begins, which has nothing.
  func readerBegan(_ count: Int, _ now: TableSnapshot, _ health: ScopeHealth, at time: MonotonicTime) {
    if isReordered {
      setFresh(isArriving ? OrderedList(plan.order) : plan.results(now))
    } else {
      var current = fresh ?? known.list
      _ = current.apply(Array(pending.values))
      _ = current.add(found)
      setFresh(current)
    }
    takenCount = max(takenCount, count)
    isLate = false
    owesFinish = true
    if offer.take() != nil { _ = schedule.resume(at: time, flushes: false) }
    let delivery = schedule.pendingChanged(to: pendingCount, at: time)
    tell(delivery, now, health, at: time)
    if !isGathering { flush(now, health, at: time) }
  }

  /// Reports everything now, unless it's paused.
  ///
  /// - Returns: Whether that's done; otherwise it will be, when it's known how many batches a reader has taken.
  @discardableResult
  func flush(_ now: TableSnapshot, _ health: ScopeHealth, at time: MonotonicTime) -> Bool {
    if pauseDepth > 0 { return true }
    if isLate { return false }
    if let delivery = schedule.flush() {
      tell(delivery, now, health, at: time)
    } else if let offer, !offer.touched.isEmpty {
      withdraw(offer, now, health, at: time)
    } else {
      tellOwedFinish(now, health, at: time)
    }
    return !isLate
  }

  /// The waiting batch isn't true any more: everything in it has been undone.
  private func withdraw(_ undone: Offer, _ now: TableSnapshot, _ health: ScopeHealth, at time: MonotonicTime) {
    if undone.finishesGathering { return tell(.update, now, health, at: time) }
    switch port.withdraw(limited(known.list, now), takenCount: takenCount, by: generation) {
    case .taken, .stored:
      offer = nil
      known.snapshot = now
      _ = schedule.resume(at: time, flushes: false)
    case .outdated: isLate = true
    case .paused: break
    }
  }

  /// The end of the first search was to be reported, but to a reader that had gone, or while it was paused.
  private func tellOwedFinish(_ now: TableSnapshot, _ health: ScopeHealth, at time: MonotonicTime) {
    if owesFinish, !isGathering, !isLate, offer == nil, pauseDepth == 0 { tell(.update, now, health, at: time) }
  }

  private func tell(
    _ delivery: BatchSchedule.Delivery?, _ now: TableSnapshot, _ health: ScopeHealth, at time: MonotonicTime
  ) {
    guard let delivery else { return }
    // Results of the scopes before stay until the first search of these is over.
    if isForeign, isGathering { return }
    // There's no reader to receive it; code that reads the results sees twice as many from time to time.
    if delivery == .progress, !port.hasReader, pendingCount < known.list.count { return }
    let isReordered = isReordered
    var version = Version(list: isReordered ? plan.results(now) : fresh ?? known.list, snapshot: now)
    var difference = ListDifference<ResultEntry>()
    // A reader that begins meanwhile makes the port refuse the batch.
    if !isReordered, fresh == nil || port.hasReader {
      difference = fresh.map(ListDifference.init(adding:)) ?? updates(&version.list, now)
    }
    // The reader may have taken that from the engine before.
    if isForeign { owesFinish = port.owesFinish }
    let finishes = owesFinish && (delivery != .progress)
    let movedResults = movedResults(version.list, now)
    let change: MetadataQueryChange
    if plan.resultCountMax == nil, !isReordered {
      change = MetadataQueryChange(
        difference, movedResults, before: known.snapshot, after: now, results: MetadataResults(version.list, now),
        isGathering: delivery == .progress, finishesGathering: finishes, health: health)
    } else {
      change = MetadataQueryChange(
        from: ResultHistory.Remembered(
          results: isForeign ? port.taken : limited(known.list, known.snapshot), isGathering: isGathering),
        to: limited(version.list, now), isGathering: delivery == .progress, finishesGathering: finishes, health: health)
      // The changes are behind the last result, or all of them are in their places.
      if change.isEmpty, !finishes {
        if isForeign { return adopt(version, now) }
        known = version
        forget()
        if let offer { withdraw(offer, now, health, at: time) }
        return
      }
    }
    switch port.put(change, takenCount: takenCount, isWhole: isReordered || fresh != nil, by: generation) {
    case .taken:
      isForeign = false
      known = version
      forget()
      if finishes { owesFinish = false }
    case .stored:
      // Nothing more is reported before it's taken, but for the batches that flush() puts in its place.
      if offer == nil { schedule.pause() }
      offer = Offer(version: version, finishesGathering: finishes)
    case .outdated: isLate = true
    // It's reported by resume(), which follows.
    case .paused: break
    }
  }

  /// The results in directories that were moved; `pending` has all other changes by now.
  private func movedResults(_ list: OrderedList<ResultOrder>, _ now: TableSnapshot) -> MovedResults? {
    if moved.isEmpty { return nil }
    return MovedResults(
      in: moved.numbers, from: known.list, to: list, known.snapshot.table, now.table,
      except: Set(pending.keys.map(\.rawValue)))
  }

  /// These scopes have the same results as those before: none.
  private func adopt(_ version: Version, _ now: TableSnapshot) {
    switch port.withdraw(limited(version.list, now), takenCount: takenCount, by: generation) {
    case .taken, .stored:
      isForeign = false
      known = version
      forget()
    case .outdated: isLate = true
    case .paused: break
    }
  }

  /// As many results as the plan allows.
  private func limited(_ list: OrderedList<ResultOrder>, _ snapshot: TableSnapshot) -> MetadataResults {
    guard let countMax = plan.resultCountMax, countMax < list.count else { return MetadataResults(list, snapshot) }
    let first = (0..<countMax).map { list[$0] }
    return MetadataResults(OrderedList(list.order, of: first), snapshot)
  }

  private func updates(_ list: inout OrderedList<ResultOrder>, _ now: TableSnapshot) -> ListDifference<ResultEntry> {
    if pending.isEmpty, moved.isEmpty { return list.add(found) }
    unfold()
    return list.apply(pairedUpdates(now))
  }

  /// A removed file and a new one under the same path are one that has changed.
  ///
  /// - Note: Rule R16.
  private func pairedUpdates(_ now: TableSnapshot) -> [Update] {
    if !pending.values.contains(where: { $0.new == nil }) { return Array(pending.values) }
    let removed = pending.filter { $0.value.new == nil }
    let added = pending.filter { $0.value.old == nil }
    if added.isEmpty { return Array(pending.values) }
    var updates = pending
    let places = Dictionary(removed.keys.map { (known.snapshot.table.path(of: $0), $0) }) { first, _ in first }
    for (number, update) in added {
      guard let gone = places[now.table.path(of: number)], let old = updates.removeValue(forKey: gone)?.old else {
        continue
      }
      updates[number] = Update(old: old, new: update.new)
    }
    return Array(updates.values)
  }
}
