import KeyValueReplicas
import Testing

extension StorageClause {
  /// Reads a number of transactions.
  private func batches(_ storage: some SharedStorage, after revision: Int64, _ count: Int) async throws -> [SharedBatch]
  {
    var batches: [SharedBatch] = []
    for try await batch in storage.batches(after: revision) {
      batches.append(batch)
      if batches.count == count { break }
    }
    return batches
  }

  func watch(_ place: some SharedPlace) async throws {
    let (first, second) = (try await place.storage(1), try await place.storage(2))
    let start = try await second.readAll().revision
    var wanted: [SharedBatch] = []
    var (last, lastOfOther): (Int64, Int64) = (0, 0)
    for round in 1...6 {
      let isOther = round % 3 == 0
      let keys = (0..<round).map { "\(round).\($0)" }
      let upload = Upload(
        round, by: isOther ? 2 : 1, after: isOther ? lastOfOther : last,
        keys.map { ($0, round == 4 ? nil : .integer(1), 0) })
      let outcome = isOther ? try await second.upload(upload) : try await first.upload(upload)
      let revision = try #require(outcome.revision)
      if isOther { lastOfOther = revision } else { last = revision }
      wanted.append(
        SharedBatch(
          items: upload.items.map { SharedItem(key: $0.key, value: $0.value, time: $0.time, revision: revision) },
          acknowledgement: isOther ? Acknowledgement(upload: round, revision: revision) : nil, isComplete: false,
          revision: revision))
    }
    for skipped in 0..<6 {
      let revision = skipped == 0 ? start : wanted[skipped - 1].revision
      let found = try await batches(second, after: revision, 6 - skipped).map { batch in
        var batch = batch
        batch.items.sort { $0.key < $1.key }
        return batch
      }
      #expect(found == Array(wanted[skipped...]), "after \(revision)")
    }
  }

  func agreement(_ place: some SharedPlace) async throws {
    let storages = try await storages(place, 4)
    let reader = try await place.storage(9)
    let start = try await reader.readAll()
    let uploadCount = 10
    let watching = Task { try await batches(reader, after: start.revision, 4 * uploadCount) }
    defer { watching.cancel() }
    let revisions = try await withThrowingTaskGroup(of: [Int64].self) { group in
      for (index, storage) in storages.enumerated() {
        group.addTask { try await upload(storage, UInt64(index + 1), uploadCount) }
      }
      var all: [Int64] = []
      for _ in 0..<3 { await place.cutStreams() }
      for try await revisions in group { all += revisions }
      return all
    }
    let found = try await watching.value
    #expect(found.map(\.revision) == revisions.sorted() && Set(revisions).count == revisions.count)
    #expect(found.allSatisfy { $0.items.count == 2 && $0.acknowledgement == nil && !$0.isComplete })
    var items: [String: SharedItem] = [:]
    for item in start.items + found.flatMap(\.items) { items[item.key] = item }
    #expect(items.values.sorted { $0.key < $1.key } == (try await reader.readAll().items.sorted { $0.key < $1.key }))
  }

  /// Uploads a key that all replicas write, and one of its own, again each time that another one was faster.
  private func upload(_ storage: some SharedStorage, _ replica: UInt64, _ count: Int) async throws -> [Int64] {
    var revisions: [Int64] = []
    var id = 0
    while revisions.count < count {
      id += 1
      // Another replica can only be faster as long as it has something left to upload.
      try #require(id <= 10 * count, "uploads of replica \(replica) are always outdated")
      let all = try await storage.readAll()
      func revision(_ key: String) -> Int64 { all.items.first { $0.key == key }?.revision ?? 0 }
      let upload = Upload(
        id, by: replica, after: all.acknowledgement?.revision ?? 0,
        ["common", "own \(replica)"].map { ($0, .integer(Int64(id)), revision($0)) })
      if let revision = try await storage.upload(upload).revision { revisions.append(revision) }
    }
    return revisions
  }

  func behind(_ place: some SharedPlace) async throws {
    let (storage, reader) = (try await place.storage(1), try await place.storage(2))
    let start = try await reader.readAll().revision
    var (last, revisions): (Int64, [Int64]) = (0, [])
    for id in 1...4 {
      last = try #require(
        try await storage.upload(Upload(id, by: 1, after: last, [("\(id)", .integer(1), 0)])).revision)
      revisions.append(last)
    }
    await place.forgetHistory()
    do {
      #expect(try await batches(reader, after: start, 4).map(\.revision) == revisions)
    } catch let failure as SharedStorageFailure {
      #expect(failure.kind == .gap && !failure.explanation.isEmpty)
    }
    let all = try await reader.readAll()
    #expect(all.items.count == 4)
    let next = try #require(
      try await storage.upload(Upload(5, by: 1, after: last, [("5", .integer(1), 0)])).revision)
    #expect(try await batches(reader, after: all.revision, 1).map(\.revision) == [next])
  }

  func cancelling(_ place: some SharedPlace) async throws {
    let (storage, reader) = (try await place.storage(1), try await place.storage(2))
    let start = try await reader.readAll().revision
    let (progress, reports) = AsyncStream<Int64>.makeStream()
    let reading = Task {
      for try await batch in reader.batches(after: start) { reports.yield(batch.revision) }
    }
    let revision = try await storage.upload(Upload(1, by: 1, after: 0, [("a", .integer(1), 0)])).revision
    #expect(await progress.first { _ in true } == revision)
    reading.cancel()
    // It ends without a failure, or with one.
    _ = await reading.result
  }
}
