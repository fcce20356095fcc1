import FileAccessArbiter
import Foundation
import Synchronization

@testable import FileCoordination

/// A host of the fast tier for real threads: the same steps as in ``ModelProcedures``, with the same small arbiter.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `arbiter` | `condition` | it's the host's lock |
/// | `fastCount`, `hostCount` | themselves | only counted |
final class StressHost: @unchecked Sendable {
  /// A claim that was granted, by the fast tier if there's a token.
  struct Granted {
    var claim: ModelClaim
    var token: ClaimToken?
  }

  /// How often a claim that was refused checks whether it would be granted, before it's requested.
  private let lookCountMax = 8
  let fastCount = Atomic(0)
  let hostCount = Atomic(0)
  private let memory = CountingMemory(isShaking: true)
  private let tier: FastTier<CountingMemory>
  private let condition = NSCondition()
  private var arbiter: ModelHost

  init(threadCount: Int) {
    let layout = FastTierLayout(
      shardCount: threadCount, slotsPerShard: 1, strongCounterCount: 4, interestCapacityMin: 2)
    tier = FastTier(memory: memory, layout: layout)
    arbiter = ModelHost(layout: layout)
  }

  /// Lets another thread go on, now and then.
  func shake() { memory.shake() }

  // MARK: Claims

  func claim(_ claim: ModelClaim) -> Granted {
    if claim.kind == .deepWrite { return requestLocked(claim) }
    let note = ClaimNote(
      item: claim.item.rawValue, holder: UInt(claim.thread), outer: claim.kind == .read ? 0 : 1, task: 0, access: 0)
    let path = claim.item.claimPath
    let answer =
      claim.kind == .read
      ? tier.read(path, shard: claim.thread, note) : tier.write(path, shard: claim.thread, note)
    switch answer {
    case .granted(let token):
      fastCount.add(1, ordering: .relaxed)
      return Granted(claim: claim, token: token)
    case .refused:
      // As a coordinator does that waits for another claim of the tier: it polls for a while.
      for _ in 0..<lookCountMax where !tier.mayClaim(path, isWrite: claim.kind != .read, shard: claim.thread) {}
      return requestLocked(claim)
    case .contested(let token, _):
      condition.lock()
      defer { condition.unlock() }
      return tier.conclude(token) ? Granted(claim: claim, token: token) : request(claim)
    }
  }

  private func requestLocked(_ claim: ModelClaim) -> Granted {
    condition.withLock { request(claim) }
  }

  private func request(_ claim: ModelClaim) -> Granted {
    hostCount.add(1, ordering: .relaxed)
    step(raising: [claim.item.obstacle(claim.kind.interest)]) { arbiter in _ = arbiter.request(claim) }
    while !arbiter.isHeld(claim) { condition.wait() }
    return Granted(claim: claim, token: nil)
  }

  func end(_ granted: Granted) {
    let key = granted.claim.item.fingerprint
    guard let token = granted.token else { return condition.withLock { release(granted.claim) } }
    if tier.end(token, key) { return }
    let isAdopted = condition.withLock {
      let isAdopted = tier.state(at: token.slot).has(SlotState.isAdopted)
      if !isAdopted { tier.free(token, key) }
      return isAdopted
    }
    if !isAdopted { return }
    condition.withLock { release(granted.claim) }
    tier.free(token, key)
  }

  private func release(_ claim: ModelClaim) {
    precondition(arbiter.isHeld(claim), "\(claim) ends, but isn't known")
    step { arbiter in _ = arbiter.end(claim) }
    condition.broadcast()
  }

  // MARK: Presenters and snapshots

  /// Presents the item for a moment.
  func present(_ item: ModelItem) {
    let presenter = ModelPresenter(number: 0, item: item)
    condition.withLock {
      step(raising: [item.obstacle(ModelPresenter.interest)]) { arbiter in arbiter.presenters.append(presenter) }
    }
    condition.withLock {
      step { arbiter in
        if let index = arbiter.presenters.firstIndex(of: presenter) { arbiter.presenters.remove(at: index) }
      }
    }
  }

  func snapshot() {
    condition.withLock { step(raising: [ModelItem.root.obstacle(.everything)]) { _ in } }
  }

  // MARK: Steps

  private func step(raising obstacles: [Obstacle<ModelItem>] = [], _ body: (inout ModelHost) -> Void) {
    tier.step(raising: obstacles, &arbiter, adopt: adopt, body)
  }

  private func adopt(
    _ slot: Int, under obstacle: Obstacle<ModelItem>, _ arbiter: inout ModelHost
  ) -> AdoptionDecision {
    let note = ClaimNote(at: slot, in: tier.memory)
    guard let item = ModelItem(rawValue: note.item) else { preconditionFailure("a note is torn: \(note)") }
    let claim = ModelClaim(
      number: Int(note.holder), thread: Int(note.holder), kind: note.outer == 0 ? .read : .write, item: item)
    guard obstacle.covers(item, isWrite: claim.kind != .read) else { return .unconcerned }
    guard arbiter.admits(claim) else { return .refused }
    arbiter.enter(claim, isHeld: true)
    return .adopted
  }

  /// Checks whether everything is free when all threads are done, and frees the memory.
  func whatIsLeft() -> String? {
    condition.withLock {
      if !arbiter.claims.isEmpty { return "claims that nobody has: \(arbiter)" }
      if arbiter.ledger.liveCount != 0 { return "interest that nobody has" }
      if tier.interests.anyBlocksReadingBelow() || tier.interests.anyBlocksWritingBelow() {
        return "interest below items that nobody has"
      }
      for item in ModelItem.allCases {
        if tier.interests.find(item.fingerprint).rawValue != 0 { return "interest in \(item)" }
        let strong = StrongCounter(memory.load(tier.strongCounter(item.fingerprint)))
        if strong.hasWriters { return "a strong counter of \(item)" }
      }
      for shard in 0..<tier.layout.shardCount where !tier.state(at: tier.address(shard: shard, slot: 0)).isFree {
        return "a claim in a slot"
      }
      tier.deallocate(&arbiter.ledger)
      return memory.wordCount == 0 ? nil : "memory that isn't given back"
    }
  }
}
