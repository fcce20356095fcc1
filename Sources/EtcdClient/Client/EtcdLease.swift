public import SystemInterface

/// A lease that this client keeps alive, see ``EtcdClient/withLease(ttl:_:)``.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `core` | its lock | one task renews it, any may ask |
public final class EtcdLease: Sendable {
  /// The number, to bind keys to it.
  public let id: EtcdLeaseID

  private let core: Guarded<LeaseCore>
  private let time: @Sendable () -> MonotonicTime

  init(_ core: LeaseCore, _ time: @escaping @Sendable () -> MonotonicTime) {
    id = core.id
    self.core = Guarded(core)
    self.time = time
  }

  /// Until when the lease holds for sure if no further renewal succeeds, by CLOCK_BOOTTIME, or the clock that the client was given.
  ///
  /// It's earlier than the end at the server: counted from before the request, less a tenth. The time goes on while the system is
  /// suspended, as that of the server does.
  public var validUntil: MonotonicTime { core.withLock { $0.validUntil } }

  /// Whether the lease holds for sure; once `false` it stays so.
  public var isValid: Bool { core.withLock { $0.isValid(at: time()) } }

  /// Renews the lease until it has ended, or the task is cancelled.
  func keepAlive(_ client: EtcdClient) async {
    var order = core.withLock { $0.order(at: time()) }
    while case .renew(at: let next) = order, !Task.isCancelled {
      // Pauses have another clock, which stands still during a suspend.
      await client.clock.pause(until: client.clock.now.advanced(by: time().duration(to: next)))
      if Task.isCancelled { return }
      let askedAt = time()
      do throws(EtcdError) {
        let ttl = try await client.renew(id, remaining: askedAt.duration(to: validUntil))
        order = core.withLock { $0.renewed(ttl, askedAt: askedAt, at: time()) }
      } catch {
        order = core.withLock { $0.renewalFailed(error, at: time()) }
      }
    }
  }
}

extension EtcdClient {
  /// Grants a lease, which ends after its time unless it's renewed.
  ///
  /// - Parameter ttl: Its time, rounded up to seconds; the server may give more.
  /// - Returns: The number of the lease, and its time.
  /// - Throws: ``EtcdError``.
  public func grantLease(ttl: Duration) async throws(EtcdError) -> (id: EtcdLeaseID, ttl: Duration) {
    let seconds = max(1, ttl.components.seconds + (ttl.components.attoseconds > 0 ? 1 : 0))
    // A second one would end by itself.
    let answer = try await call(
      "/v3/lease/grant", .repeatable, "the grant of a lease", .object(["TTL": .integer(seconds)]))
    guard let id = answer["ID"].integer, id != 0, let granted = answer["TTL"].integer, granted > 0 else {
      throw EtcdError(.invalidAnswer, "the server granted a lease without a number or time")
    }
    return (EtcdLeaseID(id), .seconds(granted))
  }

  /// Renews a lease once.
  ///
  /// - Parameter lease: The lease.
  /// - Returns: Its time from now on; `nil` if there's no such lease.
  /// - Throws: ``EtcdError``.
  public func renew(_ lease: EtcdLeaseID) async throws(EtcdError) -> Duration? {
    try await renew(lease, remaining: nil)
  }

  /// Renews a lease for a holder who can't wait longer than `remaining`.
  func renew(_ lease: EtcdLeaseID, remaining: Duration?) async throws(EtcdError) -> Duration? {
    let answer = try await call(
      "/v3/lease/keepalive", .repeatable, "the renewal of lease \(lease)", .object(["ID": .integer(lease.number)]),
      remaining: remaining)
    if answer["error"].isObject {
      throw EtcdError(.unavailable, answer["error"]["message"].text ?? "the renewal failed")
    }
    // An answer without a time is that of a lease that has ended.
    guard let ttl = answer["result"]["TTL"].integer else {
      throw EtcdError(.invalidAnswer, "the time of lease \(lease) is no number")
    }
    return ttl > 0 ? .seconds(ttl) : nil
  }

  /// Ends a lease, and removes its keys.
  ///
  /// - Parameter lease: The lease.
  /// - Returns: Whether there was such a lease.
  /// - Throws: ``EtcdError``.
  @discardableResult
  public func revoke(_ lease: EtcdLeaseID) async throws(EtcdError) -> Bool {
    do throws(EtcdError) {
      _ = try await call(
        "/v3/lease/revoke", .repeatable, "the end of lease \(lease)", .object(["ID": .integer(lease.number)]))
      return true
    } catch {
      if error.code == .leaseNotFound { return false }
      throw error
    }
  }

  /// Keeps a lease alive while `body` runs, and ends it afterwards.
  ///
  /// The lease is renewed at a third of its time. If it ends nevertheless, the task of `body` is cancelled, and the call throws
  /// `leaseNotFound`. `body` runs in a child task.
  ///
  /// - Parameters:
  ///   - ttl: The time of the lease, after which the server ends it if this program doesn't run any more.
  ///   - body: The work that needs the lease.
  /// - Returns: The result of `body`.
  /// - Throws: ``EtcdError``, or the error of `body`.
  public func withLease<Result: Sendable>(
    ttl: Duration, _ body: @escaping @Sendable (EtcdLease) async throws -> Result
  ) async throws -> Result {
    try await withLease(ttl: ttl, lost: EtcdError(.leaseNotFound, "a lease has ended while it was needed"), body)
  }

  /// The same with the error to throw if the lease is lost.
  func withLease<Result: Sendable>(
    ttl: Duration, lost: EtcdError, _ body: @escaping @Sendable (EtcdLease) async throws -> Result
  ) async throws -> Result {
    let askedAt = leaseTime()
    let granted = try await grantLease(ttl: ttl)
    let lease = EtcdLease(LeaseCore(granted.id, ttl: granted.ttl, askedAt: askedAt), leaseTime)
    let result = await withTaskGroup(of: Swift.Result<Result, any Error>?.self) { group in
      group.addTask {
        do { return .success(try await body(lease)) } catch { return .failure(error) }
      }
      group.addTask {
        await lease.keepAlive(self)
        return nil
      }
      let first = await group.next() ?? nil
      group.cancelAll()
      let second = await group.next() ?? nil
      return (first ?? second, wasLost: first == nil && !Task.isCancelled)
    }
    // Also if this task is cancelled: others wait for the keys to go.
    await Task { _ = try? await self.revoke(lease.id) }.value
    if result.wasLost { throw lost }
    guard let outcome = result.0 else { throw EtcdError(.cancelled, "the task was cancelled") }
    return try outcome.get()
  }
}
