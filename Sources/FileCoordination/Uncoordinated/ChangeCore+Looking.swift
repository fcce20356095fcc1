internal import FileAccessArbiter
internal import FileWatching
internal import SystemInterface

// Looking again at changes that no coordinated write accounts for.

extension ChangeCore {
  /// No coordinated write accounts for a change: it's confirmed if it lasts.
  mutating func verifyAgain(_ change: ItemChange) {
    requireIdleness()
    switch change {
    case .moved(let old, let new, let replaced):
      let isRefuted = reportedMoves[old]?.isRefuted == true
      reportedMoves[old] = nil
      // Moved on before it was settled; to presenters that know it at this place that's a move of its own.
      if let first = moves.origin(of: old), !isPresentedInside(old) {
        // The former item of the place is gone; or the item, which may have been reported there and is back.
        let mayBeKnown = told.isKnownToObservers(old) || told.ends(inside: old).contains(old)
        if moves[first]?.replaced == true || first == new || mayBeKnown { confirm(.vanished(old)) }
        moves[first]?.target = new
        relocateMoves(inside: old, to: new)
        told.relocate(from: old, to: new)
        return
      }
      let former = moves[old]
      if former?.target == new { return }
      moves[old] = UnsettledMove(
        target: new, replaced: replaced, waitCount: (former?.waitCount ?? 0) + 1, isRefuted: isRefuted)
      if let former { replace(former, at: old) }
      if moves.count > Self.moveCountMax { settleMove(from: old) } else { output.unsettled.append(old) }
    case .appeared(let path), .changed(let path):
      if case .appeared = change, let old = reportedMoves.origin(of: path) { reportedMoves[old]?.isArrival = true }
      if changes[path] != nil {
        changes[path]?.isRenewed = true
        changes[path]?.change = change
      } else if changes.count < Self.changeCountMax {
        changes[path] = UnsettledChange(change: change)
        output.unsettledChanges.append(path)
      } else {
        confirm(change)
      }
    case .vanished, .unknown: confirm(change)
    }
  }

  /// Settles moves inside of a directory that has moved on where that is now.
  private mutating func relocateMoves(inside old: ItemPath, to new: ItemPath) {
    for inner in moves.origins(inside: old) {
      guard var move = moves[inner] else { continue }
      moves[inner] = nil
      let place = inner.movedAlong(from: old, to: new)
      if old.contains(move.target) { move.target = move.target.movedAlong(from: old, to: new) }
      move.waitCount = 1
      moves[place] = move
      output.unsettled.append(place)
    }
  }

  /// Some time has passed in which an item may have been left alone.
  mutating func settleChange(at path: ItemPath) {
    requireIdleness()
    guard let unsettled = changes[path] else { return }
    if unsettled.isRenewed || isInNewDirectory(path), unsettled.lookCount < Self.lookCountMax {
      changes[path]?.isRenewed = false
      changes[path]?.lookCount += 1
      return output.unsettledChanges.append(path)
    }
    changes[path] = nil
    order(.look(path), .settledChange(unsettled, path))
  }

  mutating func settle(_ unsettled: UnsettledChange, at path: ItemPath, isPresent: Bool) {
    if isPresent { return confirm(unsettled.change) }
    // The end of most items is an event, perhaps one that hasn't been taken yet. There's none for the items in a directory in
    // whose place another one is.
    let isEndExpected = isKnownName(path) || isKnownToBePresent(path)
    if isEndExpected, unsettled.lookCount < Self.lookCountMax {
      changes[path] = unsettled
      changes[path]?.lookCount += 1
      return output.unsettledChanges.append(path)
    }
    confirm(.vanished(path))
  }

  /// Time enough has passed for something to take the place of an item that was moved away.
  mutating func settleMove(from old: ItemPath) {
    requireIdleness()
    guard var move = moves[old] else { return }
    move.waitCount -= 1
    let isTooMany = moves.count > Self.moveCountMax
    if move.waitCount == 0, !isTooMany, isInNewDirectory(followUnreportedMoves(move.target)) {
      move.waitCount = 1
      output.unsettled.append(old)
    }
    moves[old] = move.waitCount == 0 || isTooMany ? nil : move
    if moves[old] == nil { order(.look(old), .formerPlace(old, move)) }
  }

  /// Where a place is by now if a directory around it has moved that was new to everybody: that's reported as the arrival of the
  /// directory, and never settled as a move.
  private func followUnreportedMoves(_ place: ItemPath) -> ItemPath {
    follow(place, directories: { isKnownName($0) ? [] : $0.ancestors }, target: { reportedTarget(of: $0) })
  }

  /// Where an item was seen to go, of which the arbiter hasn't decided yet.
  func reportedTarget(of old: ItemPath) -> ItemPath? { reportedMoves[old].flatMap { $0.isRefuted ? nil : $0.target } }

  /// Where a place is by now that was seen to leave, or a directory around it.
  func followMoves(_ place: ItemPath) -> ItemPath {
    follow(place, directories: \.withAncestors, target: { moves[$0]?.target ?? reportedTarget(of: $0) })
  }

  /// Goes along with the moves of directories, the innermost first: one further up came later.
  private func follow(
    _ place: ItemPath, directories: (ItemPath) -> [ItemPath], target: (ItemPath) -> ItemPath?
  ) -> ItemPath {
    var (place, followed) = (place, Set<ItemPath>())
    while let old = directories(place).last(where: { target($0) != nil }), let new = target(old),
      followed.insert(old).inserted
    {
      place = place.movedAlong(from: old, to: new)
    }
    return place
  }

  /// Whether a directory around a place has appeared and isn't reported before it has been left alone: the items inside
  /// are reported after it.
  private func isInNewDirectory(_ path: ItemPath) -> Bool {
    path.ancestors.contains { directory in
      if case .appeared? = changes[directory]?.change { true } else { false }
    }
  }

  /// Another item had taken the place of a moved one, and has moved too: the first one has appeared where it went.
  private mutating func replace(_ former: UnsettledMove, at old: ItemPath) {
    doNext((former.isRefuted ? [] : [.confirm(.changed(old))]) + reportArrival(of: former, from: old))
  }

  /// A replaced item at the target has changed, also if nothing is there any more.
  private func confirmArrival(of move: UnsettledMove) -> Step {
    if move.replaced { return .confirm(.changed(move.target)) }
    let target = followUnreportedMoves(move.target)
    return .confirmIfPresent(.appeared(target), at: target == move.target ? place(of: move) : target)
  }

  mutating func takeFormerPlace(_ old: ItemPath, _ move: UnsettledMove, isFound: Bool) {
    // Nothing may be found there because a directory around it has moved, of which the event isn't taken yet.
    let isPresent = isFound || move.isRefuted && isKnownName(old)
    // Something else was reported there, and may be gone: observers don't take the item to be there any more.
    guard isPresent || move.isRefuted else { return find(old, move) }
    if move.isRefuted, isPresent { noteSight(at: old) }
    for id in presenters(inside: old) { presented[id]?.hasLeft = false }
    let lost = told.take { move.target.isSameOrContains($0) || old.isSameOrContains($0) }
      .filter { $0.report == .gone && move.target.contains($0.path) }
      .map { $0.path.movedAlong(from: move.target, to: old) }
    // Also of those that are armed already: the renewal has ended their watches.
    let replacement: [Step] =
      presenters(of: old).map { .arm($0) } + takenPlace(old, move, isPresent: isPresent)
    let renewal = renewal(inside: old)
    if move.target != old { unwatchLeft(inside: old) }
    doNext(
      renewal + replacement + lost.filter { !isKnownName($0) }.map { .confirm(.vanished($0)) }
        + confirmOthers(inside: old) + reportArrival(of: move, from: old))
  }

  /// A directory isn't reported as moved: its contents have appeared with it.
  private func reportArrival(of move: UnsettledMove, from old: ItemPath) -> [Step] {
    let target = followUnreportedMoves(move.target)
    let place = target == move.target ? place(of: move) : target
    let isSearched = place != old && places.place(at: place)?.isDeep == true
    let search = DirectorySearch(place, isReporting: true, mayBeKnown: true, reportsKnown: true)
    return [confirmArrival(of: move)] + (isSearched ? [.search(search)] : [])
  }

  /// The report about the former place of a moved item that something else has taken, perhaps for a moment in which it wasn't
  /// reported.
  private func takenPlace(_ old: ItemPath, _ move: UnsettledMove, isPresent: Bool) -> [Step] {
    if !isPresent { return [.confirm(.vanished(old))] }
    return move.isRefuted ? [] : [.confirm(.changed(old))]
  }

  /// Another directory may be where one was of which everything was watched.
  private func renewal(inside path: ItemPath) -> [Step] {
    guard places.place(at: path)?.isDeep == true else { return [] }
    let isObserved = path.parent.flatMap { places.place(at: $0) }?.isDeep == true
    return [.search(DirectorySearch(path, isReporting: isObserved, mayBeKnown: true, reportsKnown: isObserved))]
  }

  /// Whether nothing is at the place of a change by now, and an event says so that isn't taken yet: perhaps of the move of a
  /// directory around it.
  func isEndExpected(_ change: ItemChange) -> Bool { change.place.map(isKnownName) ?? false }

  private mutating func find(_ old: ItemPath, _ move: UnsettledMove) {
    let place = place(of: move)
    if let id = presenters(of: old).first, presented[id]?.item != nil {
      order(.find(id, orAt: place), .movedItem(old, move))
    } else {
      order(.look(place), .target(old, move))
    }
  }

  /// Where a moved item should be, if what was moved later is taken into account.
  private func place(of move: UnsettledMove) -> ItemPath {
    if isKnownName(move.target) { return move.target }
    let later = move.target.ancestors.first { moves[$0] != nil }
    guard let later, let target = moves[later]?.target else { return move.target }
    return move.target.movedAlong(from: later, to: target)
  }

  mutating func takeTarget(_ isPresent: Bool, of old: ItemPath, _ move: UnsettledMove) {
    settle(old, move, at: isPresent || isKnownName(place(of: move)) ? move.target : nil)
  }

  mutating func takePlace(_ place: ItemPath?, of old: ItemPath, _ move: UnsettledMove) {
    // Back again.
    if place == old { return takeFormerPlace(old, move, isFound: true) }
    let expected = self.place(of: move)
    guard let place, place != move.target, isKnownName(expected), let directory = move.target.parent else {
      return settle(old, move, at: place)
    }
    // Moved on by itself, or with the directory that it was moved to. The event of that isn't taken yet, or not settled:
    // observers of the directory receive the two moves in their order.
    order(.look(directory), .targetDirectory(old, move, place))
  }

  /// Nothing has taken the place of a moved item.
  mutating func settle(_ old: ItemPath, _ move: UnsettledMove, at place: ItemPath?) {
    guard let place else {
      for id in presenters(of: old) { release(id) }
      let ends = told.take { move.target.isSameOrContains($0) }.filter { $0.report == .gone && !isKnownName($0.path) }
      confirm(.vanished(old))
      for end in ends { confirm(.vanished(end.path)) }
      doNext(reportArrival(of: move, from: old))
      // It may have left with a directory that isn't watched: the places of presented items inside are requested.
      return callRoll(insideAnyOf: [old])
    }
    followers.formUnion(presenters(inside: old))
    places.dropAliases(from: old, to: place)
    confirmMoves(inside: old)
    confirm(.moved(from: old, to: place, replaced: move.replaced && place == move.target))
    confirmAgain(aroundMoveFrom: old, to: place)
    // The item that went there is another one that had the same name.
    if place != move.target { doNext([.confirmIfPresent(move.arrival, at: move.target)]) }
  }

  /// A directory has moved, and before that something inside: at its place that's found no more when time has passed.
  private mutating func confirmMoves(inside directory: ItemPath) {
    for old in moves.origins(inside: directory) {
      guard let move = moves[old] else { continue }
      moves[old] = nil
      if move.isRefuted {
        confirm(move.arrival)
      } else {
        followers.formUnion(presenters(inside: old))
        confirm(.moved(from: old, to: move.target, replaced: move.replaced))
      }
    }
  }

  /// A move is reported: observers see now the items that they couldn't see where these had been reported.
  private mutating func confirmAgain(aroundMoveFrom old: ItemPath, to new: ItemPath) {
    for entry in told.take(where: { old.isSameOrContains($0) || new.isSameOrContains($0) }) {
      let isFormer = old.isSameOrContains(entry.path)
      let path = isFormer ? entry.path.movedAlong(from: old, to: new) : entry.path
      if isUnsettled(path) {
        // After the next move, then.
        note(entry.report, at: path)
      } else if isFormer ? entry.report != .arrived : path != new || entry.report == .gone {
        confirmAgain(entry.report, at: path)
        // Observers found nothing there, and have forgotten what was inside.
        if isFormer, path == new, places.place(at: new)?.isDeep == true {
          doNext([.search(DirectorySearch(new, isReporting: true, mayBeKnown: true, reportsKnown: true))])
        }
      }
    }
  }

  private mutating func confirmAgain(_ report: ToldPlaces.Report, at path: ItemPath) {
    if report != .gone {
      isKnownName(path) ? confirm(.changed(path)) : doNext([.confirmIfPresent(.changed(path), at: path)])
    } else if !isKnownName(path) {
      confirm(.vanished(path))
    }
  }
}
