/// One access as people see it in reports.
package struct AccessSummary: Hashable, Sendable {
  package enum Phase: String, Hashable, Sendable { case waiting, asking, ready, granted }
  package let id: AccessID
  package let client: ClientID
  package let clientName: String
  package let label: String
  package let items: [AccessRequest.Item]
  package let isPreparation: Bool
  package let phase: Phase
  /// When this phase began.
  package let since: Timestamp
}

/// One message as people see it in reports.
package struct MessageSummary: Hashable, Sendable {
  package let id: MessageID
  package let presenter: PresenterID
  package let presenterLabel: String
  package let presentedPath: ItemPath?
  package let callback: String
  package let isRunning: Bool
  /// When it was enqueued or, when it runs, delivered.
  package let since: Timestamp
}

/// A member of a chain of waits.
package enum WaitMember: Hashable, Sendable {
  case access(AccessSummary)
  case message(MessageSummary)
}

/// Who waits for what, and since when.
package struct WaitReport: Hashable, Sendable {
  package let waiter: AccessSummary
  package let waiting: Nanoseconds
  package let blockers: [WaitMember]
}
