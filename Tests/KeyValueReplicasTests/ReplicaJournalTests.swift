import SeededRandom
import Testing

@testable import KeyValueReplicas

@Suite("The journal of a replica")
struct ReplicaJournalTests {
  private static let replica = ReplicaID(rawValue: 0x0102_0304_0506_0708)

  private static func value(_ random: inout SplitMix, depth: Int = 0) -> StoredValue {
    switch random.below(depth < 3 ? 8 : 6) {
    case 0: .boolean(random.chance(1, in: 2))
    case 1: .integer(Int64(bitPattern: random.next()))
    case 2: .real(Double(bitPattern: random.next()))
    case 3: .string(random.pick(["", "text", "ä\u{301}😀", "\0"]))
    case 4: .data((0..<random.below(5)).map { _ in UInt8(random.below(256)) })
    case 5: .date(Double(random.below(1_000)) / 7)
    case 6: .array((0..<random.below(4)).map { _ in value(&random, depth: depth + 1) })
    default:
      .dictionary(
        Dictionary(uniqueKeysWithValues: (0..<random.below(4)).map { ("key \($0)", value(&random, depth: depth + 1)) }))
    }
  }

  private static func optional(_ random: inout SplitMix) -> StoredValue? {
    random.chance(1, in: 4) ? nil : value(&random)
  }

  private static func input(_ random: inout SplitMix) -> ReplicaInput {
    switch random.below(5) {
    case 4:
      return .configured(
        ReplicaSettings(
          policies: ["counter": .counter, "set": random.pick([.union, .custom])],
          budget: UploadBudget(countMax: 1 + random.below(5), interval: Int64(random.below(99)))))
    case 0:
      return .write(
        (0..<random.below(4)).map { KeyWrite("key \($0)", optional(&random)) }, isForced: random.chance(1, in: 2))
    case 1:
      let items = (0..<random.below(4)).map { number in
        let time = HybridTime(
          wall: Int64(random.below(1_000)), count: UInt32(random.below(9)), replica: ReplicaID(rawValue: random.next()))
        return SharedItem(key: "key \(number)", value: optional(&random), time: time, revision: Int64(random.below(99)))
      }
      let acknowledgement =
        random.chance(1, in: 2) ? Acknowledgement(upload: random.below(9), revision: Int64(random.below(99))) : nil
      return .received(
        SharedBatch(
          items: items, acknowledgement: acknowledgement, isComplete: random.chance(1, in: 2),
          revision: Int64(random.below(99))))
    case 2: return random.chance(1, in: 2) ? .uploadIsDue : .uploadWasDue
    default:
      let outcomes: [UploadOutcome] = [.applied(revision: 7), .outdated, .overQuota, .unknown, .tooLarge]
      return .uploadEnded(random.below(9), random.pick(outcomes))
    }
  }

  private static func journal(_ seed: UInt64, count: Int) -> (
    records: [ReplicaJournal.Record], bytes: [UInt8], ends: [Int]
  ) {
    var random = SplitMix(seed: seed)
    var (records, bytes): ([ReplicaJournal.Record], [UInt8]) = ([], ReplicaJournal.head(of: replica))
    var ends = [bytes.count]
    for _ in 0..<count {
      let record = ReplicaJournal.Record(input(&random), at: Int64(bitPattern: random.next()))
      records.append(record)
      bytes += ReplicaJournal.bytes(of: record)
      ends.append(bytes.count)
    }
    return (records, bytes, ends)
  }

  @Test("CK-24: Any events are read as they were written", arguments: Budget.seeds(normal: 100, long: 4_000))
  func roundTrip(seed: UInt64) throws {
    let journal = Self.journal(seed, count: 10)
    let contents = try #require(try ReplicaJournal.read(journal.bytes))
    #expect(contents.replica == Self.replica && contents.records == journal.records)
    #expect(contents.length == journal.bytes.count)
  }

  @Test(
    "CK-24: Of a journal that was cut off anywhere, all whole events are read",
    arguments: Budget.seeds(normal: 5, long: 50))
  func cutOff(seed: UInt64) throws {
    let journal = Self.journal(seed, count: 5)
    for length in 0...journal.bytes.count {
      for padding in [0, 1, 40] {
        let bytes = Array(journal.bytes.prefix(length)) + Array(repeating: 0, count: padding)
        let contents = try ReplicaJournal.read(bytes)
        // The zeros may be those that the event has in their place.
        let wholeCount = journal.ends.filter { bytes.starts(with: journal.bytes.prefix($0)) }.count
        // The name of the replica may have been cut off and filled with zeros: no event follows.
        if wholeCount == 0, padding > 0 {
          #expect(contents?.records.isEmpty ?? true)
          continue
        }
        #expect((contents?.records.count ?? -1) + 1 == wholeCount, "\(length) bytes and \(padding) zeros")
        #expect(contents.map { $0.length == journal.ends[wholeCount - 1] } ?? (wholeCount == 0))
      }
    }
  }

  @Test(
    "CK-24: An altered byte before the last event is damage, and never another event",
    arguments: Budget.seeds(normal: 3, long: 50))
  func damage(seed: UInt64) throws {
    let journal = Self.journal(seed, count: 4)
    for index in 16..<journal.ends[3] {
      var bytes = journal.bytes
      bytes[index] ^= 1 << UInt8(index % 8)
      let begin = journal.ends.last { $0 <= index }
      #expect(throws: ReplicaJournal.Failure.damaged(offset: begin ?? 0), "byte \(index)") {
        try ReplicaJournal.read(bytes)
      }
    }
  }

  @Test("Other files, and journals of a later version, are refused with the reason")
  func otherFiles() {
    #expect(throws: ReplicaJournal.Failure.notAJournal) { try ReplicaJournal.read(Array("hello".utf8)) }
    #expect(throws: ReplicaJournal.Failure.notAJournal) { try ReplicaJournal.read(Array(repeating: 7, count: 100)) }
    let newer = Array("kvjourn2".utf8) + Array(repeating: 0, count: 8)
    #expect(throws: ReplicaJournal.Failure.newerFormat) { try ReplicaJournal.read(newer) }
  }

  @Test("Bytes that claim to be long or deep take neither memory nor stack")
  func hostile() {
    let bytes: [[UInt8]] = [
      Array(repeating: 7, count: 9) + Array(repeating: 0xFF, count: 40), [4, 0xFF, 0xFF, 0xFF, 0xFF],
      (0..<1_000).flatMap { _ in [7, 1, 0, 0, 0] as [UInt8] } + [0], [4, 1, 0, 0, 0, 0xFF], [9],
    ]
    for bytes in bytes {
      #expect(throws: DamagedBytes.self) {
        var reader = ByteReader(bytes[...])
        _ = try StoredValue(from: &reader)
      }
    }
  }
}
