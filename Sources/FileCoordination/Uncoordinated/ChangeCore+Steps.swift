internal import FileAccessArbiter
internal import FileWatching
internal import SystemInterface

// The work, one step after the other. A step changes the known state, or gives an order and leaves a question, which records the
// purpose of the outcome. Steps that follow from a step are taken before all steps that were due already.

extension ChangeCore {
  /// A step that a ``ChangeCore`` has still to take.
  enum Step: Hashable, Sendable {
    /// Watch everything again that a presenter needs to have watched.
    case arm(PresenterID)
    case goOn(WayToItem)
    case watch(ItemPath, WatchInterest, isDirectory: Bool)
    case hold(PresenterID)
    case search(DirectorySearch)
    /// Take the events that are left, and then look for items that were moved without an event.
    case take(EventBatch)
    case apply(WatchEvent.Action, Site)
    case appear(Site, byRename: Bool)
    case announce(Appearance)
    /// Say that something has appeared, if it's there.
    case announceIfPresent(ItemPath)
    case disappear(Site)
    case unwatchInside(ItemPath)
    /// Something else may be under a name, or nothing.
    case revisit(Site)
    /// Find out of each of some items where it is.
    case callRoll(RollCall)
    /// Say that an item has gone which was there before it was looked at again.
    case announceLoss(PresenterID)
    case see(ItemChange)
    case confirm(ItemChange)
    /// Confirm that something else than before is at the place of an item, if it is.
    case confirmOther(PresenterID, than: HeldItem?)
    /// Say that something else than before is at the place of an item, if it is.
    case seeOther(PresenterID, than: HeldItem?)
    case confirmIfPresent(ItemChange, at: ItemPath)
    case noteFollowers
    case settleTold
    /// End those of some watches that stand for nothing.
    case unwatchUnused([WatchID])
    /// End the watches that only a presenter needed whose item was at this place.
    case prune(ItemPath?)
  }

  /// The purpose of an order whose outcome is due.
  enum Question: Hashable, Sendable {
    case events(after: [WatchEvent])
    case watch(ItemPath, WatchInterest)
    case way(WayToItem)
    case search(DirectorySearch, DirectorySearch.Directory)
    case listing(DirectorySearch, DirectorySearch.Directory)
    case item(PresenterID)
    case lostItem(PresenterID)
    /// Whether the directory of a moved item is where it was.
    case directory(of: ItemChange)
    case appearance(Site, byRename: Bool)
    case revisited(Site)
    case awaited(ItemPath)
    case departure(Site)
    /// Whether something is under a name that something has left.
    case departedName(Site)
    case roll(RollCall)
    case confirmation(ItemChange)
    case settledChange(UnsettledChange, ItemPath)
    case formerPlace(ItemPath, UnsettledMove)
    case target(ItemPath, UnsettledMove)
    case targetDirectory(ItemPath, UnsettledMove, ItemPath)
    case movedItem(ItemPath, UnsettledMove)
  }

  /// Whether everything is done that was to be done.
  var isIdle: Bool { steps.isEmpty && agenda.isEmpty && question == nil && waitingEnds.isEmpty }

  /// Events are reported between two turns: a step that is under way has its own picture of the known state.
  func requireIdleness() {
    precondition(isIdle, "something else has happened while \(question.map { "\($0)" } ?? "\(steps)") is open")
  }

  /// Adds a step that is done when everything is done that was added before.
  mutating func push(_ step: Step) { steps.insert(step, at: 0) }

  /// Has some steps done next, in their order.
  mutating func doNext(_ next: [Step]) { steps += next.reversed() }

  /// Gives an order that has a result.
  mutating func order(_ order: ChangeOrder, _ question: Question) {
    agenda.append(order)
    self.question = question
  }

  /// The next order; `nil` if there's nothing to do before the next event.
  ///
  /// Pass its outcome to ``take(_:)`` before the next call.
  mutating func next() -> ChangeOrder? {
    while agenda.isEmpty {
      if let step = steps.popLast() {
        perform(step)
      } else if waitingEnds.isEmpty {
        return nil
      } else {
        endMore()
      }
    }
    return agenda.takeFirst()
  }

  private mutating func perform(_ step: Step) {
    switch step {
    case .arm(let id): arm(id)
    case .goOn(let way): goOn(way)
    case .watch(let path, let interest, let isDirectory):
      watch(path, interest, isDirectory: isDirectory, .watch(path, interest))
    case .hold(let id): hold(id)
    case .search(let search): goOn(search)
    case .take(let batch): take(batch)
    case .apply(let action, let site): apply(action, site)
    case .appear(let site, let byRename): appear(site, byRename: byRename)
    case .announce(let appearance): announce(appearance)
    case .announceIfPresent(let path): order(.look(path), .awaited(path))
    case .disappear(let site): disappear(site)
    case .unwatchInside(let path): unwatchInside(path)
    case .revisit(let site): order(.look(site.path), .revisited(site))
    case .callRoll(let roll): callRoll(roll)
    case .announceLoss(let id):
      if let item = presented[id], item.item == nil, let path = item.path { see(.vanished(path)) }
    case .see(let change): see(change)
    case .confirm(let change): confirm(change)
    case .confirmOther(let id, let former): if let change = other(id, than: former) { confirm(change) }
    case .seeOther(let id, let former): if let change = other(id, than: former) { see(change) }
    case .confirmIfPresent(let change, let path): order(.look(path), .confirmation(change))
    case .noteFollowers: noteChangesMeanwhile()
    case .settleTold: settleTold()
    case .unwatchUnused(let watches):
      for watch in watches where places[watch].isEmpty { end(watch) }
    case .prune(let former): prune(former)
    }
  }

  /// Takes what has come of an order.
  mutating func take(_ outcome: ChangeOutcome) {
    if case .done = outcome { return }
    guard let question else { preconditionFailure("no order has the outcome \(outcome)") }
    self.question = nil
    switch outcome {
    case .events(let events): takeEvents(events, question)
    case .watched(let result): takeWatch(result, question)
    case .looked(let isPresent): takeLook(isPresent, question)
    case .held(let item): takeItem(item, question)
    case .found(let path): takePlace(path, question)
    case .listed(let members): takeMembers(members, question)
    case .done: preconditionFailure("an order without a result is no answer to \(question)")
    }
  }

  private mutating func takeLook(_ isPresent: Bool, _ question: Question) {
    switch question {
    case .appearance(let site, let byRename):
      isPresent ? takePresence(site, byRename: byRename) : noteAbsence(at: site, byRename: byRename)
    case .revisited(let site):
      isPresent ? takePresence(site, byRename: true, mayBeKnown: true) : findGone(site)
    case .departedName(let site): isPresent ? replace(site) : depart(site, to: nil)
    case .directory(let move): if isPresent { see(move) }
    case .awaited(let path): if isPresent { see(.appeared(path)) }
    case .confirmation(let change): if isPresent || isEndExpected(change) { confirm(change) }
    case .settledChange(let unsettled, let path): settle(unsettled, at: path, isPresent: isPresent)
    case .targetDirectory(let old, let move, let place):
      settle(old, move, at: isPresent ? place : move.target)
    case .formerPlace(let old, let move): takeFormerPlace(old, move, isFound: isPresent)
    case .target(let old, let move): takeTarget(isPresent, of: old, move)
    case .events, .watch, .way, .search, .listing, .item, .lostItem, .departure, .roll, .movedItem:
      preconditionFailure("a look is no answer to \(question)")
    }
  }

  private mutating func takePlace(_ path: ItemPath?, _ question: Question) {
    switch question {
    case .departure(let site): depart(site, to: path)
    case .roll(let roll): answerRoll(roll, path)
    case .lostItem(let id): takeLost(id, path)
    case .movedItem(let old, let move): takePlace(path, of: old, move)
    case .events, .watch, .way, .search, .listing, .item, .directory, .appearance, .revisited, .awaited, .departedName,
      .confirmation, .settledChange, .formerPlace, .target, .targetDirectory:
      preconditionFailure("the place of an item is no answer to \(question)")
    }
  }
}
