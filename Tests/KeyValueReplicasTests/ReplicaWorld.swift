import SeededRandom

@testable import KeyValueReplicas

/// A server as etcd is one: transactions at numbered revisions, and a log of them.
struct ModelServer: Hashable {
  struct Transaction: Hashable {
    var revision: Int64
    var items: [SharedItem]
    var owner: ReplicaID
    var acknowledgement: Acknowledgement
  }

  var items: [String: SharedItem] = [:]
  var acknowledgements: [ReplicaID: Acknowledgement] = [:]
  var log: [Transaction] = []
  var revision: Int64 { log.last?.revision ?? 0 }

  mutating func execute(_ upload: Upload, of owner: ReplicaID) -> UploadOutcome {
    guard upload.expectedAcknowledgement == acknowledgements[owner]?.revision ?? 0,
      upload.items.allSatisfy({ $0.expectedRevision == items[$0.key]?.revision ?? 0 })
    else { return .outdated }
    let revision = revision + 1
    let written = upload.items.map { SharedItem(key: $0.key, value: $0.value, time: $0.time, revision: revision) }
    for item in written { items[item.key] = item }
    let acknowledgement = Acknowledgement(upload: upload.id, revision: revision)
    acknowledgements[owner] = acknowledgement
    log.append(Transaction(revision: revision, items: written, owner: owner, acknowledgement: acknowledgement))
    return .applied(revision: revision)
  }

  /// The state at an earlier revision.
  func backup(at revision: Int64) -> ModelServer {
    var server = ModelServer()
    server.log = log.filter { $0.revision <= revision }
    for transaction in server.log {
      for item in transaction.items { server.items[item.key] = item }
      server.acknowledgements[transaction.owner] = transaction.acknowledgement
    }
    return server
  }

  func everything(for replica: ReplicaID) -> SharedBatch {
    SharedBatch(
      items: items.values.sorted { $0.key < $1.key }, acknowledgement: acknowledgements[replica], isComplete: true,
      revision: revision)
  }
}

/// Several replicas, a server, and all that's under way between them.
struct ReplicaWorld {
  struct Setting: Sendable {
    var name: String
    /// The writes of each replica: with a function of what it sees, as programs have them.
    var scripts: [[[Edit]]]
    var policies: [String: MergePolicy] = [:]
    /// The clock of each replica.
    var clocks: [Int64]
    /// How many requests or answers may get lost or come late.
    var lossCount = 0
    var crashCount = 0
    /// How often the server may be restored from a backup.
    var restoreCount = 0
    /// The writes of a copy that another machine gets of a replica's journal, at any moment; none is made unless there are some.
    var copyScript: [[Edit]] = []
    /// Whether replicas read the server before their first write.
    var beginsWithReading = true
    /// A mistake of the surroundings, which the checks have to find.
    var mistake: Mistake?
  }

  enum Mistake: Hashable, CaseIterable {
    /// The server doesn't compare the acknowledgement's revision, and nobody gets it.
    case noAcknowledgement
    /// Transactions of the watch get lost.
    case watchForgets
    /// A journal loses its last event.
    case journalForgets
    /// An upload without an answer is taken for one that was carried out.
    case silenceIsConsent
  }

  enum Edit: Sendable, Hashable {
    case set(String, StoredValue)
    case remove(String)
    case add(String, Int64)
    case insert(String, Int64)

    func write(over core: ReplicaCore) -> KeyWrite {
      switch self {
      case .set(let key, let value): return KeyWrite(key, value)
      case .remove(let key): return KeyWrite(key, nil)
      case .add(let key, let number):
        guard case .integer(let old) = core[key] else { return KeyWrite(key, .integer(number)) }
        return KeyWrite(key, .integer(old + number))
      case .insert(let key, let number):
        guard case .array(let old) = core[key] else { return KeyWrite(key, .array([.integer(number)])) }
        return KeyWrite(key, .array(old + [.integer(number)]))
      }
    }
  }

  enum Action: Hashable {
    case write(Int), due(Int), reach(Int), deliver(Int), lose(Int), delay(Int), arrive, read(Int), readArrives(Int),
      watch(Int)
    case crash(Int), restore(Int64), copy(Int)
  }

  struct Member {
    var core: ReplicaCore
    /// The number of the replica that its journal begins with.
    var origin: Int
    var journal: [(input: ReplicaInput, now: Int64)] = []
    var remaining: [[Edit]]
    var isDue = false
    var request: Upload?
    var answer: (id: Int, outcome: UploadOutcome)?
    var wantsRead = true
    /// A complete batch, and its revision.
    var read: (batch: SharedBatch, revision: Int64)?
    /// All up to this revision was delivered; `nil` as long as nothing was read.
    var watched: Int64?
    /// The instants of its writes of each key.
    var written: [String: [HybridTime]] = [:]
  }

  struct Fingerprint: Hashable {
    let states: [ReplicaState]
    let server: ModelServer
    let rest: [Int]
    let uploads: [Upload?]
    let outcomes: [UploadOutcome?]
    let reads: [SharedBatch?]
  }

  let setting: Setting
  var server = ModelServer()
  var members: [Member] = []
  /// A request that was given up by its sender, and may still arrive.
  var late: (upload: Upload, owner: ReplicaID)?
  /// The keys whose last write two machines had that hadn't uploaded it: they may count twice.
  var copiedKeys: Set<String> = []
  private var copiesLeft: Int
  var lossesLeft: Int
  var crashesLeft: Int
  var restoresLeft: Int
  var problem: String?

  init(_ setting: Setting) {
    self.setting = setting
    (lossesLeft, crashesLeft, restoresLeft) = (setting.lossCount, setting.crashCount, setting.restoreCount)
    copiesLeft = setting.copyScript.isEmpty ? 0 : 1
    members = setting.scripts.indices.map { Member(core: core($0), origin: $0, remaining: setting.scripts[$0]) }
  }

  private func core(_ index: Int) -> ReplicaCore {
    let policies = setting.policies
    return ReplicaCore(ReplicaID(rawValue: UInt64(index + 1)), budget: UploadBudget(interval: 0)) {
      policies[$0] ?? .lastWriter
    }
  }

  /// Clocks of two machines never show the same nanosecond.
  private func clock(_ index: Int) -> Int64 { setting.clocks.indices ~= index ? setting.clocks[index] : 1_000 }

  var fingerprint: Fingerprint {
    Fingerprint(
      states: members.map(\.core.state), server: server,
      rest: members.flatMap {
        [
          $0.remaining.count, $0.isDue ? 1 : 0, $0.wantsRead ? 1 : 0, Int($0.read?.revision ?? -1),
          Int($0.watched ?? -1),
          $0.answer?.id ?? -1,
        ]
      } + [lossesLeft, crashesLeft, restoresLeft, copiesLeft],
      uploads: members.map(\.request) + [late?.upload], outcomes: members.map { $0.answer?.outcome },
      reads: members.map { $0.read?.batch })
  }

  var actions: [Action] {
    if problem != nil { return [] }
    var actions: [Action] = late == nil ? [] : [.arrive]
    for (index, member) in members.enumerated() {
      if !member.remaining.isEmpty, member.core.hasRead || !setting.beginsWithReading { actions.append(.write(index)) }
      // A process begins with reading, and makes nothing else meanwhile.
      if member.isDue, !member.wantsRead, member.read == nil { actions.append(.due(index)) }
      if member.request != nil {
        actions.append(.reach(index))
        if lossesLeft > 0, late == nil { actions.append(.delay(index)) }
      }
      if member.answer != nil {
        actions.append(.deliver(index))
        if lossesLeft > 0 { actions.append(.lose(index)) }
      }
      if member.wantsRead { actions.append(.read(index)) }
      if member.read != nil { actions.append(.readArrives(index)) }
      // Reading begins a new watch behind it.
      if !member.wantsRead, member.read == nil, let watched = member.watched, watched < server.revision {
        actions.append(.watch(index))
      }
      if crashesLeft > 0 { actions.append(.crash(index)) }
      if copiesLeft > 0, member.core.hasRead { actions.append(.copy(index)) }
    }
    if restoresLeft > 0 { actions += (0..<server.revision).map { .restore($0) } }
    return actions
  }

  mutating func perform(_ action: Action) {
    switch action {
    case .write(let index):
      let writes = members[index].remaining.removeFirst().map { $0.write(over: members[index].core) }
      step(index, .write(writes, isForced: false))
      for write in writes {
        if let time = members[index].core.entries[write.key]?.pending?.time {
          members[index].written[write.key, default: []].append(time)
        }
      }
    case .due(let index):
      members[index].isDue = false
      step(index, .uploadIsDue)
    case .reach(let index):
      guard let upload = members[index].request else { return }
      members[index].request = nil
      members[index].answer = (upload.id, execute(upload, members[index].core.replica))
    case .deliver(let index):
      guard let answer = members[index].answer else { return }
      members[index].answer = nil
      step(index, .uploadEnded(answer.id, answer.outcome))
    case .lose(let index):
      guard let answer = members[index].answer else { return }
      lossesLeft -= 1
      members[index].answer = nil
      unanswered(index, answer.id)
    case .delay(let index):
      guard let upload = members[index].request else { return }
      lossesLeft -= 1
      members[index].request = nil
      late = (upload, members[index].core.replica)
      unanswered(index, upload.id)
    case .arrive:
      guard let late else { return }
      self.late = nil
      _ = execute(late.upload, late.owner)
    case .read(let index):
      members[index].wantsRead = false
      var batch = server.everything(for: members[index].core.replica)
      if setting.mistake == .noAcknowledgement { batch.acknowledgement = nil }
      members[index].read = (batch, server.revision)
    case .readArrives(let index):
      guard let read = members[index].read else { return }
      members[index].read = nil
      members[index].watched = read.revision
      step(index, .received(read.batch))
    case .watch(let index): watch(index)
    case .crash(let index): crash(index)
    case .restore(let revision): restore(revision)
    case .copy(let index): copy(index)
    }
  }

  /// Another machine begins with the journal of a replica, which goes on.
  private mutating func copy(_ index: Int) {
    copiesLeft -= 1
    copiedKeys = members[index].core.pendingKeys
    let origin = members[index].origin
    var member = Member(
      core: core(origin), origin: origin, journal: members[index].journal, remaining: setting.copyScript)
    for (input, now) in member.journal { _ = member.core.replay(input, at: now) }
    members.append(member)
    if let id = member.core.uploadUnderWay { step(members.count - 1, .uploadEnded(id, .unknown)) }
  }

  /// The connections of a former replica end.
  private mutating func reconnect(_ index: Int, as former: ReplicaID) {
    if late == nil, let upload = members[index].request { late = (upload, former) }
    (members[index].request, members[index].answer) = (nil, nil)
    (members[index].wantsRead, members[index].read, members[index].watched) = (true, nil, nil)
  }

  /// The server goes on with what it had at an earlier revision, and all connections end, with everything that was under way.
  private mutating func restore(_ revision: Int64) {
    restoresLeft -= 1
    late = nil
    server = server.backup(at: revision)
    for index in members.indices {
      (members[index].wantsRead, members[index].read, members[index].watched) = (true, nil, nil)
      let unanswered = members[index].request?.id ?? members[index].answer?.id
      (members[index].request, members[index].answer) = (nil, nil)
      if let unanswered { step(index, .uploadEnded(unanswered, .unknown)) }
    }
  }

  private mutating func execute(_ upload: Upload, _ owner: ReplicaID) -> UploadOutcome {
    if setting.mistake == .noAcknowledgement {
      server.acknowledgements[owner]?.revision = upload.expectedAcknowledgement
    }
    return server.execute(upload, of: owner)
  }

  private mutating func unanswered(_ index: Int, _ id: Int) {
    let consent = UploadOutcome.applied(revision: server.revision)
    step(index, .uploadEnded(id, setting.mistake == .silenceIsConsent ? consent : .unknown))
  }

  private mutating func watch(_ index: Int) {
    guard let watched = members[index].watched, let next = server.log.first(where: { $0.revision > watched }) else {
      return
    }
    members[index].watched = next.revision
    if setting.mistake == .watchForgets, next.revision == 2 { return }
    let isOwn = next.owner == members[index].core.replica && setting.mistake != .noAcknowledgement
    step(
      index,
      .received(
        SharedBatch(
          items: next.items, acknowledgement: isOwn ? next.acknowledgement : nil, isComplete: false,
          revision: next.revision)))
  }

  /// The process ends, and the next one reads its journal.
  private mutating func crash(_ index: Int) {
    crashesLeft -= 1
    let origin = members[index].origin
    var member = Member(core: core(origin), origin: origin, remaining: members[index].remaining)
    member.written = members[index].written
    let journal = setting.mistake == .journalForgets ? Array(members[index].journal.dropLast()) : members[index].journal
    for (input, now) in journal { _ = member.core.replay(input, at: now) }
    if setting.mistake == nil, member.core.state != members[index].core.state {
      problem = "the journal of replica \(index) leads to another state"
    }
    // The journal is written anew, and begins with the state.
    let state = member.core.state
    let record = ReplicaJournal.Record(.restored(state), at: clock(index))
    let bytes = ReplicaJournal.head(of: member.core.replica) + ReplicaJournal.bytes(of: record)
    member.core = core(origin)
    guard let kept = try? ReplicaJournal.read(bytes), kept.records == [record] else {
      problem = "the state of replica \(index) isn't read as it was written"
      return
    }
    _ = member.core.replay(.restored(state), at: record.now)
    if member.core.state != state || member.core.counts != members[index].core.counts, setting.mistake == nil {
      problem = "the journal of replica \(index) that was written anew leads to another state"
    }
    member.journal = [(record.input, record.now)]
    // A request that was sent may still arrive.
    if late == nil, let upload = members[index].request { late = (upload, members[index].core.replica) }
    members[index] = member
    if let id = member.core.uploadUnderWay { step(index, .uploadEnded(id, .unknown)) }
  }

  private mutating func step(_ index: Int, _ input: ReplicaInput) {
    let now = clock(index)
    do throws(WriteRefusal) {
      let (before, replica) = (members[index].core.values, members[index].core.replica)
      let effects = try members[index].core.step(input, at: now)
      members[index].journal.append((input, now))
      check(index, input, before, effects)
      for effect in effects { carryOut(effect, index) }
      if members[index].core.replica != replica { reconnect(index, as: replica) }
    } catch { problem = "replica \(index) refuses a write: \(error)" }
  }

  private mutating func carryOut(_ effect: ReplicaEffect, _ index: Int) {
    switch effect {
    case .changed: break
    case .upload(let upload):
      // The former one was carried out as it was sent before: its second sending is cancelled, and may still arrive.
      if late == nil, let former = members[index].request { late = (former, members[index].core.replica) }
      members[index].request = upload
    case .read:
      members[index].wantsRead = true
      members[index].read = nil
    case .wake: members[index].isDue = true
    }
  }
}

extension ReplicaCore {
  /// They follow from the state.
  fileprivate var counts: [Int] { [keyCount, byteCount] }
}
