import KeyValueReplicas
import SeededRandom
import SystemInterface

/// Several replicas that share a place, each with the decisions that programs run, in an order that a seed chooses.
///
/// Replicas write, upload, read and watch at the real place, whose answers get lost or come late, and crash. In the end all have the same
/// values, and each write counts once.
package struct ReplicaRun<Place: SharedPlace> {
  struct Member {
    var core: ReplicaCore
    /// The replica that its journal begins with.
    let origin: ReplicaID
    var storage: Place.Storage
    /// Whether it's another replica by now, which needs a connection of its own.
    var needsStorage = false
    var journal: [(input: ReplicaInput, now: Int64)] = []
    var editsLeft: Int
    var wantsRead = true
    /// A full read that hasn't arrived.
    var read: SharedBatch?
    var reader: BatchReader?
    var uploads: [Upload] = []
    /// The revision of the last transaction or full read that has arrived.
    var arrived: Int64 = -1
    /// Until then its transactions are on the way.
    var isLateUntil: Int64 = 0
  }

  private let place: Place
  private var random: SplitMix
  private var members: [Member] = []
  private var now: Int64 = 1_000
  private var faultsLeft: Int
  private var crashesLeft: Int
  private var sum: Int64 = 0
  private var inserted: Set<StoredValue> = []
  /// The broken promise, if there's one.
  package private(set) var problem: String?
  /// How many answers said that another replica was faster, and how many that nothing is known.
  package private(set) var (outdatedCount, unknownCount) = (0, 0)

  package init(at place: Place, seed: UInt64, replicaCount: Int = 3) async throws {
    self.place = place
    random = SplitMix(seed: seed)
    faultsLeft = random.below(8)
    crashesLeft = random.below(3)
    for number in 1...UInt64(replicaCount) {
      let replica = ReplicaID(rawValue: number)
      members.append(
        Member(
          core: Self.core(replica), origin: replica, storage: try await place.storage(replica, StoreLimits()),
          editsLeft: 5))
    }
  }

  private static func core(_ replica: ReplicaID) -> ReplicaCore {
    ReplicaCore(replica, budget: UploadBudget(interval: 0)) { key in
      switch key {
      case "counter": .counter
      case "set": .union
      default: .lastWriter
      }
    }
  }

  private enum Action: Hashable {
    case write, upload, answer, read, readArrives, batch, crash
    case deliverLate, cut, forget
  }

  /// Runs until nothing is left to do, or something stays undone for ever.
  ///
  /// - Parameter idleCountMax: How often in a row nothing may be there to do before it gives up.
  /// - Throws: The failure of a call to the place, other than a gap.
  package mutating func run(idleCountMax: Int = 1_000_000) async throws {
    var idleCount = 0
    while idleCount < idleCountMax {
      now += 1
      if now > Self.stepCountMax {
        problem = "it doesn't end"
        break
      }
      try takeFailures()
      let index = random.below(members.count)
      let actions = actions(index)
      if let action = actions.isEmpty ? nil : random.pick(actions) {
        try await perform(action, index)
        if members[index].needsStorage { try await reconnect(index) }
        idleCount = 0
      } else if try await isOver() {
        break
      } else {
        idleCount += 1
        await Task.yield()
      }
      if problem != nil { break }
    }
    for member in members { member.reader?.cancel() }
    if problem == nil { problem = try await finalProblem() }
  }

  /// Idle steps count too.
  private static var stepCountMax: Int64 { 1_500_000 }

  /// A replica that has become another one begins anew at the place, as programs do.
  private mutating func reconnect(_ index: Int) async throws {
    members[index].reader?.cancel()
    members[index].storage = try await place.storage(members[index].core.replica, StoreLimits())
    (members[index].needsStorage, members[index].wantsRead, members[index].read) = (false, true, nil)
    (members[index].reader, members[index].uploads) = (nil, [])
  }

  private mutating func actions(_ index: Int) -> [Action] {
    let member = members[index]
    var actions: [Action] = []
    if member.editsLeft > 0, member.core.hasRead { actions += [.write, .write] }
    // A connection begins by reading, when its upload is answered, and uploads when that has arrived: a replica takes a server that is behind
    // what it knows for one that was restored.
    let isReading = member.wantsRead || member.read != nil
    if !isReading, member.core.nextUpload(at: now) != nil { actions += [.upload, .upload] }
    if !member.uploads.isEmpty { actions += [.answer, .answer] }
    if member.wantsRead, member.uploads.isEmpty { actions.append(.read) }
    if member.read != nil { actions.append(.readArrives) }
    if member.read == nil, !member.wantsRead, now >= member.isLateUntil, member.reader?.hasBatch == true {
      actions += [.batch, .batch]
    }
    if crashesLeft > 0, !actions.isEmpty, random.chance(1, in: 20) { actions.append(.crash) }
    if !actions.isEmpty, random.chance(1, in: 12) { actions += [.deliverLate, .cut, .forget] }
    return actions
  }

  private mutating func perform(_ action: Action, _ index: Int) async throws {
    if random.chance(1, in: 12) { members[index].isLateUntil = now + Int64(random.below(100)) }
    switch action {
    case .write: try step(index, .write(edits(index), isForced: false))
    case .upload: try step(index, .uploadIsDue)
    case .answer:
      let upload = members[index].uploads.removeFirst()
      if faultsLeft > 0, random.chance(1, in: 3) {
        faultsLeft -= 1
        await place.prepare(random.pick(UploadFault.allCases))
      }
      let outcome = try await members[index].storage.upload(upload)
      if outcome == .outdated { outdatedCount += 1 }
      if outcome == .unknown { unknownCount += 1 }
      if outcome == .overQuota { problem = "an upload is over the quota" }
      try step(index, .uploadEnded(upload.id, outcome))
    case .read:
      members[index].wantsRead = false
      members[index].read = try await members[index].storage.readAll()
    case .readArrives:
      guard let read = members[index].read else { return }
      members[index].read = nil
      members[index].arrived = read.revision
      members[index].reader?.cancel()
      members[index].reader = BatchReader(members[index].storage, after: read.revision)
      try step(index, .received(read))
    case .batch:
      guard let batch = members[index].reader?.take() else { return }
      if batch.revision <= members[index].arrived { problem = "a transaction comes again or out of order: \(batch)" }
      members[index].arrived = batch.revision
      try step(index, .received(batch))
    case .crash: try crash(index)
    case .deliverLate: await place.deliverLate()
    case .cut: await place.cutStreams()
    case .forget: await place.forgetHistory()
    }
  }

  /// A reader that has missed something reads everything.
  private mutating func takeFailures() throws {
    for index in members.indices {
      guard let failure = members[index].reader?.failure else { continue }
      guard failure.kind == .gap else { throw failure }
      members[index].reader = nil
      members[index].wantsRead = true
    }
  }

  private mutating func edits(_ index: Int) -> [KeyWrite] {
    members[index].editsLeft -= 1
    let core = members[index].core
    var writes: [KeyWrite] = []
    if random.chance(1, in: 2) {
      let number = Int64(1 + random.below(9))
      sum += number
      guard case .integer(let old) = core["counter"] ?? .integer(0) else { return [] }
      writes.append(KeyWrite("counter", .integer(old + number)))
    }
    if random.chance(1, in: 2) {
      let element = StoredValue.integer(Int64(inserted.count))
      inserted.insert(element)
      guard case .array(let old) = core["set"] ?? .array([]) else { return [] }
      writes.append(KeyWrite("set", .array(old + [element])))
    }
    let key = random.pick(["a", "b"])
    writes.append(KeyWrite(key, random.chance(1, in: 4) ? nil : .string("\(index).\(now)")))
    return writes
  }

  private mutating func step(_ index: Int, _ input: ReplicaInput) throws {
    let replica = members[index].core.replica
    let effects = try members[index].core.step(input, at: now)
    members[index].journal.append((input, now))
    if members[index].core.replica != replica { members[index].needsStorage = true }
    for effect in effects {
      switch effect {
      case .changed, .wake: break
      case .upload(let upload): members[index].uploads.append(upload)
      case .read:
        members[index].wantsRead = true
        members[index].read = nil
      }
    }
  }

  /// The process ends before the request is sent, and the next one reads its journal.
  private mutating func crash(_ index: Int) throws {
    crashesLeft -= 1
    let former = members[index]
    former.reader?.cancel()
    var member = Member(
      core: Self.core(former.origin), origin: former.origin, storage: former.storage, editsLeft: former.editsLeft)
    for (input, now) in former.journal { _ = member.core.replay(input, at: now) }
    member.journal = former.journal
    members[index] = member
    if let id = member.core.uploadUnderWay { try step(index, .uploadEnded(id, .unknown)) }
  }

  /// Whether nothing is under way, and all transactions have arrived.
  private func isOver() async throws -> Bool {
    for member in members {
      if member.editsLeft > 0 || !member.core.pendingKeys.isEmpty || member.core.uploadUnderWay != nil { return false }
      if member.wantsRead || member.read != nil || member.reader?.hasBatch != false { return false }
    }
    await place.deliverLate()
    let last = try await members[0].storage.readAll().items.map(\.revision).max() ?? 0
    return members.allSatisfy { $0.arrived >= last }
  }

  private func finalProblem() async throws -> String? {
    let shared = try await members[0].storage.readAll()
    var values: [String: StoredValue] = [:]
    for item in shared.items { values[item.key] = item.value }
    for (index, member) in members.enumerated() {
      if member.core.values != values { return "replica \(index) has \(member.core.values), the place \(values)" }
      if member.core.confirmedSequence != member.core.sequence {
        return "replica \(index) never confirms its last write"
      }
    }
    if values["counter"] ?? .integer(0) != .integer(sum) {
      return "the counter is \(values["counter"] as Any), not \(sum)"
    }
    guard case .array(let elements) = values["set"] ?? .array([]) else { return "the set is no set" }
    if Set(elements) != inserted || elements.count != inserted.count {
      return "the set is \(elements), not \(inserted)"
    }
    return nil
  }
}

/// Reads transactions as they come, for a run that takes them when it likes.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock | a task reads, and the run takes |
final class BatchReader: Sendable {
  private struct State: Sendable {
    var batches: [SharedBatch] = []
    var failure: SharedStorageFailure?
  }

  private let state = Guarded(State())
  private let task = Guarded<Task<Void, Never>?>(nil)

  init(_ storage: some SharedStorage, after revision: Int64) {
    let state = state
    let reading = Task {
      do {
        for try await batch in storage.batches(after: revision) { state.withLock { $0.batches.append(batch) } }
      } catch {
        let failure = error as? SharedStorageFailure ?? SharedStorageFailure(.damaged, "\(error)")
        state.withLock { $0.failure = failure }
      }
    }
    task.withLock { $0 = reading }
  }

  var hasBatch: Bool { state.withLock { !$0.batches.isEmpty } }

  /// The failure, after all transactions before it were taken.
  var failure: SharedStorageFailure? { state.withLock { $0.batches.isEmpty ? $0.failure : nil } }

  func take() -> SharedBatch? { state.withLock { $0.batches.isEmpty ? nil : $0.batches.removeFirst() } }

  func cancel() { task.withLock { $0 }?.cancel() }
}
