internal import FileAccessArbiter
internal import FileWatching
internal import SystemInterface

// From events to the changes of items.

extension ChangeReader {
  /// Takes in everything that waits in the queue.
  mutating func takeEvents() {
    var events = watcher.takeEvents()
    // The halves of a rename are queued one after the other, so the second may have come since.
    while case .name(_, _, .departed, _)? = events.last {
      let more = watcher.takeEvents()
      if more.isEmpty { break }
      events += more
    }
    if events.isEmpty { return }
    if events.contains(.overflow) { return watchEverythingAgain() }
    var halves = Halves(events)
    var isSomethingMoved = false
    for event in events {
      switch event {
      case .name(let watch, let name, let action, let isDirectory):
        for place in places[watch] {
          take(action, Site(directory: place.path, name: name, isDirectory: isDirectory), &halves)
        }
      case .itemChanged(let watch): for place in places[watch] { noteChange(at: place.path) }
      case .itemMoved: isSomethingMoved = true
      case .ended(let watch): noteEnd(of: watch)
      case .overflow, .mountsChanged: break
      }
    }
    if isSomethingMoved { lookAtHandles() }
    noteChangesMeanwhile()
  }

  private mutating func noteChangesMeanwhile() {
    for (id, item) in presented where item.isFollowing {
      guard let path = item.path else { continue }
      let isConcerned = output.seen.contains { change in
        switch change {
        case .changed(let place), .appeared(let place), .vanished(let place), .moved(let place, _, _):
          path.isSameOrContains(place)
        case .unknown: true
        }
      }
      if isConcerned { presented[id]?.hasChangedMeanwhile = true }
    }
  }

  /// A name in a watched directory.
  struct Site {
    let directory: ItemPath
    let name: SystemPath
    let isDirectory: Bool

    var path: ItemPath { directory.appending(name) }
  }

  /// Arrivals by rename, for those departures of the batch that belong to them.
  struct Halves {
    private var arrivals: [RenameCookie: (watch: WatchID, name: SystemPath)] = [:]
    private var departed: Set<RenameCookie> = []

    init(_ events: [WatchEvent]) {
      for case .name(let watch, let name, .arrived(let cookie), _) in events { arrivals[cookie] = (watch, name) }
    }

    func arrival(_ cookie: RenameCookie) -> (watch: WatchID, name: SystemPath)? { arrivals[cookie] }
    mutating func pair(_ cookie: RenameCookie) { departed.insert(cookie) }
    func isPaired(_ cookie: RenameCookie) -> Bool { departed.contains(cookie) }
  }

  private func isDeep(_ site: Site) -> Bool { places.place(at: site.directory)?.isDeep ?? false }

  private func isWanted(_ site: Site) -> Bool { isDeep(site) || byPlace[site.path] != nil }

  private mutating func take(_ action: WatchEvent.Action, _ site: Site, _ halves: inout Halves) {
    switch action {
    case .created: if isWanted(site) { noteAppearance(site, byRename: false) }
    case .removed: if isWanted(site) { noteDisappearance(site) }
    case .changed: if isWanted(site) { noteChange(at: site.path) }
    case .departed(let cookie):
      if let arrival = halves.arrival(cookie), let place = places[arrival.watch].first {
        halves.pair(cookie)
        let target = Site(directory: place.path, name: arrival.name, isDirectory: site.isDirectory)
        noteMove(site, to: target)
      } else if isWanted(site) {
        noteDeparture(site)
      }
    case .arrived(let cookie):
      if halves.isPaired(cookie) { return }
      // Alone, it comes from elsewhere, or its departure has been reported already.
      if isWanted(site) { noteAppearance(site, byRename: true) }
    }
  }
}

// MARK: - Names

extension ChangeReader {
  private mutating func noteAppearance(_ site: Site, byRename: Bool) {
    let path = site.path
    // It's gone again already, so nothing is reported. Its end is reported as well, if it was known.
    if isDeep(site), !isPresent(path) { return }
    let wasKnown = enter(site)
    let wasPresent = presenters(of: path).contains { presented[$0]?.handle != nil }
    let armed = rearm(at: path)
    if moves[path] != nil { moves[path]?.isRefuted = true }
    // A directory that was made is read after it's watched, so its entries may be reported a second time.
    if wasKnown, !byRename, armed.isEmpty { return }
    output.see(wasKnown || wasPresent ? .changed(path) : .appeared(path))
    for place in armed where place != path && isPresent(place) { output.see(.appeared(place)) }
  }

  /// A name is recorded from now on, and what is inside is watched if the directory around it is watched with
  /// everything inside.
  ///
  /// - Returns: Whether the name was recorded before.
  @discardableResult
  private mutating func enter(_ site: Site) -> Bool {
    guard isDeep(site) else { return false }
    var isNew = false
    places.change(at: site.directory) { isNew = $0.insert(site.name) }
    if site.isDirectory { watchInside(site.path, telling: true) }
    return !isNew
  }

  private mutating func leave(_ site: Site) -> Bool {
    var wasKnown = false
    places.change(at: site.directory) { wasKnown = $0.remove(site.name) }
    return wasKnown
  }

  /// Watches anew for the items that presenters await at a place.
  ///
  /// - Returns: Where their items are to be.
  @discardableResult
  private mutating func rearm(at path: ItemPath) -> [ItemPath] {
    let waiting = byPlace[path, default: []].sorted()
    for id in waiting { arm(id) }
    return waiting.compactMap { presented[$0]?.path }
  }

  private mutating func noteDisappearance(_ site: Site) {
    let path = site.path
    let wasKnown = leave(site)
    let owners = presenters(of: path)
    for id in owners { presented[id]?.handle = nil }
    if site.isDirectory { unwatchInside(path) } else { unwatch(path) }
    if wasKnown || !owners.isEmpty { output.see(.vanished(path)) }
  }

  private mutating func noteDeparture(_ site: Site) {
    let isLed = presenters(of: site.path).first.flatMap { presented[$0]?.handle?.currentPath }
    guard let target = isLed, target != site.path else {
      if site.isDirectory, isPresentedInside(site.path) { lookAtHandles(inside: site.path) }
      return noteDisappearance(site)
    }
    _ = leave(site)
    output.see(.moved(from: site.path, to: target, replaced: false))
  }

  private mutating func noteMove(_ site: Site, to target: Site) {
    let (old, new) = (site.path, target.path)
    let isFollowed = isPresentedInside(old)
    guard isWanted(site) || isFollowed else {
      if isWanted(target) { noteAppearance(target, byRename: true) }
      return
    }
    guard isWanted(target) || isFollowed else { return noteDisappearance(site) }
    let wasKnownHere = leave(site)
    // A temporary file that was gone before it was inspected: only its new name can be reported.
    if isDeep(site), !wasKnownHere, !isFollowed { return noteAppearance(target, byRename: true) }
    let hadTarget = presenters(of: new).contains { presented[$0]?.handle != nil }
    if moves[new] != nil { moves[new]?.isRefuted = true }
    // Watches of presenters' items there stay where the arbiter has them until the presenters are to follow.
    if !isFollowed {
      if isDeep(target) { places.move(from: old, to: new) } else { unwatchInside(old) }
    }
    let wasKnown = enter(target)
    if !isFollowed || presenters(of: new).isEmpty == false { rearm(at: new) }
    output.see(.moved(from: old, to: new, replaced: wasKnown || hadTarget))
  }
}

// MARK: - Items

extension ChangeReader {
  private mutating func noteChange(at path: ItemPath) {
    let directory = path.parent.flatMap { places.place(at: $0) }
    let isKnown = directory.map { $0.isDeep && $0.has(path.lastComponent) } ?? false
    if isKnown || !presenters(of: path).isEmpty { output.see(.changed(path)) }
  }

  /// A watched item is gone, or its file system.
  private mutating func noteEnd(of watch: WatchID) {
    for place in places.end(watch) {
      for (id, item) in presented.sorted(by: { $0.key < $1.key }) {
        guard let path = item.path, place.path.isSameOrContains(path) else { continue }
        let wasPresent = item.handle != nil
        arm(id)
        if wasPresent, presented[id]?.handle == nil { output.see(.vanished(path)) }
      }
    }
  }

  /// A directory on the way to some items was moved: each of their handles shows the new place.
  private mutating func lookAtHandles(inside top: ItemPath = .root) {
    var moved: [ItemPath] = []
    let items = presented.values.compactMap { item in item.path.map { ($0, item.handle) } }
    for (path, handle) in items.sorted(by: { $0.0.bytes.count < $1.0.bytes.count }) where top.isSameOrContains(path) {
      guard moves[path] == nil, !moved.contains(where: { $0.isSameOrContains(path) }), let handle else { continue }
      guard let target = handle.currentPath else {
        // Its new place can't be determined.
        if !handle.isHeld { output.see(.vanished(path)) }
        continue
      }
      if target == path { continue }
      moved.append(path)
      output.see(.moved(from: path, to: target, replaced: false))
    }
  }

  /// Events were lost: anything may have changed, also what is watched.
  mutating func watchEverythingAgain() {
    unwatchInside(.root)
    for id in presented.keys.sorted() { arm(id) }
    output.see(.unknown(.root))
  }
}

// MARK: - Checking again

extension ChangeReader {
  /// No coordinated write accounts for a change: it's confirmed if it lasts.
  mutating func verifyAgain(_ change: ItemChange) {
    switch change {
    case .moved(let old, let new, let replaced):
      // Moved on before it was settled.
      if let first = moves.first(where: { $0.value.target == old })?.key {
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
    guard let unsettled = changes[path] else { return }
    if unsettled.isRenewed, unsettled.lookCount < Self.lookCountMax {
      changes[path]?.isRenewed = false
      changes[path]?.lookCount += 1
      return output.unsettledChanges.append(path)
    }
    changes[path] = nil
    // If it's gone by now, only the end is reported.
    if isPresent(path) { output.confirmed.append(unsettled.change) }
  }

  /// Time enough has passed for something to take the place of an item that was moved away.
  mutating func settleMove(from old: ItemPath) {
    guard let move = moves.removeValue(forKey: old) else { return }
    if isPresent(old) {
      if !move.isRefuted {
        for id in presenters(of: old) { arm(id) }
        output.confirmed.append(.changed(old))
      }
      if isPresent(move.target) {
        output.confirmed.append(move.replaced ? .changed(move.target) : .appeared(move.target))
      }
      return
    }
    let handle = presenters(of: old).first.flatMap { presented[$0]?.handle }
    let target =
      if let handle { handle.currentPath(orAt: move.target) } else { isPresent(move.target) ? move.target : nil }
    if let target {
      for (id, item) in presented where item.path.map(old.isSameOrContains) ?? false {
        presented[id]?.isFollowing = true
      }
      output.confirmed.append(.moved(from: old, to: target, replaced: move.replaced && target == move.target))
    } else {
      for id in presenters(of: old) { presented[id]?.handle = nil }
      output.confirmed.append(.vanished(old))
    }
  }
}
