/// One access to a lock, as a value: events in, orders out.
///
/// An access joins a queue by a key that's bound to its lease. A writer waits until every key that's older has gone, a reader until every
/// older key of a writer has. Keys are created at growing revisions, so no key gets in front of another one later. Before the lock counts as
/// held, the servers have confirmed at one revision that the own key is there and nobody is in front of it (CE-01, CE-03, CE-05).
///
/// The runner keeps the lease alive, see ``LeaseCore``. It ends the access when the lease does.
package struct LockCore: Hashable, Sendable {
  /// An order to the runner.
  package enum Order: Hashable, Sendable {
    /// Create the key unless it's there, and list the queue, in one transaction that may be repeated.
    case join
    /// List the queue.
    case list
    /// Watch the queue for keys that are removed, from a revision on, and wait for the first batch.
    case watch(from: Int64)
    /// Wait for the next batch of the watch.
    case read
    /// The lock is held.
    case grant(EtcdLockToken)
    /// Remove the key if it was created at this revision.
    case release(EtcdLockToken)
    /// The access is over, without the lock.
    case fail(EtcdError)
    /// The access is over.
    case end
  }

  /// An event.
  package enum Event: Hashable, Sendable {
    /// The queue was joined.
    case joined(LockQueue)
    /// The queue was listed.
    case listed(LockQueue)
    /// Keys were removed, up to a revision.
    case removed([EtcdBytes], revision: Int64)
    /// A call or the watch has failed.
    case failed(EtcdError)
    /// The holder needs the lock no more.
    case finished
    /// The release was carried out, or has failed: then the key goes with its lease.
    case released
  }

  /// A mistake that a test builds in, which it has to find.
  package enum Mistake: Hashable, Sendable, CaseIterable {
    /// A writer doesn't wait for readers.
    case readersAreIgnored
    /// A late reader doesn't wait for writers that wait.
    case readersWaitForNobody
    /// Keys that came later are waited for as well.
    case laterKeysCount
    /// The watch begins at a later revision than the one after the list.
    case watchBeginsLate
    /// When those in front have gone, the own key isn't looked for.
    case ownKeyIsNotChecked
    /// A list without the own key counts as one in which it's the first.
    case missingKeyIsFirst
    /// The removal of the own key isn't noticed.
    case ownRemovalIsIgnored
    /// After a gap of the watch, the queue isn't listed.
    case gapIsIgnored
    /// The token is the revision of the list, and not that of the key.
    case tokenIsTheList
  }

  private enum Phase: Hashable, Sendable {
    /// Nothing was asked for; ends with ``start()``.
    case new
    /// The key is being created; ends with the queue.
    case joining
    /// The queue is listed once more; ends with it.
    case listing(EtcdLockToken)
    /// The keys in front are watched; ends when all have gone, or the own one has.
    case waiting(EtcdLockToken, inFront: Set<EtcdBytes>)
    /// The lock is held; ends with the work of its holder.
    case holding(EtcdLockToken)
    /// The key is being removed; ends with the answer.
    case releasing
    /// Final.
    case ended
  }

  private var phase = Phase.new
  private let mode: EtcdLockMode
  private let key: EtcdBytes
  private let mistake: Mistake?

  /// Begins an access with the key that it will have in the queue.
  package init(_ mode: EtcdLockMode, key: EtcdBytes, mistake: Mistake? = nil) {
    self.mode = mode
    self.key = key
    self.mistake = mistake
  }

  /// The token, as soon as the access has its place in the queue.
  package var token: EtcdLockToken? {
    switch phase {
    case .listing(let token), .waiting(let token, _), .holding(let token): token
    case .new, .joining, .releasing, .ended: nil
    }
  }

  /// Whether the lock counts as held.
  package var isHolding: Bool { if case .holding = phase { true } else { false } }

  /// Whether the access waits for others.
  package var isWaiting: Bool { if case .waiting = phase { true } else { false } }

  /// Gives the first order.
  package mutating func start() -> Order {
    precondition(phase == .new, "an access starts once")
    phase = .joining
    return .join
  }

  /// Takes the event that the last order has led to, and gives the next order.
  package mutating func take(_ event: Event) -> Order {
    switch (phase, event) {
    case (.joining, .joined(let queue)):
      guard let own = queue.entries.first(where: { $0.key == key }) else { return lost() }
      let number = mistake == .tokenIsTheList ? queue.revision : own.createRevision
      return proceed(with: queue, EtcdLockToken(key: key, number: number))
    case (.listing(let token), .listed(let queue)):
      let own = queue.entries.first { $0.key == key }
      // A key that was created anew, by an attempt that came late, has another place.
      guard own?.createRevision == token.number || own == nil && mistake == .missingKeyIsFirst else { return lost() }
      return proceed(with: queue, token)
    case (.waiting(let token, let inFront), .removed(let keys, _)): return removed(keys, token, inFront)
    case (.waiting(let token, _), .failed(let error)) where error.code == .compacted:
      if mistake == .gapIsIgnored { return .watch(from: (error.compactRevision ?? 0) + 1) }
      phase = .listing(token)
      return .list
    case (.joining, .failed(let error)), (.listing, .failed(let error)), (.waiting, .failed(let error)):
      phase = .ended
      return .fail(error)
    case (.holding(let token), .finished):
      phase = .releasing
      return .release(token)
    case (.releasing, .released):
      phase = .ended
      return .end
    case (.new, _), (.joining, _), (.listing, _), (.waiting, _), (.holding, _), (.releasing, _), (.ended, _):
      preconditionFailure("\(event) in \(phase)")
    }
  }

  private mutating func removed(
    _ keys: [EtcdBytes], _ token: EtcdLockToken, _ inFront: Set<EtcdBytes>
  ) -> Order {
    if keys.contains(key), mistake != .ownRemovalIsIgnored { return lost() }
    let left = inFront.subtracting(keys)
    if left.isEmpty {
      if mistake == .ownKeyIsNotChecked { return grant(token) }
      phase = .listing(token)
      return .list
    }
    phase = .waiting(token, inFront: left)
    return .read
  }

  /// The queue is as it is at one revision, and the own key in it.
  private mutating func proceed(with queue: LockQueue, _ token: EtcdLockToken) -> Order {
    let inFront = queue.entries.filter { $0.key != key && isInFront($0, of: token) }
    if inFront.isEmpty { return grant(token) }
    phase = .waiting(token, inFront: Set(inFront.map(\.key)))
    return .watch(from: queue.revision + (mistake == .watchBeginsLate ? 2 : 1))
  }

  private func isInFront(_ entry: LockQueue.Entry, of token: EtcdLockToken) -> Bool {
    if entry.createRevision > token.number, mistake != .laterKeysCount { return false }
    switch (mode, entry.mode) {
    case (.reading, .reading): return false
    case (.reading, .writing): return mistake != .readersWaitForNobody
    case (.writing, .reading): return mistake != .readersAreIgnored
    case (.writing, .writing): return true
    }
  }

  private mutating func grant(_ token: EtcdLockToken) -> Order {
    phase = .holding(token)
    return .grant(token)
  }

  private mutating func lost() -> Order {
    phase = .ended
    return .fail(
      EtcdError(.lockLost, "the key in the queue of the lock has gone: its lease has ended, or somebody removed it"))
  }
}
