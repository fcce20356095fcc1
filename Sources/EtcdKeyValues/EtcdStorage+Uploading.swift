internal import EtcdClient
package import KeyValueReplicas

extension EtcdStorage {
  /// Two operations of a transaction are the acknowledgement and the quota.
  static let itemCountMax = EtcdTransaction.operationCountMax - 2

  package func upload(_ upload: Upload) async throws(SharedStorageFailure) -> UploadOutcome {
    precondition(upload.items.count <= Self.itemCountMax, "an upload has at most \(Self.itemCountMax) keys")
    let names = upload.items.map { keys.value($0.key) }
    let look = (names + [keys.acknowledgement, keys.quota]).map { EtcdOperation.range(.key($0)) }
    var remembered = memory.ground(of: upload, keys)
    var ground = UploadGround()
    if remembered == nil { ground = try await read(look) }
    for _ in 0..<Self.attemptCountMax {
      if remembered == nil, !isCurrent(upload, ground) { return .outdated }
      let old = try await totals(remembered ?? ground)
      var new = old
      for (item, name) in zip(upload.items, names) {
        new.replace((remembered ?? ground).entries[name]?.byteCount, by: item.value.map { Int64($0.byteCount) })
      }
      if new.isTooMuch(after: old, limits) {
        // Others may have removed values since.
        guard remembered != nil else { return .overQuota }
        (remembered, ground) = (nil, try await read(look))
        continue
      }
      switch try await attempt(upload, on: remembered ?? ground, new, look) {
      case .ended(let outcome): return outcome
      case .groundWas(let present): (remembered, ground) = (nil, present)
      }
    }
    throw SharedStorageFailure(
      .unreachable, "other replicas were faster \(Self.attemptCountMax) times in a row; try again later")
  }

  private enum Attempt {
    case ended(UploadOutcome)
    /// Usually another replica has uploaded other keys, and so the quota is another one.
    case groundWas(UploadGround)
  }

  private func attempt(
    _ upload: Upload, on ground: UploadGround, _ totals: StoreTotals, _ look: [EtcdOperation]
  ) async throws(SharedStorageFailure) -> Attempt {
    var expected = upload.items.map { keys.value($0.key) }
      .map { EtcdCompare.isUnchanged($0, since: ground.revision($0)) }
    expected.append(.isUnchanged(keys.acknowledgement, since: ground.acknowledgement))
    expected.append(.isUnchanged(keys.quota, since: ground.counted?.revision ?? 0))
    // Values of the same size: the quota isn't changed, so nobody else's memory of it is out of date.
    let isCounted = ground.counted?.totals == totals
    let writes = writes(upload, isCounted ? nil : totals)
    let result: EtcdTransactionResult
    do throws(EtcdError) {
      result = try await client.transact(EtcdTransaction(if: expected, then: writes, else: look))
    } catch {
      // A full server is a failure that lasts: it's asked again later, and read before.
      if error.mayHaveBeenApplied, error.code != .noSpace { return .ended(.unknown) }
      if error.code == .tooLarge { return .ended(.tooLarge) }
      throw SharedStorageFailure(error)
    }
    guard result.succeeded else { return .groundWas(try self.ground(result)) }
    if !isCounted { memory.note(UploadGround.Counted(totals: totals, revision: result.revision)) }
    for item in upload.items {
      memory.note(keys.value(item.key), UploadGround.Entry(item.value, at: result.revision))
    }
    return .ended(.applied(revision: result.revision))
  }

  private func isCurrent(_ upload: Upload, _ ground: UploadGround) -> Bool {
    upload.expectedAcknowledgement == ground.acknowledgement
      && upload.items.allSatisfy { $0.expectedRevision == ground.revision(keys.value($0.key)) }
  }

  private func writes(_ upload: Upload, _ totals: StoreTotals?) -> [EtcdOperation] {
    var writes = upload.items.map { item in
      EtcdOperation.put(keys.value(item.key), EtcdBytes(SharedRecord.bytes(item.value, at: item.time)))
    }
    writes.append(.put(keys.acknowledgement, EtcdBytes(SharedRecord.bytes([Int64(upload.id)]))))
    if let totals {
      writes.append(.put(keys.quota, EtcdBytes(SharedRecord.bytes([totals.byteCount, totals.keyCount]))))
    }
    return writes
  }

  private func read(_ look: [EtcdOperation]) async throws(SharedStorageFailure) -> UploadGround {
    let result: EtcdTransactionResult
    do throws(EtcdError) {
      result = try await client.transact(EtcdTransaction(then: look))
    } catch { throw SharedStorageFailure(error) }
    return try ground(result)
  }

  /// The ground that a transaction of looks has found.
  private func ground(_ result: EtcdTransactionResult) throws(SharedStorageFailure) -> UploadGround {
    var ground = UploadGround()
    for case .range(let range) in result.results {
      for keyValue in range.keyValues {
        switch keys.meaning(of: keyValue.key) {
        case .value(let key):
          let item = try item(keyValue, key)
          ground.entries[keyValue.key] = UploadGround.Entry(item.value, at: item.revision)
        case .acknowledgement: ground.acknowledgement = keyValue.modRevision
        case .quota: ground.counted = try counted(keyValue)
        case .damaged, .other: break
        }
      }
    }
    return ground
  }

  func counted(_ keyValue: EtcdKeyValue) throws(SharedStorageFailure) -> UploadGround.Counted {
    let numbers = try numbers(keyValue, count: 2)
    return UploadGround.Counted(
      totals: StoreTotals(byteCount: numbers[0], keyCount: numbers[1]), revision: keyValue.modRevision)
  }

  /// The totals before the upload: they're counted once if nobody has counted them, or somebody has removed them.
  private func totals(_ ground: UploadGround) async throws(SharedStorageFailure) -> StoreTotals {
    if let counted = ground.counted { return counted.totals }
    var totals = StoreTotals()
    for item in try await readAll().items { totals.replace(nil, by: item.value.map { Int64($0.byteCount) }) }
    return totals
  }
}
