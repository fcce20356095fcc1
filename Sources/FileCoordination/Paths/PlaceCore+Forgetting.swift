internal import FileWatching
internal import SystemInterface

// Places are forgotten because they're stale, or to make room for others. Names that no place needs go with them, and a
// directory without known names isn't watched.

extension PlaceCore {
  mutating func forget(_ id: PlaceID, _ mark: PlaceMark) {
    guard let place = places.removeValue(forKey: id) else { return }
    placeIDs[place.spelled] = nil
    agenda.append(.mark(id, mark))
    withdraw(id, from: place.nodes)
  }

  mutating func withdraw(_ id: PlaceID, from nodes: [NameNode.ID]) {
    // No node is removed on which a place still depends.
    for node in nodes { names[node].dependents.remove(id) }
    for node in nodes.reversed() { prune(node) }
  }

  /// Removes an unneeded node, and those above that only it needed.
  private mutating func prune(_ node: NameNode.ID) {
    var node = node
    while names.contains(node), names[node].dependents.isEmpty, names[node].childCount == 0 {
      guard let parent = names.remove(node) else { return }
      unwatchIfIdle(parent)
      node = parent
    }
  }

  mutating func unwatchIfIdle(_ node: NameNode.ID) {
    guard names[node].childCount == 0, let watch = names[node].watch else { return }
    names[node].watch = nil
    watched[watch]?.removeAll { $0 == node }
    if watched[watch]?.isEmpty == true {
      watched[watch] = nil
      agenda.append(.unwatch(watch))
    }
  }

  /// Forgets a place that wasn't asked for since the hand of the clock last came by.
  mutating func evictOne(for room: Room) {
    while !ring.isEmpty {
      if hand >= ring.count { hand = 0 }
      let id = ring[hand]
      if places[id] != nil { return order(.takeUse(id), .use(id, room)) }
      removeFromRing()
    }
    preconditionFailure("\(places.count) places aren't in the ring")
  }

  mutating func takeUse(_ isUsed: Bool, of id: PlaceID, _ room: Room) {
    if isUsed {
      hand += 1
      return evictOne(for: room)
    }
    removeFromRing()
    forget(id, .unwatched)
    switch room {
    case .place: makeRoomForPlace()
    case .watch: makeRoomForWatch()
    }
  }

  private mutating func removeFromRing() {
    ring.swapAt(hand, ring.count - 1)
    ring.removeLast()
  }
}
