import KeyValueReplicas
import SeededRandom
import SharedStorageContract
import SystemInterface
import TestSupport
import Testing

@testable import KeyValueStore

/// A folder as a place that replicas share, with uploads whose answers get lost.
private struct FolderPlace: SharedPlace {
  private let sandbox: FolderSandbox
  private let compaction: FolderContents.Compaction
  /// The fault of the next upload.
  private let fault = Guarded<UploadFault?>(nil)
  private let late = Guarded<[@Sendable () async -> Void]>([])

  init(_ compaction: FolderContents.Compaction = FolderContents.Compaction()) throws {
    sandbox = try FolderSandbox()
    self.compaction = compaction
  }

  func storage(_ replica: ReplicaID, _ limits: StoreLimits) throws -> FaultyStorage {
    let storage = try sandbox.storage(replica.rawValue, limits, compaction: compaction)
    return FaultyStorage(storage: storage, fault: fault, late: late)
  }

  func prepare(_ fault: UploadFault) async { self.fault.withLock { $0 = fault } }

  func deliverLate() async {
    let late = late.withLock { late in
      defer { late = [] }
      return late
    }
    for upload in late { await upload() }
  }
}

/// The real storage, between which and its user an upload or an answer gets lost.
private struct FaultyStorage: SharedStorage {
  let storage: FolderStorage
  let fault: Guarded<UploadFault?>
  let late: Guarded<[@Sendable () async -> Void]>

  func readAll() async throws(SharedStorageFailure) -> SharedBatch { try await storage.readAll() }

  func batches(after revision: Int64) -> FolderBatches { storage.batches(after: revision) }

  func upload(_ upload: Upload) async throws(SharedStorageFailure) -> UploadOutcome {
    let fault = fault.withLock { fault in
      defer { fault = nil }
      return fault
    }
    switch fault {
    case nil: return try await storage.upload(upload)
    case .answerIsLost?: _ = try await storage.upload(upload)
    case .requestIsLost?: break
    case .requestIsLate?: late.withLock { $0.append { [storage] in _ = try? await storage.upload(upload) } }
    }
    return .unknown
  }
}

@Suite("A folder as a place that replicas share", .blocking, .timeLimit(.minutes(8)))
struct FolderPlaceExplorationTests {
  @Test("CE-07, CE-08: A folder keeps what every shared place promises", arguments: StorageClause.allCases)
  func contract(clause: StorageClause) async throws { try await clause.check(FolderPlace()) }

  @Test(
    "CK-15, CK-24: Replicas that share a folder end with the same values, and each write counts once",
    arguments: Budget.seeds(normal: 10, long: 200))
  func manyOrders(seed: UInt64) async throws {
    // Also one that keeps so few changes that readers have gaps.
    for compaction in [FolderContents.Compaction(), FolderSandbox.compaction] {
      var run = try await ReplicaRun(at: FolderPlace(compaction), seed: seed)
      try await run.run()
      #expect(run.problem == nil, "seed \(seed)")
    }
  }
}
