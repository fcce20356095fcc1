package import FileAccessArbiter

/// The frames from the service to a process, in the process's own numbers.
package enum ServerFrame: Hashable, Sendable {
  /// The first frame of a connection that's accepted.
  case welcome(Welcome)
  /// The connection is of no use, and closed after this frame.
  case refused(Refusal, explanation: String)
  case granted(AccessID, Grant, FencingToken)
  /// With the error of the presenter that caused it.
  case failed(AccessID, Failure, explanation: PresenterFailure?)
  case delivered(Delivery, DeliveryOrigin)
  /// The question to save that was announced with this message isn't needed any more: it's put only if it has begun.
  case saveWithdrawn(MessageID)
  case itemMoved(AccessID, item: UInt32, to: ItemPath)
  case presenterMoved(PresenterID, to: ItemPath)
  case presenterToBeLocated(PresenterID)
  case presenterForgotten(PresenterID)
  case reported(AccessID, WaitReport)
  /// From now on the process may decide alone about the root and everything inside it.
  case delegated(DelegationID, root: ItemPath, mode: DelegationMode)
  /// Another process has moved an item: recorded places inside it are out of date.
  case moved(from: ItemPath, to: ItemPath)
  /// The delegation is recalled: the process reports the accesses that were granted under it, and returns it.
  case recalled(DelegationID)
  /// Whether the request that the process waited for has been fulfilled.
  case answered(RequestNumber, Bool)
  /// Report all that was granted under delegations, and answer `ClientFrame.surveyed`.
  case survey(RequestNumber)
  case snapshot(RequestNumber, SnapshotReply)
  /// The state after an event, for a process that observes.
  case observed(SnapshotReply)
  /// The process came too late with its re-assertion: others have been granted conflicting accesses.
  case lost(AccessID)
  /// A write has ended: report all changes that have been seen by now, and then `ArbiterEvent.echoEnded`.
  case settle(EchoID)
  /// No coordinated write accounts for the change: check whether it lasts, and report `ArbiterEvent.changesConfirmed`.
  case verifyAgain(ItemChange)
  /// Re-assertions have been taken in, and new accesses are granted again.
  case graceEnded

  /// The frame to send instead when this one is longer than a frame may be; `nil` if there's none.
  package var substituteIfTooLong: ServerFrame? {
    switch self {
    case .snapshot(let number, _): .answered(number, false)
    case .failed(let id, let failure, let explanation):
      .failed(id, failure.abridged, explanation: explanation.map { PresenterFailure(code: $0.code, text: $0.text) })
    case .reported(let id, let report):
      .reported(
        id,
        WaitReport(
          waiter: report.waiter.abridged, waiting: report.waiting, blockers: report.blockers.map(\.abridged)))
    default: nil
    }
  }
}

/// The answer to a process that's accepted.
package struct Welcome: Hashable, Sendable {
  /// Grows with each service of a domain, so that nothing of an earlier one is taken for a later one's.
  package var epoch: UInt64
  package var serviceProcessIdentifier: Int32

  package init(epoch: UInt64, serviceProcessIdentifier: Int32) {
    self.epoch = epoch
    self.serviceProcessIdentifier = serviceProcessIdentifier
  }
}

/// Why a connection is of no use.
package enum Refusal: UInt8, Hashable, Sendable, CaseIterable {
  case unknownVersion = 1
  case otherUser = 2
  case otherPackages = 3
  case malformed = 4
  case tooManyClients = 5
  case tooSlow = 6
}

/// Numbers that grow with each grant of a domain, so that a store can refuse data of an older grant.
package struct FencingToken: Hashable, Sendable, Comparable {
  package var epoch: UInt64
  package var sequence: UInt64

  package init(epoch: UInt64, sequence: UInt64) {
    self.epoch = epoch
    self.sequence = sequence
  }

  package static func < (left: Self, right: Self) -> Bool {
    (left.epoch, left.sequence) < (right.epoch, right.sequence)
  }
}

/// The origin of a message, which the receiving process can't know.
package struct DeliveryOrigin: Hashable, Sendable {
  package var processIdentifier: Int32
  package var processName: String
  package var purpose: String
  /// The causing access, for a presenter that relinquishes for it.
  package var debtOrigin: DebtOrigin?

  package init(processIdentifier: Int32, processName: String, purpose: String, debtOrigin: DebtOrigin?) {
    self.processIdentifier = processIdentifier
    self.processName = processName
    self.purpose = purpose
    self.debtOrigin = debtOrigin
  }
}

/// The presenters, accesses and processes of a domain.
package struct SnapshotReply: Hashable, Sendable {
  package struct Process: Hashable, Sendable {
    package var processIdentifier: Int32
    package var name: String
    package var isService: Bool
    package var delegations: [ItemPath]

    package init(processIdentifier: Int32, name: String, isService: Bool, delegations: [ItemPath]) {
      self.processIdentifier = processIdentifier
      self.name = name
      self.isService = isService
      self.delegations = delegations
    }
  }

  package var arbiter: ArbiterSnapshot
  package var processes: [Process]
  package var epoch: UInt64
  package var isInGrace: Bool

  package init(arbiter: ArbiterSnapshot, processes: [Process], epoch: UInt64, isInGrace: Bool) {
    self.arbiter = arbiter
    self.processes = processes
    self.epoch = epoch
    self.isInGrace = isInGrace
  }
}

// MARK: - Shorter

extension Failure {
  /// How many members of a deadlock are named at its end.
  private static let lastMemberCount = 4

  /// As many members as a report names otherwise, with the first of their items.
  fileprivate var abridged: Failure {
    func abridge(_ members: [WaitMember], last: Int = 0) -> [WaitMember] {
      members.naming(first: FileAccessArbiter.reportedMemberCountMax - last, last: last).map(\.abridged)
    }
    return switch self {
    case .cancelled, .presenterFailed, .evictionRefused, .outerAccessEnded, .nestedTooDeep: self
    case .timedOut(let waiting, let blockers): .timedOut(waiting: waiting, blockers: abridge(blockers))
    case .unanswered(let waiting, let blockers, let followers):
      .unanswered(waiting: waiting, blockers: abridge(blockers), followers: abridge(followers))
    case .deadlock(let members): .deadlock(abridge(members, last: Self.lastMemberCount))
    }
  }
}

extension WaitMember {
  fileprivate var abridged: WaitMember {
    switch self {
    case .access(let summary): .access(summary.abridged)
    case .message, .others: self
    }
  }
}

extension AccessSummary {
  private static let abridgedItemCount = 4

  fileprivate var abridged: AccessSummary {
    AccessSummary(
      id: id, client: client, clientName: clientName, label: label, items: Array(items.prefix(Self.abridgedItemCount)),
      omittedItemCount: omittedItemCount + max(0, items.count - Self.abridgedItemCount),
      isPreparation: isPreparation, phase: phase, since: since)
  }
}
