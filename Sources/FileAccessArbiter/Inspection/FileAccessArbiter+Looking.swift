internal import CompactContainers

// The checks of a host that doesn't trust its participants, before it passes on an event.

extension FileAccessArbiter {
  /// Whether an access lives, and how far it is; `nil` if it has ended or never was.
  package func phase(of id: AccessID) -> AccessSummary.Phase? {
    accesses.find(id).map { AccessSummary.Phase($0.phase) }
  }

  /// Every message of this arbiter so far has this number or a smaller one.
  package var lastMessageID: MessageID { MessageID(lastMessage, epoch: epoch) }

  /// Whether an access has ended, and some that were requested inside of it haven't: its number still means something.
  package func isOutlived(_ id: AccessID) -> Bool { outlivedContexts[id] != nil }

  /// The number of items of a live access.
  package func itemCount(of id: AccessID) -> Int { accesses.find(id)?.items.count ?? 0 }

  package func knows(_ id: PresenterID) -> Bool { presenters.contains(id) }

  /// How many accesses and presenters a participant has.
  package func partyCount(of client: ClientID) -> Int { Int(clients.find(client)?.references ?? 0) }

  /// The purposes of all accesses, presenters and messages.
  ///
  /// - Complexity: O(their number).
  package var purposesInUse: Set<PurposeID> {
    var result = Set(accesses.sortedKeys.map { accesses[$0].purpose })
    result.formUnion(presenters.sortedKeys.map { presenters[$0].purpose })
    result.formUnion(messages.sortedKeys.map { messages[$0].origin.purpose })
    return result
  }

  /// How many accesses and callbacks an access was requested inside of; zero when it's gone.
  package func nestingDepth(of id: AccessID) -> Int { accesses.find(id)?.lineage.count ?? 0 }

  /// The innermost access around one, if it lasts; `nil` also if there's only a callback around it.
  package func innermostAccess(around id: AccessID) -> AccessID? {
    for case .access(let outer) in accesses.find(id)?.lineage ?? [] where accesses.contains(outer) { return outer }
    return nil
  }

  /// All accesses around others, also those that have ended.
  ///
  /// - Complexity: O(accesses, and what's around them).
  package var accessesAround: Set<AccessID> {
    var result: Set<AccessID> = []
    for id in accesses.sortedKeys {
      for case .access(let outer) in accesses[id].lineage { result.insert(outer) }
    }
    return result
  }

  /// The presenter on whose behalf a live access was made.
  package func ownPresenter(of id: AccessID) -> PresenterID? { accesses.find(id)?.ownPresenter }

  /// The presenter that a message was sent to; `nil` if it has been answered, or never was.
  package func recipient(of id: MessageID) -> PresenterID? { messages.find(id)?.presenter }

  /// The place of the only item of a live access and whether it's written, if the access asks for nothing special: a
  /// participant could have granted it itself.
  package func plainAccess(_ id: AccessID) -> (path: ItemPath, isWrite: Bool)? {
    guard let access = accesses.find(id), access.items.count == 1, !access.isPreparation, access.ownPresenter == nil,
      access.items[0].access.isPlain
    else { return nil }
    return (path(ofItem: 0, of: access), access.items[0].access.isWrite)
  }
}
