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
        return [.arm(id), .seeOther(id, than: item.item)]
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

  /// The items of presenters at some places and inside, those further up first.
  func rollCall(insideAnyOf tops: Set<ItemPath>) -> RollCall {
    let entries = presented.compactMap { id, item in item.path.map { RollCall.Entry(presenter: id, path: $0) } }
    let sorted = entries.filter { entry in tops.contains { $0.isSameOrContains(entry.path) } }
      .sorted { ($0.path.bytes.count, $0.presenter) < ($1.path.bytes.count, $1.presenter) }
    return RollCall(rest: sorted.reversed(), moved: placesLeft)
  }

  /// Directories on the way to some items were moved: each item knows where it is.
  mutating func callRoll(insideAnyOf tops: Set<ItemPath>) { doNext([.callRoll(rollCall(insideAnyOf: tops))]) }

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
      if let item = presented[entry.presenter], item.item == nil {
        // The directories on the way to an awaited item are others now.
        return doNext([.arm(entry.presenter), .seeOther(entry.presenter, than: nil), .callRoll(roll)])
      }
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
