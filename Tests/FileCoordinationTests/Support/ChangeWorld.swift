import FileWatching
import SystemInterface
import WatchingTestSupport

@testable import FileAccessArbiter
@testable import FileCoordination

/// Files, a process that watches the items of its presenters, and its arbiter: a value.
///
/// The core, the hands and the arbiter are the real ones. This does what ``ChangeBridge`` does with them in one thread.
struct ChangeWorld {
  /// How far the process has come with what it does at one time.
  enum Turn: Hashable {
    /// These notes are to be dealt with, and then events.
    case notes([ChangeBridge.Note])
    case events
    /// A presenter has come: these notes are dealt with before its item is watched.
    case arriving(PresenterID, [ChangeBridge.Note])
    /// The presenter looks at its item.
    case joining(PresenterID)
  }

  struct Rename: Hashable {
    let old: ItemPath
    let new: ItemPath
  }

  /// A deliberate mistake of the hands.
  enum Fault: Hashable {
    case keepsItems
    case keepsWatches
    case findsNothingMoved
    case seesEverything
  }

  static let client = ClientID(1)

  var disk: ModelDisk
  var core = ChangeCore()
  var handles: [PresenterID: ItemHandle] = [:]
  let budget: HandleBudget
  var arbiter = FileAccessArbiter(packageExtensions: [])
  var views: [PresenterID: PresenterView] = [:]
  var turn: Turn?
  var notes: [ChangeBridge.Note] = []
  /// A service decides, whose answers take time.
  var answersLate = false
  /// Its answers that the process hasn't received.
  var answers: [ChangeBridge.Note] = []
  /// The news that come when time has passed, in this order.
  var timers: [ChangeBridge.Note] = []
  /// How often each message was sent, and how often something happened at each path.
  var toldCounts: [PresenterID: [Message.Kind: Int]] = [:]
  var happenedCounts: [ItemPath: Int] = [:]
  /// From where to where something was renamed.
  var renames: [Rename] = []
  /// Where the item of each presenter has been.
  var formerPaths: [PresenterID: [ItemPath]] = [:]
  /// How many equal messages one operation may cause.
  var messageCountMax = 1
  /// A message may be about a place at which nothing has happened, but where renames lead to or from.
  var countsAlongRenames = false
  var hasLostTrack = false
  var fault: Fault?

  init(_ disk: ModelDisk, _ budget: HandleBudget) {
    self.disk = disk
    self.budget = budget
    arbiter.clientJoined(Self.client, name: "")
  }
}

// MARK: - What can happen

extension ChangeWorld {
  mutating func perform(_ operation: ModelDisk.Operation) {
    count(operation, before: disk)
    disk.perform(operation)
  }

  /// Counts how often something happened at each path, which the check of repeated messages compares.
  private mutating func count(_ operation: ModelDisk.Operation, before: ModelDisk) {
    var after = before
    after.perform(operation)
    let paths = [before, after].flatMap { disk in operation.names.flatMap { disk.paths(at: $0) } }
    for path in Set(paths) { happenedCounts[path, default: 0] += 1 }
    renames += operation.renames.compactMap { old, new in
      guard let old = before.path(of: old), let new = before.path(of: new) else { return nil }
      return Rename(old: old, new: new)
    }
  }

  mutating func join(_ id: PresenterID, at path: ItemPath, observesInside: Bool) {
    let item: PresenterCallbacks = [.itemDidChange, .itemDidMove, .uncoordinatedChanges]
    let inside: PresenterCallbacks = [.subitemDidAppear, .subitemDidChange, .subitemDidMove]
    carryOut(
      arbiter.presenterAdded(
        id,
        PresenterRegistration(
          client: Self.client, purpose: PurposeID(id.rawValue), label: "P",
          callbacks: observesInside ? item.union(inside) : item, path: path), at: 0))
    views[id] = PresenterView(path, observesInside: observesInside, disk)
    formerPaths[id] = [path]
    turn = .arriving(id, notes.withStopovers)
    notes = []
  }

  /// Items that have appeared and aren't reported before they have been left alone: if one vanishes before that, it's
  /// never reported.
  private func unsettledAppearances(for view: PresenterView) -> [ItemPath] {
    let seen = core.output.seen.compactMap { change -> ItemPath? in
      if case .appeared(let path) = change { path } else { nil }
    }
    let unseen = view.known.keys.filter { $0 != view.path && !core.isKnownName($0) }
    return seen + unseen + arbiter.ledger.settling.filter { $0.value.isNew }.map(\.key.path)
  }

  /// The answers of the service reach the process.
  mutating func receiveAnswers() {
    notes += answers
    answers = []
  }

  /// Time passes until the first timer fires.
  mutating func fireTimer() { notes.append(timers.removeFirst()) }

  /// There's nothing to do until time passes.
  var isWaitingForTime: Bool { turn == nil && notes.isEmpty && answers.isEmpty && isQuiet }

  private var isQuiet: Bool { core.isIdle && core.output.isEmpty && !hasEvents }

  var hasEvents: Bool { !disk.queue.isEmpty || !disk.late.isEmpty }

  /// Does the next thing that the process does.
  ///
  /// - Parameter plan: The operations of other programs, each with the number of the system call before which it
  ///   occurs.
  /// - Returns: How many system calls that were, and what it was; `nil` if there's nothing to do.
  mutating func step(_ plan: [(call: Int, operation: ModelDisk.Operation)]) -> (callCount: Int, name: String)? {
    if let order = core.next() { return (carryOut(order, plan), "\(order)") }
    switch turn {
    case .notes(let notes):
      guard let note = notes.first else {
        core.eventsArrived()
        turn = .events
        return (0, "read events")
      }
      core.take(note)
      turn = .notes(Array(notes.dropFirst()))
      return (0, "\(note)")
    case .events:
      turn = nil
      return (0, "tell \(tell(core.takeOutput()))")
    case .arriving(let id, let notes):
      if let note = notes.first {
        core.take(note)
        turn = .arriving(id, Array(notes.dropFirst()))
        return (0, "\(note)")
      }
      if let view = views[id] { core.add(id, at: view.path, observesInside: view.observesInside) }
      turn = .joining(id)
      return (0, "\(id) is added")
    case .joining(let id):
      turn = nil
      core.forgetLosses(of: id)
      if let former = views[id] {
        var view = PresenterView(former.path, observesInside: former.observesInside, disk)
        view.doubt(unsettledAppearances(for: view))
        views[id] = view
      }
      return (0, "\(id) has joined")
    case nil:
      if notes.isEmpty, core.output.isEmpty, !hasEvents {
        if !answers.isEmpty {
          receiveAnswers()
          return (0, "answers come")
        }
        if timers.isEmpty { return nil }
        fireTimer()
        return (0, "time passes")
      }
      turn = .notes(notes.withStopovers)
      notes = []
      return (0, "turn")
    }
  }

  private mutating func carryOut(_ order: ChangeOrder, _ plan: [(call: Int, operation: ModelDisk.Operation)]) -> Int {
    let system = ModelSystem(disk, plan)
    var hands = ChangeHands(files: system, watcher: system, budget: budget, handles: handles)
    core.take(outcome(of: order, &hands))
    handles = hands.handles
    disk = system.disk
    for (operation, before) in system.happened { count(operation, before: before) }
    return system.callCount
  }
}

// MARK: - What goes wrong on purpose

extension ChangeWorld {
  private mutating func outcome(of order: ChangeOrder, _ hands: inout ChangeHands) -> ChangeOutcome {
    switch (fault, order) {
    case (.keepsItems, .release), (.keepsWatches, .unwatch): return .done
    case (.findsNothingMoved, .find(let id, _)): return .found(core.presented[id]?.path)
    case (.seesEverything, .look): return .looked(isPresent: true)
    default: return hands.carryOut(order)
    }
  }
}

// MARK: - What is told

extension ChangeWorld {
  private mutating func tell(_ output: ChangeCore.Output) -> [ItemChange] {
    carryOut(arbiter.changesConfirmed(output.confirmedPlaces, by: Self.client, at: 0))
    carryOut(arbiter.changesSeen(output.seen, by: Self.client, at: 0))
    carryOut(arbiter.changesConfirmed(output.confirmedNews, by: Self.client, at: 0))
    timers += output.unsettled.map { .moveIsSettled(from: $0) }
    timers += output.unsettledChanges.map { .changeIsSettled(at: $0) }
    if output.hasUnsettledBurst { timers.append(.burstIsSettled) }
    return output.confirmed + output.seen
  }

  private mutating func carryOut(_ effects: [Effect]) {
    for effect in effects {
      switch effect {
      case .deliver(let delivery):
        note(delivery)
        carryOut(arbiter.messageAnswered(delivery.message, at: 0))
      case .verifyAgain(_, let change): answer(.verifyAgain(change))
      case .presenterMoved(let id, let path): answer(.follow(id, path))
      default: preconditionFailure("\(effect) without any access")
      }
    }
  }

  private mutating func answer(_ note: ChangeBridge.Note) {
    if answersLate { answers.append(note) } else { notes.append(note) }
  }

  private mutating func note(_ delivery: Delivery) {
    let id = delivery.presenter
    if delivery.origin.verified == nil { hasLostTrack = true }
    toldCounts[id, default: [:]][delivery.kind, default: 0] += 1
    if case .itemDidMove(let path) = delivery.kind { formerPaths[id, default: []].append(path) }
    views[id]?.take(delivery.kind, isEverythingUnknown: delivery.origin.verified == nil, disk)
  }

  /// Where the item of a presenter has been, also if the presenter wasn't notified of it.
  private func wayOfItem(of id: PresenterID) -> Set<ItemPath> {
    renames.reduce(into: Set(formerPaths[id, default: []])) { places, rename in
      places.formUnion(
        places.filter(rename.old.isSameOrContains).map { $0.movedAlong(from: rename.old, to: rename.new) })
    }
  }

  /// Where something may have happened that a message places elsewhere: presenters learn of the move of a directory late.
  private func placesElsewhere(of path: ItemPath) -> [ItemPath] {
    if happenedCounts[path, default: 0] > 0 { return [path] }
    let later = renames.reduce(into: Set([path])) { places, rename in
      places.formUnion(
        places.filter(rename.old.isSameOrContains).map { $0.movedAlong(from: rename.old, to: rename.new) })
    }
    let all = renames.reversed().reduce(into: later) { places, rename in
      places.formUnion(
        places.filter(rename.new.isSameOrContains).map { $0.movedAlong(from: rename.new, to: rename.old) })
    }
    return all.sorted()
  }

  /// The places that a message is about; its own of a presenter may have been others before.
  func paths(of kind: Message.Kind, to id: PresenterID) -> [ItemPath] {
    switch kind {
    case .itemDidChange, .itemDidMove: Set(wayOfItem(of: id).flatMap(\.withAncestors)).sorted()
    case .subitemDidAppear(let path), .subitemDidChange(let path):
      countsAlongRenames ? placesElsewhere(of: path) : [path]
    case .subitemDidMove(let old, let new): [old, new]
    default: []
    }
  }
}

extension ModelDisk.Operation {
  fileprivate var names: [ModelDisk.Name] {
    switch self {
    case .create(let name, _), .write(let name), .remove(let name), .point(let name, _): [name]
    case .rename(let old, let new), .tear(let old, let new), .exchange(let old, let new), .link(let old, let new):
      [old, new]
    }
  }
}

extension ModelDisk.Operation {
  fileprivate var renames: [(ModelDisk.Name, ModelDisk.Name)] {
    switch self {
    case .rename(let old, let new), .tear(let old, let new): [(old, new)]
    case .exchange(let one, let other): [(one, other), (other, one)]
    case .create, .write, .remove, .link, .point: []
    }
  }
}

extension ModelDisk {
  fileprivate func path(of name: Name) -> ItemPath? {
    path(of: name.directory).map { ItemPath(canonical: $0.appending(SystemPath(name.name)).bytes) }
  }

  /// A name, and those of everything inside.
  fileprivate func paths(at name: Name) -> [ItemPath] {
    func paths(_ path: SystemPath, _ node: Int?) -> [ItemPath] {
      let children = node.flatMap { nodes[$0]?.children } ?? [:]
      let inside = children.flatMap { paths(path.appending(SystemPath($0.key)), $0.value) }
      return [ItemPath(canonical: path.bytes)] + inside
    }
    let own = path(of: name.directory).map { paths($0.appending(SystemPath(name.name)), self[name]) } ?? []
    // The number of its names, and its contents, are those of every name of a file.
    guard let node = self[name], linked.contains(node) else { return own }
    let names = directories.flatMap { directory in
      (nodes[directory]?.children ?? [:]).filter { $0.value == node }
        .compactMap { child in path(of: directory)?.appending(SystemPath(child.key)) }
    }
    return own + names.map { ItemPath(canonical: $0.bytes) }
  }
}
