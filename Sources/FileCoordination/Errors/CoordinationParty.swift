internal import FileAccessArbiter

/// A party that waits or is waited for: an access, or a presenter's callback.
public struct CoordinationParty: Hashable, Sendable, CustomStringConvertible {
  /// The role of the party.
  public enum Kind: Hashable, Sendable {
    /// An access that waits for other accesses.
    case waitingAccess
    /// An access that waits for presenters' answers.
    case askingAccess
    /// An access whose accessor runs.
    case holdingAccess
    /// A presenter's callback that runs.
    case runningCallback
    /// A message to a presenter that is occupied.
    case queuedMessage
  }

  /// One item of an access.
  public struct Item: Hashable, Sendable {
    /// The canonical path, for people.
    public let path: String
    /// Whether the item is written, or only read.
    public let isWritten: Bool
    /// Whether the access concerns everything inside the item as well: it deletes, moves or replaces it, or takes a
    /// snapshot of it.
    public let includesContents: Bool
  }

  /// The role of the party.
  public let kind: Kind
  /// The label of the coordinator or of the presenter.
  public let label: String
  /// The process, such as `pid 4711 'notesd'`, or `pid 4711 'notesd', stopped` while something keeps it from running.
  public let process: String
  /// The items accessed, or the item presented; of many the first.
  public let items: [Item]
  /// How many more items it accesses.
  public let omittedItemCount: Int
  /// The callback, when the party is one.
  public let callback: String?
  /// How long it has been as it is.
  public let duration: Duration

  private static let itemCountMax = 8

  /// - Returns: `nil` for those that aren't named.
  fileprivate init?(_ member: WaitMember, at now: Timestamp) {
    switch member {
    case .access(let access): self.init(access, at: now)
    case .message(let message): self.init(message, at: now)
    case .others: return nil
    }
  }

  init(_ access: AccessSummary, at now: Timestamp) {
    switch access.phase {
    case .waiting, .ready: kind = .waitingAccess
    case .asking: kind = .askingAccess
    case .granted: kind = .holdingAccess
    }
    label = access.label
    process = access.clientName
    omittedItemCount = access.omittedItemCount + max(0, access.items.count - Self.itemCountMax)
    items = access.items.prefix(Self.itemCountMax).map { item in
      Item(
        path: item.path.description, isWritten: item.access.isWrite, includesContents: item.access.includesContents)
    }
    callback = nil
    duration = .nanoseconds(now - access.since)
  }

  init(_ message: MessageSummary, at now: Timestamp) {
    kind = message.isRunning ? .runningCallback : .queuedMessage
    label = message.presenterLabel
    process = message.clientName
    items =
      message.presentedPath.map { [Item(path: $0.description, isWritten: false, includesContents: false)] } ?? []
    omittedItemCount = 0
    callback = message.callback
    duration = .nanoseconds(now - message.since)
  }

  /// One clause, such as `held for reading by 'indexer' (pid 4711 'notesd') for 12.3 s`.
  public var description: String {
    let time = "for \(duration.shortDescription)"
    let more = omittedItemCount == 0 ? "" : " and \(omittedItemCount) more"
    let what = items.map { "'\($0.path)'" }.joined(separator: ", ") + more
    let mode = items.contains(where: \.isWritten) ? "writing" : "reading"
    switch kind {
    case .holdingAccess: return "\(what) held for \(mode) by '\(label)' (\(process)) \(time)"
    case .waitingAccess: return "'\(label)' (\(process)) has waited \(time) before \(mode) \(what)"
    case .askingAccess: return "'\(label)' (\(process)) has waited \(time) for presenters before \(mode) \(what)"
    case .runningCallback: return "the presenter '\(label)' (\(process)) of \(what) has run \(callback ?? "") \(time)"
    case .queuedMessage:
      return "the presenter '\(label)' (\(process)) of \(what) has not been free \(time) to run \(callback ?? "")"
    }
  }
}

/// Parties that a report names, and how many more there are.
struct NamedParties {
  let parties: [CoordinationParty]
  let omittedCount: Int

  init(_ members: [WaitMember], at now: Timestamp) {
    parties = members.compactMap { CoordinationParty($0, at: now) }
    omittedCount = members.reduce(0) { sum, member in if case .others(let count) = member { sum + count } else { sum } }
  }

  /// One clause for each, and the number of the others.
  var description: String { Self.sentence(parties, omittedCount) }

  static func sentence(_ parties: [CoordinationParty], _ omittedCount: Int) -> String {
    (parties.map(\.description) + (omittedCount > 0 ? ["and \(omittedCount) more"] : [])).joined(separator: "; ")
  }
}

/// A cycle of waits: each member waits for the next, and the last for the first.
public struct DeadlockReport: Hashable, Sendable, CustomStringConvertible {
  /// The members in the order of waiting.
  ///
  /// The first is the access that failed. A very long cycle that other processes reported lacks the members in the
  /// middle.
  public let members: [CoordinationParty]
  /// How many members are missing.
  public let omittedMemberCount: Int
  /// The same members in the form that other processes receive.
  let waits: [WaitMember]
  /// The position of the first member after those that are missing.
  private let resumption: Int

  init(_ waits: [WaitMember], at now: Timestamp) {
    let named = NamedParties(waits, at: now)
    members = named.parties
    omittedMemberCount = named.omittedCount
    resumption = waits.firstIndex { if case .others = $0 { true } else { false } } ?? waits.count
    self.waits = waits
  }

  /// How many members the description names at the beginning and at the end of a long cycle.
  private static let (namedFirst, namedLast) = (12, 4)

  /// The cycle, one numbered line per member; of a long one the beginning and the end.
  public var description: String {
    let leftOut = members.count + omittedMemberCount - Self.namedFirst - Self.namedLast
    var lines: [String]
    if leftOut > 1 || omittedMemberCount > 0 {
      lines = members.indices.prefix(min(Self.namedFirst, resumption)).map(line)
      let last = members.indices.suffix(min(Self.namedLast, members.count - lines.count))
      lines.append("  … \(members.count + omittedMemberCount - lines.count - last.count) more …")
      lines += last.map(line)
    } else {
      lines = members.indices.map(line)
    }
    return "waiting would never end, because each of these waits for the next:\n" + lines.joined(separator: "\n")
      + "\nEnd one of them, or claim all items in one request."
  }

  private func line(_ index: Int) -> String {
    let number = index + 1 + (index < resumption ? 0 : omittedMemberCount)
    return "  \(number). \(members[index])" + (index + 1 < members.count ? ", waiting for" : ", waiting for 1.")
  }
}

/// A wait that has lasted for a while: the waiter, the duration, and the parties in its way.
public struct WaitNotice: Hashable, Sendable, CustomStringConvertible {
  /// The access that waits.
  public let waiter: CoordinationParty
  /// How long it has waited since the request.
  public let duration: Duration
  /// The parties in its way; of many the first.
  public let blockers: [CoordinationParty]
  /// How many more are in its way.
  public let omittedBlockerCount: Int
  /// The presenters that it goes on without, and the reason: those under Apple's names whose queues didn't begin a
  /// question in time.
  public let passedOverPresenters: [String]

  init(_ report: WaitReport, at now: Timestamp) {
    waiter = CoordinationParty(report.waiter, at: now)
    duration = .nanoseconds(report.waiting)
    let named = NamedParties(report.blockers, at: now)
    blockers = named.parties
    omittedBlockerCount = named.omittedCount
    passedOverPresenters = report.passedOver
  }

  /// One sentence.
  public var description: String {
    "\(waiter): " + NamedParties.sentence(blockers, omittedBlockerCount)
      + (passedOverPresenters.isEmpty ? "" : "; not waited for: " + passedOverPresenters.joined(separator: ", "))
  }
}
