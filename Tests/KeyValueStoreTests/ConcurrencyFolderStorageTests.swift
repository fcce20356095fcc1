import Foundation
import SystemInterface
import TestSupport
import Testing

@testable import KeyValueReplicas
@testable import KeyValueStore

/// Devices that share a real folder, at once: tasks, processes, whole stores.
@Suite("A folder that devices share: Concurrency", .blocking, .timeLimit(.minutes(8)))
struct ConcurrencyFolderStorageTests {
  private let sandbox: FolderSandbox

  init() throws { sandbox = try FolderSandbox() }

  /// Uploads until a number of uploads was carried out, each time over what's there.
  private func upload(_ count: Int, _ storage: FolderStorage) async throws -> [Int64] {
    var revisions: [Int64] = []
    while revisions.count < count {
      let all = try await storage.readAll()
      let values = ["common": StoredValue.integer(all.revision), "own \(storage.replica.rawValue)": .integer(1)]
      let upload = Upload.next(values.mapValues(Optional.init), over: all, of: storage.replica)
      if case .applied(let revision) = try await storage.upload(upload) { revisions.append(revision) }
    }
    return revisions
  }

  private func batches(_ storage: FolderStorage, after revision: Int64, _ count: Int) async throws -> [SharedBatch] {
    var batches: [SharedBatch] = []
    for try await batch in storage.batches(after: revision) {
      batches.append(batch)
      if batches.count == count { break }
    }
    return batches
  }

  @Test("CE-07: Readers have all changes of devices that upload at once, each once, whole and in order")
  func everyChangeOnce() async throws {
    let (deviceCount, uploadCount) = (4, 15)
    let readers = try (0..<2).map { try sandbox.storage(UInt64(8 + $0)) }
    let reading = readers.map { reader in
      Task { try await batches(reader, after: 0, deviceCount * uploadCount) }
    }
    let revisions = try await withThrowingTaskGroup(of: [Int64].self) { group in
      for number in 1...UInt64(deviceCount) {
        let storage = try sandbox.storage(number)
        group.addTask { try await upload(uploadCount, storage) }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(revisions.sorted() == Array(1...Int64(deviceCount * uploadCount)))
    let all = try await readers[0].readAll()
    for task in reading {
      let found = try await task.value
      #expect(found.map(\.revision) == revisions.sorted())
      #expect(found.allSatisfy { $0.items.count == 2 && $0.acknowledgement == nil && !$0.isComplete })
      var items: [String: SharedItem] = [:]
      for item in found.flatMap(\.items) { items[item.key] = item }
      #expect(items.values.sorted { $0.key < $1.key } == all.items.sorted { $0.key < $1.key })
    }
  }

  @Test("Of devices that expect the same, one changes something")
  func oneWins() async throws {
    let storages = try (1...6).map { try sandbox.storage($0) }
    for _ in 0..<5 {
      let outcomes = try await withThrowingTaskGroup(of: UploadOutcome.self) { group in
        var uploads: [Upload] = []
        for storage in storages {
          uploads.append(Upload.next(["x": .integer(1)], over: try await storage.readAll(), of: storage.replica))
        }
        for (storage, upload) in zip(storages, uploads) { group.addTask { try await storage.upload(upload) } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(outcomes.count { $0 == .outdated } == 5)
    }
    #expect(try await storages[0].readAll().revision == 5)
  }

  @Test("CE-07: While files with everything come and go, readers have all changes or are told of the gap")
  func compacting() async throws {
    let storages = try (1...3).map { try sandbox.storage($0, compaction: FolderSandbox.compaction) }
    let reader = try sandbox.storage(9)
    let last = Guarded<Int64?>(nil)
    let reading = Task {
      var (revision, gapCount) = (try await reader.readAll().revision, 0)
      while true {
        do {
          for try await batch in reader.batches(after: revision) {
            #expect(batch.revision == revision + 1)
            revision = batch.revision
            if revision == last.withLock({ $0 }) { return gapCount }
          }
        } catch let failure as SharedStorageFailure {
          #expect(failure.kind == .gap, "\(failure.explanation)")
          gapCount += 1
          revision = try await reader.readAll().revision
          if revision == last.withLock({ $0 }) { return gapCount }
        }
      }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for storage in storages { group.addTask { _ = try await upload(30, storage) } }
      try await group.waitForAll()
    }
    last.withLock { $0 = 91 }
    // The reader waits for this one.
    _ = try await upload(1, storages[0])
    _ = try await reading.value
    #expect(try await reader.readAll().revision == 91)
  }

  @Test(
    "CE-09: Changes of processes that are killed while they upload are whole, and none that was acknowledged is lost")
  func killedProcesses() async throws {
    let path: String = sandbox.path
    for round in 1...3 as ClosedRange<UInt64> {
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, round = round as UInt64] in
        let storage = try FolderStorage(path, for: FolderSandbox.identity(round))
        for number in 1...20 {
          let all = try await storage.readAll()
          let values: [String: StoredValue?] = [
            "a\(round)": .integer(Int64(number)), "b\(round)": .integer(Int64(number)),
          ]
          _ = try await storage.upload(Upload.next(values, over: all, of: storage.replica))
        }
        // It's killed in the middle of others.
        let last = try await storage.readAll().revision
        Task.detached {
          while true {
            let all = try await storage.readAll()
            _ = try await storage.upload(Upload.next(["c\(round)": .integer(1)], over: all, of: storage.replica))
          }
        }
        while try await storage.readAll().revision < last + 20 { await Task.yield() }
        kill(getpid(), SIGKILL)
      }
    }
    let values = try sandbox.contents(9).values()
    for round in 1...3 {
      #expect(values["a\(round)"] == .integer(20) && values["b\(round)"] == .integer(20))
      #expect(values["c\(round)"] == .integer(1))
    }
    #expect(sandbox.names.allSatisfy { !$0.hasPrefix(".") })
  }

  @Test("A reader ends with its task, also while it waits")
  func cancelling() async throws {
    let storage = try sandbox.storage(1)
    let (heard, report) = AsyncStream<Int64>.makeStream()
    let reading = Task {
      for try await batch in storage.batches(after: 0) { report.yield(batch.revision) }
    }
    _ = try await upload(1, try sandbox.storage(2))
    #expect(await heard.first { _ in true } == 1)
    reading.cancel()
    try await reading.value
  }

  @Test("An upload of a cancelled task changes nothing")
  func cancelledUpload() async throws {
    let storage = try sandbox.storage(1)
    let upload = Upload.next(["x": .integer(1)], over: try await storage.readAll())
    let uploading = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await storage.upload(upload)
    }
    uploading.cancel()
    await #expect(throws: SharedStorageFailure.self) { try await uploading.value }
    #expect(sandbox.names.isEmpty)
  }

  @Test(
    "A folder that can't be watched because of its file system, the user's watches or queues, or descriptors is looked at",
    arguments: [EOPNOTSUPP, ENOSPC, EMFILE, ENFILE])
  func unwatched(_ number: Int32) async throws {
    let storage = try FolderStorage(
      SystemPath(sandbox.path), for: FolderSandbox.identity(1), unwatchedInterval: .milliseconds(5)
    ) { (directory, _) throws(SystemError) in
      throw SystemError(call: "inotify_add_watch(2)", paths: [directory], errno: number)
    }
    let reading = Task { try await batches(storage, after: 0, 3) }
    _ = try await upload(3, try sandbox.storage(2))
    #expect(try await reading.value.map(\.revision) == [1, 2, 3])
  }

  @Test("A folder that can't be watched for another reason is a failure")
  func unwatchable() async throws {
    let storage = try FolderStorage(SystemPath(sandbox.path), for: FolderSandbox.identity(1)) {
      (directory, _) throws(SystemError) in
      throw SystemError(call: "inotify_add_watch(2)", paths: [directory], errno: EACCES)
    }
    await #expect(throws: SharedStorageFailure.self) { _ = try await batches(storage, after: 0, 1) }
  }

  @Test("A folder that goes away is unreachable for a reader that waits")
  func folderGoes() async throws {
    let storage = try sandbox.storage(1)
    let (heard, report) = AsyncStream<Int64>.makeStream()
    let reading = Task {
      for try await batch in storage.batches(after: 0) { report.yield(batch.revision) }
    }
    _ = try await upload(1, storage)
    #expect(await heard.first { _ in true } == 1)
    try FileManager.default.moveItem(atPath: sandbox.path, toPath: sandbox.path + ".away")
    let ending = await reading.result
    try FileManager.default.moveItem(atPath: sandbox.path + ".away", toPath: sandbox.path)
    #expect(throws: SharedStorageFailure.self) { try ending.get() }
  }

  // MARK: Whole stores

  private func device(_ home: String, _ stores: StoreSandbox) throws(KeyValueStoreError) -> KeyValueStore {
    var configuration = stores.configuration(home)
    configuration.sharing = .folder(sandbox.path)
    configuration.account = "me"
    configuration.uploadInterval = .zero
    return try stores.store("s", configuration)
  }

  @Test("CK-09, CK-15, CK-16: Stores of two devices with separate homes meet in a folder, also after it was away")
  func stores() async throws {
    let stores = try StoreSandbox()
    let (a, b) = (try device("a", stores), try device("b", stores))
    try a.set(.integer(1), for: "x")
    try await a.flush()
    await b.wait(for: ["x": .integer(1)])
    let changes = b.changes
    try a.transaction { (transaction) throws(KeyValueStoreError) in
      transaction["x"] = .integer(2)
      transaction["y"] = .integer(2)
    }
    var iterator = changes.makeAsyncIterator()
    let change = await iterator.next()
    #expect(change?.reason == .server && change?.items.map(\.key) == ["x", "y"])
    try FileManager.default.moveItem(atPath: sandbox.path, toPath: sandbox.path + ".away")
    try a.set(.integer(3), for: "a")
    try b.set(.integer(3), for: "b")
    try FileManager.default.moveItem(atPath: sandbox.path + ".away", toPath: sandbox.path)
    try await a.flush()
    try await b.flush()
    let all: [String: StoredValue] = ["x": .integer(2), "y": .integer(2), "a": .integer(3), "b": .integer(3)]
    await a.wait(for: all)
    await b.wait(for: all)
  }
}
