import EtcdClient
import EtcdKeyValues
import EtcdTestSupport
import KeyValueReplicas
import KeyValueStore
import SharedStorageContract
import SystemInterface
import Testing

/// A key-value store's place at an etcd in memory, with faults and strange contents.
@Suite("Place of key-value stores at a scripted etcd", .timeLimit(.minutes(2)))
struct EtcdStorageConcurrencyTests {
  private let place = ScriptedPlace()

  private func storage(_ account: String = "a", _ store: String = "s") -> EtcdStorage {
    EtcdStorage(client: place.client(), account: account, store: store, replica: ReplicaID(rawValue: 1))
  }

  private func upload(_ id: Int, after acknowledgement: Int64 = 0, _ items: [(String, StoredValue?, Int64)]) -> Upload {
    Upload(
      id: id,
      items: items.map {
        Upload.Item(
          key: $0.0, value: $0.1, time: HybridTime(wall: Int64(id), count: 0, replica: ReplicaID(rawValue: 1)),
          expectedRevision: $0.2, sequence: id)
      }, expectedAcknowledgement: acknowledgement)
  }

  private func failure(_ body: () async throws -> Void) async -> SharedStorageFailure? {
    do {
      try await body()
      return nil
    } catch { return error as? SharedStorageFailure }
  }

  @Test("CE-07, CE-08: It keeps what every shared place promises", arguments: StorageClause.allCases)
  func contract(clause: StorageClause) async throws { try await clause.check(place) }

  @Test("Names with slashes and other signs are stores of their own, and no store sees another one's keys")
  func names() async throws {
    let names = [("a", "b/c"), ("a/b", "c"), ("a", "b"), ("a%2Fb", "c"), ("", "c"), ("é", "\n")]
    for (number, (account, store)) in names.enumerated() {
      _ = try await storage(account, store).upload(upload(1, [("k", .integer(Int64(number)), 0)]))
    }
    for (number, (account, store)) in names.enumerated() {
      #expect(try await storage(account, store).readAll().items.map(\.value) == [.integer(Int64(number))])
    }
    #expect(place.etcd.keys.contains { $0.key == "/kvs/a%2Fb/c/k/k" })
    #expect(place.etcd.keys.contains { $0.key == "/kvs/%C3%A9/%0A/k/k" })
  }

  @Test("CE-08: An upload whose answer is lost has an unknown outcome, and one that never left has failed")
  func lostAnswers() async throws {
    let storage = storage()
    let first = upload(1, [("a", .integer(1), 0)])
    await place.prepare(.answerIsLost)
    #expect(try await storage.upload(first) == .unknown)
    #expect(try await storage.readAll().acknowledgement?.upload == 1)
    await place.prepare(.requestIsLate)
    let acknowledged = try #require(try await storage.readAll().acknowledgement?.revision)
    let second = upload(2, after: acknowledged, [("b", .integer(1), 0)])
    #expect(try await storage.upload(second) == .unknown)
    // The uploader sends it again, and the first request arrives after the second one.
    #expect(try await storage.upload(second) != .outdated)
    let before = try await storage.readAll()
    await place.deliverLate()
    #expect(try await storage.readAll().items == before.items)
    place.etcd.setFault { $0.hasPrefix("kv/txn") ? .refused : .none }
    #expect(await failure { _ = try await storage.upload(upload(3, [("c", .integer(1), 0)])) }?.kind == .unreachable)
  }

  @Test("CE-08: An upload that a full server has made and refused is found when it's read, and isn't made twice")
  func madeWithoutSpace() async throws {
    let storage = storage()
    let first = upload(1, [("a", .integer(1), 0)])
    let isFirst = Guarded(true)
    place.etcd.setFault { path in
      guard path == "kv/txn:write" else { return .none }
      return isFirst.withLock { isFirst in
        defer { isFirst = false }
        return isFirst ? .hasNoSpace : .none
      }
    }
    #expect(await failure { _ = try await storage.upload(first) }?.kind == .full)
    #expect(try await storage.readAll().acknowledgement?.upload == 1)
    #expect(try await storage.upload(first) == .outdated)
  }

  @Test("An upload that's too large for the server has an outcome of its own")
  func tooLarge() async throws {
    let storage = storage()
    place.etcd.setFault { $0 == "kv/txn:write" ? .isTooLarge : .none }
    #expect(try await storage.upload(upload(1, [("b", .integer(1), 0)])) == .tooLarge)
  }

  @Test("Files for TLS and an address without it are a mistake; a server with it, or without files, is none")
  func plainAddress() throws {
    for (server, isMistake) in [("http://server:2379", true), ("server:2379", true), ("https://server:2379", false)] {
      for (name, file) in [("authority", true), ("certificate", true), ("key", true), ("authority", false)] {
        let line = file ? "\(name) = /etc/\(name).pem" : ""
        let settings = try StoreSettings(text: "account = ann\netcd = \(server)\n\(line)\n", path: "conf")
        var found: KeyValueStoreError?
        do throws(KeyValueStoreError) { _ = try settings.configuration() } catch { found = error }
        #expect(found?.code == (isMistake && file ? .invalidConfiguration : nil), "\(server) \(line)")
      }
    }
  }

  @Test("Keys that nobody can read are an error: bytes of a newer version, damage, names that are no text")
  func strangeContents() async throws {
    let good = SharedRecord.bytes(.integer(1), at: HybridTime(wall: 1, count: 0, replica: ReplicaID(rawValue: 2)))
    for (key, bytes, kind) in [
      ("k/x", [2] + good.dropFirst(), SharedStorageFailure.Kind.newerFormat), ("k/x", good.dropLast(), .damaged),
      ("k/x", good + [0], .damaged), ("k/x", [], .damaged), ("k/x", [0], .damaged), ("a/1", [1, 2], .damaged),
      ("a/1", [9], .newerFormat),
    ] as [(String, [UInt8], SharedStorageFailure.Kind)] {
      let place = ScriptedPlace()
      let storage = place.storage(ReplicaID(rawValue: 1), StoreLimits())
      let start = try await storage.readAll().revision
      let key = EtcdBytes("/kvs/a/s/\(key)")
      place.etcd.put(key, EtcdBytes(bytes))
      let found = await failure { _ = try await storage.readAll() }
      #expect(found?.kind == kind && found?.explanation.contains("\(key)") == true, "\(key) \(bytes)")
      #expect(await failure { for try await _ in storage.batches(after: start) {} }?.kind == kind)
    }
    place.etcd.put(EtcdBytes(Array("/kvs/a/s/k/".utf8) + [255]), EtcdBytes(good))
    #expect(await failure { _ = try await storage().readAll() }?.kind == .damaged)
    // Bytes of other programs and of newer versions beside the values aren't touched.
    let other = ScriptedPlace()
    other.etcd.put("/kvs/a/s/z", "?")
    other.etcd.put("/kvs/a/s/a/77", "?")
    #expect(try await other.storage(ReplicaID(rawValue: 1), StoreLimits()).readAll().items.isEmpty)
  }

  @Test("A key of the quota that's damaged or newer stops uploads, and one that was removed is counted anew")
  func quotaKey() async throws {
    var limits = StoreLimits()
    limits.byteCountMax = 20
    let storage = place.storage(ReplicaID(rawValue: 1), limits)
    let one = try await storage.upload(upload(1, [("a", .integer(1), 0), ("b", .integer(1), 0)]))
    guard case .applied(let revision) = one else {
      Issue.record("\(one)")
      return
    }
    place.etcd.put("/kvs/a/s/q", EtcdBytes([2, 0]))
    let next = upload(2, after: revision, [("c", .integer(1), 0)])
    #expect(await failure { _ = try await storage.upload(next) }?.kind == .newerFormat)
    place.etcd.delete("/kvs/a/s/q")
    #expect(try await storage.upload(next) == .overQuota)
    #expect(try await storage.upload(upload(3, after: revision, [("c", .boolean(true), 0)])) != .overQuota)
  }

  @Test("CE-07: An upload is one request, and a second one only if others have uploaded meanwhile")
  func requests() async throws {
    var limits = StoreLimits()
    limits.byteCountMax = 20
    let (one, other) = (place.storage(ReplicaID(rawValue: 1), limits), place.storage(ReplicaID(rawValue: 2), limits))
    var countBefore = 0
    func transactionCount() -> Int {
      let count = place.etcd.callCount("kv/txn")
      defer { countBefore = count }
      return count - countBefore
    }
    func revision(_ outcome: UploadOutcome) throws -> Int64 {
      guard case .applied(let revision) = outcome else {
        throw SharedStorageFailure(.unreachable, "\(outcome)")
      }
      return revision
    }
    // The first one counts the values: a look, a full read, the transaction.
    let first = try revision(try await one.upload(upload(1, [("a", .integer(1), 0)])))
    #expect(transactionCount() == 2)
    // 8 bytes, then 16 of 20 at most.
    let second = try revision(try await one.upload(upload(2, after: first, [("a", .integer(2), first)])))
    #expect(transactionCount() == 1)
    // The other device has heard of everything by reading it.
    _ = try await other.readAll()
    let third = try revision(try await other.upload(upload(1, [("b", .integer(1), 0)])))
    #expect(transactionCount() == 1)
    let fourth = try revision(try await one.upload(upload(3, after: second, [("a", nil, second)])))
    #expect(transactionCount() == 2)
    // One that would be too much by what the device knows looks first: others may have removed values since.
    #expect(try await other.upload(upload(2, after: third, [("c", .string("12345678"), 0)])) != .overQuota)
    #expect(transactionCount() == 2)
    #expect(try await one.upload(upload(4, after: fourth, [("d", .integer(1), 0)])) == .overQuota)
    #expect(try await one.upload(upload(4, after: first, [("b", nil, third)])) == .outdated)
  }

  @Test(
    "CE-07: An upload of values of the same size leaves the count of bytes alone, so other devices' uploads go on with one request"
  )
  func sameSize() async throws {
    let (one, other) = (
      place.storage(ReplicaID(rawValue: 1), StoreLimits()), place.storage(ReplicaID(rawValue: 2), StoreLimits())
    )
    func revision(_ outcome: UploadOutcome) throws -> Int64 {
      guard case .applied(let revision) = outcome else {
        throw SharedStorageFailure(.unreachable, "\(outcome)")
      }
      return revision
    }
    let first = try revision(try await one.upload(upload(1, [("a", .integer(1), 0), ("b", .integer(1), 0)])))
    _ = try await other.readAll()
    let before = place.etcd.callCount("kv/txn")
    let second = try revision(try await one.upload(upload(2, after: first, [("a", .integer(2), first)])))
    // It hasn't heard of the second upload, which was about another key.
    let third = try revision(try await other.upload(upload(1, [("b", .integer(2), first)])))
    #expect(place.etcd.callCount("kv/txn") == before + 2)
    // Another size counts.
    _ = try revision(try await one.upload(upload(3, after: second, [("a", .string("longer than a number"), second)])))
    #expect(place.etcd.callCount("kv/txn") == before + 3)
    _ = try revision(try await other.upload(upload(2, after: third, [("b", .boolean(true), third)])))
    #expect(place.etcd.callCount("kv/txn") == before + 5)
  }

  @Test("CE-07: When somebody else removes keys, a reader is told that it has to read everything")
  func foreignRemoval() async throws {
    let storage = storage()
    _ = try await storage.upload(upload(1, [("a", .integer(1), 0)]))
    let start = try await storage.readAll().revision
    place.etcd.delete("/kvs/a/s/k/a")
    #expect(await failure { for try await _ in storage.batches(after: start) {} }?.kind == .gap)
    #expect(try await storage.readAll().items.isEmpty)
  }

  @Test("CE-07: A full read that's overtaken by a compaction begins again, and is never a mix of two revisions")
  func compactionWhileReading() async throws {
    let etcd = place.etcd
    let storage = EtcdStorage(
      client: place.client { $0.attemptCountMax = 1_000_000 }, account: "a", store: "s",
      replica: ReplicaID(rawValue: 1), pageSize: 3)
    guard case .applied(let one) = try await storage.upload(upload(1, (0..<8).map { ("\($0)", .integer(1), 0) })) else {
      Issue.record("nothing was uploaded")
      return
    }
    // The second page of the first read has to wait until there was a change and a compaction.
    let (count, isCompacted) = (Guarded(0), Guarded(false))
    etcd.setFault { path in
      guard path == "kv/range" else { return .none }
      let number = count.withLock { count in
        count += 1
        return count
      }
      return number == 1 || isCompacted.withLock { $0 } ? .none : .refused
    }
    let reading = Task { try await storage.readAll() }
    while count.withLock({ $0 }) < 2 { await Task.yield() }
    guard case .applied(let two) = try await storage.upload(upload(2, after: one, [("7", .integer(2), one)])) else {
      Issue.record("nothing was uploaded")
      return
    }
    etcd.compact()
    isCompacted.withLock { $0 = true }
    let all = try await reading.value
    #expect(all.revision == two && all.items.count == 8 && all.acknowledgement?.upload == 2)
    #expect(all.items.first { $0.key == "7" }?.value == .integer(2))
  }

  @Test("Failures of etcd have the kinds that a store understands")
  func kinds() {
    for (code, kind) in [
      (EtcdError.Code.compacted, SharedStorageFailure.Kind.gap), (.differentCluster, .denied),
      (.permissionDenied, .denied),
      (.wrongPassword, .denied), (.notTrusted, .denied), (.noSpace, .full), (.tooLarge, .full),
      (.unavailable, .unreachable), (.timedOut, .unreachable), (.noLeader, .unreachable),
      (.invalidAnswer, .unreachable),
      (.libraryMissing, .unreachable),
    ] {
      #expect(SharedStorageFailure(EtcdError(code, "text")).kind == kind)
    }
  }
}
