import KeyValueReplicas
import Testing

/// The promises of every shared storage: each clause is checked at a place of its own.
package enum StorageClause: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case anEmptyPlaceHasNothing
  case valuesOfAllKindsComeBack
  case removedKeysAreKept
  case anOutdatedUploadChangesNothing
  case anUploadThatsRepeatedHasNoSecondEffect
  case ofSeveralThatExpectTheSameOneIsCarriedOut
  case aWatchHasEachTransactionOnceWholeAndInOrder
  case aWatchAndAFullReadAgreeWhileOthersUpload
  case aReaderThatsBehindReadsOnOrIsTold
  case noMoreBytesThanTheQuota
  case noMoreKeysThanTheQuota
  case uploadsAtTheSameTimeStayWithinTheQuota
  case readingEndsWithItsTask

  package var testDescription: String {
    rawValue.reduce(into: "") { text, letter in text += letter.isUppercase ? " " + letter.lowercased() : String(letter)
    }
  }

  /// Checks the clause at an empty place.
  package func check(_ place: some SharedPlace) async throws {
    switch self {
    case .anEmptyPlaceHasNothing: try await empty(place)
    case .valuesOfAllKindsComeBack: try await values(place)
    case .removedKeysAreKept: try await removal(place)
    case .anOutdatedUploadChangesNothing: try await outdated(place)
    case .anUploadThatsRepeatedHasNoSecondEffect: try await repeated(place)
    case .ofSeveralThatExpectTheSameOneIsCarriedOut: try await race(place)
    case .aWatchHasEachTransactionOnceWholeAndInOrder: try await watch(place)
    case .aWatchAndAFullReadAgreeWhileOthersUpload: try await agreement(place)
    case .aReaderThatsBehindReadsOnOrIsTold: try await behind(place)
    case .noMoreBytesThanTheQuota: try await bytes(place)
    case .noMoreKeysThanTheQuota: try await keys(place)
    case .uploadsAtTheSameTimeStayWithinTheQuota: try await quotaRace(place)
    case .readingEndsWithItsTask: try await cancelling(place)
    }
  }
}

// MARK: - Reading and writing

extension StorageClause {
  private func empty(_ place: some SharedPlace) async throws {
    let all = try await place.storage(1).readAll()
    #expect(all.items.isEmpty && all.acknowledgement == nil && all.isComplete && all.revision >= 0)
  }

  private static let examples: [(String, StoredValue)] = [
    ("boolean", .boolean(true)), ("integer", .integer(.min)), ("real", .real(-0.0)), ("nan", .real(.nan)),
    ("text", .string("é\u{0}\n")), ("empty", .string("")), ("data", .data((0...255).map { UInt8($0) })),
    ("no data", .data([])), ("date", .date(700_000_000.25)),
    ("tree", .dictionary(["": .array([.dictionary([:]), .array([]), .integer(1)]), "b": .boolean(false)])),
    ("a/b", .integer(1)), ("..", .integer(2)), (".", .integer(3)), ("%2F", .integer(4)), ("é", .integer(5)),
    ("e\u{301}", .integer(6)), ("line\nline", .integer(7)), ("\u{0}", .integer(8)), (" ", .integer(9)),
    (String(repeating: "ё", count: 128), .integer(10)), ("CON", .integer(11)), ("con", .integer(12)),
  ]

  private func values(_ place: some SharedPlace) async throws {
    let (first, second) = (try await place.storage(1), try await place.storage(2))
    let upload = Upload(1, by: 1, after: 0, Self.examples.map { ($0.0, $0.1, 0) })
    let revision = try #require(try await first.upload(upload).revision)
    let all = try await second.readAll()
    #expect(all.isComplete && all.revision >= revision && all.acknowledgement == nil)
    // By their bytes: Swift takes composed and decomposed letters for equal, but two keys are two keys.
    let found = all.items.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    let wanted = upload.items.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    #expect(found.map { Array($0.key.utf8) } == wanted.map { Array($0.key.utf8) })
    #expect(found.map(\.value) == wanted.map(\.value) && found.map(\.time) == wanted.map(\.time))
    #expect(found.allSatisfy { $0.revision == revision })
    #expect(try await first.readAll().acknowledgement == Acknowledgement(upload: 1, revision: revision))
  }

  private func removal(_ place: some SharedPlace) async throws {
    let storage = try await place.storage(1)
    let first = try #require(try await storage.upload(Upload(1, by: 1, after: 0, [("a", .integer(1), 0)])).revision)
    let second = try #require(try await storage.upload(Upload(2, by: 1, after: first, [("a", nil, first)])).revision)
    #expect(second > first)
    let all = try await place.storage(2).readAll()
    #expect(all.items.map(\.key) == ["a"] && all.items.first?.value == nil && all.items.first?.revision == second)
    #expect(try await storage.upload(Upload(3, by: 1, after: second, [("a", .integer(2), second)])).revision != nil)
  }

  private func outdated(_ place: some SharedPlace) async throws {
    let (first, second) = (try await place.storage(1), try await place.storage(2))
    let one = try #require(try await first.upload(Upload(1, by: 1, after: 0, [("a", .integer(1), 0)])).revision)
    let before = try await second.readAll()
    for items in [
      [("a", StoredValue.integer(2), Int64(0)), ("b", .integer(2), 0)], [("b", .integer(2), one)],
      [("b", .integer(2), 0), ("a", .integer(2), one + 1)],
    ] {
      let upload = Upload(1, by: 2, after: 0, items.map { ($0.0, $0.1, $0.2) })
      #expect(try await second.upload(upload) == .outdated)
    }
    #expect(try await first.upload(Upload(2, by: 1, after: 0, [("b", .integer(2), 0)])) == .outdated)
    #expect(try await second.readAll() == before)
    #expect(try await second.upload(Upload(1, by: 2, after: 0, [("a", .integer(2), one)])).revision != nil)
  }

  private func repeated(_ place: some SharedPlace) async throws {
    let storage = try await place.storage(1)
    let upload = Upload(1, by: 1, after: 0, [("a", .integer(1), 0), ("b", .integer(1), 0)])
    #expect(try await storage.upload(upload).revision != nil)
    let before = try await storage.readAll()
    #expect(try await storage.upload(upload) == .outdated)
    #expect(try await storage.readAll() == before)
  }

  private func race(_ place: some SharedPlace) async throws {
    let storages = try await storages(place, 6)
    for round in 1...5 {
      let known = try await storages[0].readAll()
      let expected = known.items.first?.revision ?? 0
      let outcomes = try await withThrowingTaskGroup(of: UploadOutcome.self) { group in
        for (index, storage) in storages.enumerated() {
          group.addTask {
            let acknowledgement = try await storage.readAll().acknowledgement?.revision ?? 0
            return try await storage.upload(
              Upload(
                round, by: UInt64(index + 1), after: acknowledgement, [("a", .integer(Int64(index)), expected)]))
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(outcomes.compactMap(\.revision).count == 1 && outcomes.count { $0 == .outdated } == 5)
    }
  }

  func storages<Place: SharedPlace>(_ place: Place, _ count: Int) async throws -> [Place.Storage] {
    var storages: [Place.Storage] = []
    for number in 1...count { storages.append(try await place.storage(UInt64(number))) }
    return storages
  }
}
