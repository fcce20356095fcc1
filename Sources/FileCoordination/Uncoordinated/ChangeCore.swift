internal import FileAccessArbiter
internal import FileWatching
internal import SystemInterface

/// What is known of presented items and the places around them, and what has to be done to hear of their changes: a value
/// that decides.
///
/// It gives orders and is told what has come of them, see ``ChangeOrder``. It knows no file, descriptor, thread, lock or clock;
/// ``ChangeHands`` carries its orders out. Between an order and its outcome anything may happen to the files.
///
/// Each place is watched before it's looked at, so that nothing is missed that is made meanwhile.
///
/// | watched | for |
/// | --- | --- |
/// | the item itself | its contents and attributes, through any hard link |
/// | the deepest directory on the way to it that exists | names: that it's replaced, removed, moved, or appears |
/// | the directories above | that they're moved themselves |
/// | all directories inside, if the presenter wants to know of subitems | names, contents and attributes |
///
/// `ScopeCore` of the target FileWatching has the same form, see ``FileWatching/WatchingCore``, and other states: it numbers the
/// files of a tree and compares them, where this follows single items by their descriptors and keeps a few bytes for each name.
struct ChangeCore: WatchingCore, Sendable {
  typealias Order = ChangeOrder
  typealias Outcome = ChangeOutcome

  /// An item of a presenter that observes strangers.
  struct Presented: Hashable, Sendable {
    /// As the arbiter knows it; absent while the item has never been saved.
    var path: ItemPath?
    /// Whether the presenter wants to know what happens inside, if it's a directory.
    let observesInside: Bool
    /// Absent while nothing is there.
    var item: HeldItem?
    /// The first component on the way that doesn't exist, or the item itself: the name to look out for.
    var awaited: ItemPath?
    /// The arbiter has been told of a move, and hasn't yet said that the presenter is to follow it.
    var isFollowing = false
    /// Something was told meanwhile about the former place, where the arbiter knows nobody any more.
    var hasChangedMeanwhile = false
  }

  /// A move that no coordinated write accounts for, until it's known whether something takes the place of the item.
  struct UnsettledMove: Hashable, Sendable {
    var target: ItemPath
    let replaced: Bool
    /// Something did, and that was told.
    var isRefuted = false
  }

  /// A change that no coordinated write accounts for, until its item has been left alone for a moment.
  struct UnsettledChange: Hashable, Sendable {
    var change: ItemChange
    /// Something has happened since the last look.
    var isRenewed = false
    var lookCount = 0
  }

  /// What to tell the arbiter, and to wait for.
  struct Output: Hashable, Sendable {
    private(set) var seen: [ItemChange] = []
    private var known: Set<ItemChange> = []
    var confirmed: [ItemChange] = []
    var unsettled: [ItemPath] = []
    var unsettledChanges: [ItemPath] = []

    var isEmpty: Bool { seen.isEmpty && confirmed.isEmpty && unsettled.isEmpty && unsettledChanges.isEmpty }

    /// What lasts and came before everything that was seen: where something is.
    var confirmedPlaces: [ItemChange] { confirmed.filter { !Self.isNews($0) } }

    /// What lasts and goes together with what was seen since: a message for both is enough.
    var confirmedNews: [ItemChange] { confirmed.filter(Self.isNews) }

    private static func isNews(_ change: ItemChange) -> Bool {
      switch change {
      case .changed, .appeared: true
      case .vanished, .moved, .unknown: false
      }
    }

    /// Equal changes of one batch are one.
    mutating func see(_ change: ItemChange) {
      if known.insert(change).inserted { seen.append(change) }
    }

    /// A presenter that registers looks at everything, and is notified of problems then.
    mutating func forgetLosses() {
      seen.removeAll { change in
        if case .unknown = change { true } else { false }
      }
      known = Set(seen)
    }
  }

  var presented: [PresenterID: Presented] = [:]
  /// Presenters by the place of their item, and by what they await.
  var byPlace: [ItemPath: Set<PresenterID>] = [:]
  var places = WatchedPlaces()
  var moves: [ItemPath: UnsettledMove] = [:]
  var changes: [ItemPath: UnsettledChange] = [:]
  /// What has vanished where something was moved to of which nobody has been told yet.
  var losses: [ItemPath] = []
  /// Why something isn't watched, by place.
  var problems: [ItemPath: SystemError] = [:]
  var output = Output()
  var removalCount = 0
  /// What is still to be done; the next step stands last.
  var steps: [Step] = []
  /// Orders that nobody has taken yet, of which only the last one may have a result.
  var agenda = OrderQueue<ChangeOrder>()
  /// What the result of the last order is for.
  var question: Question?
  /// The renames among the events that are being taken in.
  var halves = Halves([])

  /// How many items are watched at most; beyond that it's as if the system's limit were reached.
  static let watchCountMax = 262_144
  static let moveCountMax = 1024
  static let lossCountMax = 256
  static let changeCountMax = 1024
  /// How many looks at an item that's written all the time, before it's told nevertheless.
  static let lookCountMax = 10
  static let problemCountMax = 64

  /// Tells the arbiter of something that has happened.
  mutating func see(_ change: ItemChange) {
    switch change {
    // It isn't waited for any more whether a change of it lasts.
    case .vanished(let path):
      changes[path] = nil
      noteLoss(at: path)
    case .moved(let old, _, _): changes = changes.filter { !old.isSameOrContains($0.key) }
    case .changed, .appeared, .unknown: break
    }
    output.see(change)
  }

  /// Records an end that is reported before the move to its place: without a second report after the move, presenters would take
  /// the item to be there.
  private mutating func noteLoss(at path: ItemPath) {
    let isInsideMoved =
      moves.values.contains { $0.target.isSameOrContains(path) }
      || output.seen.contains { change in
        if case .moved(_, let target, _) = change { target.isSameOrContains(path) } else { false }
      }
    if isInsideMoved, !losses.contains(path), losses.count < Self.lossCountMax { losses.append(path) }
  }

  /// Tells the arbiter that a change lasts.
  mutating func confirm(_ change: ItemChange) {
    switch change {
    case .changed(let path), .appeared(let path), .vanished(let path): changes[path] = nil
    case .moved(let old, let new, _):
      // The move says that something is there; what was written since is told for itself.
      if case .appeared? = changes[new]?.change { changes[new] = nil }
      changes = changes.filter { !old.isSameOrContains($0.key) }
    case .unknown: break
    }
    output.confirmed.append(change)
  }

  /// Whether the names in the directory around a place are known, and its name is one of them: then its end will be told.
  func isKnownName(_ path: ItemPath) -> Bool {
    path.parent.flatMap { places.place(at: $0) }.map { $0.isDeep && $0.has(path.lastComponent) } ?? false
  }

  mutating func takeOutput() -> Output {
    let result = output
    output = Output()
    return result
  }

  /// Whether somebody presents this very item.
  func presenters(of path: ItemPath) -> [PresenterID] {
    byPlace[path, default: []].filter { presented[$0]?.path == path }.sorted()
  }

  func isPresentedInside(_ path: ItemPath) -> Bool {
    presented.values.contains { $0.path.map(path.isSameOrContains) ?? false }
  }

  /// Whether the item of somebody who presents this place was there when it was last looked at.
  func isKnownToBePresent(_ path: ItemPath) -> Bool {
    presenters(of: path).contains { presented[$0]?.item != nil }
  }

  /// Why not everything is seen that happens to an item.
  func problem(of id: PresenterID) -> SystemError? {
    guard let path = presented[id]?.path else { return nil }
    return problems.sorted { $0.key < $1.key }
      .first { $0.key.isSameOrContains(path) || path.contains($0.key) }?.value
  }

  /// There are no events any more.
  mutating func watchingFailed(_ error: SystemError) { problems[.root] = error }

  /// Nothing is there for a presenter any more, or nobody needs what is held for it.
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
  ///   - observesInside: Whether it wants to know what happens inside a directory.
  mutating func add(_ id: PresenterID, at path: ItemPath?, observesInside: Bool) {
    requireIdleness()
    release(id)
    presented[id] = Presented(path: path, observesInside: observesInside)
    push(.arm(id))
  }

  /// The item has got its first place, or another one.
  mutating func follow(_ id: PresenterID, to path: ItemPath) {
    requireIdleness()
    guard let former = presented[id], former.path != path else { return }
    forgetPlace(of: id)
    presented[id]?.path = path
    presented[id]?.isFollowing = false
    presented[id]?.hasChangedMeanwhile = false
    if let old = former.path { movePlaces(from: old, to: path) }
    push(.arm(id))
    if former.hasChangedMeanwhile {
      push(.see(former.item?.isDirectory == true ? .unknown(path) : .changed(path)))
    } else if former.path != nil {
      push(.seeOther(id, than: former.item))
    }
    push(.prune)
  }

  mutating func remove(_ id: PresenterID) {
    requireIdleness()
    forgetPlace(of: id)
    release(id)
    presented[id] = nil
    push(.prune)
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
    case .verifyAgain(let change): verifyAgain(change)
    case .moveIsSettled(let path): settleMove(from: path)
    case .changeIsSettled(let path): settleChange(at: path)
    }
  }
}

// MARK: - Watches

extension ChangeCore {
  mutating func unwatchInside(_ path: ItemPath) {
    for place in places.pathsInside(path) { unwatch(place) }
  }

  mutating func movePlaces(from old: ItemPath, to new: ItemPath) {
    agenda += places.move(from: old, to: new).map { .unwatch($0) }
  }

  mutating func unwatch(_ path: ItemPath) {
    if let watch = places.remove(path) { agenda.append(.unwatch(watch)) }
  }

  mutating func note(_ error: SystemError, at path: ItemPath) {
    if problems.count < Self.problemCountMax || problems[path] != nil {
      if problems.updateValue(error, forKey: path) == nil { see(.unknown(path)) }
    }
  }

  /// Watches that nobody needs are ended when there are about as many as those that somebody needs.
  mutating func prune() {
    removalCount += 1
    if removalCount <= presented.count / 2 { return }
    removalCount = 0
    var needed: Set<ItemPath> = [.root]
    var roots: Set<ItemPath> = []
    for item in presented.values {
      guard let path = item.path else { continue }
      needed.formUnion(path.ancestors + [path])
      if item.observesInside { roots.insert(path) }
    }
    for path in places.pathsInside(.root) where !needed.contains(path) {
      if !path.ancestors.contains(where: roots.contains) { unwatch(path) }
    }
    problems = problems.filter { problem in
      roots.contains { $0.isSameOrContains(problem.key) } || needed.contains(problem.key)
    }
  }
}
