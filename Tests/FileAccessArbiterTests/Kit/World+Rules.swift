import CompactContainers
@testable import FileAccessArbiter

// The conflicts (C-001…C-018) a second time, over text and without a tree.

extension World {
  func conflict(_ first: AccessID, _ second: AccessID) -> Bool {
    claimed(by: first).contains { mine in
      claimed(by: second).contains { theirs in
        conflict(mine.access, unit(mine.path.description), theirs.access, unit(theirs.path.description))
      }
    }
  }

  /// The items that the access locks now.
  func claimed(by id: AccessID) -> [AccessRequest.Item] {
    guard let request = requests[id], !request.isPreparation, let places = places[id] else { return [] }
    return zip(request.items, places).map { AccessRequest.Item($1, $0.access) } + (formerPlaces[id] ?? [])
  }

  private func conflict(_ first: ItemAccess, _ here: String, _ second: ItemAccess, _ there: String) -> Bool {
    if here == there { return first.isWrite || second.isWrite }
    if there.hasPrefix(here + "/") { return reachesInside(first, second) }
    if here.hasPrefix(there + "/") { return reachesInside(second, first) }
    return false
  }

  func reachesInside(_ outer: ItemAccess, _ inner: ItemAccess) -> Bool {
    switch outer {
    case .write(.deleting), .write(.moving), .write(.replacing), .write(.evicting): true
    case .readAll: inner.isWrite
    case .read, .write: false
    case .delegated(let forWriting): forWriting || inner.isWrite
    }
  }

  /// The outermost package on the path, or the path.
  func unit(_ path: String) -> String {
    let names = path.split(separator: "/")
    for count in names.indices.map({ $0 + 1 }) where isPackage(names[count - 1]) {
      return "/" + names[..<count].joined(separator: "/")
    }
    return path
  }

  func isPackage(_ name: Substring) -> Bool {
    packages.contains { name.hasSuffix("." + $0) && name.count > $0.count + 1 }
  }

  /// One purpose, or one inside the running accessor of the other.
  func isExempt(_ first: AccessID, _ second: AccessID) -> Bool {
    requests[first]?.purpose == requests[second]?.purpose
      || isNested(first, in: second) || isNested(second, in: first)
  }

  private func isNested(_ inner: AccessID, in outer: AccessID) -> Bool {
    guard isGranted(outer) else { return false }
    var context = requests[inner]?.context
    while case .access(let id) = context {
      if id == outer { return true }
      context = requests[id]?.context
    }
    return false
  }

  /// A callback that runs above the one that waits for this access.
  func callbackAbove(_ id: AccessID) -> MessageID? {
    var current = id
    while let request = requests[current], request.isAwaitedByContext, let context = request.context {
      switch context {
      case .access(let outer):
        // One that has ended awaits nothing.
        if !isGranted(outer) { return nil }
        current = outer
      case .message(let message):
        guard let delivery = running[message], let stack = callbacks[delivery.presenter], stack.last != message,
          let position = stack.firstIndex(of: message)
        else { return nil }
        return stack[position + 1]
      }
    }
    return nil
  }
}

// MARK: - Where things are

extension World {
  mutating func checkPlaces() {
    for id in order where isWaiting(id) || isGranted(id) {
      guard let access = arbiter.accesses.find(id) else {
        problems.append("\(id) is \(status[id] as Any) and the arbiter doesn't know it")
        continue
      }
      let paths = arbiter.paths(of: access)
      if paths != places[id] {
        problems.append("\(id) is at \(paths) instead of \(places[id] as Any)")
      }
    }
    for id in presenterPlaces.keys.sorted() where !removed.contains(id) {
      let place = arbiter.presenters.find(id)?.node.map { arbiter.tree.path(of: $0) }
      if place != presenterPlaces[id] {
        problems.append("\(id) is at \(place as Any) instead of \(presenterPlaces[id] as Any)")
      }
    }
  }
}

// MARK: - Save priority

extension World {
  /// While a presenter owes a save, its own accesses are ahead of the access that waits for that save (C-119).
  mutating func checkSavePriority() {
    for (message, delivery) in running where delivery.kind == .saveChanges {
      guard let asking = delivery.origin.access, arbiter.messages.find(message)?.awaitingAccess == asking else {
        continue
      }
      for own in order.reversed().prefix(while: { $0 != asking }) where isWaiting(own) {
        guard requests[own]?.ownPresenter == delivery.presenter, conflict(own, asking), !isExempt(own, asking),
          !isBelow(own, message), !arbiter.overtook(own, asking), !isReached(asking, byOtherBlockersOf: own),
          !isPassedOver(message, in: arbiter), !isOrderedForOtherReasons(asking)
        else { continue }
        problems.append("\(own) waits behind \(asking), which waits for the save of its presenter")
      }
    }
  }

  /// Whether it had been passed and was let ahead again: its presenter was asked as well, and one of both has to be first.
  private func isOrderedForOtherReasons(_ asking: AccessID) -> Bool {
    arbiter.accesses.find(asking)?.traits.contains(.tookBackPass) == true
  }

  /// Whether another access in the way of `own` waits for `asking`: then to pass it would be a deadlock.
  private func isReached(_ asking: AccessID, byOtherBlockersOf own: AccessID) -> Bool {
    !arbiter.forEachBlocker(of: own) { other in
      other == asking || arbiter.chainOfWaits(from: .access(other)) { $0 == .access(asking) } == nil
    }
  }

  /// Whether the callback that waits for this access lies below `message`, which therefore ends first.
  private func isBelow(_ id: AccessID, _ message: MessageID) -> Bool {
    var context = requests[id]?.context
    while case .access(let outer) = context { context = requests[outer]?.context }
    guard case .message(let own) = context, let delivery = running[message],
      let stack = callbacks[delivery.presenter], let lower = stack.firstIndex(of: own)
    else { return false }
    return stack.firstIndex(of: message).map { $0 > lower } ?? false
  }
}

// MARK: - Deadlocks

extension World {
  /// A deadlock may be reported only where nothing else would have helped.
  ///
  /// The event is replayed without deadlock detection; then all accesses finish that can, in any order and past any
  /// queue. The remaining ones are deadlocked, whatever the order of arrival; the failed accesses must be among them.
  mutating func checkDeadlocks(_ failed: [AccessID], _ before: FileAccessArbiter, _ event: Event) {
    #if DEBUG
      if failed.isEmpty { return }
      var other = before
      other.seededFaults.insert(.cycleNotChecked)
      _ = other.step(event, at: time)
      for id in failed {
        if canFinish(id, in: other) { problems.append("\(id) fails as deadlocked and could have gone on") }
        _ = other.accessCancelled(id, at: time)
      }
    #endif
  }

  /// No access passes another without a reason: a cycle, or a save that is owed.
  mutating func checkOvertakes(_ before: FileAccessArbiter, _ event: Event) {
    #if DEBUG
      let passing = order.filter { id in
        isWaiting(id) || isGranted(id)
          ? (arbiter.accesses.find(id)?.overtakes.count ?? 0) > (before.accesses.find(id)?.overtakes.count ?? 0)
          : false
      }
      if passing.isEmpty { return }
      let owesSave = passing.contains { id in
        requests[id]?.ownPresenter.map { own in running.values.contains { $0.presenter == own } } == true
          || requests[id]?.ownPresenter.flatMap { arbiter.presenters.find($0)?.pending.isEmpty } == false
      }
      if owesSave { return }
      var other = before
      other.seededFaults.insert(.cycleNotChecked)
      _ = other.step(event, at: time)
      let mayBeCycle = other.accesses.sortedKeys.contains { other.cycle(through: $0, .possible) != nil }
      if !mayBeCycle, !other.invariants().contains(where: { $0.hasPrefix("a deadlock") }) {
        problems.append("\(passing) pass others without need")
      }
    #endif
  }

  /// Whether the access could end if all others that can go on did so first, without regard to order of arrival.
  private func canFinish(_ id: AccessID, in arbiter: FileAccessArbiter) -> Bool {
    var done: Set<WaitNode> = []
    let accesses = arbiter.accesses.sortedKeys.map(WaitNode.access)
    let nodes = accesses + arbiter.messages.sortedKeys.map(WaitNode.message)
    var changed = true
    while changed {
      changed = false
      for node in nodes
      where !done.contains(node) && hardWaits(of: node, after: done, in: arbiter).allSatisfy(done.contains) {
        done.insert(node)
        changed = true
      }
    }
    return done.contains(.access(id))
  }

  /// The waits of `node` whatever the order of arrival, when others have ended; accesses with priority stay ahead.
  private func hardWaits(of node: WaitNode, after done: Set<WaitNode>, in arbiter: FileAccessArbiter) -> [WaitNode] {
    func awaited(_ children: [AccessID]) -> [WaitNode] {
      children.filter { requests[$0]?.isAwaitedByContext == true }.map(WaitNode.access)
    }
    switch node {
    case .access(let id):
      guard let access = arbiter.accesses.find(id) else { return [] }
      if access.phase == .granted { return awaited(access.children) + nestedCallback(above: id) }
      let holders = arbiter.accesses.sortedKeys.filter {
        let isAhead = arbiter.accesses[$0].phase == .granted || arbiter.overtook($0, id)
        return isAhead && $0 != id && conflict(id, $0) && !isExempt(id, $0, in: arbiter)
      }
      // It's not granted before that has ended, however far it is.
      let certain = holders.map(WaitNode.access) + (callbackAbove(id).map { [WaitNode.message($0)] } ?? [])
      if access.phase == .waiting { return certain + futureQuestions(access, in: arbiter) }
      let questions = access.negotiations.compactMap(\.outstanding).filter { !isPassedOver($0, in: arbiter) }
      return certain + questions.map(WaitNode.message)
    case .message(let id):
      guard let message = arbiter.messages.find(id) else { return [] }
      if message.state != .pending {
        return awaited(message.children) + ownWrites(of: message, in: arbiter)
          + accessesMeanwhile(of: message, after: done, arbiter)
          + nestedCallback(above: message)
      }
      let ahead = arbiter.presenters[message.presenter].running.last.map { [WaitNode.message($0)] } ?? []
      return message.kind.mayNeedSave
        ? ahead + accesses(of: message.presenter, in: arbiter).map(WaitNode.access) : ahead
    }
  }

  /// A callback on a thread or queue doesn't go on before those that run above it are over.
  private func nestedCallback(above message: Message) -> [WaitNode] {
    guard registrations[message.presenter]?.callbacks.contains(.nestedCallbacks) == true,
      let stack = callbacks[message.presenter], let position = stack.firstIndex(of: message.id)
    else { return [] }
    return stack[(position + 1)...].prefix(1).map(WaitNode.message)
  }

  private func nestedCallback(above id: AccessID) -> [WaitNode] {
    guard let message = callbackAbove(id), let presenter = running[message]?.presenter,
      registrations[presenter]?.callbacks.contains(.nestedCallbacks) == true
    else { return [] }
    return [.message(message)]
  }

  /// Whether the answer isn't waited for much longer: the presenter perhaps hasn't written the callback, and its queue
  /// hasn't begun it.
  private func isPassedOver(_ id: MessageID, in arbiter: FileAccessArbiter) -> Bool {
    guard let message = arbiter.messages.find(id), !message.hasBegun else { return false }
    return arbiter.presenters[message.presenter].callbacks.presumed.contains(message.kind.requiredCallback)
  }

  /// An access that passes the queue has to ask next, and a presenter that is busy and isn't served won't answer.
  private func futureQuestions(_ access: FileAccessArbiter.Access, in arbiter: FileAccessArbiter) -> [WaitNode] {
    var found: [WaitNode] = []
    for (path, item) in zip(arbiter.paths(of: access), access.items) {
      arbiter.forEachPresenter(around: path, withInside: true) { id, relation in
        let presenter = arbiter.presenters[id]
        let questions = MessageRules.questions(
          item.access, at: path, to: relation, isPreparation: access.isPreparation)
        if arbiter.isOwn(presenter, access) { return }
        let kinds = questions.declared(in: presenter.callbacks.subtracting(presenter.callbacks.presumed)).kinds
        if let top = presenter.running.last, !kinds.allSatisfy({ arbiter.mayBeServed($0, presenter) }) {
          found.append(.message(top))
        }
        if kinds.contains(where: \.mayNeedSave) { found += accesses(of: id, in: arbiter).map(WaitNode.access) }
      }
    }
    return found
  }

  /// A save is taken to need its presenter's writes meanwhile, whatever thread asked for it (C-307).
  private func ownWrites(of message: Message, in arbiter: FileAccessArbiter) -> [WaitNode] {
    guard message.kind == .saveChanges, let asking = message.awaitingAccess else { return [] }
    return arbiter.accesses.sortedKeys.filter {
      arbiter.accesses[$0].ownPresenter == message.presenter && arbiter.overtook($0, asking)
    }.map(WaitNode.access)
  }

  /// A question waits for its presenter's accesses elsewhere since it was asked, and one to save for all of its
  /// accesses.
  ///
  /// Not while it waits for one that it made itself; when that has ended, it may wait for the others.
  private func accessesMeanwhile(
    of message: Message, after done: Set<WaitNode>, _ arbiter: FileAccessArbiter
  ) -> [WaitNode] {
    guard let count = requestCounts[message.id], message.kind.mustBeAnswered,
      !order.contains(where: { !done.contains(.access($0)) && isBlocked($0, awaitedIn: message.id, arbiter) })
    else { return [] }
    let later = message.kind.mayNeedSave ? Set(order) : Set(order[count...])
    return accesses(of: message.presenter, in: arbiter).filter(later.contains).map(WaitNode.access)
  }

  /// The accesses that the presenter waits for outside of its callbacks.
  private func accesses(of presenter: PresenterID, in arbiter: FileAccessArbiter) -> [AccessID] {
    order.filter { id in
      arbiter.accesses.find(id)?.isWaiting == true && requests[id]?.ownPresenter == presenter
        && callbackAround(id)?.presenter != presenter
    }
  }

  private func isBlocked(_ id: AccessID, awaitedIn message: MessageID, _ arbiter: FileAccessArbiter) -> Bool {
    arbiter.accesses.find(id)?.isWaiting == true && callbackAround(id)?.message == message
  }

  /// The callback that certainly waits for the access, however deep it's nested in it.
  private func callbackAround(_ id: AccessID) -> Delivery? {
    var current = id
    while let request = requests[current], request.isAwaitedByContext, let context = request.context {
      switch context {
      case .access(let outer): current = outer
      case .message(let message): return running[message]
      }
    }
    return nil
  }

  private func isExempt(_ first: AccessID, _ second: AccessID, in arbiter: FileAccessArbiter) -> Bool {
    arbiter.areExempt(first, second)
  }
}
