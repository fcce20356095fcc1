internal import Glibc
internal import SystemInterface

/// How far events have been taken in.
///
/// It's done in rounds: a check may find that a directory isn't where it should be, because it was moved meanwhile,
/// which the next events report. If none do, its own name is checked, and so on up to the root.
struct ScopeTurn: Hashable, Sendable {
  enum Step: Hashable, Sendable {
    /// Events are to be taken. Ends with them.
    case events
    /// They have been ordered.
    case eventsOrdered
    /// Roots that events were about are to be secured.
    case roots
    /// They have been; others may have altered.
    case alteredRoots
    /// If there were no events, departed files haven't arrived anywhere.
    case departures
    /// Names are to be checked.
    case names
    case looking([LookList.Entry])
    /// If there were no events, directories aren't where they should be.
    case misplaced
    /// If nothing is left to be checked and read, links are settled.
    case links
    case resolving([FileNumber])
    /// The round is over.
    case end
    /// There have been enough rounds: the rest is tried again by the next turn.
    case givenUp
  }

  var step = Step.events
  var roundCount = 0
  /// How often the second half of a rename was waited for in this round.
  var waitCount = 0
  /// There were no events in this round.
  var isQuiet = false
  /// Roots that are being secured.
  var secured: Set<Int> = []
  /// Directories that weren't where they should be, with the names that are to be checked again.
  var failed: [FileNumber: [SystemPath: Bool]] = [:]
}

extension ScopeCore {
  /// Begins to take in all changes until now, but for directories that are to be read; see ``nextRead()``.
  mutating func beginTurn() { turn = ScopeTurn() }

  /// The next order; `nil` if there's nothing to do until the next turn.
  ///
  /// Pass its outcome to ``take(_:)`` before the next call.
  mutating func next() -> ScopeOrder? {
    while agenda.isEmpty {
      guard let turn else { return nil }
      self.turn = advance(turn)
    }
    return agenda.takeFirst()
  }

  /// Takes the outcome of an order.
  mutating func take(_ outcome: ScopeOutcome) {
    switch outcome {
    case .events(let events): takeEvents(events)
    case .checked(let place, let path, let found): takeRoot(place, path, found)
    case .secured(let place, let path, let way): takeWay(place, path, way)
    case .looked(let order, let found):
      // It may have gone while others were checked.
      guard index.table.contains(order.directory), let turn else { break }
      if !take(order, found, isQuiet: turn.isQuiet) { self.turn?.failed[order.directory] = order.names }
    case .resolved(let link, let path, let target): takeLink(link, path, target)
    case .mounts(let mounts): take(mounts)
    case .done: break
    }
  }

  private mutating func takeEvents(_ events: [WatchEvent]) {
    guard let turn else { preconditionFailure("\(events.count) events that nobody asked for") }
    if events.isEmpty, !departures.isEmpty, turn.waitCount < Self.arrivalWaitCountMax {
      agenda.append(.awaitArrival(attemptCount: turn.waitCount))
      self.turn?.waitCount += 1
      return
    }
    self.turn?.isQuiet = events.isEmpty
    self.turn?.step = .roots
    for event in events { noteRoots(event) }
    apply(events)
  }

  /// Goes on when nothing is left to be done at once.
  private mutating func advance(_ former: ScopeTurn) -> ScopeTurn? {
    var turn = former
    switch turn.step {
    case .events:
      agenda.append(.takeEvents)
      turn.step = .eventsOrdered
    case .eventsOrdered: preconditionFailure("nobody has told of events")
    case .roots:
      turn.secured = secureRoots()
      turn.step = .alteredRoots
    case .alteredRoots:
      checkAlteredRoots(but: turn.secured)
      turn.step = .departures
    case .departures:
      if turn.isQuiet { settleDepartures() }
      turn.step = .names
    case .names:
      turn.failed = [:]
      turn.step = .looking(looks.take())
    case .looking(let entries): turn.step = look(entries, turn)
    case .misplaced: turn.step = settleMisplaced(turn)
    case .links: turn.step = settleLinks(turn)
    case .resolving(let numbers): turn.step = resolve(numbers)
    case .end: return endRound(turn)
    case .givenUp: return nil
    }
    return turn
  }

  private mutating func look(_ entries: [LookList.Entry], _ turn: ScopeTurn) -> ScopeTurn.Step {
    var rest = entries
    while let entry = rest.popLast() {
      if !index.table.contains(entry.directory) { continue }
      agenda.append(.look(lookOrder(entry.directory, entry.names)))
      return .looking(rest)
    }
    for (directory, names) in turn.failed.sorted(by: { $0.key < $1.key }) where index.table.contains(directory) {
      looks.add(names, in: directory)
      if turn.isQuiet { lookAt(directory) }
    }
    return .misplaced
  }

  private mutating func settleMisplaced(_ turn: ScopeTurn) -> ScopeTurn.Step {
    guard turn.isQuiet, looks.isEmpty, uncertainRoots.isEmpty else { return .end }
    readMisplaced()
    return .links
  }

  private mutating func settleLinks(_ turn: ScopeTurn) -> ScopeTurn.Step {
    if !queue.isEmpty { return .end }
    settleLinks()
    return links.hasWork ? .resolving(links.takeChanged().sorted()) : .end
  }

  private mutating func resolve(_ numbers: [FileNumber]) -> ScopeTurn.Step {
    var rest = numbers
    while let number = rest.popLast() {
      guard let order = resolveOrder(number) else { continue }
      agenda.append(order)
      return .resolving(rest)
    }
    followLinks()
    return .end
  }

  private mutating func endRound(_ former: ScopeTurn) -> ScopeTurn? {
    if former.isQuiet, looks.isEmpty, uncertainRoots.isEmpty { return nil }
    if former.roundCount + 1 < Self.roundCountMax { return ScopeTurn(roundCount: former.roundCount + 1) }
    giveUp()
    return ScopeTurn(step: .givenUp)
  }

  /// Directories whose name has been checked, and which are still there, are read again.
  private mutating func readMisplaced() {
    for (directory, count) in misplaced.sorted(by: { $0.key < $1.key }) where index.table.contains(directory) {
      if count < Self.misplacementMax {
        queue.push(directory)
      } else {
        misplaced[directory] = nil
        unreadable[directory] = SystemError(
          call: "readDirectory", paths: [index.table.path(of: directory)], errno: EAGAIN,
          advice: "It's another directory each time it's read.")
        for child in index.table.children(of: directory) { remove(child) }
      }
    }
    misplaced = misplaced.filter { index.table.contains($0.key) }
  }

  /// Directories move faster than they can be checked: the next call, and polling, try again.
  private mutating func giveUp() {
    settleDepartures()
    for entry in looks.take() { queue.push(entry.directory) }
  }
}
