extension EtcdClient {
  /// Makes a transaction on behalf of a lock, unless the lock isn't held any more (CE-01).
  ///
  /// The servers compare the token and make the transaction in one step: neither branch is made after another access could have got the
  /// lock. It may be called by a program that was stopped for any time.
  ///
  /// With a name it's repeated like ``transact(_:name:)`` until an answer comes, and made once at most.
  ///
  /// - Parameters:
  ///   - transaction: The transaction, with at most 127 operations in a branch, and 125 if it has a name.
  ///   - token: The token of the lock.
  ///   - name: The name.
  /// - Returns: The result.
  /// - Throws: ``EtcdError``, `lockLost` if the lock isn't held with this token: then nothing was changed.
  public func transact(
    _ transaction: EtcdTransaction, guardedBy token: EtcdLockToken, name: EtcdOperationName? = nil
  ) async throws(EtcdError) -> EtcdTransactionResult {
    let marked = name.map { transaction.marked($0) } ?? transaction
    let refusal = name.map { [EtcdOperation.put($0.key, EtcdTransaction.lockLostMarker, lease: $0.lease)] } ?? []
    let guarded = EtcdTransaction(if: [token.isHeld], then: [.transaction(marked)], else: refusal)
    let sent = name.map { guarded.unlessMade($0) } ?? guarded
    let result = try await transact(sent, name == nil ? .once : .repeatable)
    guard let outcome = name == nil ? result.guarded : result.namedAndGuarded else {
      throw EtcdError(.invalidAnswer, "a transaction was answered, but not as it was asked", mayHaveBeenApplied: true)
    }
    switch outcome {
    case .made(let result): return result
    case .refused:
      throw EtcdError(.lockLost, "the lock isn't held with token \(token.number) any more, so nothing was written")
    }
  }
}

extension EtcdTransactionResult {
  /// The outcome of a transaction on behalf of a lock.
  package enum Guarded: Hashable, Sendable {
    case made(EtcdTransactionResult)
    case refused
  }

  /// The outcome from the answer to the whole; `nil` if it can't be one.
  package var guarded: Guarded? {
    if !succeeded { return .refused }
    guard case .transaction(var inner)? = results.first else { return nil }
    inner.revision = revision
    return .made(inner)
  }

  /// The same of one with a name.
  package var namedAndGuarded: Guarded? {
    switch results.first {
    case .range(let range)? where succeeded:
      guard let marker = range.keyValues.first else { return nil }
      if marker.value == EtcdTransaction.lockLostMarker { return .refused }
      return .made(
        EtcdTransactionResult(
          revision: marker.modRevision, succeeded: marker.value == EtcdTransaction.successMarker, results: [],
          wasRepeated: true))
    case .transaction(var inner)? where !succeeded:
      inner.revision = revision
      guard case .made(var result) = inner.guarded else { return inner.guarded }
      guard result.results.popLast() == .put else { return nil }
      return .made(result)
    default: return nil
    }
  }
}
