internal import FileAccessArbiter
internal import FileWatching
internal import SystemInterface

// Names that come, go and move.

extension ChangeCore {
  /// Something that has a name by now, and what was known of that name before.
  struct Appearance: Hashable, Sendable {
    let path: ItemPath
    let byRename: Bool
    let wasKnown: Bool
    let wasPresent: Bool
    /// Where the items are to be that were awaited there.
    let awaited: [ItemPath]

    /// The steps for the other awaited paths, whose items may have arrived with it.
    var companions: [Step] { awaited.filter { $0 != path }.map { .announceIfPresent($0) } }
  }

  mutating func appear(_ site: Site, byRename: Bool) {
    // The item may be gone again, and isn't reported then. Its end is an event too, if it was known.
    if isDeep(site) { return order(.look(site.path), .appearance(site, byRename: byRename)) }
    takePresence(site, byRename: byRename)
  }

  /// Nothing is under a name: it's gone again, or has been made in a directory that was seen to leave this place.
  mutating func noteAbsence(at site: Site, byRename: Bool) {
    if places.place(at: site.directory)?.isLeft == true { noteUnseenChange(at: site.path) }
    reportEndsAgain(at: site.path)
    if told.isDoubtful, isDeep(site) { confirmEnd(ofSight: site.path) }
    // The item that has replaced the known one may have moved on with a directory around it.
    if byRename, isKnownName(site.path) {
      see(.changed(site.path))
      note(.gone, at: site.path)
    }
  }

  /// An item that was reported as gone may have been there when observers looked, and is gone again.
  private mutating func reportEndsAgain(at top: ItemPath) {
    for path in told.ends(inside: top) where path == top || !presenters(of: path).isEmpty {
      see(.vanished(path))
    }
  }

  /// Presenters whose item was seen to leave may miss a change before they follow it.
  mutating func noteUnseenChange(at path: ItemPath) {
    let around = path.ancestors.flatMap { byPath[$0] ?? [] }
    for id in around + presenters(inside: path) where presented[id]?.hasLeft == true {
      presented[id]?.hasChangedMeanwhile = true
    }
  }

  /// Something is reported in a directory that has moved along with one of which presenters aren't notified yet, and was never watched
  /// at its former place.
  mutating func noteUnseenNews(at path: ItemPath) {
    guard let watch = path.parent.flatMap({ places.watch(at: $0) }), !places[watch].contains(where: \.isLeft) else {
      return
    }
    for new in path.ancestors {
      for old in [moves.origin(of: new), reportedMoves.origin(of: new)].compactMap(\.self) {
        noteUnseenChange(at: path.movedAlong(from: new, to: old))
      }
    }
  }

  mutating func takePresence(_ site: Site, byRename: Bool, mayBeKnown: Bool = false) {
    let path = site.path
    let (wasKnown, search) = enter(site, mayBeKnown: mayBeKnown)
    let waiting = waiting(at: path)
    let appearance = Appearance(
      path: path, byRename: byRename, wasKnown: wasKnown, wasPresent: isKnownToBePresent(path),
      awaited: waiting.compactMap { presented[$0]?.path })
    // Another directory may be where presenters know one.
    let renewal = byRename ? renewalInside(path) : []
    doNext([.announce(appearance)] + search + waiting.map { .arm($0) } + renewal + appearance.companions)
  }

  /// Something has taken the place of a moved item.
  private mutating func refuteMove(from path: ItemPath) {
    moves[path]?.isRefuted = true
    reportedMoves[path]?.isRefuted = true
  }

  /// Reports an arrival before the items inside it are reported.
  mutating func announce(_ appearance: Appearance) {
    let path = appearance.path
    refuteMove(from: path)
    // A directory that was made is read after it's watched, so what was found there is an event once more.
    if appearance.wasKnown, !appearance.byRename, appearance.awaited.isEmpty { return }
    see(appearance.wasKnown || appearance.wasPresent ? .changed(path) : .appeared(path))
  }

  /// A name is known from now on, if everything inside the directory around it is to be known.
  ///
  /// - Returns: Whether the name was known; and how to watch what is inside, if that is to be known too.
  private mutating func enter(_ site: Site, mayBeKnown: Bool) -> (wasKnown: Bool, search: [Step]) {
    guard isDeep(site) else { return (false, []) }
    var isNew = false
    places.change(at: site.directory) { isNew = $0.insert(site.name) }
    let search = DirectorySearch(site.path, isReporting: true, mayBeKnown: mayBeKnown)
    return (!isNew, site.isDirectory ? [.search(search)] : [])
  }

  private mutating func leave(_ site: Site) -> Bool {
    var wasKnown = false
    places.change(at: site.directory) { wasKnown = $0.remove(site.name) }
    return wasKnown
  }

  /// The presenters that await an item at a place.
  private func waiting(at path: ItemPath) -> [PresenterID] { byPlace[path, default: []].sorted() }

  /// Watches and inspects the presented items inside a directory that has taken the place of another, or of none.
  private func renewalInside(_ directory: ItemPath) -> [Step] {
    presentersBelow(directory).flatMap { [.arm($0), .seeOther($0, than: presented[$0]?.item)] }
  }

  mutating func findGone(_ site: Site) {
    reportEndsAgain(at: site.path)
    disappear(site)
  }

  mutating func disappear(_ site: Site) {
    let path = site.path
    let wasKnown = leave(site)
    // An item that has come to the place of a moved one, and is gone again before it was reported, is none that presenters know.
    let isItemElsewhere = (moves[path] ?? reportedMoves[path]).map { !$0.isRefuted } ?? false
    let owners = isItemElsewhere ? [] : presenters(of: path)
    for id in owners { release(id) }
    for place in places.pathsInside(path) where places.place(at: place)?.isLeft == false { unwatch(place) }
    if wasKnown || !owners.isEmpty { see(.vanished(path)) }
    // Those are awaited from now on where the first directory on the way is missing.
    let others = site.isDirectory ? presentersBelow(path).filter { presented[$0]?.hasLeft == false } : []
    doNext(others.flatMap { [.arm($0), .seeOther($0, than: presented[$0]?.item)] })
  }

  // MARK: Moves

  /// A name has gone by a rename that leads to a place that isn't watched.
  mutating func noteDeparture(_ site: Site) {
    guard let id = presenters(of: site.path).first, presented[id]?.item != nil else {
      return order(.look(site.path), .departedName(site))
    }
    order(.find(id, orAt: nil), .departure(site))
  }

  mutating func depart(_ site: Site, to place: ItemPath?) {
    if place == site.path { return replace(site) }
    if let place {
      _ = leave(site)
      return see(.moved(from: site.path, to: place, replaced: false))
    }
    if place != nil {
      // Back in that place by now, in another directory of the same name.
      let owners = presenters(of: site.path)
      return doNext([.disappear(site)] + owners.flatMap { [.arm($0), .seeOther($0, than: nil)] })
    }
    let isOnTheWay = site.isDirectory && isPresentedInside(site.path)
    doNext((isOnTheWay ? [.callRoll(rollCall(insideAnyOf: [site.path]))] : []) + [.disappear(site)])
  }

  /// An item that goes under a known name has been replaced before: if two names change places in one step, the arrival at one of
  /// them may be reported before the departure from it.
  mutating func replace(_ site: Site) {
    if isDirectory(site.path) { noteDoubt(inside: site.path) }
    doNext([.unwatchInside(site.path), .revisit(site)] + confirmOthers(inside: site.path))
  }

  mutating func noteMove(_ site: Site, to target: Site) {
    let (old, new) = (site.path, target.path)
    noteBurst(from: old, to: new, isDirectory: site.isDirectory)
    let isFollowed = isPresentedInside(old)
    guard isWanted(site) || isFollowed else {
      if isWanted(target) { appear(target, byRename: true) }
      return
    }
    guard isWanted(target) || isFollowed else { return disappear(site) }
    let wasKnownHere = leave(site)
    // A temporary file that was gone before it was looked at: only what it became is reported.
    if isDeep(site), !wasKnownHere, !isFollowed {
      noteAbsence(at: site, byRename: false)
      return appear(target, byRename: true)
    }
    let hadTarget = isKnownToBePresent(new)
    refuteMove(from: new)
    // When events were lost it may be watched there already. Otherwise whatever was there is watched under that name no more.
    let mayBeKnown =
      site.isDirectory && places.watch(at: old) == nil && isDeep(target) && places.place(at: new)?.isDeep == true
    if !mayBeKnown {
      unwatchInside(new)
      forgetReplaced(at: new)
    }
    // Watches of what presenters have there stay where the arbiter knows them until it orders them to follow.
    if !isFollowed {
      if !isDeep(target) {
        unwatchInside(old)
      } else if site.isDirectory {
        movePlaces(from: old, to: new)
      }
    } else if isDeep(target), site.isDirectory {
      for watch in places.copyDirectories(from: old, to: new) { end(watch) }
    }
    let (wasKnown, search) = enter(target, mayBeKnown: mayBeKnown)
    see(.moved(from: old, to: new, replaced: wasKnown || hadTarget))
    // The item that was there before is gone, and the one that has taken its place may be elsewhere by now.
    let waiting = waiting(at: new).flatMap { id -> [Step] in
      presented[id]?.path == new && presented[id]?.item != nil ? [.arm(id), .announceLoss(id)] : [.arm(id)]
    }
    doNext(search + waiting + renewalInside(new))
  }
}

// MARK: - Exchanges

extension ChangeCore {
  /// Two names have changed places in one step, or one file was renamed there and back: both names are looked at.
  ///
  /// - Returns: The next steps.
  mutating func exchange(_ events: ExchangeEvents) -> [Step] {
    let sites = [events.first, events.second].flatMap { place in
      places[place.watch].map { Site(directory: $0.path, name: place.name, isDirectory: true) }
    }
    let paths = sites.map(\.path)
    if let first = paths.first, let last = paths.last { noteExchange(first, last) }
    let wanted = sites.filter { isWanted($0) || isPresentedInside($0.path) }
    let unwatched = wanted.filter { !isDeep($0) }.map { Step.unwatchInside($0.path) }
    return unwatched + wanted.map { .revisit($0) } + paths.flatMap(confirmOthers)
  }
}
