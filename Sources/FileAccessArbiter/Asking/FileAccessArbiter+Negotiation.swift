internal import CompactContainers

// Asking presenters before an access: relinquish, then save or accommodate, all presenters in parallel.

extension FileAccessArbiter {
  /// Asks everybody concerned by the table of ``MessageRules``.
  mutating func startAsking(_ id: AccessID) {
    enter(.asking, id)
    if !isAnyoneConcerned(by: id, withInside: true) { return }
    var concerned = takeConcernedList()
    defer { reuse(&concerned) }
    findConcerned(by: id, &concerned)
    if refuseEviction(id, asking: concerned) { return }
    for one in concerned { ask(one, id) }
    if accesses[id].owesAnswers { waitForAnswers(id) }
  }

  private mutating func waitForAnswers(_ id: AccessID) {
    armTimer(of: id, .answering)
    armBeginningTimer(of: id)
    suspects.append(id)
    serveMailboxes(below: id)
  }

  /// Everybody that the access concerns, with merged questions, in order of registration.
  private func findConcerned(by id: AccessID, _ found: inout [ConcernedPresenter]) {
    let access = accesses[id]
    // One item concerns a presenter once.
    var places: [PresenterID: Int]? = access.items.count == 1 ? nil : [:]
    for (index, item) in access.items.enumerated() where !item.isAlias {
      let withInside = MessageRules.concernsInside(item.access, isPreparation: access.isPreparation)
      forEachPresenter(aroundItem: index, of: access, withInside: withInside) { presenter, relation in
        if isOwn(presenters[presenter], access) { return }
        var questions = MessageRules.questions(
          item.access, at: path(ofItem: index, of: access), to: relation, isPreparation: access.isPreparation)
        if questions.save, isSaving(presenter, for: access) || isSaveWaiting(of: presenter, for: id) {
          questions.save = false
        }
        if let place = places?[presenter] {
          found[place].questions.merge(questions)
          if item.access.isWrite, !found[place].itemAccess.isWrite { found[place].itemAccess = item.access }
        } else {
          places?[presenter] = found.count
          found.append(ConcernedPresenter(presenter: presenter, questions: questions, itemAccess: item.access))
        }
      }
    }
    if found.count > 1 { found.sort { $0.presenter < $1.presenter } }
  }

  /// Own presenters, and presenters of the same purpose, are neither asked nor notified (C-110).
  func isOwn(_ presenter: Presenter, _ access: Access) -> Bool {
    if has(.ownPresenterAsked) { return false }
    return presenter.id == access.ownPresenter || presenter.purpose == access.purpose
  }

  /// The surroundings of the access: those it was requested inside of, and the questions to its presenter meanwhile.
  private func contexts(of access: Access) -> [ExecutionContext] {
    guard let own = access.ownPresenter, let presenter = presenters.find(own), !isAwaited(access.id, by: presenter)
    else { return access.lineage }
    return access.lineage + presenter.unanswered.map(ExecutionContext.message)
  }

  /// Whether the access is part of a save of this presenter, be it asked for or not.
  ///
  /// Two editors that save by merging would ask each other to save for ever: the presenter's changes are on their way
  /// already.
  private func isSaving(_ presenter: PresenterID, for access: Access) -> Bool {
    if access.lineage.isEmpty, access.ownPresenter == nil { return false }
    var contexts = contexts(of: access)
    var seen: Set<ExecutionContext> = []
    while let context = contexts.popLast() {
      guard seen.insert(context).inserted, case .message(let id) = context, let message = messages.find(id) else {
        continue
      }
      if message.presenter == presenter, message.kind == .saveChanges { return true }
      guard let cause = message.origin.access.flatMap(accesses.find) else { continue }
      // It saves of its own accord, and goes on when this access has ended.
      if cause.ownPresenter == presenter, cause.items.contains(where: \.access.isWrite) { return true }
      contexts += self.contexts(of: cause)
    }
    return false
  }

  /// Whether the access is a save, too, for which a save of this presenter waits already: asked once more, it would wait for itself.
  ///
  /// The changes of this presenter come after those that the other one saves.
  private func isSaveWaiting(of presenter: PresenterID, for id: AccessID) -> Bool {
    if !isPresumablyAwaited(id) { return false }
    return presenters[presenter].unanswered.contains { message in
      messages[message].kind == .saveChanges
        && chainOfWaits(from: .message(message), to: { $0 == .access(id) }) != nil
    }
  }

  private mutating func ask(_ concerned: ConcernedPresenter, _ id: AccessID) {
    let presenter = concerned.presenter
    let callbacks: PresenterCallbacks =
      has(.undeclaredCallbackAsked) ? .all : presenters[presenter].callbacks
    let questions = concerned.questions.declared(in: callbacks)
    if questions.next == nil { return }
    provideDetails(ofAccess: id)
    accesses[id].negotiations.append(
      Access.Negotiation(presenter: presenter, remaining: questions, since: now))
    askNext(id, accesses[id].negotiationCount - 1, concerned.itemAccess)
  }

  /// Puts the next question of a negotiation.
  ///
  /// - Parameters:
  ///   - id: The access.
  ///   - index: Of the negotiation.
  ///   - itemAccess: The use of the item that concerns the presenter.
  ///   - save: The question to save that has begun already, if any.
  mutating func askNext(
    _ id: AccessID, _ index: Int, _ itemAccess: ItemAccess?, begun save: MessageID? = nil
  ) {
    let presenter = accesses[id].negotiations[index].presenter
    var next = accesses[id].nextQuestion(at: index)
    while let kind = next, isNeedless(kind, presenter, for: id) { next = accesses[id].nextQuestion(at: index) }
    guard let kind = next else {
      return accesses[id].setOutstanding(nil, at: index)
    }
    if let save, kind == .saveChanges {
      messages[save].awaitingAccess = id
      messages[save].negotiation = Int32(index)
      return accesses[id].setOutstanding(save, at: index)
    }
    var origin = origin(of: id)
    origin.itemAccess = itemAccess
    let message = enqueue(kind, to: presenter, origin, awaitedBy: id, negotiation: Int32(index))
    accesses[id].setOutstanding(message, at: index)
  }

  /// Whether a question needn't be put any more: the presenter has turned out not to implement it since, or saves already.
  private func isNeedless(_ kind: Message.Kind, _ presenter: PresenterID, for id: AccessID) -> Bool {
    if !presenters[presenter].callbacks.contains(kind.requiredCallback) { return !has(.undeclaredCallbackAsked) }
    return kind == .saveChanges && isSaving(presenter, for: accesses[id])
  }

  /// One answer arrived: ask that presenter's next question, or go on when it was the last one.
  ///
  /// - Complexity: O(1) but for the last, and for a presenter that isn't free or makes accesses of its own: if
  ///   thousands are asked at once, each answers, and none of these answers can close a cycle.
  mutating func answered(_ message: Message, of id: AccessID, beginning save: MessageID? = nil) {
    let place = accesses.index(of: id)
    guard place != Table<Access>.none, let index = accesses[at: place].indexOfNegotiation(message) else { return }
    accesses[at: place].setOutstanding(nil, at: index)
    askNext(id, index, message.origin.itemAccess, begun: save)
    if !accesses[at: place].owesAnswers { return advance(id) }
    armBeginningTimer(of: id, for: index)
    if let next = accesses[id].negotiations[index].outstanding, mayWait(messages[next]) { suspects.append(id) }
  }

  /// Whether a question waits for anything, as far as can be determined without a search.
  func mayWait(_ message: Message) -> Bool {
    message.state == .pending || !presenters[message.presenter].ownAccesses.isEmpty
      || message.state == .returned && !presenters[message.presenter].running.isEmpty
      || nestedCallback(above: message) != nil
  }

  mutating func forgetOutstanding(_ id: AccessID, _ presenter: PresenterID) {
    for index in accesses[id].negotiations.indices where accesses[id].negotiations[index].presenter == presenter {
      accesses[id].setOutstanding(nil, at: index)
      accesses[id].negotiations[index].remaining = MessageRules.Questions()
    }
  }

  /// Takes back questions that no presenter has seen yet; answers to the others are not awaited any more (C-164).
  mutating func withdrawQuestions(of id: AccessID) {
    if accesses[id].negotiationCount == 0 { return }
    for index in accesses[id].negotiations.indices {
      guard let message = accesses[id].negotiations[index].outstanding else { continue }
      accesses[id].setOutstanding(nil, at: index)
      withdraw(message)
    }
    // The list of asked presenters stays, so that none is asked again.
    for index in accesses[id].negotiations.indices {
      accesses[id].negotiations[index].remaining = MessageRules.Questions()
    }
  }

  /// No access waits for the answer any more, which comes all the same.
  private mutating func stopAwaiting(_ message: MessageID) {
    messages[message].awaitingAccess = nil
    if messages[message].announcedSave != nil {
      effects.append(.withdrawSave(messages[message].presenter, announcedBy: message))
    }
  }

  mutating func withdraw(_ message: MessageID) {
    switch messages[message].state {
    case .running, .returned:
      stopAwaiting(message)
    case .pending:
      let presenter = messages[message].presenter
      // The presenter may have begun it.
      if messages[message].wasSentAhead, !presenters[presenter].isRemoved { return stopAwaiting(message) }
      presenters[presenter].pending.removeAll { $0 == message }
      dropUselessDetails(ofPresenter: presenters.present(presenter))
      messages.remove(message)
    }
  }
}

// MARK: - Presenters that come while an access waits

extension FileAccessArbiter {
  /// A presenter that comes to where accesses are asking is asked as well, until they're granted (C-308).
  mutating func askNewcomer(_ presenter: PresenterID, at path: ItemPath) {
    noteOwnAccesses(of: presenter)
    for id in accessesConcerning(path) { askNewcomers(of: id) }
  }

  /// A request by a coordinator of the presenter before it registered is on its behalf as well.
  ///
  /// - Complexity: O(accesses) if any of them waits.
  private mutating func noteOwnAccesses(of presenter: PresenterID) {
    if waitingCount == 0 { return }
    let purpose = presenters[presenter].purpose
    for id in accesses.sortedKeys where accesses[id].isWaiting {
      let own = accesses[id].ownPresenter
      guard own == presenter || own == nil && accesses[id].purpose == purpose,
        !presenters[presenter].ownAccesses.contains(id)
      else { continue }
      accesses[id].ownPresenter = presenter
      presenters[presenter].ownAccesses.append(id)
    }
  }

  /// Asks the presenters that the access concerns by now and that weren't asked yet.
  mutating func askNewcomers(of id: AccessID) {
    guard let access = accesses.find(id), access.phase == .asking || access.phase == .ready else { return }
    let asked = Set(access.negotiations.map(\.presenter))
    var concerned = takeConcernedList()
    defer { reuse(&concerned) }
    findConcerned(by: id, &concerned)
    if refuseEviction(id, asking: concerned) { return }
    for one in concerned where !asked.contains(one.presenter) { ask(one, id) }
    if accesses[id].negotiations.count == asked.count || !accesses[id].owesAnswers { return }
    if accesses[id].phase == .ready { enter(.asking, id) }
    unpark(id)
    waitForAnswers(id)
  }

  /// Accesses with a claim on the item, around it, or inside it when it's a package; oldest first.
  private func accessesConcerning(_ path: ItemPath) -> [AccessID] {
    var found: Set<AccessID> = []
    func note(_ node: ItemTree.NodeIndex) -> Bool {
      tree.forEachClaim(at: node) { _, claim in
        found.insert(claim.access)
        return true
      }
    }
    var (node, end) = tree.deepestNode(on: path)
    if end == path.bytes.count, tree.nodes[node].isPackage {
      _ = tree.forEachNode(inSubtreeOf: node, where: { $0.claimCountInSubtree > 0 }, note)
    }
    while node != ItemTree.none {
      _ = note(node)
      node = tree.nodes[node].parent
    }
    return found.sorted { accesses[$0].sequence < accesses[$1].sequence }
  }

  /// Whether there are presenters of the items, of directories around them or, if asked, of items inside them; own ones
  /// count too.
  ///
  /// Most accesses concern no presenter, also where millions present other items: then this is all that they pay.
  ///
  /// - Complexity: O(items, and the depth of each).
  func isAnyoneConcerned(by id: AccessID, withInside: Bool) -> Bool {
    if tree.branch(of: tree.root).presenterCountInSubtree == 0 { return false }
    return accesses[id].items.contains { item in
      item.claim == ItemTree.none || tree.hasPresenters(around: tree.claims[item.claim].node, withInside: withInside)
    }
  }

  /// Calls `body` with each presenter of the item, of directories around it and, if asked, of items inside it.
  func forEachPresenter(
    around path: ItemPath, withInside: Bool, _ body: (PresenterID, PresenterRelation) -> Void
  ) {
    let (node, end) = tree.deepestNode(on: path)
    if end == path.bytes.count {
      forEachPresenter(around: node, withInside: withInside, body)
    } else {
      forEachPresenter(enclosing: node, body)
    }
  }

  /// The same for an item of an access, without resolving its path.
  /// - Complexity: O(depth of the item) when no presenter is concerned.
  func forEachPresenter(
    aroundItem index: Int, of access: Access, withInside: Bool, _ body: (PresenterID, PresenterRelation) -> Void
  ) {
    let claim = access.items[index].claim
    if claim == ItemTree.none {
      forEachPresenter(around: access.preparedPaths[index], withInside: withInside, body)
    } else {
      forEachPresenter(around: tree.claims[claim].node, withInside: withInside, body)
    }
  }

  private func forEachPresenter(
    around node: ItemTree.NodeIndex, withInside: Bool, _ body: (PresenterID, PresenterRelation) -> Void
  ) {
    tree.forEachPresenter(at: node) { body($0, .item) }
    if withInside {
      _ = tree.forEachNode(inSubtreeOf: node, where: { $0.presenterCountInSubtree > 0 }) { inner in
        if inner != node { tree.forEachPresenter(at: inner) { body($0, .inside) } }
        return true
      }
    }
    forEachPresenter(enclosing: tree.nodes[node].parent, body)
  }

  private func forEachPresenter(
    enclosing first: ItemTree.NodeIndex, _ body: (PresenterID, PresenterRelation) -> Void
  ) {
    var node = first
    while node != ItemTree.none {
      if tree.hasPresenters(at: node) {
        let relation: PresenterRelation = tree.nodes[node].isPackage ? .enclosingPackage : .enclosingDirectory
        tree.forEachPresenter(at: node) { body($0, relation) }
      }
      node = tree.nodes[node].parent
    }
  }
}

// MARK: - Eviction

extension FileAccessArbiter {
  /// Not to implement the eviction callback is a veto (C-208), the only callback of which that is so.
  private mutating func refuseEviction(_ id: AccessID, asking concerned: [ConcernedPresenter]) -> Bool {
    let refuser = concerned.first { one in
      one.questions.accommodateEviction && !presenters[one.presenter].callbacks.contains(.accommodateEviction)
    }
    guard let refuser else { return false }
    refuseEviction(id, by: refuser.presenter)
    return true
  }

  /// A presenter that agrees has unregistered before it answers; one that stays keeps the contents (C-209).
  mutating func refuseEviction(_ id: AccessID, by presenter: PresenterID) {
    forgetOutstanding(id, presenter)
    let isCallbackMissing = !presenters[presenter].callbacks.contains(.accommodateEviction)
    fail(id, .evictionRefused(presenterLabel: presenters[presenter].label, isCallbackMissing: isCallbackMissing))
  }
}
