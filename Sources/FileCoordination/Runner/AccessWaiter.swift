internal import CompactContainers
internal import CoordinationService
internal import FileAccessArbiter
internal import FoundationEssentials
internal import Synchronization
internal import SystemInterface

/// One access between its request and its end, in the host.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its own lock | the answer comes from whatever thread makes the deciding step, and moves after it |
/// | `isAnswered` | is atomic | a thread that stays awake polls it, without taking the lock from the one that answers |
///
/// The answer is stored under the lock before the continuation is resumed and read under the lock afterwards; that also
/// makes it visible to the thread sanitizer.
final class AccessWaiter: Sendable {
  enum Answer: Sendable {
    case granted(Grant)
    case failed(Failure, presenterError: (any Error)?)
    /// The service of the domain has gone, and there's no other.
    case unreachable(FileCoordinationError)
  }

  private struct Place {
    let url: URL
    let path: ItemPath
  }

  private struct State {
    var answer: Answer?
    var continuation: CheckedContinuation<Void, Never>?
    var end: WaitEnd?
    /// Items that are elsewhere than they were requested at.
    var places: [Int: Place] = [:]
    /// Items that the accessor sees as snapshots, which never move.
    var snapshots: Set<Int> = []
    /// Of the grant, in domains of several processes.
    var token: FencingToken?
    /// Others were granted conflicting accesses while the process couldn't be reached.
    var isLost = false
    /// Drawn when a child process is to belong to the access.
    var childToken: AccessToken?
  }

  let id: AccessID
  let items: ShortList<AccessPlan.Item>
  /// The claims beside those of the items, see ``ItemAliases``.
  let aliases: [AccessRequest.Item]
  /// Intents that show where their items are; empty unless the caller passed some.
  let intents: [FileAccessIntent]
  /// Of the waiting task; `nil` for a thread.
  let priority: TaskPriority?
  private let state = Guarded(State())
  private let isAnswered = Atomic(false)

  init(
    _ id: AccessID, _ items: ShortList<AccessPlan.Item>, intents: [FileAccessIntent],
    aliases: some Sequence<AccessRequest.Item> = [], priority: TaskPriority?
  ) {
    self.aliases = Array(aliases)
    self.intents = intents
    self.priority = priority
    self.id = id
    self.items = items
  }

  /// For a claim that was granted without the arbiter.
  convenience init(_ id: AccessID, adopting claim: AdoptableClaim) {
    let item = AccessPlan.Item(access: claim.access.itemAccess, location: claim.item.location)
    self.init(id, [item], intents: [], priority: nil)
    resolve(.granted(Grant()))
  }

  var answer: Answer? { state.withLock { $0.answer } }

  var isGranted: Bool {
    if case .granted = answer { return true }
    return false
  }

  var token: FencingToken? { state.withLock { $0.token } }
  func noteToken(_ token: FencingToken) { state.withLock { $0.token = token } }

  var isLost: Bool { state.withLock { $0.isLost } }
  func noteLoss() { state.withLock { $0.isLost = true } }

  /// The token for child processes that belong to the access.
  var childToken: AccessToken {
    state.withLock { state in
      let token = state.childToken ?? .drawn()
      state.childToken = token
      return token
    }
  }

  func resolve(_ answer: Answer) {
    let sleepers = state.withLock { state -> (CheckedContinuation<Void, Never>?, WaitEnd?) in
      precondition(state.answer == nil, "\(id) is answered twice")
      state.answer = answer
      return (state.continuation.take(), state.end.take())
    }
    isAnswered.store(true, ordering: .releasing)
    sleepers.0?.resume()
    sleepers.1?.come()
  }

  /// Suspends until there's an answer.
  ///
  /// The caller sees to cancellation.
  func suspend() async {
    await withCheckedContinuation { continuation in
      let isAnswered = state.withLock { state -> Bool in
        if state.answer != nil { return true }
        state.continuation = continuation
        return false
      }
      if isAnswered { continuation.resume() }
    }
  }

  /// Blocks the calling thread until there's an answer.
  ///
  /// Without other work the thread stays awake for a moment: a presenter often answers sooner than a thread falls asleep.
  ///
  /// - Parameters:
  ///   - server: The work of the thread meanwhile, if any.
  ///   - host: The host whose former waits show how long staying awake pays.
  func block(serving server: (any BlockedThreadServer)?, at host: ArbiterHost) {
    if server != nil { return sleep(serving: server) }
    host.watchfulness.await(by: host.clock, { isAnswered.load(ordering: .acquiring) }, orSleep: { sleep(serving: nil) })
  }

  private func sleep(serving server: (any BlockedThreadServer)?) {
    let end = WaitEnd()
    let isAnswered = state.withLock { state -> Bool in
      if state.answer != nil { return true }
      state.end = end
      return false
    }
    if !isAnswered { end.wait(serving: server) }
  }

  func url(of index: Int) -> URL { state.withLock { $0.places[index]?.url } ?? items[index].location.url }

  func path(of index: Int) -> ItemPath { state.withLock { $0.places[index]?.path } ?? items[index].location.path }

  /// Where the items are by the time of the grant.
  func notePlaces(_ grant: Grant) {
    for (index, item) in grant.items.prefix(items.count).enumerated() where item.wasMoved {
      noteMove(of: index, to: item.path)
    }
    for (index, intent) in intents.enumerated() { intent.note(url(of: index)) }
  }

  func noteMove(of index: Int, to path: ItemPath) {
    let url = items[index].location.spelling.url(of: path)
    let isNoted = state.withLock { state -> Bool in
      if state.snapshots.contains(index) { return false }
      state.places[index] = Place(url: url, path: path)
      return true
    }
    if isNoted, !intents.isEmpty { intents[index].note(url) }
  }

  /// Lets the accessor see a snapshot instead of the item.
  func replaceItem(_ index: Int, bySnapshotAt path: ItemPath) {
    let url = FileURLCoding.url(of: path.bytes)
    state.withLock { state in
      state.snapshots.insert(index)
      state.places[index] = Place(url: url, path: path)
    }
    if !intents.isEmpty { intents[index].note(url) }
  }
}
