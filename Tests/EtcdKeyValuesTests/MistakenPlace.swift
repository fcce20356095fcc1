import EtcdKeyValues
import KeyValueReplicas
import SharedStorageContract

/// A mistake of a place, which the contract has to find.
enum PlaceMistake: Hashable, Sendable, CaseIterable {
  /// An upload is carried out whatever its acknowledgement was.
  case acknowledgementIsNotCompared
  /// An upload is carried out whatever the revisions of its keys are.
  case revisionsAreNotCompared
  /// A lost answer counts as a success.
  case silenceIsConsent
  /// A full read has no removed keys.
  case removedKeysAreForgotten
  /// A watch reports each key of a transaction by itself.
  case transactionsAreSplit
  /// A watch reports a transaction twice.
  case transactionsAreRepeated
  /// A watch leaves out what a replica has uploaded itself.
  case ownTransactionsAreMissing
  /// The acknowledgements of all replicas count as one's own.
  case acknowledgementsAreMixed
  /// The quota isn't enforced.
  case quotaIsIgnored
}

/// A place with a mistake.
struct MistakenPlace: SharedPlace {
  let place = ScriptedPlace()
  let mistake: PlaceMistake

  func storage(_ replica: ReplicaID, _ limits: StoreLimits) -> MistakenStorage {
    var limits = limits
    if mistake == .quotaIsIgnored { (limits.byteCountMax, limits.keyCountMax) = (.max, .max) }
    return MistakenStorage(storage: place.storage(replica, limits), replica: replica, mistake: mistake)
  }

  func prepare(_ fault: UploadFault) async { await place.prepare(fault) }
  func deliverLate() async { await place.deliverLate() }
}

struct MistakenStorage: SharedStorage {
  let storage: EtcdStorage
  let replica: ReplicaID
  let mistake: PlaceMistake

  func readAll() async throws(SharedStorageFailure) -> SharedBatch {
    var all = try await storage.readAll()
    if mistake == .removedKeysAreForgotten { all.items.removeAll { $0.value == nil } }
    if mistake == .acknowledgementsAreMixed, all.acknowledgement == nil, let last = all.items.map(\.revision).max() {
      all.acknowledgement = Acknowledgement(upload: 1, revision: last)
    }
    return all
  }

  func upload(_ upload: Upload) async throws(SharedStorageFailure) -> UploadOutcome {
    var upload = upload
    if mistake == .acknowledgementIsNotCompared {
      upload.expectedAcknowledgement = try await storage.readAll().acknowledgement?.revision ?? 0
    }
    if mistake == .revisionsAreNotCompared {
      let all = try await storage.readAll()
      upload.items = upload.items.map { item in
        var item = item
        item.expectedRevision = all.items.first { $0.key == item.key }?.revision ?? 0
        return item
      }
    }
    let outcome = try await storage.upload(upload)
    guard mistake == .silenceIsConsent, outcome == .unknown else { return outcome }
    return .applied(revision: try await storage.readAll().revision)
  }

  func batches(after revision: Int64) -> AsyncThrowingStream<SharedBatch, any Error> {
    let (stream, continuation) = AsyncThrowingStream<SharedBatch, any Error>.makeStream()
    let reading = Task {
      do {
        for try await batch in storage.batches(after: revision) {
          for changed in changed(batch) { continuation.yield(changed) }
        }
        continuation.finish()
      } catch { continuation.finish(throwing: error) }
    }
    continuation.onTermination = { _ in reading.cancel() }
    return stream
  }

  private func changed(_ batch: SharedBatch) -> [SharedBatch] {
    switch mistake {
    case .transactionsAreSplit:
      return batch.items.map { item in
        var part = batch
        part.items = [item]
        return part
      }
    case .transactionsAreRepeated: return [batch, batch]
    case .ownTransactionsAreMissing:
      var empty = batch
      (empty.items, empty.acknowledgement) = ([], nil)
      return batch.acknowledgement == nil ? [batch] : [empty]
    case .acknowledgementsAreMixed:
      var mixed = batch
      mixed.acknowledgement = Acknowledgement(upload: 1, revision: batch.revision)
      return [mixed]
    default: return [batch]
    }
  }
}
