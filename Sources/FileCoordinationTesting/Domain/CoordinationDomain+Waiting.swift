public import FileCoordination

extension CoordinationSnapshot {
  /// The oldest access of a coordinator that is granted or waits.
  ///
  /// - Parameter label: The label of the coordinator.
  /// - Returns: The access, or `nil` if it has none.
  public func access(by label: String) -> Access? { accesses.first { $0.party.label == label } }

  /// A registered presenter.
  ///
  /// - Parameter label: Its label.
  /// - Returns: The presenter, or `nil` if none has that label.
  public func presenter(_ label: String) -> Presenter? { presenters.first { $0.label == label } }

  /// Whether an access of this coordinator waits for other accesses.
  ///
  /// - Parameter label: The label of the coordinator.
  /// - Returns: Whether one waits.
  public func isWaiting(_ label: String) -> Bool {
    accesses.contains { $0.party.label == label && $0.party.kind == .waitingAccess }
  }

  /// Whether an access of this coordinator waits for presenters' answers.
  ///
  /// - Parameter label: The label of the coordinator.
  /// - Returns: Whether one waits.
  public func isAsking(_ label: String) -> Bool {
    accesses.contains { $0.party.label == label && $0.party.kind == .askingAccess }
  }

  /// Whether an accessor of this coordinator runs.
  ///
  /// - Parameter label: The label of the coordinator.
  /// - Returns: Whether one runs.
  public func isHolding(_ label: String) -> Bool { accesses.contains { $0.party.label == label && $0.isGranted } }

  /// Whether no presenter runs a callback or has messages waiting.
  public var arePresentersIdle: Bool {
    presenters.allSatisfy { $0.running.isEmpty && $0.pendingMessageCount == 0 }
  }
}
