/// The policies of keys, and how often a replica uploads, as programs have stated them.
package struct ReplicaSettings: Hashable, Sendable {
  package var policies: [String: MergePolicy.Kind]
  /// How many uploads may follow each other at once.
  package var uploadCountMax: Int
  /// In nanoseconds: how long it takes until one more is allowed.
  package var uploadInterval: Int64

  package init(policies: [String: MergePolicy.Kind] = [:], budget: UploadBudget = UploadBudget()) {
    self.policies = policies
    (uploadCountMax, uploadInterval) = (budget.countMax, budget.interval)
  }
}

/// Everything that a replica knows: a journal that begins with it needs no events before it.
package struct ReplicaState: Hashable, Sendable {
  var clock: HybridClock
  var entries: KeyTable<ReplicaCore.Entry>
  var sequence: Int
  var attempt: Upload?
  var needsRead: Bool
  var lastUpload: Int
  var hasHeld: Bool
  var acknowledgement: Acknowledgement?
  var budget: UploadBudget
  var hasRead: Bool
  var losses: [ReplicaCore.Loss]
  var policies: [String: MergePolicy.Kind]
  var uploadSizeMax: Int?
}

extension ReplicaCore {
  /// Everything but the limits, which are those of the program.
  package var state: ReplicaState {
    ReplicaState(
      clock: clock, entries: entries, sequence: sequence, attempt: attempt, needsRead: needsRead,
      lastUpload: lastUpload, hasHeld: hasHeld, acknowledgement: acknowledgement, budget: budget, hasRead: hasRead,
      losses: losses, policies: policies, uploadSizeMax: uploadSizeMax)
  }

  /// The settings that programs have stated.
  package var settings: ReplicaSettings { ReplicaSettings(policies: policies, budget: budget) }

  /// Whether settings are those that it has.
  package func has(_ settings: ReplicaSettings) -> Bool {
    settings.policies.allSatisfy { policies[$0.key] == $0.value }
      && (budget.countMax, budget.interval) == (settings.uploadCountMax, settings.uploadInterval)
  }

  mutating func configure(_ settings: ReplicaSettings, at now: Int64) -> [ReplicaEffect] {
    policies.merge(settings.policies) { $1 }
    budget = budget.limited(countMax: settings.uploadCountMax, interval: settings.uploadInterval)
    return upcoming(at: now)
  }

  mutating func restore(_ state: ReplicaState) -> [ReplicaEffect] {
    clock = state.clock
    entries = state.entries
    sequence = state.sequence
    attempt = state.attempt
    needsRead = state.needsRead
    lastUpload = state.lastUpload
    hasHeld = state.hasHeld
    acknowledgement = state.acknowledgement
    budget = state.budget
    hasRead = state.hasRead
    losses = state.losses
    policies = state.policies
    uploadSizeMax = state.uploadSizeMax
    findSharedGroups()
    let values = entries.values.compactMap(\.value)
    (keyCount, byteCount) = (values.count, values.reduce(0) { $0 + $1.byteCount })
    return []
  }
}
