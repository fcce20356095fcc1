internal import SystemInterface

extension ScopeCore {
  mutating func apply(_ events: [WatchEvent]) {
    var rest = events[...]
    while let event = rest.first {
      if let exchange = ExchangeEvents(rest), apply(exchange) {
        rest = rest.dropFirst(exchange.count)
      } else {
        apply(event)
        rest = rest.dropFirst()
      }
    }
  }

  /// Two names have changed places in one step: both files keep their numbers if one is a directory, and its contents
  /// aren't read again.
  ///
  /// Whether it was one step, or two files were put over each other and back, the names are checked.
  ///
  /// - Returns: Whether that's done.
  private mutating func apply(_ exchange: ExchangeEvents) -> Bool {
    guard let first = file(exchange.first), let second = file(exchange.second), first != second,
      index.table.facts(of: first).kind == .directory || index.table.facts(of: second).kind == .directory,
      !index.table.isInside(first, second), !index.table.isInside(second, first)
    else { return false }
    lookAt(first)
    lookAt(second)
    let wereEntered = [first, second].map { index.table.isEntered($0, unentered) }
    index.exchange(first, second)
    for (number, wasEntered) in zip([first, second], wereEntered) { enter(number, wasEntered: wasEntered) }
    for number in [first, second] { noteMove(number) }
    return true
  }

  private func file(_ place: ExchangeEvents.Place) -> FileNumber? {
    watches[place.watch].flatMap { index.child(named: place.name, of: $0) }
  }

  private mutating func apply(_ event: WatchEvent) {
    switch event {
    case .name(let watch, let name, let action, isDirectory: _):
      if let directory = watches[watch] { apply(action, name, directory) }
    case .itemChanged(let watch), .itemMoved(let watch):
      if let directory = watches[watch] { lookAt(directory) }
    case .ended(let watch):
      guard let directory = watches.end(watch) else { return }
      // Gone, unmounted, or another one in its place.
      lookAt(directory)
      queue.push(directory)
    case .mountsChanged: agenda.append(.readMounts)
    case .overflow:
      overflowCount += 1
      departures = [:]
      isBehind = true
    }
  }

  private mutating func apply(_ action: WatchEvent.Action, _ name: SystemPath, _ directory: FileNumber) {
    switch action {
    case .created, .changed: looks.add(name, in: directory)
    case .removed: looks.add(name, in: directory, isGone: true)
    case .departed(let cookie):
      // The new file under the name is checked when the place of this one is known.
      guard let number = index.child(named: name, of: directory) else {
        looks.add(name, in: directory)
        return
      }
      departures[cookie] = number
    case .arrived(let cookie):
      if let number = departures.removeValue(forKey: cookie), index.table.contains(number) {
        move(number, to: directory, as: name)
      }
      looks.add(name, in: directory)
    }
  }

  /// Files that went away and didn't arrive anywhere have left the scope.
  mutating func settleDepartures() {
    for number in departures.values.sorted() where index.table.contains(number) { lookAt(number) }
    departures = [:]
  }

  /// Both halves of a rename are there: the number stays.
  private mutating func move(_ number: FileNumber, to directory: FileNumber, as name: SystemPath) {
    lookAt(number)
    if index.table.isInside(directory, number) { return }
    if let victim = index.child(named: name, of: directory) {
      // A directory that has gone away with the file in it, before that took its name: both are checked.
      if index.table.isInside(number, victim) { return }
      remove(victim)
    }
    let wasEntered = index.table.isEntered(number, unentered)
    noteParent(of: number)
    guard index.move(number, to: directory, as: name) else {
      isFull = true
      return
    }
    enter(number, wasEntered: wasEntered)
    noteMove(number)
  }

  /// Something has another path.
  private mutating func noteMove(_ number: FileNumber) {
    changes.files.insert(number)
    noteParent(of: number)
    switch index.table.facts(of: number).kind {
    case .directory:
      changes.movedDirectories.insert(number)
      noteAllLinks()
    case .symbolicLink: noteLink(number)
    default: break
    }
  }
}

extension ScopeCore {
  /// A directory has another name, which may say whether it's entered.
  private mutating func enter(_ number: FileNumber, wasEntered: Bool) {
    let isEntered = index.table.isEntered(number, unentered)
    if isEntered == wasEntered || index.table.facts(of: number).kind != .directory { return }
    if isEntered { return queue.push(number) }
    for child in index.table.children(of: number) { remove(child) }
    stopFollowing(number)
  }
}

extension FileTable {
  /// Whether the members of a directory are of interest: those of places that were asked for always are.
  func isEntered(_ directory: FileNumber, _ unentered: NamePatterns) -> Bool {
    unentered.isEmpty || rootPaths[directory] != nil || !unentered.match(name(of: directory).description)
  }
}
