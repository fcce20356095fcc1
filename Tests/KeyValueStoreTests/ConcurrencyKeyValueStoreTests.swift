import Foundation
import KeyValueReplicas
import SystemInterface
import TestSupport
import Testing

@testable import KeyValueStore

@Suite("A key-value store that many threads use: Concurrency", .blocking)
struct ConcurrencyKeyValueStoreTests {
  @Test("No transaction is lost, and none is half there for a reader")
  func counting() async throws {
    let sandbox = try StoreSandbox()
    let stores = try [sandbox.store(), sandbox.store()]
    let (taskCount, addCount) = (4, 50)
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<taskCount {
        group.addTask(executorPreference: ElasticThreadPool.shared) {
          for _ in 0..<addCount {
            do throws(KeyValueStoreError) {
              try stores[task % 2].transaction { (transaction) throws(KeyValueStoreError) in
                guard case .integer(let number) = transaction["n"] ?? .integer(0) else { return }
                transaction["n"] = .integer(number + 1)
                transaction["m"] = .integer(-number - 1)
              }
            } catch { Issue.record(error) }
          }
        }
      }
      group.addTask(executorPreference: ElasticThreadPool.shared) {
        for _ in 0..<2_000 {
          let values = stores[0].dictionary
          guard case .integer(let number) = values["n"] ?? .integer(0),
            case .integer(let other) = values["m"] ?? .integer(0)
          else { return }
          #expect(number == -other)
        }
      }
    }
    for store in stores { store.engine.takeInNews() }
    #expect(stores[0]["n"] == .integer(Int64(taskCount * addCount)))
    #expect(stores[1].dictionary == stores[0].dictionary)
    #expect(try sandbox.store().dictionary == stores[0].dictionary)
  }

  @Test("Tasks that wait for the disk at once share one fsync")
  func sharedSynchronization() async throws {
    let sandbox = try StoreSandbox()
    let count = Guarded(0)
    let isBegun = ThreadEvent()
    let mayEnd = ThreadEvent()
    let files = ScriptedFileSystem { call in
      guard call.call == .synchronize, call.openedPath?.lastComponent == SystemPath("journal") else { return .proceed }
      let number = count.withLock { count in
        count += 1
        return count
      }
      // The first one at the opening of the store isn't waited for by anybody.
      if number == 2 {
        isBegun.signal()
        mayEnd.wait()
      }
      return .proceed
    }
    let store = try sandbox.store(files: files)
    #expect(count.withLock { $0 } == 1)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await store.synchronize() }
      isBegun.wait()
      for number in 0..<100 {
        try store.set(.integer(Int64(number)), for: "\(number)")
        group.addTask { try await store.synchronize() }
      }
      while store.disk.waiterCount < 100 { await Task.yield() }
      mayEnd.signal()
      try await group.waitForAll()
    }
    #expect(count.withLock { $0 } == 3)
  }
}
