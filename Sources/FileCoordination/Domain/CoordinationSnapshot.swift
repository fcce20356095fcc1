internal import FileAccessArbiter

/// The presenters, accesses and waits of a domain at one moment.
///
/// Needs no privileges.
public struct CoordinationSnapshot: Sendable, CustomStringConvertible {
  /// An access that is granted or waits.
  public struct Access: Hashable, Sendable {
    /// The coordinator, its process, the items, the phase and its duration.
    public let party: CoordinationParty
    /// How long ago it was requested.
    public let age: Duration
    /// The parties in its way; of many the first, and none when it's granted.
    public let blockers: [CoordinationParty]
    /// How many more are in its way.
    public let omittedBlockerCount: Int
    /// The access that it's nested in, perhaps of another process; `nil` if there's none, or if that has ended.
    public let outer: CoordinationParty?
    /// Whether the accessor runs.
    public var isGranted: Bool { party.kind == .holdingAccess }
  }

  /// A registered presenter.
  public struct Presenter: Hashable, Sendable {
    /// Its label.
    public let label: String
    /// Its process, such as `pid 4711 'notesd'`.
    public let process: String
    /// The canonical path of its item; `nil` while that has no location.
    public let path: String?
    /// The callbacks that it declared.
    public let callbacks: FilePresenterCallbacks
    /// Whether it's notified of changes by programs that don't coordinate.
    public let observesUncoordinatedChanges: Bool
    /// Callbacks under way, the outermost first.
    public let running: [CoordinationParty]
    /// How many messages wait for it.
    public let pendingMessageCount: Int
  }

  /// An item that is accessed or presented.
  public struct Node: Hashable, Sendable {
    /// The canonical path, for people.
    public let path: String
    /// The activity there: one line for each access and presenter.
    public let notes: [String]
  }

  /// Accesses in order of request.
  public let accesses: [Access]
  /// Presenters in order of registration.
  public let presenters: [Presenter]

  init(_ snapshot: ArbiterSnapshot) {
    let summaries = Dictionary(snapshot.accesses.map { ($0.summary.id, $0.summary) }) { first, _ in first }
    accesses = snapshot.accesses.map { access in
      let blockers = NamedParties(access.blockers, at: snapshot.time)
      return Access(
        party: CoordinationParty(access.summary, at: snapshot.time),
        age: .nanoseconds(snapshot.time - access.requestedAt), blockers: blockers.parties,
        omittedBlockerCount: blockers.omittedCount,
        outer: access.outer.flatMap { summaries[$0] }.map { CoordinationParty($0, at: snapshot.time) })
    }
    presenters = snapshot.presenters.map { presenter in
      Presenter(
        label: presenter.label, process: presenter.clientName, path: presenter.path?.description,
        callbacks: FilePresenterCallbacks(
          rawValue: presenter.callbacks.intersection(.all).rawValue),
        observesUncoordinatedChanges: presenter.callbacks.contains(.uncoordinatedChanges),
        running: presenter.running.map { CoordinationParty($0, at: snapshot.time) },
        pendingMessageCount: presenter.pendingCount)
    }
  }

  /// The items concerned, in the order of their paths.
  public var nodes: [Node] {
    var notes: [String: [String]] = [:]
    for presenter in presenters {
      notes[presenter.path ?? "(not saved yet)", default: []].append(Self.note(presenter))
    }
    for access in accesses {
      for item in access.party.items { notes[item.path, default: []].append(Self.note(access, item)) }
    }
    return notes.keys.sorted().map { Node(path: $0, notes: notes[$0] ?? []) }
  }

  private static func note(_ presenter: Presenter) -> String {
    var note = "presented by '\(presenter.label)' (\(presenter.process))"
    if presenter.observesUncoordinatedChanges { note += ", observes uncoordinated changes" }
    for callback in presenter.running {
      note += ", has run \(callback.callback ?? "") for \(callback.duration.shortDescription)"
    }
    if presenter.pendingMessageCount > 0 { note += ", \(presenter.pendingMessageCount) messages wait" }
    return note
  }

  private static func note(_ access: Access, _ item: CoordinationParty.Item) -> String {
    let mode = item.isWritten ? "writing" : "reading"
    let party = access.party
    let time = "for \(party.duration.shortDescription)"
    let inside = access.outer.map { ", inside the access of '\($0.label)' (\($0.process))" } ?? ""
    if access.isGranted { return "held for \(mode) by '\(party.label)' (\(party.process)) \(time)\(inside)" }
    let more = access.omittedBlockerCount > 0 ? " and \(access.omittedBlockerCount) more" : ""
    let blockers = access.blockers.map { "'\($0.label)'" }.joined(separator: ", ") + more
    return "'\(party.label)' (\(party.process)) has waited \(time) before \(mode)\(inside), behind \(blockers)"
  }

  /// The items as an indented list.
  public var description: String {
    if nodes.isEmpty { return "nobody accesses or presents anything" }
    return nodes.map { node in
      node.path + node.notes.map { "\n    \($0)" }.joined()
    }.joined(separator: "\n")
  }
}

extension CoordinationDomain {
  /// The presenters, accesses and waits right now.
  ///
  /// In a domain of many processes this suspends until the service has answered, and the processes have reported the
  /// accesses that they granted themselves. No thread of the cooperative pool waits meanwhile.
  ///
  /// - Returns: The state between two events; it may have changed when you examine it.
  /// - Throws: ``FileCoordinationError`` with code `.domainUnreachable` when the service can't be asked, and
  ///   `.messageTooLong` when the state doesn't fit into a message.
  /// - Complexity: O(accesses and presenters), under the domain's lock: for people and tools, not for hot paths.
  public func snapshot() async throws(FileCoordinationError) -> CoordinationSnapshot {
    try await host.withoutBlocking { () throws(FileCoordinationError) in try self.snapshotBlocking() }
  }

  /// The presenters, accesses and waits right now, for code that isn't asynchronous.
  ///
  /// Blocks the thread in a domain of many processes, for a round trip to the service and from there to all of them; in a domain of one
  /// process it doesn't wait.
  ///
  /// - Returns: The state between two events; it may have changed when you examine it.
  /// - Throws: ``FileCoordinationError`` with code `.domainUnreachable` when the service can't be asked, and
  ///   `.messageTooLong` when the state doesn't fit into a message.
  /// - Complexity: O(accesses and presenters), under the domain's lock: for people and tools, not for hot paths.
  public func snapshot() throws(FileCoordinationError) -> CoordinationSnapshot { try snapshotBlocking() }

  private func snapshotBlocking() throws(FileCoordinationError) -> CoordinationSnapshot {
    CoordinationSnapshot(try host.snapshot())
  }
}
