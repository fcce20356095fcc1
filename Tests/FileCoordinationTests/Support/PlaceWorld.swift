import Synchronization
import SystemInterface

@testable import FileAccessArbiter
@testable import FileCoordination

/// Files, the places that a process knows, and the readers who trust them: a value.
///
/// The core and the hands are the real ones. This does what ``PlaceTree`` does with them, one order at a time.
struct PlaceWorld {
  /// A wrong action of the hands, on purpose.
  enum Fault: Hashable {
    case looksBeforeWatching
    /// Changes that came during an attempt are lost: a place is registered too late to be concerned by them.
    case registersLate
    case marksNothingStale
    /// Readers aren't notified when a place makes room for another one.
    case marksNothingUnwatched
    case keepsWatches
    case keepsWatchesThatEnded
    case ignoresLosses
    /// Readers are told that all changes are marked before they are.
    case endsEarly
    case ignoresMarksOfTheLibrary
    case takesEverythingForUsed
    case seesNoLinks
  }

  /// A place that a reader has.
  struct Given: Hashable {
    let spelled: SystemPath
    let truth: NameDisk.Truth
  }

  var disk: NameDisk
  var core: PlaceCore
  /// The bits of the records that readers may still trust, or that are kept.
  var bits: [PlaceID: UInt32] = [:]
  /// The records that the hands keep.
  var kept: Set<PlaceID> = []
  var given: [PlaceID: Given] = [:]
  /// How many moves the library has made, and how many when the present attempt began.
  var moveCount: UInt64 = 0
  var notedMoveCount: UInt64 = 0
  var isTaking = false
  /// The path that is being looked up.
  var request: SystemPath?
  /// Something has happened since the request, or before it without being taken in.
  var isDisturbed = false
  var fault: Fault?
  /// The outcome of a look that came before the watch, by a fault.
  var earlyLook: PlaceOutcome?
  var answerCount = 0
  var violation: String?

  private static let lost = ResolutionValidity.stale | ResolutionValidity.unwatched

  init(_ disk: NameDisk, _ limits: ResolutionCache.Limits) {
    self.disk = disk
    core = PlaceCore(limits: limits)
  }
}

// MARK: - What can happen

extension PlaceWorld {
  var isIdle: Bool { core.isIdle }

  mutating func perform(_ operation: NameDisk.Operation) {
    disk.perform(operation)
    isDisturbed = true
  }

  /// The library moves something that concerns every place.
  mutating func noteMove() {
    moveCount += 1
    for id in bits.keys { mark(id, ResolutionValidity.stale) }
    isDisturbed = true
  }

  /// A reader asks for a place that's known.
  mutating func use(_ id: PlaceID) { mark(id, ResolutionValidity.used) }

  mutating func request(_ path: SystemPath) {
    if let known = core.place(at: path), bits[known.id, default: 0] & Self.lost == 0 { return use(known.id) }
    request = path
    isDisturbed = !disk.queue.isEmpty || disk.isUnderWay || disk.hasMountChange
    core.lookUp(path)
    check()
  }

  mutating func absorb() { core.absorbChanges() }

  private mutating func mark(_ id: PlaceID, _ mark: UInt32) {
    bits[id, default: 0] |= mark
    forgetIfLost(id)
  }

  /// Nobody trusts a marked place, and marks stay.
  private mutating func forgetIfLost(_ id: PlaceID) {
    guard bits[id, default: 0] & Self.lost != 0 else { return }
    given[id] = nil
    if !kept.contains(id) { bits[id] = nil }
  }

  /// Carries out the next order.
  ///
  /// - Parameters:
  ///   - plan: The operations of other programs, each with the number of the system call before which it occurs.
  ///   - clocks: Memory for the hands.
  /// - Returns: How many system calls that were, and what it was; `nil` if there is none.
  mutating func step(
    _ plan: (call: Int, operation: NameDisk.Operation)?, _ clocks: UnsafeMutablePointer<ResolutionCache.Clocks>
  ) -> (callCount: Int, name: String)? {
    guard let order = core.next() else { return nil }
    let system = NameSystem(disk, plan)
    var hands = hands(system, clocks)
    let records = hands.records
    core.take(outcome(of: order, &hands))
    notedMoveCount = hands.moveCount
    isTaking = clocks.pointee.absorbing.load(ordering: .relaxed) != 0
    disk = system.disk
    if plan != nil { isDisturbed = true }
    kept = Set(hands.records.keys)
    for (id, record) in records.merging(hands.records, uniquingKeysWith: { first, _ in first }) {
      bits[id] = record.word.pointee.load(ordering: .relaxed)
      forgetIfLost(id)
    }
    if core.isIdle { takeAnswer() }
    check()
    return (system.callCount, "\(order)")
  }

  private func hands(_ system: NameSystem, _ clocks: UnsafeMutablePointer<ResolutionCache.Clocks>) -> PlaceHands {
    clocks.pointee.absorbing.store(isTaking ? 1 : 0, ordering: .relaxed)
    let registry = ValidityRegistry()
    for _ in 0..<moveCount { registry.noteMove(from: "/moved", to: "/elsewhere") }
    var hands = PlaceHands(
      files: system, changes: system, registry: registry, clocks: clocks, mountCheckAgeMax: -1)
    hands.moveCount = notedMoveCount
    for id in kept {
      let record = ResolutionValidity()
      record.set(bits[id, default: 0])
      hands.records[id] = record
    }
    return hands
  }

  private mutating func takeAnswer() {
    guard let path = request, let answer = core.takeAnswer() else { return }
    request = nil
    switch answer {
    case .success(let place):
      answerCount += 1
      let kind: NameDisk.Truth.Kind =
        switch place.kind {
        case .directory: .directory
        case .missing: .missing
        case .other: .other
        }
      if bits[place.id, default: 0] & Self.lost != 0 { violation = "\(path) is answered by a stale place" }
      given[place.id] = Given(
        spelled: path, truth: NameDisk.Truth(canonical: place.canonical.description, kind: kind))
    case .failure(let refusal):
      if isDisturbed || disk.mayRefuse { return }
      if disk.truth(of: path) != nil { violation = "\(path) is refused: \(refusal)" }
    }
  }
}

extension NameDisk {
  /// Whether names can't be looked up, directories can't be watched, or the ends of watches fill the queue.
  fileprivate var mayRefuse: Bool { watchCountMax < 100 || queueCountMax < 100 || !closed.isEmpty }
}

// MARK: - Wrong actions on purpose

extension PlaceWorld {
  private mutating func outcome(of order: PlaceOrder, _ hands: inout PlaceHands) -> PlaceOutcome {
    switch (fault, order) {
    case (.looksBeforeWatching, .watch(let directory)):
      if let walk = core.walk {
        earlyLook = hands.carryOut(.look(directory.appending(SystemPath(bytes: walk.name))))
      }
      return hands.carryOut(order)
    case (.looksBeforeWatching, .look):
      defer { earlyLook = nil }
      return earlyLook ?? hands.carryOut(order)
    case (.registersLate, .takeChanges):
      let outcome = hands.carryOut(order)
      if case .changes(.some)? = core.question { return .changes([]) }
      return outcome
    case (.marksNothingStale, .mark(let id, .stale)), (.marksNothingUnwatched, .mark(let id, .unwatched)):
      hands.records[id] = nil
      return .done
    case (.keepsWatches, .unwatch): return .done
    case (.keepsWatchesThatEnded, .takeChanges):
      return changes(hands.carryOut(order)) { if case .ended = $0 { false } else { true } }
    case (.ignoresLosses, .takeChanges): return changes(hands.carryOut(order)) { $0 != .everything }
    case (.endsEarly, .takeChanges):
      let outcome = hands.carryOut(order)
      _ = hands.carryOut(.endChanges)
      return outcome
    case (.ignoresMarksOfTheLibrary, .check): return .checked(isKept: true)
    case (.takesEverythingForUsed, .takeUse): return .used(true)
    case (.seesNoLinks, .look):
      let outcome = hands.carryOut(order)
      if case .looked(.link?) = outcome { return .looked(.directory) }
      return outcome
    default: return hands.carryOut(order)
    }
  }

  private func changes(_ outcome: PlaceOutcome, _ isTaken: (NameChange) -> Bool) -> PlaceOutcome {
    if case .changes(let changes) = outcome { .changes(changes.filter(isTaken)) } else { outcome }
  }
}

// MARK: - What has to hold

extension PlaceWorld {
  /// To be called after each step.
  mutating func check() { violation = violation ?? wrongPlace ?? excess ?? (isIdle ? stray : nil) }

  /// A place that a reader would trust now, although it leads elsewhere.
  private var wrongPlace: String? {
    // The order in which a reader checks doesn't matter here: it checks in no time.
    if !disk.queue.isEmpty || disk.isUnderWay || isTaking { return nil }
    for (id, given) in given where bits[id, default: 0] & Self.lost == 0 {
      let truth = disk.truth(of: given.spelled)
      if truth == given.truth { continue }
      return "\(given.spelled) is \(truth.map { "\($0)" } ?? "an error") instead of \(given.truth)"
    }
    return nil
  }

  private var excess: String? {
    if core.places.count > core.limits.placeCountMax { return "\(core.places.count) places" }
    if core.watched.count > core.limits.watchCountMax { return "\(core.watched.count) watches" }
    if core.ring.count > 2 * core.limits.placeCountMax { return "\(core.ring.count) places in the ring" }
    return nil
  }

  /// Something that is kept for nothing when no order is due, or the contrary.
  private var stray: String? {
    if kept != Set(core.places.keys) { return "records of \(kept) for the places \(core.places.keys)" }
    if let watch = disk.watches.values.first(where: { core.watched[$0] == nil }) { return "\(watch) is for nothing" }
    var watched: [NameWatch: Set<NameNode.ID>] = [:]
    for id in core.names.nodes {
      let node = core.names[id]
      if let watch = node.watch { watched[watch, default: []].insert(id) }
      if (node.watch != nil) != (node.childCount > 0) {
        return "\(node.directoryPath) has \(node.childCount) known names, and \(node.watch == nil ? "no" : "a") watch"
      }
      if node.dependents.isEmpty, node.parent != nil { return "\(node.directoryPath) is needed by no place" }
      if !node.dependents.isSubset(of: core.places.keys) { return "\(node.directoryPath) is needed by strangers" }
    }
    return watched == core.watched.mapValues(Set.init) ? nil : "the watches aren't those of the directories"
  }
}

// MARK: - State

extension PlaceWorld: Hashable {
  static func == (first: Self, second: Self) -> Bool { first.hashValue == second.hashValue }

  /// All that the future depends on.
  func hash(into hasher: inout Hasher) {
    hasher.combine(disk)
    hasher.combine(bits)
    hasher.combine(kept)
    hasher.combine(given)
    hasher.combine(moveCount)
    hasher.combine(notedMoveCount)
    hasher.combine(isTaking)
    hasher.combine(request)
    hasher.combine(isDisturbed)
    hasher.combine(earlyLook)
    core.hashState(into: &hasher)
  }
}

extension PlaceCore {
  /// Nodes are known by their paths: their numbers depend on what was before.
  fileprivate func hashState(into hasher: inout Hasher) {
    let nodes = names.nodes.map { names[$0] }.sorted { $0.path.lexicographicallyPrecedes($1.path) }
    for node in nodes {
      hasher.combine(node.path)
      hasher.combine(node.kind)
      hasher.combine(node.watch)
      hasher.combine(node.dependents)
    }
    for place in places.values.sorted(by: { $0.id.rawValue < $1.id.rawValue }) {
      hasher.combine(place.id)
      hasher.combine(place.spelled)
      hasher.combine(place.canonical)
      hasher.combine(place.kind)
    }
    hasher.combine(ring)
    hasher.combine(hand)
    hasher.combine(lastPlace)
    hasher.combine(question)
    hasher.combine(agenda)
    guard let walk else { return }
    hasher.combine(walk.attempt)
    hasher.combine(names[walk.current].path)
    hasher.combine(walk.missing)
    hasher.combine(walk.rest)
    hasher.combine(walk.name)
    hasher.combine(walk.stepCount)
    hasher.combine(walk.linkCount)
  }
}
