// MARK: - Reading

extension EtcdClient {
  /// How to read a range.
  public struct ReadOptions: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: Int

    /// Creates options.
    ///
    /// - Parameter rawValue: The bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The answer may be old: it's what the asked server has, even if it can't reach the others.
    public static let mayBeStale = ReadOptions(rawValue: 1)
    /// The values are left out.
    public static let keysOnly = ReadOptions(rawValue: 2)
    /// The keys are left out too, only their number is there.
    public static let countOnly = ReadOptions(rawValue: 4)
  }

  /// Reads the keys of a range, in ascending order.
  ///
  /// Unless it may be stale, it shows every write that was acknowledged before the call. It's repeated at other servers if necessary.
  ///
  /// - Parameters:
  ///   - keys: The range.
  ///   - limit: How many keys to read at most; 0 for all of them, for which ``allPages(_:pageSize:)`` needs less memory at the server.
  ///   - revision: The revision to read at; 0 for the last one.
  ///   - options: How to read.
  /// - Returns: The keys.
  /// - Throws: ``EtcdError``, for example `compacted`.
  public func range(
    _ keys: EtcdKeyRange, limit: Int = 0, revision: Int64 = 0, options: ReadOptions = []
  ) async throws(EtcdError) -> EtcdRangeResult {
    if keys.start.bytes.isEmpty { throw EtcdTransaction.emptyKey }
    if limit < 0 || revision < 0 { throw EtcdError(.invalidArgument, "a limit or revision isn't negative") }
    let message = EtcdWire.range(
      keys, limit: Int64(limit), revision: revision, isSerializable: options.contains(.mayBeStale),
      keysOnly: options.contains(.keysOnly), countOnly: options.contains(.countOnly))
    let answer = try await call("/v3/kv/range", .read, "reading '\(keys.start)'", message)
    return try decoded("a read") { () throws(EtcdWire.Malformed) in
      _ = try EtcdWire.answeredRevision(answer)
      return try EtcdWire.range(answer)
    }
  }

  /// Reads a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - options: How to read.
  /// - Returns: The key with its value; `nil` if it isn't there.
  /// - Throws: ``EtcdError``.
  public func get(_ key: EtcdBytes, options: ReadOptions = []) async throws(EtcdError) -> EtcdKeyValue? {
    try await range(.key(key), options: options).keyValues.first
  }

  /// Reads all keys of a range at one revision, page by page.
  ///
  /// - Parameters:
  ///   - keys: The range.
  ///   - pageSize: How many keys an answer has at most.
  /// - Returns: The keys, as they were together at the revision of the result.
  /// - Throws: ``EtcdError``; `compacted` if the store was compacted meanwhile.
  public func allPages(_ keys: EtcdKeyRange, pageSize: Int = 1000) async throws(EtcdError) -> EtcdRangeResult {
    if pageSize < 1 { throw EtcdError(.invalidArgument, "a page has at least one key, not \(pageSize)") }
    var all = try await range(keys, limit: pageSize)
    while all.hasMore, let last = all.keyValues.last {
      let page = try await range(keys.behind(last.key), limit: pageSize, revision: all.revision)
      all.keyValues += page.keyValues
      all.hasMore = page.hasMore
    }
    return all
  }
}

// MARK: - Writing

extension EtcdClient {
  /// Writes a key.
  ///
  /// It's sent to another server only if it certainly wasn't made. To repeat it safely, give it a name: see
  /// ``transact(_:name:)``.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - value: The value.
  ///   - lease: The lease with which the key shall end.
  /// - Returns: The revision of the write.
  /// - Throws: ``EtcdError``; see ``EtcdError/mayHaveBeenApplied``.
  @discardableResult
  public func put(_ key: EtcdBytes, _ value: EtcdBytes, lease: EtcdLeaseID? = nil) async throws(EtcdError) -> Int64 {
    if key.bytes.isEmpty { throw EtcdTransaction.emptyKey }
    let answer = try await call("/v3/kv/put", .once, "put of '\(key)'", EtcdWire.put(key, value, lease: lease))
    return try decoded("a put") { () throws(EtcdWire.Malformed) in try EtcdWire.answeredRevision(answer) }
  }

  /// Removes the keys of a range.
  ///
  /// - Parameter keys: The range.
  /// - Returns: The keys that were removed, with their values.
  /// - Throws: ``EtcdError``; see ``EtcdError/mayHaveBeenApplied``.
  @discardableResult
  public func delete(_ keys: EtcdKeyRange) async throws(EtcdError) -> [EtcdKeyValue] {
    if keys.start.bytes.isEmpty { throw EtcdTransaction.emptyKey }
    let message = EtcdWire.delete(keys, wantsPrevious: true)
    let answer = try await call("/v3/kv/deleterange", .once, "deletion of '\(keys.start)'", message)
    return try decoded("a deletion") { () throws(EtcdWire.Malformed) in
      _ = try EtcdWire.answeredRevision(answer)
      return try EtcdWire.keyValues(answer["prev_kvs"])
    }
  }

  /// Makes a transaction.
  ///
  /// With a name it's repeated, also at other servers, until an answer comes or the time is over, and made once at most (CE-08).
  /// Without one it's sent again only if it certainly wasn't made, or only reads.
  ///
  /// - Parameters:
  ///   - transaction: The transaction, with at most 128 operations in a branch, and 126 if it has a name.
  ///   - name: The name.
  /// - Returns: The result.
  /// - Throws: ``EtcdError``; see ``EtcdError/mayHaveBeenApplied``.
  public func transact(
    _ transaction: EtcdTransaction, name: EtcdOperationName? = nil
  ) async throws(EtcdError) -> EtcdTransactionResult {
    let kind: CallCore.Kind = transaction.onlyReads ? .read : name == nil ? .once : .repeatable
    let result = try await transact(name.map(transaction.named) ?? transaction, kind)
    if name == nil { return result }
    guard let unnamed = result.unnamed else {
      throw EtcdError(.invalidAnswer, "a transaction was answered, but not as it was asked", mayHaveBeenApplied: true)
    }
    return unnamed
  }

  /// Makes a transaction as it is.
  func transact(_ transaction: EtcdTransaction, _ kind: CallCore.Kind) async throws(EtcdError) -> EtcdTransactionResult
  {
    if let flaw = transaction.flaw { throw flaw }
    let answer = try await call("/v3/kv/txn", kind, "a transaction", EtcdWire.transaction(transaction))
    return try decoded("a transaction") { () throws(EtcdWire.Malformed) in
      _ = try EtcdWire.answeredRevision(answer)
      return try EtcdWire.transaction(answer)
    }
  }
}

extension EtcdTransaction {
  fileprivate var onlyReads: Bool {
    (success + failure).allSatisfy { operation in
      switch operation {
      case .range: true
      case .put, .delete: false
      case .transaction(let inner): inner.onlyReads
      }
    }
  }
}
