internal import SystemInterface

/// What is different in two states of an index.
///
/// A directory that was moved is told, and not what is in it: that takes as long for one file as for a million.
struct TreeDifference {
  private struct Place: Hashable {
    let parent: FileNumber
    let name: SystemPath
  }

  private let before: FileTable
  private let after: FileTable
  private var moved: [(from: SystemPath, change: TreeChange)] = []
  private var removed: [FileNumber] = []
  private var added: [FileNumber] = []
  private var modified: [TreeChange] = []

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
    if !removed.isEmpty, !added.isEmpty { pair() }
  }

  /// In the order that ``TreeUpdate/changes`` promises.
  var changes: [TreeChange] {
    let removals = removed.map { number in
      let path = before.path(of: number)
      return (from: path, change: TreeChange(path, .removed, before.facts(of: number).kind))
    }
    let additions = added.map { TreeChange(after.path(of: $0), .added, after.facts(of: $0).kind) }
    return (moved + removals).sorted { $0.from > $1.from }.map(\.change)
      + additions.sorted { $0.path < $1.path } + modified.sorted { $0.path < $1.path }
  }

  private mutating func compare(_ number: FileNumber) {
    let isMoved = place(number, before) != place(number, after)
    let facts = after.facts(of: number)
    if isMoved {
      let path = before.path(of: number)
      moved.append((path, TreeChange(after.path(of: number), .moved(from: path), facts.kind)))
    }
    if isModified(before.facts(of: number), facts, isMoved: isMoved) {
      modified.append(TreeChange(after.path(of: number), .modified, facts.kind))
    }
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

  /// What was removed and what was added in the same place of the same directory are one that has altered.
  private mutating func pair() {
    var places = Dictionary(removed.map { (place($0, before), $0) }) { first, _ in first }
    // The tops of trees are in no directory, and their names say nothing.
    places = places.filter { $0.key.parent != .none && after.contains($0.key.parent) }
    if places.isEmpty { return }
    var gone: Set<FileNumber> = []
    var come: Set<FileNumber> = []
    for number in added {
      guard let other = places[place(number, after)] else { continue }
      let (old, new) = (before.facts(of: other), after.facts(of: number))
      if (old.kind == .directory) != (new.kind == .directory) { continue }
      gone.insert(other)
      come.insert(number)
      if isModified(old, new, isMoved: false) {
        modified.append(TreeChange(after.path(of: number), .modified, new.kind))
      }
    }
    removed.removeAll(where: gone.contains)
    added.removeAll(where: come.contains)
  }
}
