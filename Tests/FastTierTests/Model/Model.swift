import FileAccessArbiter

@testable import FileCoordination

/// The work of a model thread.
indirect enum Act: Hashable, Sendable {
  /// Claims, in the fast tier if that grants it.
  case read(ModelItem), write(ModelItem)
  /// Claims through the host.
  case hostRead(ModelItem), hostWrite(ModelItem), deepWrite(ModelItem)
  /// Claims like the other, but if the fast tier refuses, checks whether it's worth it to try once more.
  case patient(Act)
  /// Does the others while it has the claim of the first.
  case nested(Act, [Act])
  /// Claims, and lets another thread end the claim.
  case handOver(Act, to: Int)
  case takeOver
  case present(ModelItem)
  /// Claims an item for reading, and presents it: the claim ends with the registration.
  case readAndPresent(ModelItem)
  case snapshot
}

extension Act: CustomStringConvertible {
  var description: String {
    switch self {
    case .read(let item): "read \(item.name)"
    case .write(let item): "write \(item.name)"
    case .hostRead(let item): "read \(item.name) through the host"
    case .hostWrite(let item): "write \(item.name) through the host"
    case .deepWrite(let item): "move \(item.name)"
    case .patient(let act): "patiently \(act)"
    case .nested(let outer, let inner): "\(outer) { \(inner.map(\.description).joined(separator: ", ")) }"
    case .handOver(let act, to: let thread): "\(act), ended by thread \(thread)"
    case .takeOver: "end a claim"
    case .present(let item): "present \(item.name)"
    case .readAndPresent(let item): "read and present \(item.name)"
    case .snapshot: "take a snapshot"
    }
  }
}

/// Threads that claim the same items, with a host.
struct Model: CustomStringConvertible, Sendable {
  var name: String
  var threads: [[Act]]
  var slotsPerShard = 1
  var interestCapacityMin = 8
  /// Whether all shards are in use from the start; else each is announced with its first claim.
  var areShardsAnnounced = true
  /// Whether paths record that nothing is above them.
  var remembersPaths = false
  static let strongCounterCount = 8
  var description: String { name }

  init(_ name: String, _ threads: [[Act]], _ change: (inout Model) -> Void = { _ in }) {
    self.name = name
    self.threads = threads
    change(&self)
  }

  /// Explores the interleavings of the model.
  func explore(
    fault: FastTierFault? = nil, limits: Explorer.Limits = Explorer.Limits()
  ) -> Explorer.Result {
    ModelRun(self, fault).explore(limits)
  }
}

/// A model, ready to be explored once.
private final class ModelRun {
  let model: Model
  let memory: ModelMemory
  let state = ModelState()
  let tier: FastTier<ModelMemory>
  let procedures: ModelProcedures
  let rules: ClaimRules
  let programs: [ThreadProgram]
  /// For each thread a claim that another hands over: its number plus one, and the token to end it with.
  let mailboxes: Int
  /// A word for each item, if paths record anything.
  let memos: Int

  init(_ model: Model, _ fault: FastTierFault?) {
    self.model = model
    var scripts = ScriptReader()
    let steps = model.threads.enumerated().map { thread, acts in scripts.read(acts, thread) }
    let memory = ModelMemory(fault: fault)
    self.memory = memory
    let map = MemoryMap()
    defer { map.deallocate() }
    let setup = Explorer(memory, state, [], map: map, rules: ClaimRules([]))
    memory.performer = { setup.performAtOnce($0) }
    let layout = FastTierLayout(
      shardCount: model.threads.count, slotsPerShard: model.slotsPerShard, strongCounterCount: Model.strongCounterCount,
      interestCapacityMin: model.interestCapacityMin)
    do {
      mailboxes = try memory.allocate(wordCount: 3 * model.threads.count)
      memos = model.remembersPaths ? try memory.allocate(wordCount: ModelItem.allCases.count) : 0
      tier = try FastTier(memory: memory, layout: layout)
      if model.areShardsAnnounced {
        _ = try memory.exchange(UInt64(model.threads.count), at: tier.interests.usedShards)
        for shard in 0..<model.threads.count {
          _ = try memory.exchange(UInt64(tier.layout.slotsPerShard), at: tier.usedSlots(of: shard))
        }
      }
    } catch {
      preconditionFailure("operations before the start don't end a turn")
    }
    memory.performer = nil
    memory.places = TierPlaces(tier, memos: memos)
    var rules = ClaimRules(scripts.claims, presenters: scripts.presenters)
    rules.placeNames = Self.placeNames(tier)
    self.rules = rules
    var modelSteps = ModelSteps()
    fault?.replaceSteps(&modelSteps)
    let procedures = ModelProcedures(
      memory: memory, tier: ModelTier(tier, modelSteps), steps: modelSteps, rules: rules, mailboxes: mailboxes,
      memos: memos)
    self.procedures = procedures
    state[ModelState.guardedValue] = UInt64(memory.number(of: ModelHost(layout: layout)))
    programs = steps.enumerated().map { thread, steps in ThreadProgram(procedures, thread, steps) }
  }

  deinit { state.deallocate() }

  func explore(_ limits: Explorer.Limits) -> Explorer.Result {
    let map = MemoryMap(tier, isShardCountConstant: model.areShardsAnnounced)
    defer { map.deallocate() }
    let explorer = Explorer(
      memory, state, programs.map { $0.program },
      map: map, rules: rules, limits: limits)
    var isChecked = Set<UInt64>()
    return explorer.explore {
      isChecked.insert(explorer.state.digest.first).inserted ? self.whatIsLeft(explorer) : nil
    }
  }

  /// Checks whether everything is free when all threads are done.
  private func whatIsLeft(_ explorer: Explorer) -> String? {
    let moment = state.moment
    memory.performer = { explorer.performAtOnce($0) }
    defer {
      memory.performer = nil
      explorer.forgetProblem()
      state.goBack(to: moment)
    }
    do {
      for shard in 0..<tier.layout.shardCount {
        for slot in 0..<tier.layout.slotsPerShard {
          let slot = try tier.state(at: tier.address(shard: shard, slot: slot))
          if !slot.isFree { return "thread \(shard) leaves a claim in a slot" }
        }
      }
      for key in 0..<UInt64(tier.layout.strongCounterCount)
      where StrongCounter(try memory.load(tier.strongCounter(key))).hasWriters { return "a strong counter is left" }
      for item in ModelItem.allCases where try tier.interests.find(item.fingerprint).rawValue != 0 {
        return "interest in \(item.name) is left"
      }
      if try tier.interests.anyBlocksReadingBelow() || tier.interests.anyBlocksWritingBelow() {
        return "interest below items is left"
      }
      var host = memory.guardedValues[Int(state[ModelState.guardedValue])]
      if !host.claims.isEmpty { return "the host still knows \(host)" }
      if state[ModelState.granted] != 0 { return "a claim is still granted" }
      if host.ledger.liveCount != 0 { return "the ledger counts interest that isn't there" }
      try tier.deallocate(&host.ledger)
      try memory.free(mailboxes, wordCount: 3 * model.threads.count)
      if memos != 0 { try memory.free(memos, wordCount: ModelItem.allCases.count) }
      if let problem = explorer.problem { return problem }
      for index in 16..<Int(state[ModelState.allocated]) where state[index] != ModelState.poison {
        return "memory isn't given back"
      }
    } catch {
      return "operations after the end don't end a turn"
    }
    return nil
  }

  private static func placeNames(_ tier: FastTier<ModelMemory>) -> [Int: String] {
    var names: [Int: String] = [:]
    for shard in 0..<tier.layout.shardCount {
      for slot in 0..<tier.layout.slotsPerShard {
        let name = tier.layout.slotsPerShard == 1 ? "slot \(shard)" : "slot \(shard).\(slot)"
        names[tier.address(shard: shard, slot: slot)] = name
        for (index, word) in ["key", "item", "holder", "outer", "task", "access"].enumerated() {
          names[tier.address(shard: shard, slot: slot) + 8 * (1 + index)] = "\(word) of \(name)"
        }
      }
    }
    for item in ModelItem.allCases where item != .twin && item != .mate {
      names[tier.strongCounter(item.fingerprint)] = "strong counter of \(item.name)"
    }
    for (index, word) in ["table pointer", "shard count", "reading-below count", "writing-below count", "version"]
      .enumerated()
    {
      names[tier.interests.header + 8 * index] = word
    }
    return names
  }
}

extension Explorer {
  /// For operations before the model starts and after it has ended.
  func performAtOnce(_ operation: Operation) -> UInt64 {
    let address = operation.address >> 3
    let old = address > 0 ? state[address] : 0
    if operation.kind != .free, old == ModelState.poison { note(problem: "freed memory is used") }
    switch operation.kind {
    case .load: return old
    case .store, .exchange: state[address] = operation.first
    case .add: state[address] = old &+ operation.first
    case .allocate:
      let base = allocate(0, wordCount: Int(operation.first))
      state[ModelState.privateBase] = 0
      return UInt64(base)
    case .free: free(operation.address, wordCount: Int(operation.first))
    default: preconditionFailure("not before the start, nor after the end: \(operation)")
    }
    return old
  }
}
