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
      // Moved on before it was settled.
      if let first = moves.filter({ $0.value.target == old }).keys.min() {
        moves[first]?.target = new
        return
      }
      moves[old] = UnsettledMove(target: new, replaced: replaced)
      if moves.count > Self.moveCountMax { settleMove(from: old) } else { output.unsettled.append(old) }
    case .appeared(let path), .changed(let path):
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

  /// Some time has passed in which an item may have been left alone.
  mutating func settleChange(at path: ItemPath) {
    requireIdleness()
    guard let unsettled = changes[path] else { return }
    if unsettled.isRenewed, unsettled.lookCount < Self.lookCountMax {
      changes[path]?.isRenewed = false
      changes[path]?.lookCount += 1
      return output.unsettledChanges.append(path)
    }
    changes[path] = nil
    order(.look(path), .settledChange(unsettled, path))
  }

  mutating func settle(_ unsettled: UnsettledChange, at path: ItemPath, isPresent: Bool) {
    if isPresent { return confirm(unsettled.change) }
    // Of most of what's gone an event tells, perhaps one that hasn't been taken yet. None tells of what was in a directory in
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
    guard let move = moves.removeValue(forKey: old) else { return }
    order(.look(old), .formerPlace(old, move))
  }

  mutating func takeFormerPlace(_ old: ItemPath, _ move: UnsettledMove, isPresent: Bool) {
    guard isPresent else { return find(old, move) }
    let target: ItemChange = move.replaced ? .changed(move.target) : .appeared(move.target)
    // Also of those that are armed already: the renewal has ended their watches.
    let replacement: [Step] =
      presenters(of: old).map { .arm($0) } + (move.isRefuted ? [] : [.confirm(.changed(old))])
    let place = place(of: move)
    // Nobody is told that a directory was moved: what is in it has appeared with it.
    let isSearched = place != old && places.place(at: place)?.isDeep == true
    let search = DirectorySearch(place, isTelling: true)
    doNext(
      renewal(inside: old) + replacement + confirmOthers(inside: old) + [.confirmIfPresent(target, at: place)]
        + (isSearched ? [.unwatchInside(place), .search(search)] : []))
  }

  /// Another directory may be where one was of which everything was watched.
  private func renewal(inside path: ItemPath) -> [Step] {
    guard places.place(at: path)?.isDeep == true else { return [] }
    let isObserved = path.parent.flatMap { places.place(at: $0) }?.isDeep == true
    let search = DirectorySearch(path, isTelling: true)
    return [.unwatchInside(path)] + (isObserved ? [.search(search)] : [])
  }

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
    let later = moves.keys.sorted().first { $0.contains(move.target) }
    guard let later, let target = moves[later]?.target else { return move.target }
    return move.target.movedAlong(from: later, to: target)
  }

  mutating func takeTarget(_ isPresent: Bool, of old: ItemPath, _ move: UnsettledMove) {
    settle(old, move, at: isPresent || isKnownName(place(of: move)) ? move.target : nil)
  }

  mutating func takePlace(_ place: ItemPath?, of old: ItemPath, _ move: UnsettledMove) {
    // Back again.
    if place == old { return takeFormerPlace(old, move, isPresent: true) }
    let expected = self.place(of: move)
    guard let place, place != move.target, isKnownName(expected), let directory = move.target.parent else {
      return settle(old, move, at: place)
    }
    // Moved on by itself, or with the directory that it was moved to. Of that an event tells, which isn't taken yet or not
    // settled: whoever observes the directory has to hear of the two moves in their order.
    order(.look(directory), .targetDirectory(old, move, place))
  }

  /// Nothing has taken the place of a moved item.
  mutating func settle(_ old: ItemPath, _ move: UnsettledMove, at place: ItemPath?) {
    guard let place else {
      for id in presenters(of: old) { release(id) }
      return confirm(.vanished(old))
    }
    for (id, item) in presented where item.path.map(old.isSameOrContains) ?? false {
      presented[id]?.isFollowing = true
    }
    places.dropAliases(from: old, to: place)
    confirm(.moved(from: old, to: place, replaced: move.replaced && place == move.target))
    for path in losses where place.isSameOrContains(path) && !isKnownName(path) { confirm(.vanished(path)) }
    losses = moves.isEmpty ? [] : losses.filter { !place.isSameOrContains($0) }
  }
}
