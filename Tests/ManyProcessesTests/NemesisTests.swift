import CoordinationWorker
import FileCoordination
import Foundation
import SeededRandom
import TestSupport
import Testing

/// Processes that are killed, stopped, short of descriptors and started again while they share files.
@Suite("Nobody's death harms anybody else", .serialized, .blocking, .timeLimit(.minutes(30)))
struct NemesisTests {
  /// How many processes are killed: few with every change, many when asked for.
  private static let killCount = Int(ProcessInfo.processInfo.environment["FILE_COORDINATION_KILLS"] ?? "") ?? 40
  private static let workerCount = 5

  /// Half of the workers present a file, and some are short of descriptors now and then.
  private static func traits(_ number: Int) -> [String] {
    (number.isMultiple(of: 2) ? ["presents"] : []) + (number.isMultiple(of: 3) ? ["starves"] : [])
  }

  @Test(
    """
    Workers that are killed at random instants, the serving one too, never overlap, and the others go on; \
    their claims and presenters disappear with them (C-026, C-027)
    """)
  func kills() throws {
    let seed = Budget.seed ?? Budget.firstSeed &+ 1
    var field = try Field(workerCount: Self.workerCount, seed: seed, traits: Self.traits)
    defer { field.remove() }
    try field.waitForProgress(of: 50)
    for _ in 0..<Self.killCount { try field.strike() }
    try field.waitForProgress(of: 50)
    try field.calmDown()
    let (problems, checker) = field.finish()
    #expect(problems == [], "seed \(seed)")
    #expect(checker.holdCount > Self.killCount)
    print(
      "nemesis: seed \(seed), \(Self.killCount) strikes, \(checker.holdCount) holds, \(checker.relinquishedCount) asked, "
        + "\(checker.savedCount) saved, \(checker.toldCount) told, \(checker.tornCount) torn")
  }

  @Test("Without a death nobody sees a file that's being written, and nothing is left behind (C-026)")
  func peace() throws {
    var field = try Field(workerCount: 3, seed: 7, traits: { $0 == 2 ? ["presents"] : [] })
    defer { field.remove() }
    try field.waitForProgress(of: 2_000)
    try field.calmDown()
    let (problems, checker) = field.finish()
    #expect(problems == [])
    #expect(checker.tornCount == 0)
    #expect(checker.relinquishedCount > 0 && checker.savedCount > 0 && checker.toldCount > 0)
    #expect(try field.leftovers() == [])
  }
}
