internal import CompactContainers

// Changes by programs that don't coordinate (C-200…C-202).
//
// Processes watch the items of their presenters and report the changes that they see, in order. Most of those were made
// by coordinated writes, of which presenters are notified when the write ends. The kernel queues an event inside the
// system call that causes it. A process reads its queue empty before it ends a write of its own, and, when asked to,
// after the end of another process's write: until then that write's *echo* stands for it. So every change by a write is
// reported here while the write is granted or its echo stands, and a change that is reported otherwise was made by a
// stranger.

extension FileAccessArbiter {
  /// A process has seen changes; those that no coordinated write accounts for are reported to its presenters that
  /// observe them.
  ///
  /// A move comes back by the effect `.verifyAgain`: programs that save a file move it away and make it anew. So does a
  /// possible temporary file of a write, when the write has ended, and every item that has changed or appeared: a write
  /// is many events, and is reported when the item has been left alone for a moment.
  package mutating func changesSeen(_ changes: [ItemChange], by client: ClientID, at time: Timestamp) -> [Effect] {
    begin(at: time)
    for change in changes { judge(change, by: client) }
    return finish()
  }

  /// A process has checked again changes that came back, and found them to last.
  package mutating func changesConfirmed(
    _ changes: [ItemChange], by client: ClientID, at time: Timestamp
  ) -> [Effect] {
    begin(at: time)
    for change in changes {
      switch change {
      case .changed(let path), .appeared(let path): confirm(change, at: path, by: client)
      case .vanished(let path): tellEnd(of: path, to: concerned(by: change, of: client), client)
      case .moved(let old, let new, _):
        confirmMove(change, from: old, to: new, by: client)
      case .unknown: tell(change, to: concerned(by: change, of: client))
      }
    }
    return finish()
  }

  /// A process has reported everything that was in its queue when the write of this and of earlier echoes had ended.
  package mutating func echoEnded(_ echo: EchoID, by client: ClientID, at time: Timestamp) -> [Effect] {
    begin(at: time)
    let ended = Set(ledger.echoes.filter { $0.client == client && $0.id <= echo }.map(\.id))
    ledger.echoes.removeAll { ended.contains($0.id) }
    for index in ledger.withheld.indices where ledger.withheld[index].client == client {
      ledger.withheld[index].echoes.subtract(ended)
    }
    verifyWithheld()
    return finish()
  }
}

// MARK: - The authors of changes

extension FileAccessArbiter {
  typealias Concerned = [(presenter: PresenterID, relation: PresenterRelation)]

  private mutating func judge(_ change: ItemChange, by client: ClientID) {
    switch change {
    case .unknown(let path):
      // This news covers the items inside. One of them may vanish before it's left alone, and then no presenter may be
      // notified of it.
      ledger.settling = ledger.settling.filter { $0.key.client != client || !path.isSameOrContains($0.key.path) }
      tell(change, to: concerned(by: change, of: client))
    case .changed(let path):
      if !isWithheld(path, of: client) { settle(path, isNew: false, unexplained(at: path, of: client), client) }
    case .vanished(let path):
      if unpark(path, of: client) {
        _ = takeSettling(path, of: client)
      } else {
        tellEnd(of: path, to: unexplained(at: path, of: client), client)
      }
    case .appeared(let path):
      let presenters = unexplained(at: path, of: client)
      if !presenters.isEmpty, !park(path, of: client) { settle(path, isNew: true, presenters, client) }
    case .moved(let old, let new, let replaced):
      let arrival: ItemChange = replaced ? .changed(new) : .appeared(new)
      if unpark(old, of: client) { return judge(arrival, by: client) }
      if isNewToAll(at: old, of: client) {
        _ = takeSettling(old, of: client)
        // Those that have been told of the end of what was there before may have found it when they looked.
        if ledger.reportedEnds.contains(ChangeLedger.Settling.Key(client: client, path: old)) {
          tell(.vanished(old), to: unexplained(at: old, of: client))
        }
        judge(arrival, by: client)
        return judgeAgain(settlingInside: old, at: new, of: client)
      }
      tellSettling(inside: old, of: client)
      // Something else is there now.
      let key = ChangeLedger.Settling.Key(client: client, path: new)
      if ledger.settling[key]?.isNew == true { ledger.settling[key] = nil }
      let isOldExplained = isExplained(at: old, of: client)
      switch (isOldExplained, isExplained(at: new, of: client)) {
      case (true, true): break
      case (true, false): judge(arrival, by: client)
      case (false, true) where covers(at: new, for: client).isEmpty:
        effects.append(.verifyAgain(client, change))
      case (false, true): judge(.vanished(old), by: client)
      case (false, false): effects.append(.verifyAgain(client, change))
      }
    }
  }

  /// The client's presenters that a change concerns and that no write will notify, or has notified, of it.
  private func unexplained(at path: ItemPath, of client: ClientID) -> Concerned {
    let presenters = observers(around: path, withInside: false, of: client)
    if presenters.isEmpty { return [] }
    let covers = covers(at: path, for: client)
    if covers.isEmpty { return presenters }
    return presenters.filter { !isExplained(path, to: $0.presenter, by: covers) }
  }

  private func isExplained(at path: ItemPath, of client: ClientID) -> Bool {
    let covers = covers(at: path, for: client)
    return observers(around: path, withInside: true, of: client)
      .allSatisfy { isExplained(path, to: $0.presenter, by: covers) }
  }

  /// A write of a directory in place is reported to presenters of that directory and around it, but not inside.
  private func isExplained(_ path: ItemPath, to presenter: PresenterID, by covers: [ChangeLedger.Cover]) -> Bool {
    covers.contains { cover in
      if cover.isDeep || cover.place == path { return true }
      guard let node = presenters[presenter].node else { return true }
      return tree.path(of: node).isSameOrContains(cover.place)
    }
  }

  /// The places at an item that are accounted for by granted writes and by standing echoes.
  private func covers(at path: ItemPath, for client: ClientID) -> [ChangeLedger.Cover] {
    var covers = ledger.echoes.filter { $0.client == client }.flatMap(\.covers)
    var (node, _) = tree.deepestNode(on: path)
    let top = tree.lockNode(of: node)
    if top != node || tree.nodes[node].isPackage {
      // A write of a part of a package covers the whole of it.
      _ = tree.forEachNode(inSubtreeOf: top, where: { $0.claimCountInSubtree > 0 }) { part in
        forEachGrantedWrite(at: part) { covers.append(cover(by: $0, at: top)) }
        return true
      }
    }
    while node != ItemTree.none {
      forEachGrantedWrite(at: node) { covers.append(cover(by: $0, at: node)) }
      node = tree.nodes[node].parent
    }
    return covers.filter { $0.place.isSameOrContains(path) }
  }

  private func cover(by claim: ItemTree.Claim, at node: ItemTree.NodeIndex) -> ChangeLedger.Cover {
    ChangeLedger.Cover(place: tree.path(of: node), isDeep: claim.mode == .deepWrite)
  }

  private func forEachGrantedWrite(at node: ItemTree.NodeIndex, _ body: (ItemTree.Claim) -> Void) {
    _ = tree.forEachClaim(at: node) { _, claim in
      if !claim.mode.isRead, let access = accesses.find(claim.access), access.phase == .granted,
        access.items[Int(claim.item)].access.isWrite
      {
        body(claim)
      }
      return true
    }
  }
}

// MARK: - Until an item is left alone

extension FileAccessArbiter {
  private mutating func settle(
    _ path: ItemPath, isNew: Bool, _ presenters: Concerned, _ client: ClientID
  ) {
    if presenters.isEmpty { return }
    if ledger.settling.count >= ChangeLedger.settlingCountMax { ledger.settling = [:] }
    let key = ChangeLedger.Settling.Key(client: client, path: path)
    var settling = ledger.settling[key] ?? ChangeLedger.Settling(isNew: isNew, presenters: [])
    settling.presenters.formUnion(presenters.map(\.presenter))
    ledger.settling[key] = settling
    effects.append(.verifyAgain(client, settling.isNew ? .appeared(path) : .changed(path)))
  }

  /// Whether no presenter knows an item yet: those of the item itself and of items inside do, and so does one that
  /// registered after it had appeared.
  private func isNewToAll(at path: ItemPath, of client: ClientID) -> Bool {
    guard let settling = ledger.settling[ChangeLedger.Settling.Key(client: client, path: path)], settling.isNew else {
      return false
    }
    return observers(around: path, withInside: true, of: client)
      .allSatisfy { settling.presenters.contains($0.presenter) && $0.relation != .item && $0.relation != .inside }
  }

  /// To those that haven't been told of an item yet it never was.
  private mutating func tellEnd(of path: ItemPath, to presenters: Concerned, _ client: ClientID) {
    let untold = takeSettling(path, of: client).map { $0.isNew ? $0.presenters : [] } ?? []
    // A presenter of the item itself may have known what was there before.
    let wasReported = ledger.reportedEnds.contains(ChangeLedger.Settling.Key(client: client, path: path))
    let told = presenters.filter { $0.relation == .item || wasReported || !untold.contains($0.presenter) }
    if !told.isEmpty { ledger.noteEnd(path, of: client) }
    tell(.vanished(path), to: told)
  }

  private mutating func takeSettling(_ path: ItemPath, of client: ClientID) -> ChangeLedger.Settling? {
    ledger.settling.removeValue(forKey: ChangeLedger.Settling.Key(client: client, path: path))
  }

  private mutating func confirm(_ change: ItemChange, at path: ItemPath, by client: ClientID) {
    let concerned = concerned(by: change, of: client)
    guard let settling = takeSettling(path, of: client) else { return tell(change, to: concerned) }
    tell(
      settling.isNew ? .appeared(path) : .changed(path),
      to: concerned.filter { settling.presenters.contains($0.presenter) })
  }

  /// A directory of which no presenter has been notified yet stands elsewhere now, together with the items in it.
  private mutating func judgeAgain(settlingInside old: ItemPath, at new: ItemPath, of client: ClientID) {
    let inside = ledger.settling.keys.filter { $0.client == client && old.contains($0.path) }
    for key in inside.sorted(by: { $0.path < $1.path }) {
      let place = key.path.movedAlong(from: old, to: new)
      let isNew = takeSettling(key.path, of: client)?.isNew ?? true
      judge(isNew ? .appeared(place) : .changed(place), by: client)
    }
  }

  /// Notifies presenters of a move, and then of the changes that were seen at the former place since the move was seen: a
  /// presenter that is notified of them before it follows the move may find something else there.
  private mutating func confirmMove(
    _ move: ItemChange, from old: ItemPath, to new: ItemPath, by client: ClientID
  ) {
    // The move shows that an item is there, and writes since then are notified for themselves.
    if ledger.settling[ChangeLedger.Settling.Key(client: client, path: new)]?.isNew == true {
      _ = takeSettling(new, of: client)
    }
    let inside = ledger.settling.keys.filter { $0.client == client && old.isSameOrContains($0.path) }
      .sorted { $0.path < $1.path }
      .compactMap { key in takeSettling(key.path, of: client).map { (key.path, $0) } }
    let movers = concerned(by: move, of: client)
    tell(move, to: movers)
    // Those that knew it at its former place have followed it already.
    if movers.isEmpty { tellArrival(of: move, by: client) }
    for (path, settling) in inside {
      let place = path.movedAlong(from: old, to: new)
      let news: ItemChange = settling.isNew ? .appeared(place) : .changed(place)
      tell(news, to: concerned(by: news, of: client).filter { settling.presenters.contains($0.presenter) })
    }
  }

  private mutating func tellArrival(of move: ItemChange, by client: ClientID) {
    guard case .moved(_, let new, let replaced) = move else { return }
    tell(replaced ? .changed(new) : .appeared(new), to: observers(around: new, withInside: false, of: client))
  }

  /// Before presenters follow a move: they aren't found any more where the changes were seen.
  private mutating func tellSettling(inside path: ItemPath, of client: ClientID) {
    let inside = ledger.settling.keys.filter { $0.client == client && path.isSameOrContains($0.path) }
    for key in inside.sorted(by: { $0.path < $1.path }) { confirm(.changed(key.path), at: key.path, by: client) }
  }
}

// MARK: - Possible temporary files

extension FileAccessArbiter {
  private func isWithheld(_ path: ItemPath, of client: ClientID) -> Bool {
    ledger.withheld.contains { $0.client == client && $0.path == path }
  }

  /// - Returns: Whether it was there.
  private mutating func unpark(_ path: ItemPath, of client: ClientID) -> Bool {
    let count = ledger.withheld.count
    ledger.withheld.removeAll { $0.client == client && $0.path == path }
    return ledger.withheld.count < count
  }

  /// Puts something that appeared aside until the writes have ended that may have made it for a moment.
  ///
  /// - Returns: Whether there are any.
  private mutating func park(_ path: ItemPath, of client: ClientID) -> Bool {
    guard let directory = path.parent, ledger.withheld.count < ChangeLedger.withheldCountMax else { return false }
    var writes: Set<AccessID> = []
    if let node = tree.node(at: directory) {
      _ = tree.forEachNode(inSubtreeOf: node, where: { $0.claimCountInSubtree > 0 }) { part in
        if tree.nodes[part].parent == node { forEachGrantedWrite(at: part) { writes.insert($0.access) } }
        return true
      }
    }
    let echoes = ledger.echoes.filter { echo in
      echo.client == client && echo.covers.contains { $0.place.parent == directory }
    }
    if writes.isEmpty, echoes.isEmpty { return false }
    if !isWithheld(path, of: client) {
      ledger.withheld.append(
        ChangeLedger.Withheld(client: client, path: path, writes: writes, echoes: Set(echoes.map(\.id))))
    }
    return true
  }

  private mutating func verifyWithheld() {
    for withheld in ledger.withheld where withheld.writes.isEmpty && withheld.echoes.isEmpty {
      effects.append(.verifyAgain(withheld.client, .appeared(withheld.path)))
    }
    ledger.withheld.removeAll { $0.writes.isEmpty && $0.echoes.isEmpty }
  }
}

// MARK: - The end of a write

extension FileAccessArbiter {
  /// Before any notification of the end of a write: processes whose presenters it concerned are to read their queues.
  ///
  /// The process that made it has done so.
  mutating func noteEndOfWrite(_ id: AccessID) {
    if ledger.observerCount == 0 { return }
    let access = accesses[id]
    var covers: [ChangeLedger.Cover] = []
    var clients: Set<ClientID> = []
    let written = access.items.lazy.filter { $0.access.isWrite && !$0.isAlias }.map(\.claim)
    for claim in written + access.formerClaims.map(\.claim)
    where claim != ItemTree.none {
      let node = tree.lockNode(of: tree.claims[claim].node)
      covers.append(cover(by: tree.claims[claim], at: node))
      forEachPresenter(around: tree.path(of: node), withInside: true) { presenter, _ in
        let presenter = presenters[presenter]
        if presenter.callbacks.contains(.uncoordinatedChanges) { clients.insert(presenter.client) }
      }
    }
    for client in clients.sorted() where client != access.client {
      leaveEcho(of: id, in: client, covers)
    }
    // Files that it moved there after they were seen are reported as its moves.
    ledger.withheld.removeAll { withheld in
      withheld.writes.contains(id)
        && covers.contains { $0.place == withheld.path || ($0.isDeep && $0.place.contains(withheld.path)) }
    }
    for index in ledger.withheld.indices { ledger.withheld[index].writes.remove(id) }
    verifyWithheld()
  }

  private mutating func leaveEcho(of id: AccessID, in client: ClientID, _ covers: [ChangeLedger.Cover]) {
    ledger.lastEcho += 1
    let echo = EchoID(ledger.lastEcho)
    ledger.echoes.append(ChangeLedger.Echo(id: echo, client: client, covers: covers))
    for index in ledger.withheld.indices
    where ledger.withheld[index].client == client && ledger.withheld[index].writes.contains(id) {
      ledger.withheld[index].echoes.insert(echo)
    }
    if ledger.echoes.count > ChangeLedger.echoCountMax { forgetEcho(ledger.echoes[0].id) }
    effects.append(.endEcho(client, echo))
  }

  private mutating func forgetEcho(_ echo: EchoID) {
    ledger.echoes.removeAll { $0.id == echo }
    for index in ledger.withheld.indices { ledger.withheld[index].echoes.remove(echo) }
  }

  /// Nothing comes of a process that's gone.
  mutating func forgetChanges(seenBy client: ClientID) {
    ledger.echoes.removeAll { $0.client == client }
    ledger.withheld.removeAll { $0.client == client }
    ledger.settling = ledger.settling.filter { $0.key.client != client }
    ledger.reportedEnds = ledger.reportedEnds.filter { $0.client != client }
  }
}
