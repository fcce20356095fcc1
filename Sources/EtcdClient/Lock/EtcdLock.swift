internal import SystemInterface

/// A lock that's held, see ``EtcdClient/withLock(_:_:ttl:waitLimit:_:)``.
///
/// A holder that was stopped for longer than its lease wakes up without the lock. So anything that's written on behalf of the lock has
/// to name its token: see ``EtcdLockToken``.
public struct EtcdLock: Sendable {
  /// The right to write on behalf of the lock.
  public let token: EtcdLockToken
  /// The lease that the lock ends with.
  public let lease: EtcdLease

  /// Whether the lock is held for sure; once `false` it stays so.
  ///
  /// It takes no call: it says `false` before the lease has ended for the server.
  public var isValid: Bool { lease.isValid }
}

extension EtcdClient {
  /// Holds a lock while `body` runs.
  ///
  /// Readers share the lock, a writer has it alone. Accesses get it in the order in which they asked, so a reader that comes after a
  /// waiting writer waits too (CE-05). `body` runs in a child task. If its program ends, the lock is free after the time of the lease, or
  /// about twice that time if the servers elect another leader meanwhile (CE-06).
  ///
  /// If the lease ends earlier, because no server answers for example, the task of `body` is cancelled before another access gets the lock,
  /// unless the program stands still: see ``EtcdLockToken``. If the task of the caller is cancelled or the limit has passed, the access
  /// leaves the queue, for which the call waits.
  ///
  /// It costs four calls if nobody else wants the lock, and a watch of the queue otherwise. Each ends at the client's limits.
  ///
  /// - Parameters:
  ///   - prefix: The name of the lock, for example `locks/printer`: its queue is the keys that begin with it and a slash.
  ///   - mode: Whether others may read at the same time.
  ///   - ttl: How long the lock stays held if this program doesn't run any more; rounded up to seconds.
  ///   - waitLimit: How long to wait for the lock, from now; `nil` waits without limit, zero doesn't wait for others.
  ///   - body: The work that needs the lock.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`; ``EtcdError`` with the code `lockLost` if the lock was lost before the end of `body`, whose work may have
  ///   met that of others then, `timedOut` after the limit, `cancelled` when the task was cancelled, or another one.
  /// - Note: CE-01 to CE-06.
  public func withLock<Result: Sendable>(
    _ prefix: EtcdBytes, _ mode: EtcdLockMode, ttl: Duration = .seconds(10), waitLimit: Duration? = nil,
    _ body: @escaping @Sendable (EtcdLock) async throws -> Result
  ) async throws -> Result {
    if prefix.bytes.isEmpty || prefix.bytes.last == UInt8(ascii: "/") {
      throw EtcdError(.invalidArgument, "the prefix of a lock isn't empty and doesn't end with a slash: '\(prefix)'")
    }
    let deadline = waitLimit.map { clock.now.advanced(by: $0) }
    let lost = EtcdError(
      .lockLost, "the lease of the lock '\(prefix)' has ended while it was needed; nothing more may be written for it")
    return try await withLease(ttl: ttl, lost: lost) { lease in
      let names = LockNames(prefix)
      let access = LockAccess(client: self, names: names, mode: mode, lease: lease)
      let core = try await access.acquire(until: deadline)
      guard let token = core.token, lease.isValid else { throw lost }
      let result: Result
      do {
        result = try await body(EtcdLock(token: token, lease: lease))
      } catch {
        _ = await access.release(core)
        throw error
      }
      let wasValid = lease.isValid
      let wasHeld = await access.release(core)
      if !wasValid || wasHeld == false { throw lost }
      return result
    }
  }
}

/// Carries out the orders of an access to a lock.
struct LockAccess: Sendable {
  let client: EtcdClient
  let names: LockNames
  let mode: EtcdLockMode
  let lease: EtcdLease

  private var key: EtcdBytes { names.key(mode, lease.id) }

  /// Waits for the lock until a time.
  func acquire(until deadline: MonotonicTime?) async throws(EtcdError) -> LockCore {
    guard let deadline else { return try await acquire() }
    // Without a wait, the answer to the first call says whether the lock is free.
    let isPatient = deadline > client.clock.now
    let outcome = await withTaskGroup(of: Result<LockCore, EtcdError>?.self) { group in
      group.addTask {
        do throws(EtcdError) {
          return .success(try await self.acquire(isPatient: isPatient))
        } catch { return .failure(error) }
      }
      if isPatient {
        group.addTask {
          await client.clock.pause(until: deadline)
          return nil
        }
      }
      let first = await group.next() ?? nil
      group.cancelAll()
      return first
    }
    if let outcome { return try outcome.get() }
    if Task.isCancelled { throw EtcdError(.cancelled, "the task was cancelled while it waited for a lock") }
    throw tooLate
  }

  private var tooLate: EtcdError {
    EtcdError(.timedOut, "others have the lock '\(names.prefix)' or wait for it; wait longer, or try again later")
  }

  private func acquire(isPatient: Bool = true) async throws(EtcdError) -> LockCore {
    var core = LockCore(mode, key: key)
    var order = core.start()
    var watch: EtcdWatch.Iterator?
    while true {
      let event: LockCore.Event
      switch order {
      case .join: event = await attempt { () async throws(EtcdError) in .joined(try await join()) }
      case .list:
        watch = nil
        event = await attempt { () async throws(EtcdError) in .listed(try await list()) }
      case .watch(let revision):
        if !isPatient { throw tooLate }
        watch = client.watch(.prefix(names.prefix), from: revision, options: .deletes).makeAsyncIterator()
        event = await next(&watch)
      case .read: event = await next(&watch)
      case .grant: return core
      case .fail(let error): throw error
      case .release, .end: preconditionFailure("\(order) before the lock is held")
      }
      order = core.take(event)
    }
  }

  private func next(_ watch: inout EtcdWatch.Iterator?) async -> LockCore.Event {
    do throws(EtcdError) {
      guard let batch = try await watch?.next() else { preconditionFailure("a watch ends only with an error") }
      return .removed(batch.changes.map(\.key), revision: batch.revision)
    } catch { return .failed(error) }
  }

  private func attempt(_ body: () async throws(EtcdError) -> LockCore.Event) async -> LockCore.Event {
    do throws(EtcdError) { return try await body() } catch { return .failed(error) }
  }

  /// Creates the key and lists the queue.
  ///
  /// An attempt that finds the key there was made before: nobody else has the lease. So it can be repeated.
  private func join() async throws(EtcdError) -> LockQueue {
    let list = EtcdOperation.range(.prefix(names.prefix))
    let transaction = EtcdTransaction(
      if: [.isAbsent(key)], then: [.put(key, "", lease: lease.id), list], else: [list])
    let result = try await client.transact(transaction, .repeatable)
    guard case .range(let range) = result.results.last else {
      throw EtcdError(.invalidAnswer, "the queue of a lock wasn't listed", mayHaveBeenApplied: true)
    }
    return LockQueue(range, at: result.revision, names)
  }

  private func list() async throws(EtcdError) -> LockQueue {
    let range = try await client.range(.prefix(names.prefix), options: .keysOnly)
    return LockQueue(range, at: range.revision, names)
  }

  /// Lets others have the lock: at once if the call succeeds, otherwise with the end of the lease, which comes next.
  ///
  /// - Returns: Whether the lock was held until then; `nil` if no server says so. The answer to a second attempt couldn't: the first one may
  ///   have removed the key.
  func release(_ core: LockCore) async -> Bool? {
    var core = core
    guard case .release(let token) = core.take(.finished) else { return nil }
    let transaction = EtcdTransaction(if: [token.isHeld], then: [.delete(.key(token.key))])
    let result = try? await client.transact(transaction, .once)
    _ = core.take(.released)
    return result?.succeeded
  }
}
