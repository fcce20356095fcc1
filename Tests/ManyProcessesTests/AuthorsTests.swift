import Foundation
import SeededRandom
import TestSupport
import Testing

/// Documents of files and packages at random, in processes that are killed.
///
/// The same seed leads to other courses each time, as the processes run beside each other. So it's a search, which `.ci/run fresh` makes, and no check
/// of a change.
@Suite(
  "Documents that several processes write, and that are killed", .enabled(if: Budget.isLong), .serialized, .blocking,
  .timeLimit(.minutes(20)))
struct AuthorsTests {
  private static let roundCount = Budget.isLong ? 40 : 10

  private func run(
    seed: UInt64, isServing: Bool, mistake: String = "none", roundCount: Int
  ) async throws -> Authors.Outcome {
    let authors = try await Authors(seed: seed, isServing: isServing, mistake: mistake)
    defer { authors.remove() }
    for _ in 0..<roundCount { try authors.round() }
    return try await authors.end()
  }

  @Test(
    "CD-12, CD-36, CD-60, CD-69: Each word that processes have saved, kept or journaled is in the file, a version, or a journal",
    arguments: Budget.seed.map { [$0] } ?? (Budget.isLong ? Array(1...20) : [1, 2]))
  func nothingIsLost(seed: UInt64) async throws {
    // Every other time the process that serves the others is killed as well.
    let outcome = try await run(seed: seed, isServing: seed % 2 == 0, roundCount: Self.roundCount)
    #expect(outcome.problems == [], "seed \(seed)")
    #expect(outcome.lost == [], "seed \(seed): they are in \(outcome.traces)")
    #expect(outcome.surrenders.count <= Self.roundCount / 2, "seed \(seed): \(outcome.surrenders)")
    #expect(outcome.acknowledged.count > Self.roundCount * 10, "seed \(seed)")
    let stranded = outcome.missing(
      in: outcome.files + outcome.versions + outcome.versionsOfGoneFiles + outcome.journals
    ).count
    let onlyKept = outcome.missing(in: outcome.files).count
    print(
      "authors: seed \(seed), \(outcome.acknowledged.count) words, \(onlyKept) in versions and journals alone,",
      "\(stranded) in journals that nobody was offered", outcome.surrenders)
  }

  @Test(
    "Words that a mistake of the processes loses are noticed",
    arguments: ["merging", "hurrying"])
  func mistakes(_ mistake: String) async throws {
    for seed in UInt64(1)...10 {
      let outcome = try await run(seed: seed, isServing: true, mistake: mistake, roundCount: 5)
      #expect(outcome.problems == [])
      if !outcome.lost.isEmpty { return }
    }
    Issue.record("nothing was lost")
  }

  @Test("Words that were in a dropped version are noticed")
  func droppedVersions() async throws {
    for seed in UInt64(1)...10 {
      let outcome = try await run(seed: seed, isServing: true, roundCount: 5)
      if !outcome.missing(in: outcome.files + outcome.journals + outcome.strandedJournals).isEmpty { return }
    }
    Issue.record("no version was needed")
  }
}
