import EtcdClient
import HTTPTestSupport
import HTTPTransport

struct ScriptedAnswer {
  var status = 200
  var body: JSONValue

  static func error(_ status: Int, _ code: Int64, _ message: String) -> ScriptedAnswer {
    let text = JSONValue.string("etcdserver: \(message)")
    return ScriptedAnswer(
      status: status, body: .object(["code": .number(String(code)), "message": text, "error": text]))
  }
}

extension ScriptedEtcd.State {
  private var header: JSONValue { .object(["cluster_id": .string("1"), "revision": .integer(revision)]) }

  mutating func execute(_ path: String, _ body: JSONValue) -> ScriptedAnswer {
    switch path {
    case "kv/range": return range(body)
    case "kv/put": return write([body]) { state, changes in state.put(body, &changes) }
    case "kv/deleterange":
      return write([]) { state, changes in
        let removed = state.delete(Self.keys(body), &changes)
        return .object(["prev_kvs": .array(removed.map(Self.message))])
      }
    case "kv/txn":
      return write(Self.puts(body)) { state, changes in state.transact(body, state.store, &changes) }
    case "lease/grant":
      leaseCount += 1
      leases.insert(leaseCount)
      return ScriptedAnswer(body: .object(["header": header, "ID": .integer(leaseCount), "TTL": body["TTL"]]))
    case "lease/keepalive":
      let id = body["ID"].integer ?? 0
      let ttl: [String: JSONValue] = leases.contains(id) ? ["TTL": .integer(3600)] : [:]
      let result = ttl.merging(["header": header, "ID": .integer(id)]) { first, _ in first }
      return ScriptedAnswer(body: .object(["result": .object(result)]))
    case "lease/revoke":
      return endLease(body["ID"].integer ?? 0)
        ? ScriptedAnswer(body: .object(["header": header])) : .error(404, 5, "requested lease not found")
    default: return .error(404, 5, "no such call: \(path)")
    }
  }

  mutating func endLease(_ id: Int64) -> Bool {
    guard leases.remove(id) != nil else { return false }
    _ = write([]) { state, changes in
      for key in state.store.values.filter({ $0.lease?.number == id }).map(\.key).sorted() {
        _ = state.delete(.key(key), &changes)
      }
      return .object([:])
    }
    return true
  }

  // MARK: - Reading

  static func keys(_ message: JSONValue) -> EtcdKeyRange {
    let key = EtcdBytes(message["key"].bytes ?? [])
    guard let end = message["range_end"].bytes, !end.isEmpty else { return .key(key) }
    return .keys(from: key, upTo: EtcdBytes(end))
  }

  static func message(_ keyValue: EtcdKeyValue) -> JSONValue {
    var members: [String: JSONValue] = [
      "key": .bytes(keyValue.key.bytes), "create_revision": .integer(keyValue.createRevision),
      "mod_revision": .integer(keyValue.modRevision), "version": .integer(keyValue.version),
    ]
    // Empty values and zeros are left out, as the gateway does.
    if !keyValue.value.bytes.isEmpty { members["value"] = .bytes(keyValue.value.bytes) }
    if let lease = keyValue.lease { members["lease"] = .integer(lease.number) }
    return .object(members)
  }

  private func range(_ message: JSONValue) -> ScriptedAnswer {
    let asked = message["revision"].integer ?? 0
    if asked > revision { return .error(400, 11, "mvcc: required revision is a future revision") }
    if asked > 0, asked < compacted { return .error(400, 11, "mvcc: required revision has been compacted") }
    return ScriptedAnswer(body: list(message, asked == 0 ? store : snapshots[asked] ?? [:]))
  }

  private func list(_ message: JSONValue, _ store: [EtcdBytes: EtcdKeyValue]) -> JSONValue {
    let keys = Self.keys(message)
    let all = store.values.filter { keys.contains($0.key) }.sorted { $0.key < $1.key }
    let limit = Int(message["limit"].integer ?? 0)
    let page = limit == 0 ? all : Array(all.prefix(limit))
    var members: [String: JSONValue] = ["header": header, "count": .integer(Int64(all.count))]
    if page.count < all.count { members["more"] = .bool(true) }
    if !page.isEmpty {
      members["kvs"] = .array(
        page.map { keyValue in
          var shown = keyValue
          if message["keys_only"].isTrue { shown.value = "" }
          return Self.message(shown)
        })
    }
    return .object(members)
  }

  // MARK: - Writing

  /// Makes changes at one revision, and tells the watches.
  private mutating func write(
    _ puts: [JSONValue], _ body: (inout Self, inout [EtcdChange]) -> JSONValue
  ) -> ScriptedAnswer {
    for put in puts {
      if let lease = put["lease"].integer, lease != 0, !leases.contains(lease) {
        return .error(404, 5, "requested lease not found")
      }
    }
    var changes: [EtcdChange] = []
    let answer = body(&self, &changes)
    if !changes.isEmpty {
      revision += 1
      snapshots[revision] = store
      history.append((revision, changes))
      for watch in watches { watch.send(changes, at: revision) }
      watches.removeAll { $0.exchange.isEnded }
    }
    guard case .object(var members) = answer else { return ScriptedAnswer(body: answer) }
    members["header"] = header
    return ScriptedAnswer(body: .object(members))
  }

  private mutating func put(_ message: JSONValue, _ changes: inout [EtcdChange]) -> JSONValue {
    let key = EtcdBytes(message["key"].bytes ?? [])
    let lease = message["lease"].integer ?? 0
    let old = store[key]
    let keyValue = EtcdKeyValue(
      key: key, value: EtcdBytes(message["value"].bytes ?? []), createRevision: old?.createRevision ?? revision + 1,
      modRevision: revision + 1, version: (old?.version ?? 0) + 1, lease: lease == 0 ? nil : EtcdLeaseID(lease))
    store[key] = keyValue
    changes.append(.put(keyValue, previous: old))
    return .object([:])
  }

  private mutating func delete(_ keys: EtcdKeyRange, _ changes: inout [EtcdChange]) -> [EtcdKeyValue] {
    let removed = store.values.filter { keys.contains($0.key) }.sorted { $0.key < $1.key }
    for keyValue in removed {
      store[keyValue.key] = nil
      changes.append(.delete(keyValue.key, revision: revision + 1, previous: keyValue))
    }
    return removed
  }

  /// Comparisons of nested transactions are made before the first operation, on the store as it was.
  private mutating func transact(
    _ message: JSONValue, _ before: [EtcdBytes: EtcdKeyValue], _ changes: inout [EtcdChange]
  ) -> JSONValue {
    let succeeded = message["compare"].elements.allSatisfy { Self.holds($0, before) }
    var responses: [JSONValue] = []
    for operation in message[succeeded ? "success" : "failure"].elements {
      if operation["request_range"].isObject {
        responses.append(.object(["response_range": list(operation["request_range"], store)]))
      } else if operation["request_put"].isObject {
        responses.append(.object(["response_put": put(operation["request_put"], &changes)]))
      } else if operation["request_delete_range"].isObject {
        let removed = delete(Self.keys(operation["request_delete_range"]), &changes)
        responses.append(.object(["response_delete_range": .object(["deleted": .integer(Int64(removed.count))])]))
      } else {
        responses.append(.object(["response_txn": transact(operation["request_txn"], before, &changes)]))
      }
    }
    var members: [String: JSONValue] = ["responses": .array(responses)]
    if succeeded { members["succeeded"] = .bool(true) }
    return .object(members)
  }

  /// All writes of a transaction, of both branches.
  static func puts(_ message: JSONValue) -> [JSONValue] {
    (message["success"].elements + message["failure"].elements).flatMap { operation in
      if operation["request_put"].isObject { return [operation["request_put"]] }
      return operation["request_txn"].isObject ? puts(operation["request_txn"]) : []
    }
  }

  private static func holds(_ compare: JSONValue, _ store: [EtcdBytes: EtcdKeyValue]) -> Bool {
    let keys = keys(compare)
    let found = store.values.filter { keys.contains($0.key) }
    if compare["target"] == .string("VALUE") {
      let value = EtcdBytes(compare["value"].bytes ?? [])
      return !found.isEmpty && found.allSatisfy { related($0.value, value, compare["result"]) }
    }
    let name: String
    let property: (EtcdKeyValue) -> Int64
    switch compare["target"] {
    case .string("CREATE"): (name, property) = ("create_revision", \.createRevision)
    case .string("MOD"): (name, property) = ("mod_revision", \.modRevision)
    case .string("VERSION"): (name, property) = ("version", \.version)
    default: (name, property) = ("lease", { $0.lease?.number ?? 0 })
    }
    let wanted = compare[name].integer ?? 0
    return (found.isEmpty ? [0] : found.map(property)).allSatisfy { related($0, wanted, compare["result"]) }
  }

  private static func related<Value: Comparable>(_ left: Value, _ right: Value, _ relation: JSONValue) -> Bool {
    switch relation {
    case .string("NOT_EQUAL"): left != right
    case .string("GREATER"): left > right
    case .string("LESS"): left < right
    default: left == right
    }
  }

  // MARK: - Watches

  mutating func watch(_ request: JSONValue, _ exchange: ScriptedExchange) {
    let filters = request["filters"].elements
    let watch = ScriptedEtcd.Watch(
      keys: Self.keys(request), hasPuts: !filters.contains(.string("NOPUT")),
      hasDeletes: !filters.contains(.string("NODELETE")), exchange: exchange)
    exchange.perform(.head(HTTPHead(status: 200)))
    watch.send(["created": .bool(true)], at: revision)
    let start = request["start_revision"].integer ?? 0
    if start > 0, start < compacted {
      // The stream stays open (E-5).
      return watch.send(["canceled": .bool(true), "compact_revision": .integer(compacted)], at: revision)
    }
    if start > 0 {
      for (revision, changes) in history where revision >= start { watch.send(changes, at: revision) }
    }
    watches.append(watch)
  }
}

extension ScriptedEtcd.Watch {
  func send(_ changes: [EtcdChange], at revision: Int64) {
    let events: [JSONValue] = changes.compactMap { change in
      guard keys.contains(change.key) else { return nil }
      switch change {
      case .put(let keyValue, _): return hasPuts ? .object(["kv": ScriptedEtcd.State.message(keyValue)]) : nil
      case .delete(let key, let revision, _):
        let keyValue = JSONValue.object(["key": .bytes(key.bytes), "mod_revision": .integer(revision)])
        return hasDeletes ? .object(["type": .string("DELETE"), "kv": keyValue]) : nil
      }
    }
    if !events.isEmpty { send(["events": .array(events)], at: revision) }
  }

  func send(_ members: [String: JSONValue], at revision: Int64) {
    let header = JSONValue.object(["cluster_id": .string("1"), "revision": .integer(revision)])
    let result = members.merging(["header": header]) { first, _ in first }
    exchange.perform(.piece(JSONValue.object(["result": .object(result)]).encoded + [UInt8(ascii: "\n")]))
  }
}
