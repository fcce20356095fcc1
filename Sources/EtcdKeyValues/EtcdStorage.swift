package import EtcdClient
package import KeyValueReplicas

/// The place at etcd through which the replicas of one store reach each other.
///
/// Each key of the store is a key at etcd, see ``EtcdStorageKeys``, and a removed key is a record without a value. An upload is one
/// transaction, which compares the revision of everything that it replaces. It counts bytes and keys of all replicas in one more key, so two
/// uploads at the same time can't exceed the quota together.
///
/// It has no state of its own but a memory of what it last heard, which saves requests: functions run on the task of the caller, any number at
/// once.
///
/// - Note: CE-07 to CE-10.
package struct EtcdStorage: SharedStorage {
  package typealias Batches = EtcdBatches

  let client: EtcdClient
  let keys: EtcdStorageKeys
  let limits: StoreLimits
  let memory = UploadMemory()

  /// How many keys an answer to a full read has at most.
  let pageSize: Int

  /// How often a full read begins again because the history was compacted meanwhile.
  static let readCountMax = 4
  /// How often a transaction is made again because other keys of the store were uploaded meanwhile.
  static let attemptCountMax = 32

  /// A store at etcd; nothing is sent until the first call.
  ///
  /// - Parameters:
  ///   - client: The client.
  ///   - account: The name of the account; accounts see nothing of each other's stores.
  ///   - store: The name of the store.
  ///   - replica: The replica that uploads.
  ///   - limits: The most that the values of all replicas may be together.
  ///   - pageSize: How many keys an answer has at most.
  package init(
    client: EtcdClient, account: String, store: String, replica: ReplicaID, limits: StoreLimits = StoreLimits(),
    pageSize: Int = 256
  ) {
    self.client = client
    self.limits = limits
    self.pageSize = pageSize
    keys = EtcdStorageKeys(account: account, store: store, replica: replica)
  }

  package func readAll() async throws(SharedStorageFailure) -> SharedBatch {
    let all = try await everything(below: keys.prefix)
    memory.forget()
    var batch = SharedBatch(items: [], acknowledgement: nil, isComplete: true, revision: all.revision)
    for keyValue in all.keyValues { try add(keyValue, to: &batch) }
    return batch
  }

  package func batches(after revision: Int64) -> EtcdBatches { EtcdBatches(storage: self, revision: revision) }

  /// Reads all keys at one revision.
  func everything(below prefix: EtcdBytes) async throws(SharedStorageFailure) -> EtcdRangeResult {
    var count = 0
    while true {
      do throws(EtcdError) {
        return try await client.allPages(.prefix(prefix), pageSize: pageSize)
      } catch {
        count += 1
        guard error.code == .compacted else { throw SharedStorageFailure(error) }
        if count == Self.readCountMax {
          throw SharedStorageFailure(.unreachable, "etcd was compacted during each of \(count) full reads; try again")
        }
      }
    }
  }

  /// Adds what a key means to a batch.
  func add(_ keyValue: EtcdKeyValue, to batch: inout SharedBatch) throws(SharedStorageFailure) {
    switch keys.meaning(of: keyValue.key) {
    case .value(let key):
      let item = try item(keyValue, key)
      memory.note(keyValue.key, UploadGround.Entry(item.value, at: item.revision))
      batch.items.append(item)
    case .damaged: throw SharedStorageFailure(SharedRecord.Flaw.damaged, keyValue.key)
    case .acknowledgement(let replica) where keys.isOwn(replica):
      batch.acknowledgement = Acknowledgement(
        upload: Int(try numbers(keyValue, count: 1)[0]), revision: keyValue.modRevision)
    case .quota:
      // Totals that can't be read stop uploads, and nobody who reads.
      if let counted = try? counted(keyValue) { memory.note(counted) }
    case .acknowledgement, .other: break
    }
  }

  func item(_ keyValue: EtcdKeyValue, _ key: String) throws(SharedStorageFailure) -> SharedItem {
    do throws(SharedRecord.Flaw) {
      return try SharedRecord.item(keyValue.value.bytes, key: key, revision: keyValue.modRevision)
    } catch { throw SharedStorageFailure(error, keyValue.key) }
  }

  func numbers(_ keyValue: EtcdKeyValue, count: Int) throws(SharedStorageFailure) -> [Int64] {
    do throws(SharedRecord.Flaw) {
      return try SharedRecord.numbers(keyValue.value.bytes, count: count)
    } catch { throw SharedStorageFailure(error, keyValue.key) }
  }
}
