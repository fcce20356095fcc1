import EtcdClient

/// Accesses to one lock, a server with a history, and all that's under way between them.
struct LockWorld: Hashable {
  struct Setting: Sendable {
    var name: String
    var modes: [EtcdLockMode]
    /// How many leases may end while their holder believes in them.
    var expiryCount = 0
    /// How many answers may get lost, after which the call is made again, and how many requests arrive a second time, late.
    var lossCount = 0
    /// How many times the history is compacted.
    var compactionCount = 0
    var mistake: LockCore.Mistake?
  }

  struct Key: Hashable {
    var owner: Int
    var createRevision: Int64
  }

  enum Request: Hashable {
    case join, list, release(EtcdLockToken)
  }

  struct Member: Hashable {
    var core: LockCore
    var hasStarted = false
    var isOver = false
    var isLeaseAlive = true
    var request: Request?
    /// The last request, as long as its answer isn't taken.
    var asked: Request?
    var answer: LockCore.Event?
    /// The next revision of the watch; `nil` without one.
    var watched: Int64?
    /// Whether its key was there when the last message to it left the server.
    var wasThere = false
    var token: EtcdLockToken?
    /// Whether it still has to write on behalf of the lock.
    var wantsToWrite = true
  }

  enum Action: Hashable {
    case start(Int), reach(Int), answer(Int), lose(Int), lateJoin(Int), expire(Int), batch(Int), write(Int), finish(Int)
    case compact
  }

  let modes: [EtcdLockMode]
  var members: [Member]
  var revision: Int64 = 1
  var compacted: Int64 = 0
  var keys: [Key] = []
  /// The revisions at which keys were removed, and whose they were.
  var removals: [Int64: Int] = [:]
  /// The joins that may still arrive a second time.
  var late: Set<Int> = []
  var (expiriesLeft, lossesLeft, compactionsLeft): (Int, Int, Int)
  /// The tokens of writers by which something was written, in order.
  var writtenTokens: [Int64] = []
  var problem: String?

  init(_ setting: Setting) {
    modes = setting.modes
    (expiriesLeft, lossesLeft, compactionsLeft) = (setting.expiryCount, setting.lossCount, setting.compactionCount)
    members = setting.modes.indices.map {
      Member(core: LockCore(setting.modes[$0], key: Self.name($0), mistake: setting.mistake))
    }
  }

  private static func name(_ index: Int) -> EtcdBytes { EtcdBytes("lock/\(index)") }

  private func key(_ index: Int) -> Key? { keys.first { $0.owner == index } }

  // MARK: - Actions

  var actions: [Action] {
    if problem != nil { return [] }
    var actions = late.sorted().map(Action.lateJoin)
    for (index, member) in members.enumerated() {
      if !member.hasStarted { actions.append(.start(index)) }
      if expiriesLeft > 0, member.isLeaseAlive, member.hasStarted, !member.isOver { actions.append(.expire(index)) }
      if member.request != nil { actions.append(.reach(index)) }
      if member.answer != nil {
        actions.append(.answer(index))
        if lossesLeft > 0 { actions.append(.lose(index)) }
      }
      if let watched = member.watched, watched <= revision { actions.append(.batch(index)) }
      if member.core.isHolding {
        if member.wantsToWrite { actions.append(.write(index)) }
        actions.append(.finish(index))
      }
    }
    if compactionsLeft > 0, compacted < revision { actions.append(.compact) }
    return actions
  }

  /// The actions that nobody is obliged to.
  static func isOptional(_ action: Action) -> Bool {
    switch action {
    case .lose, .lateJoin, .expire, .compact: true
    case .start, .reach, .answer, .batch, .write, .finish: false
    }
  }

  mutating func perform(_ action: Action) {
    switch action {
    case .start(let index):
      members[index].hasStarted = true
      carryOut(members[index].core.start(), index)
    case .reach(let index):
      guard let request = members[index].request else { return }
      members[index].request = nil
      members[index].answer = execute(request, index)
    case .answer(let index):
      guard let answer = members[index].answer else { return }
      members[index].answer = nil
      carryOut(members[index].core.take(answer), index)
    case .lose(let index):
      lossesLeft -= 1
      members[index].answer = nil
      switch members[index].asked {
      case .release: carryOut(members[index].core.take(.released), index)
      case .join, .list, nil:
        // The client makes the call again; the first request may be on its way a second time.
        members[index].request = members[index].asked
        if members[index].asked == .join { late.insert(index) }
      }
    case .lateJoin(let index):
      late.remove(index)
      _ = execute(.join, index)
      checkExclusion()
    case .expire(let index):
      expiriesLeft -= 1
      members[index].isLeaseAlive = false
      remove(index)
    case .batch(let index): deliverBatch(to: index)
    case .write(let index): write(index)
    case .finish(let index): carryOut(members[index].core.take(.finished), index)
    case .compact:
      compactionsLeft -= 1
      compacted = revision
    }
    checkWaiters()
  }

  private mutating func remove(_ index: Int) {
    guard key(index) != nil else { return }
    keys.removeAll { $0.owner == index }
    revision += 1
    removals[revision] = index
  }

  private mutating func execute(_ request: Request, _ index: Int) -> LockCore.Event {
    switch request {
    case .join:
      if key(index) == nil {
        guard members[index].isLeaseAlive else { return .failed(EtcdError(.leaseNotFound, "")) }
        revision += 1
        keys.append(Key(owner: index, createRevision: revision))
      }
      members[index].wasThere = true
      return .joined(queue)
    case .list:
      members[index].wasThere = key(index) != nil
      return .listed(queue)
    case .release(let token):
      if key(index)?.createRevision == token.number { remove(index) }
      return .released
    }
  }

  private var queue: LockQueue {
    LockQueue(
      revision: revision,
      entries: keys.map { LockQueue.Entry(Self.name($0.owner), modes[$0.owner], createRevision: $0.createRevision) })
  }

  /// The next change alone, or a range of revisions without one.
  private mutating func deliverBatch(to index: Int) {
    guard let watched = members[index].watched else { return }
    if watched <= compacted {
      members[index].watched = nil
      return carryOut(members[index].core.take(.failed(EtcdError(.compacted, "", compactRevision: compacted))), index)
    }
    let next = removals.keys.filter { $0 >= watched }.min() ?? revision
    members[index].watched = next + 1
    members[index].wasThere = key(index) != nil
    carryOut(members[index].core.take(.removed(removals[next].map { [Self.name($0)] } ?? [], revision: next)), index)
  }

  private mutating func ask(_ request: Request, _ index: Int) {
    members[index].request = request
    members[index].asked = request
  }

  private mutating func carryOut(_ order: LockCore.Order, _ index: Int) {
    switch order {
    case .join: ask(.join, index)
    case .list:
      members[index].watched = nil
      ask(.list, index)
    case .watch(let revision): members[index].watched = revision
    case .read: break
    case .grant(let token):
      members[index].token = token
      members[index].watched = nil
      if !members[index].wasThere { problem = "access \(index) gets the lock though its key had gone" }
      checkExclusion()
    case .release(let token): ask(.release(token), index)
    case .fail, .end:
      members[index].isOver = true
      members[index].watched = nil
      // The runner ends the lease, with its keys.
      members[index].isLeaseAlive = false
      remove(index)
    }
  }

  // MARK: - Promises

  private func isValid(_ token: EtcdLockToken, _ index: Int) -> Bool {
    key(index)?.createRevision == token.number
  }

  /// CE-01: of the accesses that count as holders and have valid tokens, a writer is the only one.
  private mutating func checkExclusion() {
    let holders = members.indices.filter { index in
      members[index].core.isHolding && members[index].token.map { isValid($0, index) } ?? false
    }
    if holders.count > 1, holders.contains(where: { modes[$0] == .writing }) {
      problem = "accesses \(holders) have the lock at the same time"
    }
  }

  /// A guarded write: the server compares the token.
  private mutating func write(_ index: Int) {
    guard let token = members[index].token else { return }
    members[index].wantsToWrite = false
    guard isValid(token, index) else { return }
    revision += 1
    // CE-02: later writes have greater tokens.
    if modes[index] == .writing {
      if let last = writtenTokens.last, last >= token.number {
        problem = "token \(token.number) is written after \(last)"
      }
      writtenTokens.append(token.number)
    }
  }

  /// CE-03: an access that has everything that the server has sent doesn't wait without a key.
  private mutating func checkWaiters() {
    for (index, member) in members.enumerated() where member.core.isWaiting && member.request == nil {
      if member.answer == nil, let watched = member.watched, watched > revision, key(index) == nil {
        problem = "access \(index) waits though its key has gone"
      }
    }
    for (index, member) in members.enumerated() where member.core.isHolding && member.isLeaseAlive {
      if let token = member.token, !isValid(token, index) {
        problem = "access \(index) holds the lock with a token that isn't its key's"
      }
    }
  }

  /// The broken promise, if there's one, when only what nobody is obliged to is left.
  func finalProblem() -> String? {
    for (index, member) in members.enumerated() where !member.isOver {
      return "access \(index) never ends: \(member.core)"
    }
    return nil
  }
}
