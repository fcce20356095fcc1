internal import FileWatching
internal import MetadataPredicates
internal import SystemInterface

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
  func setFresh(_ list: OrderedList<ResultOrder>) {
    isForeign = false
    known.list = OrderedList(plan.order)
    forget()
    fresh = list.count == 0 ? nil : list
  }

  /// Nothing is pending.
  func forget() {
    pending = [:]
    found = []
    moved = MovedDirectories()
    fresh = nil
  }

  /// Makes single changes of the results, of which some are going to be others.
  func unfold() {
    for entry in found { pending[FileNumber(entry.number)] = Update(old: nil, new: entry) }
    found = []
    guard let list = fresh.take() else { return }
    for entry in list.elements { pending[FileNumber(entry.number)] = Update(old: nil, new: entry) }
  }

  func note(_ numbers: some Sequence<FileNumber>, _ now: TableSnapshot) {
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
