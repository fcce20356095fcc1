internal import FileAccessArbiter
internal import FileWatching
internal import SystemInterface

// Looking again at changes that no coordinated write accounts for.

extension ChangeCore {
  /// No coordinated write accounts for a change: it's confirmed if it lasts.
  mutating func lookAgain(_ change: ItemChange) {
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
        output.confirmed.append(change)
      }
    case .vanished, .unknown: output.confirmed.append(change)
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
    // Of what's gone by now the end is told.
    push(.confirmIfPresent(unsettled.change, at: path))
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
    let replacement: [Step] =
      move.isRefuted ? [] : presenters(of: old).map { .arm($0) } + [.confirm(.changed(old))]
    doNext(replacement + [.confirmIfPresent(target, at: move.target)])
  }

  private mutating func find(_ old: ItemPath, _ move: UnsettledMove) {
    if let id = presenters(of: old).first, presented[id]?.item != nil {
      order(.find(id, orAt: move.target), .movedItem(old, move))
    } else {
      order(.look(move.target), .target(old, move))
    }
  }

  /// Nothing has taken the place of a moved item.
  mutating func settle(_ old: ItemPath, _ move: UnsettledMove, at place: ItemPath?) {
    guard let place else {
      for id in presenters(of: old) { release(id) }
      return output.confirmed.append(.vanished(old))
    }
    for (id, item) in presented where item.path.map(old.isSameOrContains) ?? false {
      presented[id]?.isFollowing = true
    }
    output.confirmed.append(.moved(from: old, to: place, replaced: move.replaced && place == move.target))
  }
}
