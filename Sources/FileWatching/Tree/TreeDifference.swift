internal import SystemInterface

/// The difference between two states of an index.
///
/// A directory that was moved is reported, and its contents aren't: that takes as long for one file as for a million.
struct TreeDifference: Sendable {
  private struct Place: Hashable {
    let parent: FileNumber
    let name: SystemPath
  }

  private let before: FileTable
  private let after: FileTable
  private var moved: [FileNumber] = []
  private var removed: [FileNumber] = []
  private var added: [FileNumber] = []
  private var modified: Set<FileNumber> = []

  /// - Parameters:
  ///   - before: The earlier state.
  ///   - after: The later one, in which a number stands for another file than in the earlier one only if that's in `numbers` and gone.
  ///   - numbers: All files that may be different.
  init(_ before: FileTable, _ after: FileTable, _ numbers: FileNumberSet) {
    self.before = before
    self.after = after
    for number in numbers {
      switch (before.contains(number), after.contains(number)) {
      case (false, false): break
      case (false, true): added.append(number)
      case (true, false): removed.append(number)
      case (true, true): compare(number)
      }
    }
    if !removed.isEmpty { pair() }
  }

  /// In the order that ``TreeUpdate/changes`` promises.
  var changes: [TreeChange] {
    let removals = removed.map { number in
      let path = before.path(of: number)
      return (from: path, change: TreeChange(path, .removed, before.facts(of: number).kind))
    }
    let moves = moved.map { number in
      let path = before.path(of: number)
      return (from: path, change: change(number, .moved(from: path)))
    }
    return (moves + removals).sorted { $0.from > $1.from }.map(\.change)
      + added.map { change($0, .added) }.sorted { $0.path < $1.path }
      + modified.map { change($0, .modified) }.sorted { $0.path < $1.path }
  }

  /// Whether a directory was moved.
  var movesDirectories: Bool { moved.contains { after.facts(of: $0).kind == .directory } }

  /// The files that were moved with a directory around them and have the same place inside it.
  var movesInside: [TreeChange] {
    var moves: [TreeChange] = []
    for directory in moved where after.facts(of: directory).kind == .directory {
      let (old, new) = (before.path(of: directory).bytes.count, after.path(of: directory).bytes.count)
      after.forEach(in: directory) { number in
        guard number != directory, before.contains(number), before.isInside(number, directory) else { return }
        let (from, path) = (before.path(of: number), after.path(of: number))
        if from.bytes[old...] == path.bytes[new...] {
          moves.append(TreeChange(path, .moved(from: from), after.facts(of: number).kind))
        }
      }
    }
    return moves
  }

  private func change(_ number: FileNumber, _ action: TreeChange.Action) -> TreeChange {
    TreeChange(after.path(of: number), action, after.facts(of: number).kind)
  }

  private mutating func compare(_ number: FileNumber) {
    let isMoved = place(number, before) != place(number, after)
    if isMoved { moved.append(number) }
    if isModified(before.facts(of: number), after.facts(of: number), isMoved: isMoved) { modified.insert(number) }
  }

  private func place(_ number: FileNumber, _ table: FileTable) -> Place {
    Place(parent: table.parent(of: number) ?? .none, name: table.name(of: number))
  }

  private func isModified(_ old: FileFacts, _ new: FileFacts, isMoved: Bool) -> Bool {
    if new.kind == .directory { return old.mode != new.mode || old.owner != new.owner || old.group != new.group }
    var old = old
    // A rename sets it, or doesn't, as the file system likes.
    if isMoved, old.isRead, new.isRead { old.changeTime = new.changeTime }
    return !old.hold(for: new)
  }

  /// A removed file, and another one in its place in the same directory, are one that has altered; the place of the
  /// other one, if it had one, is empty.
  private mutating func pair() {
    var places: [Place: FileNumber] = [:]
    for number in removed where before.facts(of: number).kind != .directory { places[place(number, before)] = number }
    // The tops of trees are in no directory, and their names mean nothing.
    places = places.filter { $0.key.parent != .none && after.contains($0.key.parent) }
    if places.isEmpty { return }
    var gone: Set<FileNumber> = []
    var come: Set<FileNumber> = []
    for number in added + moved where after.facts(of: number).kind != .directory {
      guard let other = places[place(number, after)] else { continue }
      gone.insert(other)
      come.insert(number)
      if isModified(before.facts(of: other), after.facts(of: number), isMoved: false) { modified.insert(number) }
    }
    removed = removed.filter { !gone.contains($0) } + moved.filter(come.contains)
    added.removeAll(where: come.contains)
    moved.removeAll(where: come.contains)
  }
}
