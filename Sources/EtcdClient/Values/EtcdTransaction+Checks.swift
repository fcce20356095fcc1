extension EtcdTransaction {
  /// The reason why the server would refuse it, as far as it's known before.
  package var flaw: EtcdError? { flaw(countMax: Self.operationCountMax) }

  private func flaw(countMax: Int) -> EtcdError? {
    let count = max(compares.count, success.count, failure.count)
    if count > countMax {
      let text =
        "a transaction may have \(Self.operationCountMax) operations and comparisons, those of nested ones included; this one has more"
      return EtcdError(.tooManyOperations, text)
    }
    for compare in compares where compare.keys.start.bytes.isEmpty { return Self.emptyKey }
    for branch in [success, failure] {
      var written: Set<EtcdBytes> = []
      for operation in branch {
        switch operation {
        case .range(let keys, _), .delete(let keys): if keys.start.bytes.isEmpty { return Self.emptyKey }
        case .put(let key, _, _):
          if key.bytes.isEmpty { return Self.emptyKey }
          if !written.insert(key).inserted { return EtcdError(.duplicateKey, "the transaction writes '\(key)' twice") }
        case .transaction(let inner): if let flaw = inner.flaw(countMax: countMax - count) { return flaw }
        }
      }
    }
    return nil
  }

  static let emptyKey = EtcdError(.invalidArgument, "a key has at least one byte")

  static let successMarker: EtcdBytes = "1"
  static let failureMarker: EtcdBytes = "0"
  static let lockLostMarker: EtcdBytes = "2"

  /// The same transaction, made once at most however often it's sent.
  package func named(_ name: EtcdOperationName) -> EtcdTransaction { marked(name).unlessMade(name) }

  /// The same transaction, which also writes the key of its name and which branch was made.
  func marked(_ name: EtcdOperationName) -> EtcdTransaction {
    var marked = self
    marked.success.append(.put(name.key, Self.successMarker, lease: name.lease))
    marked.failure.append(.put(name.key, Self.failureMarker, lease: name.lease))
    return marked
  }

  /// The same transaction, which is made only if the key of its name isn't there.
  func unlessMade(_ name: EtcdOperationName) -> EtcdTransaction {
    let isMade = EtcdCompare(.key(name.key), .greater, .createRevision(0))
    return EtcdTransaction(if: [isMade], then: [.range(.key(name.key))], else: [.transaction(self)])
  }
}

extension EtcdTransactionResult {
  /// The result of a transaction from that of the same with a name; `nil` if it can't be one.
  package var unnamed: EtcdTransactionResult? {
    switch results.first {
    case .range(let range)? where succeeded:
      guard let marker = range.keyValues.first else { return nil }
      return EtcdTransactionResult(
        revision: marker.modRevision, succeeded: marker.value == EtcdTransaction.successMarker, results: [],
        wasRepeated: true)
    case .transaction(var inner)? where !succeeded:
      guard inner.results.popLast() == .put else { return nil }
      inner.revision = revision
      return inner
    default: return nil
    }
  }
}
