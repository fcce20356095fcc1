internal import FileAccessArbiter
internal import FileWatching
internal import SystemInterface

/// The known state of presented items and of the places around them, and the orders that are due to receive their
/// changes: a value that decides.
///
/// It gives orders and takes their outcomes, see ``ChangeOrder``. It uses no file, descriptor, thread, lock or clock;
/// ``ChangeHands`` carries its orders out. Between an order and its outcome the files may change in any way.
///
/// Each place is watched before it's looked at, so that nothing is missed that is made meanwhile.
///
/// | watched | for |
/// | --- | --- |
/// | the item itself | its contents and attributes, through any hard link |
/// | the deepest directory on the way to it that exists | names: that it's replaced, removed, moved, or appears |
/// | the directories above | that they're moved themselves |
/// | all directories inside, if the presenter observes subitems | names, contents and attributes |
///
/// `ScopeCore` of the target FileWatching has the same form, see ``FileWatching/WatchingCore``, and other states: it numbers the
/// files of a tree and compares them, where this follows single items by their descriptors and keeps a few bytes for each name.
struct ChangeCore: WatchingCore, Sendable {
  typealias Order = ChangeOrder
  typealias Outcome = ChangeOutcome

  /// An item of a presenter that observes uncoordinated changes.
  struct Presented: Hashable, Sendable {
    /// As the arbiter knows it; absent while the item has never been saved.
    var path: ItemPath?
    /// Whether the presenter observes what is inside, if it's a directory.
    let observesInside: Bool
    /// Absent while nothing is there.
    var item: HeldItem?
    /// The first component on the way that doesn't exist, or the item itself: the name to look out for.
    var awaited: ItemPath?
    /// The item was seen to leave its place, where something else may be by now.
    var hasLeft = false
    /// Changes were reported at the former place after the arbiter had received the move, and to no presenter.
    var hasChangedMeanwhile = false
  }

  /// A change that no coordinated write accounts for, until its item has been left alone for a moment.
  struct UnsettledChange: Hashable, Sendable {
    var change: ItemChange
    /// Another event has come since the last look.
    var isRenewed = false
    var lookCount = 0
  }

  /// The changes to report to the arbiter, and the waits for items to settle.
  struct Output: Hashable, Sendable {
    private(set) var seen: [ItemChange] = []
    private var known: Set<ItemChange> = []
    /// From where, and to where, something was seen to move.
    private(set) var placesLeft: Set<ItemPath> = []
    private(set) var targets: Set<ItemPath> = []
    var confirmed: [ItemChange] = []
    var unsettled: [ItemPath] = []
    var unsettledChanges: [ItemPath] = []
    var hasUnsettledBurst = false

    /// Where something was seen to have appeared or changed.
    var newsPlaces: [ItemPath] {
      seen.compactMap { change in
        switch change {
        case .changed(let path), .appeared(let path): path
        case .moved, .vanished, .unknown: nil
        }
      }
    }

    var isEmpty: Bool {
      seen.isEmpty && confirmed.isEmpty && unsettled.isEmpty && unsettledChanges.isEmpty && !hasUnsettledBurst
    }

    /// The lasting changes that came before everything that was seen: places of items, and the news that are reported
    /// before those.
    var confirmedPlaces: [ItemChange] { confirmedInTurn.places }

    /// The lasting changes that go together with those seen since: a message for both is enough.
    var confirmedNews: [ItemChange] { confirmedInTurn.news }

    /// News of a place are reported before the move that leaves it, whose presenters aren't found there any more, and news of a
    /// directory before the moves to places inside.
    private var confirmedInTurn: (places: [ItemChange], news: [ItemChange]) {
      var (left, aroundTargets) = (Set<ItemPath>(), Set<ItemPath>())
      var result: (places: [ItemChange], news: [ItemChange]) = ([], [])
      for change in confirmed.reversed() {
        switch change {
        case .changed(let path), .appeared(let path):
          let isEarly = aroundTargets.contains(path) || path.withAncestors.contains(where: left.contains)
          if isEarly { result.places.append(change) } else { result.news.append(change) }
        case .moved(let old, let new, _):
          left.insert(old)
          aroundTargets.formUnion(new.ancestors)
          result.places.append(change)
        case .vanished, .unknown: result.places.append(change)
        }
      }
      return (result.places.reversed(), result.news.reversed())
    }

    /// Equal changes of one output are one unless something has moved in between, and an item that has changed and vanished has
    /// vanished.
    mutating func see(_ change: ItemChange) {
      if !known.insert(change).inserted { return }
      switch change {
      case .moved(let old, let new, _):
        known = [change]
        placesLeft.insert(old)
        targets.insert(new)
      case .vanished(let path): forget(.changed(path))
      case .changed, .appeared, .unknown: break
      }
      seen.append(change)
    }

    /// Forgets the findings in a directory since another one has left its place.
    mutating func forgetNews(inside directory: ItemPath) {
      let departure = seen.lastIndex { change in
        if case .moved(let old, _, _) = change { old.isSameOrContains(directory) } else { false }
      }
      for change in seen[(departure.map { $0 + 1 } ?? 0)...] {
        switch change {
        case .appeared(let path) where directory.contains(path), .changed(let path) where directory.contains(path):
          forget(change)
        case .appeared, .changed, .moved, .vanished, .unknown: break
        }
      }
    }

    private mutating func forget(_ change: ItemChange) {
      guard known.remove(change) != nil, let index = seen.lastIndex(of: change) else { return }
      seen.remove(at: index)
    }

    /// Forgets losses at some places.
    mutating func forgetLosses(where isForgotten: (ItemPath) -> Bool) {
      seen.removeAll { change in
        if case .unknown(let path) = change { isForgotten(path) } else { false }
      }
      known = Set(seen)
    }
  }

  var presented: [PresenterID: Presented] = [:]
  /// Presenters by the path of their item.
  var byPath = PathTree<Set<PresenterID>>()
  /// Presenters whose item is watched, by its path, and by the name that they await.
  var byPlace: [ItemPath: Set<PresenterID>] = [:]
  /// Presenters of moves that the arbiter has received, and hasn't ordered them to follow yet.
  var followers: Set<PresenterID> = []
  var places = WatchedPlaces()
  var moves = UnsettledMoves()
  var changes = PathTree<UnsettledChange>()
  /// Moves that the arbiter has received, and for which it hasn't decided yet whether a coordinated write accounts for them; those
  /// of such writes until something else is at the place.
  var reportedMoves = UnsettledMoves()
  /// The reports to observers, as far as these may have seen something else.
  var told = ToldPlaces()
  /// Moves that follow each other.
  var burst: Burst?
  /// Places where observers may know something that they weren't notified of, or that has gone without a report: the end of what is
  /// there now is reported in any case.
  var sights: Set<ItemPath> = []
  /// Why something isn't watched, by place.
  var problems: [ItemPath: SystemError] = [:]
  var output = Output()
  /// Watches that stand for no place any more, and are ended when events have been taken.
  var waitingEnds: [WatchID] = []
  /// How many watches were ended since events were taken.
  var endedCount = 0
  let endedCountMax: Int
  /// The steps that remain; the next one stands last.
  var steps: [Step] = []
  /// Orders that haven't been given yet, of which only the last one may have a result.
  var agenda = OrderQueue<ChangeOrder>()
  /// The purpose of the last order, until its outcome is reported.
  var question: Question?
  /// The renames among the events that are being taken in.
  var halves = Halves([])

  /// How many watches are ended before the events are taken that say so; the kernel and the subscription keep 16,384 at least.
  static let endedCountMax = 4096
  /// How many items are watched at most; beyond that it's as if the system's limit were reached.
  static let watchCountMax = 262_144
  static let moveCountMax = 1024
  static let changeCountMax = 1024
  /// How many looks at an item that's written all the time, before it's reported nevertheless.
  static let lookCountMax = 10
  static let problemCountMax = 64

  init(endedCountMax: Int = Self.endedCountMax) { self.endedCountMax = endedCountMax }

  /// Reports a change to the arbiter.
  mutating func see(_ change: ItemChange) {
    switch change {
    // It isn't waited for any more whether a change of it lasts.
    case .vanished(let path):
      if sights.contains(path) { return confirmEnd(ofSight: path) }
      changes[path] = nil
      note(.gone, at: path)
    case .moved(let old, let new, let replaced):
      noteBurst(from: old, to: new, isDirectory: isDirectory(old))
      if sights.contains(old) { confirmEnd(ofSight: old) }
      if reportedMoves.count >= Self.moveCountMax { reportedMoves = UnsettledMoves() }
      reportedMoves[old] = UnsettledMove(target: new, replaced: replaced)
      told.wait(forMoveFrom: old, to: new)
      // The arbiter reports these before the move, and observers don't find them there any more.
      for path in output.newsPlaces where old.contains(path) { note(.present, at: path) }
      for (path, _) in changes.inside(old).sorted(by: { $0.path < $1.path }) {
        changes[path] = nil
        note(.present, at: path)
      }
      leave(old)
    case .changed(let path), .appeared(let path):
      noteUnseenNews(at: path)
      if told.isDoubtful { noteSight(at: path) }
    case .unknown: told.doubt()
    }
    output.see(change)
  }

  /// Forgets the items that were seen at a place before something was moved there: they were never reported, and aren't there any more.
  mutating func forgetReplaced(at new: ItemPath) {
    output.forgetNews(inside: new)
    for (path, unsettled) in changes.inside(new).sorted(by: { $0.path < $1.path }) {
      if path != new {
        changes[path] = nil
        output.see(.vanished(path))
      } else if case .appeared = unsettled.change {
        changes[path] = nil
      }
    }
  }

  /// Observers may know something at a place.
  mutating func noteSight(at path: ItemPath) {
    if sights.count >= Self.changeCountMax { sights = [] }
    sights.insert(path)
  }

  /// Something is gone that observers may know, though it was never reported to them: a place that has changed is looked at.
  mutating func confirmEnd(ofSight path: ItemPath) {
    sights.remove(path)
    changes[path] = nil
    note(.gone, at: path)
    output.confirmed.append(.changed(path))
  }

  /// Records what is reported of a place.
  mutating func note(_ report: ToldPlaces.Report, at path: ItemPath) {
    told.note(report, at: path, isWaiting: isUnsettled(path))
  }

  /// Whether something was seen to move from around a place or to around it, which isn't reported yet.
  func isUnsettled(_ path: ItemPath) -> Bool { moves.concernAround(path) || reportedMoves.concernAround(path) }

  private mutating func forgetChanges(inside top: ItemPath) {
    for (path, _) in changes.inside(top) { changes[path] = nil }
  }

  private mutating func leave(_ old: ItemPath) {
    places.markLeft(old)
    for id in presenters(inside: old) { presented[id]?.hasLeft = true }
  }

  /// Reports to the arbiter that a change lasts.
  mutating func confirm(_ change: ItemChange) {
    switch change {
    case .changed(let path), .appeared(let path):
      changes[path] = nil
      sights.remove(path)
      note(.present, at: path)
    case .vanished(let path):
      changes[path] = nil
      sights.remove(path)
      note(.gone, at: path)
    case .moved(let old, let new, _):
      note(.arrived, at: new)
      // The move says that something is there; later writing is reported for itself.
      if case .appeared? = changes[new]?.change { changes[new] = nil }
      forgetChanges(inside: old)
    case .unknown: break
    }
    output.confirmed.append(change)
  }

  /// Whether the names in the directory around a place are known, and its name is one of them: then its end will be reported.
  func isKnownName(_ path: ItemPath) -> Bool {
    path.parent.flatMap { places.place(at: $0) }.map { $0.isDeep && $0.has(path.lastComponent) } ?? false
  }

  mutating func takeOutput() -> Output {
    let result = output
    output = Output()
    told.deliver()
    return result
  }

  /// The presenters of this very item.
  func presenters(of path: ItemPath) -> [PresenterID] {
    byPlace[path, default: []].filter { presented[$0]?.path == path }.sorted()
  }

  func isPresentedInside(_ path: ItemPath) -> Bool { byPath.hasValues(inside: path) }

  /// The presenters of an item and of items inside.
  func presenters(inside path: ItemPath) -> [PresenterID] { byPath.inside(path).flatMap(\.value).sorted() }

  /// A presenter that registers looks at everything, and is notified of problems then: losses that concern it alone aren't
  /// reported.
  mutating func forgetLosses(of id: PresenterID) {
    let others = { (presenters: Set<PresenterID>) in presenters.contains { $0 != id } }
    output.forgetLosses { path in
      !byPath.around(path).contains { others($0.value) } && !byPath.inside(path).contains { others($0.value) }
    }
  }

  /// Whether the item of a presenter at this place was there when it was last looked at.
  func isKnownToBePresent(_ path: ItemPath) -> Bool {
    presenters(of: path).contains { presented[$0]?.item != nil }
  }

  /// The reason why not every change of an item is seen.
  func problem(of id: PresenterID) -> SystemError? {
    guard let path = presented[id]?.path else { return nil }
    return problems.sorted { $0.key < $1.key }
      .first { $0.key.isSameOrContains(path) || path.contains($0.key) }?.value
  }

  /// There are no events any more.
  mutating func watchingFailed(_ error: SystemError) { problems[.root] = error }

  /// Nothing is there for a presenter any more, or what is held for it isn't required any more.
  mutating func release(_ id: PresenterID) {
    if presented[id]?.item == nil { return }
    presented[id]?.item = nil
    agenda.append(.release(id))
  }
}

// MARK: - Presenters come, follow and go

extension ChangeCore {
  /// Watches the item of a presenter from now on.
  ///
  /// - Parameters:
  ///   - id: The presenter.
  ///   - path: Its item; `nil` while that has never been saved.
  ///   - observesInside: Whether it observes what is inside a directory.
  mutating func add(_ id: PresenterID, at path: ItemPath?, observesInside: Bool) {
    requireIdleness()
    let former = presented[id]?.path
    forget(id)
    presented[id] = Presented(path: path, observesInside: observesInside)
    register(id)
    push(.arm(id))
    push(.prune(former))
  }

  /// The item has got its first place, or another one.
  mutating func follow(_ id: PresenterID, to path: ItemPath) {
    requireIdleness()
    guard let former = relocate(id, to: path) else { return }
    presented[id]?.hasChangedMeanwhile = false
    push(.arm(id))
    if former.hasChangedMeanwhile {
      push(.see(former.item?.isDirectory == true ? .unknown(path) : .changed(path)))
    } else if former.path != nil {
      push(.seeOther(id, than: former.item))
    }
    push(.prune(former.path))
  }

  /// The item has been at a place that it has left again.
  mutating func pass(_ id: PresenterID, _ path: ItemPath) {
    requireIdleness()
    if let former = relocate(id, to: path) { push(.prune(former.path)) }
  }

  /// - Returns: The former state of the presenter; `nil` if the presenter isn't known, or has this place already.
  private mutating func relocate(_ id: PresenterID, to path: ItemPath) -> Presented? {
    guard let former = presented[id], former.path != path else { return nil }
    forgetPlace(of: id)
    unregister(id)
    presented[id]?.path = path
    presented[id]?.hasLeft = false
    register(id)
    if let old = former.path {
      reportedMoves[old] = nil
      followPlaces(from: old, to: path, hasLeft: former.hasLeft)
    }
    return former
  }

  mutating func remove(_ id: PresenterID) {
    requireIdleness()
    let path = presented[id]?.path
    forget(id)
    push(.prune(path))
  }

  private mutating func forget(_ id: PresenterID) {
    forgetPlace(of: id)
    release(id)
    unregister(id)
    presented[id] = nil
  }

  private mutating func register(_ id: PresenterID) {
    if let path = presented[id]?.path { byPath[path] = (byPath[path] ?? []).union([id]) }
  }

  private mutating func unregister(_ id: PresenterID) {
    followers.remove(id)
    guard let path = presented[id]?.path, let others = byPath[path]?.subtracting([id]) else { return }
    byPath[path] = others.isEmpty ? nil : others
  }

  mutating func forgetPlace(of id: PresenterID) {
    for place in [presented[id]?.path, presented[id]?.awaited].compactMap(\.self) {
      byPlace[place]?.remove(id)
      if byPlace[place]?.isEmpty == true { byPlace[place] = nil }
    }
  }
}

// MARK: - What the arbiter and the clock have to say

extension ChangeCore {
  /// Takes what the host has left for the next turn.
  mutating func take(_ note: ChangeBridge.Note) {
    switch note {
    case .follow(let id, let path): follow(id, to: path)
    case .pass(let id, let path): pass(id, path)
    case .verifyAgain(let change): verifyAgain(change)
    case .moveIsSettled(let path): settleMove(from: path)
    case .changeIsSettled(let path): settleChange(at: path)
    case .burstIsSettled: settleBurst()
    }
  }
}

// MARK: - Watches

extension ChangeCore {
  mutating func unwatchInside(_ path: ItemPath) {
    for place in places.pathsInside(path) { unwatch(place) }
  }

  /// Ends the watches of what was seen to leave a place, and isn't followed.
  mutating func unwatchLeft(inside path: ItemPath) {
    for place in places.pathsInside(path) where places.place(at: place)?.isLeft == true { unwatch(place) }
  }

  private mutating func followPlaces(from old: ItemPath, to new: ItemPath, hasLeft: Bool) {
    let ended = hasLeft ? places.follow(from: old, to: new) : places.move(from: old, to: new)
    for watch in ended { end(watch) }
    // Nobody observes what is inside any more.
    for path in places.pathsInside(new) where !path.withAncestors.contains(where: isObservedWithContents) {
      places.change(at: path) { $0.noteUnobserved() }
    }
  }

  mutating func movePlaces(from old: ItemPath, to new: ItemPath) {
    for watch in places.move(from: old, to: new) { end(watch) }
  }

  mutating func unwatch(_ path: ItemPath) { if let watch = places.remove(path) { end(watch) } }

  /// A watch stands for no place any more.
  ///
  /// Each end is an event: beyond a number of them those that have come are taken first, so that they don't fill the queue.
  mutating func end(_ watch: WatchID) {
    if endedCount < endedCountMax, waitingEnds.isEmpty {
      endedCount += 1
      agenda.append(.unwatch(watch))
    } else {
      waitingEnds.append(watch)
    }
  }

  /// Goes on ending watches, if the events of those that have ended were taken.
  mutating func endMore() {
    if endedCount >= endedCountMax { return order(.takeEvents, .events(after: [])) }
    let next = waitingEnds.suffix(endedCountMax - endedCount)
    waitingEnds.removeLast(next.count)
    // Something may be watched again.
    let unused = next.filter { places[$0].isEmpty }
    endedCount += unused.count
    agenda += unused.map { .unwatch($0) }
  }

  mutating func note(_ error: SystemError, at path: ItemPath) {
    if problems.count < Self.problemCountMax || problems[path] != nil {
      if problems.updateValue(error, forKey: path) == nil { see(.unknown(path)) }
    }
  }

  /// Ends the watches at, around and inside a former place of a presenter that no presenter needs there.
  mutating func prune(_ former: ItemPath?) {
    guard let former else { return }
    for path in former.ancestors + places.pathsInside(former) where !isNeeded(path) { unwatch(path) }
    pruneLeft(around: former)
    problems = problems.filter { isNeeded($0.key) }
  }

  /// Ends the watches that stood for the place of a moved directory until the last presenter inside had followed it.
  private mutating func pruneLeft(around former: ItemPath) {
    func isLeft(_ path: ItemPath) -> Bool { places.place(at: path)?.isLeft == true }
    guard let top = former.withAncestors.first(where: { isLeft($0) && !isPresentedInside($0) }) else { return }
    for path in places.pathsInside(top) where isLeft(path) { unwatch(path) }
  }

  /// Whether a presenter needs the watch of a path: on the way to its item, or inside.
  private func isNeeded(_ path: ItemPath) -> Bool {
    path.isRoot || isPresentedInside(path) || path.ancestors.contains(where: isObservedWithContents)
  }

  private func isObservedWithContents(_ path: ItemPath) -> Bool {
    byPath[path]?.contains { presented[$0]?.observesInside == true } ?? false
  }
}

extension ItemChange {
  /// Where something is after the change.
  var place: ItemPath? {
    switch self {
    case .changed(let path), .appeared(let path), .moved(_, let path, _): path
    case .vanished, .unknown: nil
    }
  }
}
