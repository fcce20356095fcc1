import KeyValueReplicas
import Testing

extension StorageClause {
  private func limits(bytes: Int = 1 << 20, keys: Int = 1024) -> StoreLimits {
    var limits = StoreLimits()
    (limits.byteCountMax, limits.keyCountMax) = (bytes, keys)
    return limits
  }

  private func data(_ count: Int) -> StoredValue { .data([UInt8](repeating: 7, count: count)) }

  func bytes(_ place: some SharedPlace) async throws {
    let limits = limits(bytes: 100)
    let first = try await place.storage(ReplicaID(rawValue: 1), limits)
    let second = try await place.storage(ReplicaID(rawValue: 2), limits)
    let one = try #require(try await first.upload(Upload(1, by: 1, after: 0, [("a", data(60), 0)])).revision)
    let before = try await second.readAll()
    #expect(try await second.upload(Upload(1, by: 2, after: 0, [("b", data(41), 0)])) == .overQuota)
    #expect(try await second.readAll() == before)
    let two = try #require(try await second.upload(Upload(2, by: 2, after: 0, [("b", data(40), 0)])).revision)
    #expect(try await first.upload(Upload(2, by: 1, after: one, [("c", .boolean(true), 0)])) == .overQuota)
    // A value that becomes smaller, or is removed, makes room; so does one in the same upload.
    let three = try #require(
      try await first.upload(Upload(3, by: 1, after: one, [("a", data(10), one), ("c", data(50), 0)])).revision)
    let four = try #require(try await second.upload(Upload(3, by: 2, after: two, [("b", nil, two)])).revision)
    #expect(four > three)
    #expect(try await first.upload(Upload(4, by: 1, after: three, [("d", data(40), 0)])).revision != nil)
    #expect(try await second.upload(Upload(4, by: 2, after: four, [("e", data(1), 0)])) == .overQuota)
  }

  func keys(_ place: some SharedPlace) async throws {
    let limits = limits(keys: 3)
    let storage = try await place.storage(ReplicaID(rawValue: 1), limits)
    let one = try #require(
      try await storage.upload(Upload(1, by: 1, after: 0, [("a", data(0), 0), ("b", data(0), 0)])).revision)
    #expect(
      try await storage.upload(Upload(2, by: 1, after: one, [("c", data(0), 0), ("d", data(0), 0)])) == .overQuota)
    // A removed key doesn't count.
    let two = try #require(
      try await storage.upload(Upload(3, by: 1, after: one, [("c", data(0), 0), ("x", nil, 0)])).revision)
    #expect(try await storage.upload(Upload(4, by: 1, after: two, [("d", data(0), 0)])) == .overQuota)
    let three = try #require(try await storage.upload(Upload(5, by: 1, after: two, [("a", nil, one)])).revision)
    #expect(try await storage.upload(Upload(6, by: 1, after: three, [("a", data(0), three)])).revision != nil)
  }

  func quotaRace(_ place: some SharedPlace) async throws {
    let limits = limits(bytes: 100)
    let outcomes = try await withThrowingTaskGroup(of: UploadOutcome.self) { group in
      for number in 1...8 as ClosedRange<UInt64> {
        let storage = try await place.storage(ReplicaID(rawValue: number), limits)
        group.addTask { try await storage.upload(Upload(1, by: number, after: 0, [("\(number)", data(30), 0)])) }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(outcomes.compactMap(\.revision).count == 3 && outcomes.count { $0 == .overQuota } == 5)
    let all = try await place.storage(ReplicaID(rawValue: 1), limits).readAll()
    #expect(all.items.reduce(0) { $0 + ($1.value?.byteCount ?? 0) } == 90)
  }
}
