internal import FileAccessArbiter
internal import FileWatching
internal import SystemInterface

// What happens to items themselves, and to directories on the way to them.

extension ChangeCore {
  /// Items of which each has to say where it is, the next one last.
  struct RollCall: Hashable, Sendable {
    struct Entry: Hashable, Sendable {
      let presenter: PresenterID
      let path: ItemPath
    }

    var rest: [Entry]
    /// Places that were left: what is inside has come along.
    var moved: [ItemPath] = []
  }

  mutating func noteChange(at path: ItemPath) {
    if isKnownName(path) || !presenters(of: path).isEmpty { see(.changed(path)) }
  }

  /// A watched item is gone, or its file system.
  ///
  /// - Returns: What is to be done next.
  mutating func noteEnd(of watch: WatchID) -> [Step] {
    places.end(watch).flatMap { place in
      presented.sorted { $0.key < $1.key }.flatMap { id, item -> [Step] in
        guard let path = item.path, place.path.isSameOrContains(path) else { return [] }
        return item.item == nil ? [.arm(id)] : [.arm(id), .announceLoss(id)]
      }
    }
  }

  // MARK: Where items are

  /// From where something was moved, as has been seen since the arbiter was told last.
  var placesLeft: [ItemPath] {
    output.seen.compactMap { change in
      if case .moved(let old, _, _) = change { old } else { nil }
    }
  }

  /// The items of presenters inside a directory, those further up first.
  func rollCall(inside top: ItemPath) -> RollCall {
    let entries = presented.compactMap { id, item in item.path.map { RollCall.Entry(presenter: id, path: $0) } }
    let sorted = entries.filter { top.isSameOrContains($0.path) }
      .sorted { ($0.path.bytes.count, $0.presenter) < ($1.path.bytes.count, $1.presenter) }
    return RollCall(rest: sorted.reversed(), moved: placesLeft)
  }

  /// A directory on the way to some items was moved: each of them knows where it is.
  mutating func callRoll(inside top: ItemPath) { doNext([.callRoll(rollCall(inside: top))]) }

  /// Has everybody look anew whose item is inside a directory that has become another one, and says that theirs may have too.
  func confirmOthers(inside top: ItemPath) -> [Step] {
    presented.sorted { $0.key < $1.key }.flatMap { id, item -> [Step] in
      guard let path = item.path, top.contains(path) else { return [] }
      return [.arm(id), .confirmOther(id, than: item.item)]
    }
  }

  /// What to tell if something else is at the place of an item.
  func other(_ id: PresenterID, than former: HeldItem?) -> ItemChange? {
    guard let item = presented[id], let path = item.path, item.item?.identity != former?.identity else { return nil }
    if item.item == nil { return .vanished(path) }
    return former == nil ? .appeared(path) : .changed(path)
  }

  mutating func callRoll(_ former: RollCall) {
    var roll = former
    while let entry = roll.rest.last {
      let isAsked =
        moves[entry.path] == nil && presented[entry.presenter]?.item != nil
        && !roll.moved.contains { $0.isSameOrContains(entry.path) }
      if isAsked { return order(.find(entry.presenter, orAt: nil), .roll(roll)) }
      roll.rest.removeLast()
    }
  }

  mutating func answerRoll(_ former: RollCall, _ place: ItemPath?) {
    var roll = former
    guard let entry = roll.rest.popLast() else { preconditionFailure("nobody was asked") }
    if let place {
      if place != entry.path {
        roll.moved.append(entry.path)
        see(.moved(from: entry.path, to: place, replaced: false))
      }
    } else if presented[entry.presenter]?.item?.isFoundAnywhere == false {
      // Nobody can tell where it went.
      doNext([.arm(entry.presenter), .announceLoss(entry.presenter), .callRoll(roll)])
      return
    }
    doNext([.callRoll(roll)])
  }
}
