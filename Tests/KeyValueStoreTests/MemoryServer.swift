import KeyValueReplicas
import SystemInterface

@testable import KeyValueStore

/// The place that devices of a test share, in memory, with the faults that a test asks for.
final class MemoryServer: Sendable {
  struct Entry: Sendable {
    let revision: Int64
    let items: [SharedItem]
    let owner: ReplicaID
    let acknowledgement: Acknowledgement
  }

  struct State: Sendable {
    var revision: Int64 = 0
    var items: [String: SharedItem] = [:]
    var acknowledgements: [ReplicaID: Acknowledgement] = [:]
    var log: [Entry] = []
    /// Every call fails with it.
    var failure: SharedStorageFailure?
    /// How many answers to uploads get lost.
    var lostAnswerCount = 0
    var byteCountMax = Int.max
    /// Transactions up to it aren't kept.
    var compactedRevision: Int64 = 0
    /// The streams that are to end.
    var cutCount = 0
    /// How many uploads were sent, and how many of them changed something.
    var (sentCount, appliedCount) = (0, 0)
    var wakeUps = WakeUps()
  }

  let state = Guarded(State())

  var sharing: StoreSharing {
    StoreSharing { [self] (identity, _) in MemoryStorage(server: self, replica: identity.replica) }
  }

  func change(_ body: (inout State) -> Void) {
    state.withLock { state in
      body(&state)
      state.wakeUps.signal()
    }
  }

  fileprivate func execute(_ upload: Upload, of replica: ReplicaID) -> UploadOutcome {
    state.withLock { state in
      state.sentCount += 1
      let isCurrent =
        upload.expectedAcknowledgement == state.acknowledgements[replica]?.revision ?? 0
        && upload.items.allSatisfy { $0.expectedRevision == state.items[$0.key]?.revision ?? 0 }
      if !isCurrent { return .outdated }
      var items = state.items
      let revision = state.revision + 1
      let changed = upload.items.map { item in
        SharedItem(key: item.key, value: item.value, time: item.time, revision: revision)
      }
      for item in changed { items[item.key] = item }
      if items.values.reduce(0, { $0 + ($1.value?.byteCount ?? 0) }) > state.byteCountMax { return .overQuota }
      let acknowledgement = Acknowledgement(upload: upload.id, revision: revision)
      state.appliedCount += 1
      (state.revision, state.items, state.acknowledgements[replica]) = (revision, items, acknowledgement)
      state.log.append(Entry(revision: revision, items: changed, owner: replica, acknowledgement: acknowledgement))
      state.wakeUps.signal()
      if state.lostAnswerCount > 0 {
        state.lostAnswerCount -= 1
        return .unknown
      }
      return .applied(revision: revision)
    }
  }
}

struct MemoryStorage: SharedStorage {
  let server: MemoryServer
  let replica: ReplicaID

  func readAll() async throws(SharedStorageFailure) -> SharedBatch {
    let (failure, batch) = server.state.withLock { state in
      (
        state.failure,
        SharedBatch(
          items: state.items.values.sorted { $0.key < $1.key }, acknowledgement: state.acknowledgements[replica],
          isComplete: true, revision: state.revision)
      )
    }
    if let failure { throw failure }
    return batch
  }

  func upload(_ upload: Upload) async throws(SharedStorageFailure) -> UploadOutcome {
    if let failure = server.state.withLock({ $0.failure }) { throw failure }
    return server.execute(upload, of: replica)
  }

  func batches(after revision: Int64) -> MemoryBatches {
    MemoryBatches(server: server, replica: replica, revision: revision)
  }
}

struct MemoryBatches: AsyncSequence, Sendable {
  let server: MemoryServer
  let replica: ReplicaID
  let revision: Int64

  func makeAsyncIterator() -> Iterator {
    let wakeUp = WakeUp()
    let cutCount = server.state.withLock { state in
      state.wakeUps.add(wakeUp)
      return state.cutCount
    }
    return Iterator(server: server, replica: replica, revision: revision, wakeUp: wakeUp, cutCount: cutCount)
  }

  struct Iterator: AsyncIteratorProtocol {
    let server: MemoryServer
    let replica: ReplicaID
    var revision: Int64
    let wakeUp: WakeUp
    let cutCount: Int

    mutating func next() async throws -> SharedBatch? {
      while !Task.isCancelled {
        let (failure, entry) = server.state.withLock { state -> (SharedStorageFailure?, MemoryServer.Entry?) in
          if revision < state.compactedRevision { return (SharedStorageFailure(.gap, "compacted"), nil) }
          if state.cutCount != cutCount { return (SharedStorageFailure(.unreachable, "cut"), nil) }
          return (state.failure, state.log.first { $0.revision > revision })
        }
        if let failure { throw failure }
        if let entry {
          revision = entry.revision
          return SharedBatch(
            items: entry.items, acknowledgement: entry.owner == replica ? entry.acknowledgement : nil,
            isComplete: false, revision: entry.revision)
        }
        await wakeUp.wait(until: nil, HostClock.shared)
      }
      return nil
    }
  }
}
