internal import EtcdClient
package import KeyValueReplicas

/// The transactions of a store after a revision, see ``EtcdStorage/batches(after:)``.
///
/// Each reader has a watch of its own, which resumes by itself: see ``EtcdWatch``.
package struct EtcdBatches: AsyncSequence, Sendable {
  package typealias Element = SharedBatch

  let storage: EtcdStorage
  let revision: Int64

  package func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// Reads the transactions.
  package struct Iterator: AsyncIteratorProtocol {
    private let storage: EtcdStorage
    private var watch: EtcdWatch.Iterator
    /// Transactions that came in one message; the next one is the last.
    private var waiting: [SharedBatch] = []
    /// The reason why nothing comes after them.
    private var failure: SharedStorageFailure?

    fileprivate init(_ batches: EtcdBatches) {
      storage = batches.storage
      watch =
        storage.client.watch(.prefix(storage.keys.prefix), from: batches.revision + 1).makeAsyncIterator()
    }

    /// Waits for the next transaction.
    ///
    /// - Returns: The transaction; `nil` after the task was cancelled.
    /// - Throws: ``SharedStorageFailure``, each time from then on.
    package mutating func next() async throws -> SharedBatch? {
      while true {
        if let batch = waiting.popLast() { return batch }
        if let failure { throw failure }
        do throws(EtcdError) {
          guard let message = try await watch.next() else { return nil }
          take(message.changes)
        } catch {
          if error.code == .cancelled { return nil }
          // Revisions of another cluster have nothing to do with those that the replica knows: maybe it was made anew from a backup.
          failure =
            error.code == .differentCluster ? SharedStorageFailure(.gap, "etcd: \(error)") : SharedStorageFailure(error)
        }
      }
    }

    /// Puts the changes of each revision together.
    private mutating func take(_ changes: [EtcdChange]) {
      var batches: [SharedBatch] = []
      do throws(SharedStorageFailure) {
        for change in changes {
          if batches.last?.revision != change.revision {
            batches.append(
              SharedBatch(items: [], acknowledgement: nil, isComplete: false, revision: change.revision))
          }
          try add(change, to: &batches[batches.count - 1])
        }
      } catch {
        failure = error
        // The transaction that can't be read is none; those before it are whole.
        batches.removeLast()
      }
      waiting = batches.filter { !$0.items.isEmpty || $0.acknowledgement != nil }.reversed()
    }

    private func add(_ change: EtcdChange, to batch: inout SharedBatch) throws(SharedStorageFailure) {
      switch change {
      case .put(let keyValue, _): try storage.add(keyValue, to: &batch)
      case .delete(let key, _, _):
        switch storage.keys.meaning(of: key) {
        case .value, .damaged, .acknowledgement:
          // Replicas write a record for a removed key. So somebody else has tidied up, of which only reading everything tells what's left.
          throw SharedStorageFailure(
            .gap, "another program has removed the key '\(key)' at etcd; read everything again")
        case .quota, .other: break
        }
      }
    }
  }
}
