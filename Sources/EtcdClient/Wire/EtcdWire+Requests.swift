/// The messages of the gateway.
package enum EtcdWire {
  /// Leaves out what's absent.
  static func object(_ members: [String: JSONValue?]) -> JSONValue { .object(members.compactMapValues { $0 }) }

  static func range(
    _ keys: EtcdKeyRange, limit: Int64 = 0, revision: Int64 = 0, isSerializable: Bool = false, keysOnly: Bool = false,
    countOnly: Bool = false
  ) -> JSONValue {
    object([
      "key": .bytes(keys.start.bytes), "range_end": keys.end.map { .bytes($0.bytes) },
      "limit": limit == 0 ? nil : .integer(limit), "revision": revision == 0 ? nil : .integer(revision),
      "serializable": isSerializable ? .bool(true) : nil, "keys_only": keysOnly ? .bool(true) : nil,
      "count_only": countOnly ? .bool(true) : nil,
    ])
  }

  static func put(_ key: EtcdBytes, _ value: EtcdBytes, lease: EtcdLeaseID?, wantsPrevious: Bool = false) -> JSONValue {
    object([
      "key": .bytes(key.bytes), "value": .bytes(value.bytes), "lease": lease.map { .integer($0.number) },
      "prev_kv": wantsPrevious ? .bool(true) : nil,
    ])
  }

  static func delete(_ keys: EtcdKeyRange, wantsPrevious: Bool = false) -> JSONValue {
    object([
      "key": .bytes(keys.start.bytes), "range_end": keys.end.map { .bytes($0.bytes) },
      "prev_kv": wantsPrevious ? .bool(true) : nil,
    ])
  }

  static func transaction(_ transaction: EtcdTransaction) -> JSONValue {
    .object([
      "compare": .array(transaction.compares.map(compare)), "success": .array(transaction.success.map(operation)),
      "failure": .array(transaction.failure.map(operation)),
    ])
  }

  private static func compare(_ compare: EtcdCompare) -> JSONValue {
    let (target, name, value): (String, String, JSONValue) =
      switch compare.target {
      case .createRevision(let revision): ("CREATE", "create_revision", .integer(revision))
      case .modRevision(let revision): ("MOD", "mod_revision", .integer(revision))
      case .version(let version): ("VERSION", "version", .integer(version))
      case .value(let value): ("VALUE", "value", .bytes(value.bytes))
      case .lease(let lease): ("LEASE", "lease", .integer(lease?.number ?? 0))
      }
    return object([
      "key": .bytes(compare.keys.start.bytes), "range_end": compare.keys.end.map { .bytes($0.bytes) },
      "target": .string(target), "result": .string(compare.relation.rawValue), name: value,
    ])
  }

  private static func operation(_ operation: EtcdOperation) -> JSONValue {
    switch operation {
    case .range(let keys, let limit): .object(["request_range": range(keys, limit: limit)])
    case .put(let key, let value, let lease): .object(["request_put": put(key, value, lease: lease)])
    case .delete(let keys): .object(["request_delete_range": delete(keys)])
    case .transaction(let inner): .object(["request_txn": transaction(inner)])
    }
  }

  static func watch(_ keys: EtcdKeyRange, from revision: Int64?, _ options: EtcdWatchOptions) -> JSONValue {
    var filters: [JSONValue] = []
    if !options.contains(.puts) { filters.append(.string("NOPUT")) }
    if !options.contains(.deletes) { filters.append(.string("NODELETE")) }
    let request = object([
      "key": .bytes(keys.start.bytes), "range_end": keys.end.map { .bytes($0.bytes) },
      "start_revision": revision.map(JSONValue.integer), "progress_notify": .bool(true), "filters": .array(filters),
      "prev_kv": options.contains(.previousValues) ? .bool(true) : nil,
    ])
    return .object(["create_request": request])
  }
}
