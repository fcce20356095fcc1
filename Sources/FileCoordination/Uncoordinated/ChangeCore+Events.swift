internal import FileAccessArbiter
internal import FileWatching
internal import SystemInterface

// From events to what is to be done about them.

extension ChangeCore {
  /// A name in a watched directory.
  struct Site: Hashable, Sendable {
    let directory: ItemPath
    let name: SystemPath
    let isDirectory: Bool

    var path: ItemPath { directory.appending(name) }
  }

  /// Events that were taken together.
  struct EventBatch: Hashable, Sendable {
    var rest: ArraySlice<WatchEvent>
    /// The watched items that were moved themselves: presented items inside have come along.
    var movedPlaces: Set<ItemPath> = []
  }

  /// Arrivals by rename, for those departures among the same events that belong to them.
  struct Halves: Hashable, Sendable {
    struct Arrival: Hashable, Sendable {
      let watch: WatchID
      let name: SystemPath
    }

    private var arrivals: [RenameCookie: Arrival] = [:]
    private var departed: Set<RenameCookie> = []

    init(_ events: [WatchEvent]) {
      for case .name(let watch, let name, .arrived(let cookie), _) in events {
        arrivals[cookie] = Arrival(watch: watch, name: name)
      }
    }

    func arrival(_ cookie: RenameCookie) -> Arrival? { arrivals[cookie] }
    mutating func pair(_ cookie: RenameCookie) { departed.insert(cookie) }
    func isPaired(_ cookie: RenameCookie) -> Bool { departed.contains(cookie) }
  }

  /// There may be events: takes in everything that waits in the queue.
  mutating func eventsArrived() {
    requireIdleness()
    order(.takeEvents, .events(after: []))
  }

  mutating func takeEvents(_ events: [WatchEvent], _ question: Question) {
    guard case .events(let former) = question else { preconditionFailure("events are no answer to \(question)") }
    let all = former + events
    endedCount = 0
    // The halves of a rename are queued one after the other, so the second may have come since.
    if !events.isEmpty, case .name(_, _, .departed, _)? = all.last {
      return order(.takeEvents, .events(after: all))
    }
    if all.isEmpty { return settleTold() }
    if all.contains(.overflow) { return watchEverythingAgain(doubting: [.root]) }
    halves = Halves(all)
    doNext([.take(EventBatch(rest: all[...])), .noteFollowers, .settleTold])
  }

  mutating func take(_ former: EventBatch) {
    var batch = former
    if let exchange = ExchangeEvents(batch.rest) {
      batch.rest = batch.rest.dropFirst(exchange.count)
      return doNext(self.exchange(exchange) + [.take(batch)])
    }
    guard let event = batch.rest.popFirst() else {
      halves = Halves([])
      if !batch.movedPlaces.isEmpty { callRoll(insideAnyOf: batch.movedPlaces) }
      return
    }
    var next: [Step] = []
    switch event {
    case .name(let watch, let name, let action, let isDirectory):
      next = places[watch].map {
        .apply(action, Site(directory: $0.path, name: name, isDirectory: isDirectory))
      }
    case .itemChanged(let watch): for place in places[watch] { noteChange(at: place.path) }
    case .itemMoved(let watch): batch.movedPlaces.formUnion(places[watch].map(\.path))
    case .ended(let watch): next = noteEnd(of: watch)
    case .overflow, .mountsChanged: break
    }
    doNext(next + [.take(batch)])
  }

  mutating func apply(_ action: WatchEvent.Action, _ site: Site) {
    switch action {
    case .created: if isWanted(site) { appear(site, byRename: false) }
    case .removed: if isWanted(site) { disappear(site) }
    case .changed: if isWanted(site) { noteChange(at: site.path) }
    case .departed(let cookie):
      if let arrival = halves.arrival(cookie), let directory = directory(of: arrival, from: site) {
        halves.pair(cookie)
        noteMove(site, to: Site(directory: directory, name: arrival.name, isDirectory: site.isDirectory))
      } else if isWanted(site) {
        noteDeparture(site)
      }
    case .arrived(let cookie):
      if halves.isPaired(cookie) { return }
      // Alone, it comes from elsewhere, or its departure is reported already.
      if isWanted(site) { appear(site, byRename: true) }
    }
  }

  /// Where something has arrived: a directory that has been moved may stand for its former place as well, for a while, or for
  /// nothing else if its new one isn't observed.
  private func directory(of arrival: Halves.Arrival, from site: Site) -> ItemPath? {
    let known = places[arrival.watch]
    if known.contains(where: { $0.path == site.directory }) { return site.directory }
    return known.last.map { $0.isLeft ? followMoves($0.path) : $0.path }
  }

  func isDeep(_ site: Site) -> Bool { places.place(at: site.directory)?.isDeep ?? false }

  func isWanted(_ site: Site) -> Bool { isDeep(site) || byPlace[site.path] != nil }

  /// Events were lost: anything may have changed, also what is watched.
  ///
  /// Needed watches are kept: the end of each watch is an event too, and many of them would overflow the queue again.
  mutating func watchEverythingAgain(doubting tops: [ItemPath]) {
    let former = places.allWatches
    places = WatchedPlaces()
    doNext(presented.keys.sorted().map { .arm($0) } + [.unwatchUnused(former)] + tops.map { .see(.unknown($0)) })
  }

  /// Everything is known that was done before the last report: observers have seen what it says, unless a move is still to be reported.
  mutating func settleTold() {
    resumeBurst()
    let (moves, reportedMoves) = (moves, reportedMoves)
    told.settle {
      moves.concernAround($0)
    } orAtFirstWhere: {
      reportedMoves.concernAround($0)
    }
  }

  /// Notes of presenters that are about to follow a move whether more has happened to their items.
  mutating func noteChangesMeanwhile() {
    for id in followers {
      guard let path = presented[id]?.path else { continue }
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
}
