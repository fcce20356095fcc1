/// One access as people see it in reports.
package struct AccessSummary: Hashable, Sendable {
  package enum Phase: String, Hashable, Sendable, CaseIterable { case waiting, asking, ready, granted }
  package let id: AccessID
  package let client: ClientID
  package let clientName: String
  package let label: String
  package let items: [AccessRequest.Item]
  /// How many more items it accesses.
  package let omittedItemCount: Int
  package let isPreparation: Bool
  package let phase: Phase
  /// When this phase began.
  package let since: Timestamp

  package init(
    id: AccessID, client: ClientID, clientName: String, label: String, items: [AccessRequest.Item],
    omittedItemCount: Int = 0, isPreparation: Bool, phase: Phase, since: Timestamp
  ) {
    self.id = id
    self.client = client
    self.clientName = clientName
    self.label = label
    self.items = items
    self.omittedItemCount = omittedItemCount
    self.isPreparation = isPreparation
    self.phase = phase
    self.since = since
  }
}

/// One message as people see it in reports.
package struct MessageSummary: Hashable, Sendable {
  package let id: MessageID
  package let presenter: PresenterID
  package let clientName: String
  package let presenterLabel: String
  package let presentedPath: ItemPath?
  package let callback: String
  package let isRunning: Bool
  /// When it was enqueued or, when it runs, delivered.
  package let since: Timestamp

  package init(
    id: MessageID, presenter: PresenterID, clientName: String, presenterLabel: String, presentedPath: ItemPath?,
    callback: String, isRunning: Bool, since: Timestamp
  ) {
    self.id = id
    self.presenter = presenter
    self.clientName = clientName
    self.presenterLabel = presenterLabel
    self.presentedPath = presentedPath
    self.callback = callback
    self.isRunning = isRunning
    self.since = since
  }
}

/// A member of a chain of waits.
package enum WaitMember: Hashable, Sendable {
  case access(AccessSummary)
  case message(MessageSummary)
  /// So many more, which aren't named here.
  case others(Int)
}

extension [WaitMember] {
  /// The same members, with at most so many of them named: those at the beginning and those at the end.
  package func naming(first: Int, last: Int = 0) -> [WaitMember] {
    let named = count { if case .others = $0 { false } else { true } }
    if named <= first + last { return self }
    let middle = dropFirst(first).dropLast(last)
    let count = middle.reduce(0) { sum, member in if case .others(let more) = member { sum + more } else { sum + 1 } }
    return prefix(first) + [.others(count)] + suffix(last)
  }
}

/// A wait: the waiter, its blockers, and since when.
package struct WaitReport: Hashable, Sendable {
  package let waiter: AccessSummary
  package let waiting: Nanoseconds
  package let blockers: [WaitMember]
  /// Presenters that it goes on without, and why.
  package let passedOver: [String]

  package init(waiter: AccessSummary, waiting: Nanoseconds, blockers: [WaitMember], passedOver: [String] = []) {
    self.waiter = waiter
    self.waiting = waiting
    self.blockers = blockers
    self.passedOver = passedOver
  }
}
