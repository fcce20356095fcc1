internal import CompactContainers

// Notifies presenters of strangers' changes. The messages are those of coordinated changes, without the questions.

extension FileAccessArbiter {
  func concerned(by change: ItemChange, of client: ClientID) -> Concerned {
    switch change {
    case .changed(let path), .appeared(let path), .vanished(let path):
      observers(around: path, withInside: false, of: client)
    case .unknown(let path): observers(around: path, withInside: true, of: client)
    case .moved(let old, _, _): observers(around: old, withInside: true, of: client)
    }
  }

  func observers(around path: ItemPath, withInside: Bool, of client: ClientID) -> Concerned {
    var result: Concerned = []
    if ledger.observerCount == 0 { return result }
    forEachPresenter(around: path, withInside: withInside) { id, relation in
      let presenter = presenters[id]
      if presenter.client == client, presenter.callbacks.contains(.uncoordinatedChanges) {
        result.append((id, relation))
      }
    }
    return result
  }

  mutating func tell(_ change: ItemChange, to concerned: Concerned) {
    switch change {
    case .changed(let path): tellNews(.changed(path), to: concerned)
    case .vanished(let path): tellNews(.vanished(path), to: concerned)
    case .appeared(let path): tellNews(.appeared(path), to: concerned)
    case .unknown: for (presenter, _) in concerned { tellLoss(to: presenter) }
    case .moved(let old, let new, let replaced): tellMove(from: old, to: new, replaced: replaced, concerned)
    }
  }

  private mutating func tellNews(_ news: SubitemNews, to concerned: Concerned) {
    for (presenter, relation) in concerned {
      switch relation {
      case .item: sendOnce(.itemDidChange, to: presenter)
      case .enclosingPackage, .enclosingDirectory: sendNewsOnce(news, to: presenter, relation)
      case .inside: break
      }
    }
  }

  private mutating func sendNewsOnce(
    _ news: SubitemNews, to presenter: PresenterID, _ relation: PresenterRelation
  ) {
    // No coordinator's purpose.
    for kind in messages(about: news, to: presenter, relation, from: PurposeID(0)) { sendOnce(kind, to: presenter) }
  }

  /// The changes are unknown: the presenter has to examine everything.
  private mutating func tellLoss(to presenter: PresenterID) {
    guard let node = presenters[presenter].node else { return }
    let callbacks = presenters[presenter].callbacks
    let kind: Message.Kind =
      callbacks.contains(.itemDidChange) ? .itemDidChange : .subitemDidChange(tree.path(of: node))
    sendOnce(kind, to: presenter, verified: nil)
  }

  /// Like a coordinated move, but only presenters that observe strangers follow.
  private mutating func tellMove(from old: ItemPath, to new: ItemPath, replaced: Bool, _ concerned: Concerned) {
    var movers: [(PresenterID, ItemTree.NodeIndex)] = []
    for (presenter, relation) in concerned {
      switch relation {
      case .item, .inside:
        guard let node = presenters[presenter].node else { continue }
        movers.append((presenter, node))
        tellMove(to: presenter, from: tree.path(of: node), old, new, .uncoordinated(verified: true))
      case .enclosingPackage, .enclosingDirectory:
        sendNewsOnce(.moved(from: old, to: new), to: presenter, relation)
      }
    }
    if let client = concerned.first.map({ presenters[$0.presenter].client }) {
      let told = Set(concerned.map(\.presenter))
      let others = observers(around: new, withInside: false, of: client).filter { !told.contains($0.presenter) }
      tellNews(replaced ? .changed(new) : .appeared(new), to: others)
    }
    for (presenter, node) in movers { movePresenter(presenter, from: node, old, new) }
    for (presenter, _) in movers { presenters[presenter].node.map { askNewcomer(presenter, at: tree.path(of: $0)) } }
  }

  /// Leaves a message out if an equal one waits already, unless the presenter is notified of a move in between.
  private mutating func sendOnce(_ kind: Message.Kind, to presenter: PresenterID, verified: Bool? = true) {
    for id in presenters[presenter].pending.suffix(ChangeLedger.lookBackCountMax).reversed() {
      let message = messages[id]
      if message.kind == kind, message.origin.isUncoordinated { return }
      if message.kind.requiredCallback == .itemDidMove || message.kind.requiredCallback == .subitemDidMove { break }
    }
    send(kind, to: presenter, .uncoordinated(verified: verified))
  }
}

extension Message.Origin {
  /// Of an unknown party.
  fileprivate static func uncoordinated(verified: Bool?) -> Self {
    var origin = Self(client: ClientID(0), purpose: PurposeID(0), label: "", verified: verified)
    origin.isUncoordinated = true
    return origin
  }
}
