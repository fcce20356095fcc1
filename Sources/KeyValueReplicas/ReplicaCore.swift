/// The decisions of one replica of a key-value store: a value that gets events and answers with effects.
///
/// It has what the server had last, and the writes of this replica that the server hasn't confirmed. A reader sees the latter first. An
/// upload takes the pending keys in one transaction that expects each of them at the revision that the replica knows. If another
/// replica was faster, nothing is changed; its values arrive, both are merged by the policy of the key, and the result is uploaded.
///
/// The changes of an upload are made once, also if its answer is lost or comes late: it also writes the replica's acknowledgement, and expects the former one. So
/// only one of a replica's uploads can still be carried out at any time, and the acknowledgement says whether the last one was.
///
/// A state is equal to that of a replica that got the same events at the same instants.
///
/// - Note: Rules CK-05 to CK-08, CK-15 to CK-22 and CK-24 as far as they're about one replica's decisions.
package struct ReplicaCore: Sendable {
  /// A write that isn't confirmed.
  struct Pending: Hashable, Sendable {
    var value: StoredValue?
    var time: HybridTime
    /// The number of the write.
    var sequence: Int
    /// Keys that were written together have the same, and so have those of writes that share a key.
    var group: Int
    /// The value that the replica knew of the server's when it wrote.
    var base: StoredValue?
    /// Whether the replica had never seen the server's values (F-34).
    var isProvisional: Bool
    /// Whether the server had no room for it.
    var isHeld = false
    /// Whether it's a value that the server had and has lost, of this replica or another one.
    var isRestored = false
  }

  struct Entry: Hashable, Sendable {
    var shared: SharedItem?
    var pending: Pending?

    /// The value for programs.
    var value: StoredValue? {
      if let pending { return pending.value }
      return shared?.value
    }
  }

  /// A value that was given up for another one.
  package struct Loss: Hashable, Sendable {
    package var key: String
    package var value: StoredValue?
    package var time: HybridTime
    /// The instant of the write that took its place.
    package var winner: HybridTime
  }

  package let limits: StoreLimits
  private let customPolicy: @Sendable (String) -> MergePolicy
  /// The policies that programs have stated for keys.
  package internal(set) var policies: [String: MergePolicy.Kind] = [:]
  var clock: HybridClock
  var entries = KeyTable<Entry>()
  /// The groups that may have more than one key; those of keys that are confirmed by now may be among them.
  var sharedGroups: Set<Int> = []
  /// The last write's number.
  package internal(set) var sequence = 0
  /// How many keys have a value, and how many bytes these are.
  var (keyCount, byteCount) = (0, 0)
  /// The last upload, as long as it isn't known what has become of it.
  var attempt: Upload?
  /// Whether the attempt has no answer, so that only reading says what has become of it.
  var needsRead = false
  var lastUpload = 0
  /// The most bytes that are uploaded together, after the server has refused more; `nil` before.
  var uploadSizeMax: Int?
  /// Whether there may be writes that the server had no room for.
  var hasHeld = false
  var acknowledgement: Acknowledgement?
  var budget: UploadBudget
  /// Whether the server's values have been read at least once.
  package internal(set) var hasRead = false
  /// The last of the values that were given up, oldest first.
  package internal(set) var losses: [Loss] = []
  static let lossCountMax = 100
  /// How many bytes the values of losses have together; the last one may have more.
  static let lossByteCountMax = 1 << 20

  package init(
    _ replica: ReplicaID, limits: StoreLimits = StoreLimits(), budget: UploadBudget = UploadBudget(),
    policy: @escaping @Sendable (String) -> MergePolicy = { _ in .lastWriter }
  ) {
    clock = HybridClock(replica)
    self.limits = limits
    self.budget = budget
    customPolicy = policy
  }

  /// The policy that was stated for a key in the journal, so that all processes merge alike; otherwise that of this process.
  func policy(_ key: String) -> MergePolicy { policies[key].flatMap(MergePolicy.init) ?? customPolicy(key) }

  /// A key whose values are merged by a function that this process doesn't have; `nil` if there's none.
  ///
  /// Its state isn't that of processes that have it, so it must neither be uploaded nor written in the place of events.
  package var keyWithoutFunction: String? {
    policies.filter { $0.value == .custom && customPolicy($0.key).kind != .custom }.keys.min()
  }

  package var replica: ReplicaID { clock.replica }

  package subscript(key: String) -> StoredValue? { entries[key]?.value }

  /// All keys that have a value.
  package var table: KeyTable<StoredValue> { entries.compactMapValues(\.value) }
  package var values: [String: StoredValue] { Dictionary(table) }

  /// The keys whose last write the server hasn't confirmed.
  package var pendingKeys: Set<String> { Set(entries.filter { $0.value.pending != nil }.map(\.key)) }

  /// All writes up to this number are confirmed, were given up for others, or were written over.
  package var confirmedSequence: Int {
    (entries.values.compactMap(\.pending?.sequence).min() ?? sequence + 1) - 1
  }

  /// The keys that stay here because the server had no room for them.
  package var heldKeys: Set<String> { Set(entries.filter { $0.value.pending?.isHeld ?? false }.map(\.key)) }

  /// The number of the upload that has no answer yet.
  ///
  /// A runner that begins with a journal reports it as ``UploadOutcome/unknown``: nobody waits for its answer any more.
  package var uploadUnderWay: Int? { attempt?.id }

  /// The instant at which the next upload begins; `nil` if there's nothing to upload, or one is under way.
  package func nextUpload(at now: Int64) -> Int64? {
    attempt == nil && hasRead && entries.values.contains { $0.pending.map { !$0.isHeld } ?? false }
      ? budget.next(at: now) : nil
  }

  /// Takes an event.
  ///
  /// - Parameters:
  ///   - input: A program's write, or a message from the server.
  ///   - now: In nanoseconds since 1970.
  /// - Returns: The tasks for the runner, in this order.
  /// - Throws: The reason why a write is refused; then nothing is changed. Other events never throw.
  package mutating func step(_ input: ReplicaInput, at now: Int64) throws(WriteRefusal) -> [ReplicaEffect] {
    try check(input)
    return replay(input, at: now)
  }

  /// Refuses an event whose writes break a limit.
  package func check(_ input: ReplicaInput) throws(WriteRefusal) {
    switch input {
    case .write(let writes, _): try check(writes)
    case .moved(let writes): try check(writes.filter { self[$0.key] == nil })
    case .received, .uploadIsDue, .uploadWasDue, .uploadEnded, .configured, .restored: break
    }
  }

  /// Takes an event that a replica with this state has taken before, whatever the limits are now.
  package mutating func replay(_ input: ReplicaInput, at now: Int64) -> [ReplicaEffect] {
    budget.notice(now)
    return take(input, at: now)
  }

  private mutating func take(_ input: ReplicaInput, at now: Int64) -> [ReplicaEffect] {
    switch input {
    case .write(let writes, let isForced): write(writes, isForced: isForced, at: now)
    case .moved(let writes): move(writes, at: now)
    case .received(let batch): receive(batch, at: now)
    case .uploadIsDue: beginUpload(numbered: uploadNumber(at: now), at: now)
    case .uploadWasDue: beginUpload(numbered: lastUpload + 1, at: now)
    case .uploadEnded(let id, let outcome): endUpload(id, outcome, at: now)
    case .configured(let settings): configure(settings, at: now)
    case .restored(let state): restore(state)
    }
  }

  /// Changes an entry and keeps the counts.
  mutating func update(_ key: String, _ change: (inout Entry) -> Void) {
    var entry = entries[key] ?? Entry()
    let old = entry.value
    change(&entry)
    let new = entry.value
    keyCount += (new == nil ? 0 : 1) - (old == nil ? 0 : 1)
    byteCount += (new?.byteCount ?? 0) - (old?.byteCount ?? 0)
    entries[key] = entry.shared == nil && entry.pending == nil ? nil : entry
  }

  mutating func lose(_ key: String, _ value: StoredValue?, _ time: HybridTime, to winner: HybridTime) {
    losses.append(Loss(key: key, value: value, time: time, winner: winner))
    var byteCount = losses.reduce(0) { $0 + ($1.value?.byteCount ?? 0) }
    while losses.count > Self.lossCountMax || byteCount > Self.lossByteCountMax && losses.count > 1 {
      byteCount -= losses.removeFirst().value?.byteCount ?? 0
    }
  }

  /// The effect that leads to the next upload, if there's something to upload.
  func upcoming(at now: Int64) -> [ReplicaEffect] {
    nextUpload(at: now).map { [.wake(at: $0)] } ?? []
  }
}
