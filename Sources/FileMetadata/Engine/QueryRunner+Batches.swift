internal import FileWatching
internal import MetadataPredicates
internal import SystemInterface

extension QueryRunner {
  func tell(
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
  func limited(_ list: OrderedList<ResultOrder>, _ snapshot: TableSnapshot) -> MetadataResults {
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
