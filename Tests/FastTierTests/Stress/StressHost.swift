import FileAccessArbiter
import Foundation
import Synchronization

@testable import FileCoordination

/// A host of the fast tier for real threads: the same procedures as ``ModelProcedures``.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `known`, `ledger`, `presented` | `condition` | it's the host's lock |
/// | `fastCount`, `hostCount` | themselves | only counted |
final class StressHost: @unchecked Sendable {
  struct Known {
    var claim: ModelClaim
    var isHeld: Bool
  }

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
  private var known: [Known] = []
  private var ledger: InterestLedger
  private var presented: [ModelItem] = []

  init(threadCount: Int) {
    let layout = FastTierLayout(
      shardCount: threadCount, slotsPerShard: 1, strongCounterCount: 4, interestCapacityMin: 2)
    tier = FastTier(memory: memory, layout: layout)
    ledger = InterestLedger(layout: layout)
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
    case .unsettled(let token, _):
      condition.lock()
      defer { condition.unlock() }
      return tier.settle(token) ? Granted(claim: claim, token: token) : request(claim)
    }
  }

  private func requestLocked(_ claim: ModelClaim) -> Granted {
    condition.withLock { request(claim) }
  }

  private func request(_ claim: ModelClaim) -> Granted {
    hostCount.add(1, ordering: .relaxed)
    let interest = claim.kind.interest
    raise(interest, at: claim.item)
    let scope = claim.kind == .deepWrite ? ClaimScope.all : .item(claim.item.fingerprint)
    adoptClaims(scope, reads: claim.kind != .read, interest, at: claim.item)
    known.append(Known(claim: claim, isHeld: false))
    grantWaiters()
    while !known.contains(where: { $0.isHeld && $0.claim == claim }) { condition.wait() }
    return Granted(claim: claim, token: nil)
  }

  func end(_ granted: Granted) {
    let key = granted.claim.item.fingerprint
    guard let token = granted.token else { return condition.withLock { release(granted.claim) } }
    if tier.end(token, key) { return }
    condition.lock()
    let isAdopted = tier.state(at: token.slot).has(SlotState.isAdopted)
    if isAdopted { release(granted.claim) } else { tier.free(token, key) }
    condition.unlock()
    if isAdopted { tier.free(token, key) }
  }

  private func release(_ claim: ModelClaim) {
    guard let index = known.firstIndex(where: { $0.isHeld && $0.claim == claim }) else {
      preconditionFailure("\(claim) ends, but isn't known")
    }
    known.remove(at: index)
    lower(claim.kind.interest, at: claim.item)
    grantWaiters()
    condition.broadcast()
  }

  private func grantWaiters() {
    for index in known.indices where !known[index].isHeld {
      let claim = known[index].claim
      known[index].isHeld = !known[..<index].contains { $0.claim.conflicts(with: claim) }
    }
  }

  // MARK: Presenters and snapshots

  /// Presents the item for a moment.
  func present(_ item: ModelItem) {
    condition.withLock {
      raise(ModelPresenter.interest, at: item)
      adoptClaims(.all, reads: true, ModelPresenter.interest, at: item)
      presented.append(item)
    }
    condition.withLock {
      if let index = presented.firstIndex(of: item) { presented.remove(at: index) }
      lower(ModelPresenter.interest, at: item)
    }
  }

  func snapshot() {
    condition.withLock {
      let interest: ItemInterest = [.blocksReadingBelow, .blocksWritingBelow]
      raise(interest, at: .root)
      adoptClaims(.all, reads: true, interest, at: .root)
      lower(interest, at: .root)
    }
  }

  // MARK: Interest

  private func raise(_ interest: ItemInterest, at item: ModelItem) {
    tier.changeInterest(item.fingerprint, from: [], to: interest, &ledger)
  }

  private func lower(_ interest: ItemInterest, at item: ModelItem) {
    tier.changeInterest(item.fingerprint, from: interest, to: [], &ledger)
  }

  private func adoptClaims(_ scope: ClaimScope, reads: Bool, _ interest: ItemInterest, at item: ModelItem) {
    tier.adoptClaims(scope, reads: reads, writes: true) { slot in
      let note = ClaimNote(at: slot, in: tier.memory)
      guard let place = ModelItem(rawValue: note.item) else { preconditionFailure("a note is torn: \(note)") }
      let claim = ModelClaim(
        number: Int(note.holder), thread: Int(note.holder), kind: note.outer == 0 ? .read : .write, item: place)
      guard claim.isCovered(by: interest, at: item) else { return .unconcerned }
      let presenters = presented.map { ModelPresenter(number: 0, item: $0) }
      if known.contains(where: { $0.claim.conflicts(with: claim) })
        || presenters.contains(where: { $0.concerns(claim) })
      {
        return .refused
      }
      known.insert(Known(claim: claim, isHeld: true), at: 0)
      raise(claim.kind.interest, at: place)
      return .adopted
    }
  }

  /// Checks whether everything is free when all threads are done, and frees the memory.
  func whatIsLeft() -> String? {
    condition.withLock {
      if !known.isEmpty { return "claims that nobody has: \(known)" }
      if ledger.liveCount != 0 { return "interest that nobody has" }
      if tier.interests.anyBlocksReadingBelow() || tier.interests.anyBlocksWritingBelow() {
        return "interest below items that nobody has"
      }
      for item in ModelItem.allCases {
        if tier.interests.find(item.fingerprint).rawValue != 0 { return "interest in \(item)" }
        if memory.load(tier.strongCounter(item.fingerprint)) != 0 { return "a strong counter of \(item)" }
      }
      for shard in 0..<tier.layout.shardCount where !tier.state(at: tier.address(shard: shard, slot: 0)).isFree {
        return "a claim in a slot"
      }
      tier.deallocate(&ledger)
      return memory.wordCount == 0 ? nil : "memory that isn't given back"
    }
  }
}
