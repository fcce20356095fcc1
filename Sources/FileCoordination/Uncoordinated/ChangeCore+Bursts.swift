internal import FileAccessArbiter
internal import FileWatching
internal import SystemInterface

// Moves that follow each other too fast.

extension ChangeCore {
  /// Moves that follow each other, until nothing has moved for a moment.
  ///
  /// A directory that moves while something around it or inside is on the move may be seen, reported and found in more orders than the
  /// reports of single moves can keep apart. Such moves cross each other: after the last of them everything is looked at again, and
  /// observers are told that anything may have changed.
  struct Burst: Hashable, Sendable {
    /// From where, and to where, something was seen to move, and whether that's a directory.
    private var places = PathTree<Bool>()
    /// The directories around each move.
    private var tops: Set<ItemPath> = []
    private(set) var isCrossing = false
    /// Another move has come since the last look.
    var isRenewed = false
    /// Time has passed, and not everything that has moved is settled.
    var isWaiting = false
    /// A move may be found twice, by the events of its names and by the item that has come along.
    private var last: [ItemPath] = []

    static let topCountMax = 64
    /// Of more moves the earlier ones are forgotten: programs that rename thousands of files don't move the directories around them as well.
    static let placeCountMax = 4096

    mutating func add(from old: ItemPath, to new: ItemPath, isDirectory: Bool) {
      if last == [old, new] { return }
      last = [old, new]
      if concerns(old, isDirectory) || concerns(new, isDirectory) { isCrossing = true }
      note(old, new, isDirectory: isDirectory)
    }

    /// Records a move that crosses no other.
    mutating func note(_ old: ItemPath, _ new: ItemPath, isDirectory: Bool) {
      if places.count >= Self.placeCountMax { places = PathTree() }
      for place in [old, new] { places[place] = isDirectory || places[place] == true }
      let around = old.ancestors.filter { $0.contains(new) }
      tops.insert(around.last ?? .root)
      if tops.count > Self.topCountMax { tops = [.root] }
    }

    /// Records that what has happened inside a directory can't be told apart.
    mutating func doubt(_ directory: ItemPath) {
      isCrossing = true
      tops.insert(directory)
    }

    private func concerns(_ place: ItemPath, _ isDirectory: Bool) -> Bool {
      place.ancestors.contains { places[$0] == true } || isDirectory && places.hasValues(inside: place)
    }

    /// The directories inside which anything may have changed.
    var outermost: [ItemPath] {
      tops.filter { top in !top.ancestors.contains(where: tops.contains) }.sorted()
    }
  }

  /// Whether a directory is known at a place.
  func isDirectory(_ path: ItemPath) -> Bool {
    places.place(at: path)?.isDeep == true || presenters(of: path).contains { presented[$0]?.item?.isDirectory == true }
      || byPath.hasValuesBelow(path)
  }

  /// Something was seen to move.
  mutating func noteBurst(from old: ItemPath, to new: ItemPath, isDirectory: Bool) {
    change { $0.add(from: old, to: new, isDirectory: isDirectory) }
  }

  /// Two places were exchanged, or one that was renamed is back.
  mutating func noteExchange(_ one: ItemPath, _ other: ItemPath) {
    let isDirectory = [one, other].contains { places.place(at: $0)?.isDeep == true }
    change { $0.note(one, other, isDirectory: isDirectory) }
  }

  /// The events of a directory can't be told from those of another one that has its place.
  mutating func noteDoubt(inside directory: ItemPath) { change { $0.doubt(directory) } }

  private mutating func change(_ change: (inout Burst) -> Void) {
    output.hasUnsettledBurst = output.hasUnsettledBurst || burst == nil
    var next = burst ?? Burst()
    next.isRenewed = burst != nil
    change(&next)
    burst = next
  }

  /// Time enough has passed for everything that has moved to be settled.
  mutating func settleBurst() {
    requireIdleness()
    guard let present = burst else { return }
    if present.isRenewed {
      burst?.isRenewed = false
      output.hasUnsettledBurst = true
    } else if isMoving {
      burst?.isWaiting = true
    } else {
      burst = nil
      if present.isCrossing { watchEverythingAgain(doubting: present.outermost) }
    }
  }

  /// At the end of a turn: a burst that has waited goes on when the last thing is settled.
  mutating func resumeBurst() {
    guard burst?.isWaiting == true, !isMoving else { return }
    burst?.isWaiting = false
    output.hasUnsettledBurst = true
  }

  private var isMoving: Bool { !moves.isEmpty || !changes.isEmpty || !followers.isEmpty }
}
