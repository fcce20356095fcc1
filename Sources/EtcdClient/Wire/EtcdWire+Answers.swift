/// A message of a watch.
package struct EtcdWatchMessage: Hashable, Sendable {
  package var clusterID: String?
  package var revision: Int64 = 0
  package var isCreated = false
  package var isCanceled = false
  package var cancelReason = ""
  package var compactRevision: Int64 = 0
  package var changes: [EtcdChange] = []

  package init() {}
}

extension EtcdWire {
  /// An answer that can't be one of etcd.
  struct Malformed: Error {}

  private static func integer(_ value: JSONValue) throws(Malformed) -> Int64 {
    guard let integer = value.integer else { throw Malformed() }
    return integer
  }

  private static func bytes(_ value: JSONValue) throws(Malformed) -> EtcdBytes {
    guard let bytes = value.bytes else { throw Malformed() }
    return EtcdBytes(bytes)
  }

  static func revision(_ answer: JSONValue) throws(Malformed) -> Int64 { try integer(answer["header"]["revision"]) }

  /// The revision of a whole answer, which has one always: a server that knows nothing of keys may answer with an empty object.
  static func answeredRevision(_ answer: JSONValue) throws(Malformed) -> Int64 {
    let revision = try revision(answer)
    if revision < 1 { throw Malformed() }
    return revision
  }

  static func keyValue(_ value: JSONValue) throws(Malformed) -> EtcdKeyValue {
    let lease = try integer(value["lease"])
    return EtcdKeyValue(
      key: try bytes(value["key"]), value: try bytes(value["value"]),
      createRevision: try integer(value["create_revision"]),
      modRevision: try integer(value["mod_revision"]), version: try integer(value["version"]),
      lease: lease == 0 ? nil : EtcdLeaseID(lease))
  }

  static func keyValues(_ value: JSONValue) throws(Malformed) -> [EtcdKeyValue] {
    var result: [EtcdKeyValue] = []
    for element in value.elements { result.append(try keyValue(element)) }
    return result
  }

  static func range(_ answer: JSONValue) throws(Malformed) -> EtcdRangeResult {
    EtcdRangeResult(
      revision: try revision(answer), keyValues: try keyValues(answer["kvs"]), hasMore: answer["more"].isTrue,
      count: try integer(answer["count"]))
  }

  static func transaction(_ answer: JSONValue) throws(Malformed) -> EtcdTransactionResult {
    var results: [EtcdOperationResult] = []
    for element in answer["responses"].elements {
      guard case .object(let members) = element, let (kind, value) = members.first, members.count == 1 else {
        throw Malformed()
      }
      switch kind {
      case "response_range": results.append(.range(try range(value)))
      case "response_put": results.append(.put)
      case "response_delete_range": results.append(.delete(count: try integer(value["deleted"])))
      case "response_txn": results.append(.transaction(try transaction(value)))
      default: throw Malformed()
      }
    }
    return EtcdTransactionResult(
      revision: try revision(answer), succeeded: answer["succeeded"].isTrue, results: results)
  }

  /// A message of a watch, or the error that ends its stream.
  static func watchMessage(_ line: JSONValue) throws(Malformed) -> Result<EtcdWatchMessage, EtcdError> {
    if line["error"].isObject { return .failure(try error(line["error"])) }
    let result = line["result"]
    guard result.isObject else { throw Malformed() }
    var message = EtcdWatchMessage()
    message.clusterID = result["header"]["cluster_id"].text
    message.revision = try revision(result)
    message.isCreated = result["created"].isTrue
    message.isCanceled = result["canceled"].isTrue
    message.cancelReason = result["cancel_reason"].text ?? ""
    message.compactRevision = try integer(result["compact_revision"])
    for event in result["events"].elements { message.changes.append(try change(event)) }
    return .success(message)
  }

  private static func change(_ event: JSONValue) throws(Malformed) -> EtcdChange {
    let keyValue = try keyValue(event["kv"])
    let previous = event["prev_kv"].isObject ? try self.keyValue(event["prev_kv"]) : nil
    switch event["type"] {
    case .null, .string("PUT"): return .put(keyValue, previous: previous)
    case .string("DELETE"): return .delete(keyValue.key, revision: keyValue.modRevision, previous: previous)
    default: throw Malformed()
    }
  }

  /// The error of a stream, whose members have other names than those of a call.
  private static func error(_ value: JSONValue) throws(Malformed) -> EtcdError {
    EtcdError(
      status: Int(try integer(value["http_code"])), grpcCode: try integer(value["grpc_code"]),
      message: value["message"].text ?? "")
  }

  /// The error of a call, or of an answer that isn't from etcd.
  package static func error(status: Int, body: [UInt8]) -> EtcdError {
    guard let value = try? JSONParser.parse(body[...]), value.isObject, let code = value["code"].integer else {
      return EtcdError(status: status, body: body)
    }
    guard let message = value["message"].text ?? value["error"].text else {
      return (try? error(value["error"])) ?? EtcdError(status: status, body: body)
    }
    return EtcdError(status: status, grpcCode: code, message: message)
  }
}
