internal import FileAccessArbiter
internal import FileWatching
internal import SystemInterface

// Changes of items themselves, and of directories on the way to them.

extension ChangeCore {
  /// Items whose places are requested, the next one last.
  struct RollCall: Hashable, Sendable {
    struct Entry: Hashable, Sendable {
      let presenter: PresenterID
      let path: ItemPath
    }

    var rest: [Entry]
    /// Places that were left: the items inside have come along.
    var moved: Set<ItemPath> = []
  }

  mutating func noteChange(at path: ItemPath) {
    let owners = presenters(of: path)
    if !isKnownName(path), !owners.isEmpty, owners.allSatisfy(followers.contains) {
      // The arbiter has them at another place already.
      for id in owners { presented[id]?.hasChangedMeanwhile = true }
    } else if isKnownName(path) || !owners.isEmpty {
      see(.changed(path))
    }
  }

  /// A watched item is gone, or its file system.
  ///
  /// - Returns: The next steps.
  mutating func noteEnd(of watch: WatchID) -> [Step] {
    places.end(watch).flatMap { place in
      presenters(inside: place.path).flatMap { [.arm($0), .seeOther($0, than: presented[$0]?.item)] }
    }
  }

  // MARK: Where items are

  /// The items of presenters at some places and inside, those further up first.
  func rollCall(insideAnyOf tops: Set<ItemPath>) -> RollCall {
    let outermost = tops.filter { top in !top.ancestors.contains(where: tops.contains) }
    let entries = outermost.flatMap { top in
      byPath.inside(top).flatMap { path, ids in ids.map { RollCall.Entry(presenter: $0, path: path) } }
    }
    let sorted = entries.sorted { ($0.path.bytes.count, $0.presenter) < ($1.path.bytes.count, $1.presenter) }
    return RollCall(rest: sorted.reversed(), moved: output.placesLeft)
  }

  /// Directories on the way to some items were moved: the place of each item is requested.
  mutating func callRoll(insideAnyOf tops: Set<ItemPath>) { doNext([.callRoll(rollCall(insideAnyOf: tops))]) }

  /// Watches and inspects the presented items inside a directory that has become another one, and confirms those that have
  /// become others too.
  func confirmOthers(inside top: ItemPath) -> [Step] {
    presentersBelow(top).flatMap { [.arm($0), .confirmOther($0, than: presented[$0]?.item)] }
  }

  /// The presenters of items inside a directory.
  func presentersBelow(_ directory: ItemPath) -> [PresenterID] {
    presenters(inside: directory).filter { presented[$0]?.path != directory }
  }

  /// The change to report if something else is at the place of an item.
  func other(_ id: PresenterID, than former: HeldItem?) -> ItemChange? {
    guard let item = presented[id], let path = item.path, item.item?.identity != former?.identity else { return nil }
    if item.item == nil { return .vanished(path) }
    return former == nil ? .appeared(path) : .changed(path)
  }

  mutating func callRoll(_ former: RollCall) {
    var roll = former
    while let entry = roll.rest.last {
      let isAsked =
        moves[entry.path] == nil && !followers.contains(entry.presenter) && presented[entry.presenter]?.item != nil
        && !entry.path.withAncestors.contains(where: roll.moved.contains)
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
    guard let entry = roll.rest.popLast() else { preconditionFailure("no item was asked for") }
    if let place {
      if place != entry.path {
        roll.moved.insert(entry.path)
        see(.moved(from: entry.path, to: place, replaced: false))
      }
    } else if presented[entry.presenter]?.item?.isFoundAnywhere == false {
      // There's no way to find out where it went.
      let former = presented[entry.presenter]?.item
      doNext([.arm(entry.presenter), .seeOther(entry.presenter, than: former), .callRoll(roll)])
      return
    }
    doNext([.callRoll(roll)])
  }
}
