import Foundation
import Glibc
import SeededRandom
import TestSupport
import Testing

/// Processes keep and restore one file at once, and some are killed at any moment.
@Suite("Versions beside processes that are killed", .blocking, .timeLimit(.minutes(4)))
struct VersionKillTests {
  private let bench: Workbench
  private let file: String

  init() throws {
    bench = try Workbench()
    file = try bench.makeFile("f", "text 0")
  }

  private var store: String { bench.scratch.url.appending(path: "data/file-versions").path }

  /// The texts of all versions, by the files of the store that their records lead to.
  private func keptTexts() throws -> [String] {
    let listed = try bench.run("versions", "--json", file)
    #expect(listed.status == 0, "\(listed.errors)")
    return try listed.output.split(separator: "\n").map { line in
      let object = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      return try String(contentsOfFile: #require(object["path"] as? String), encoding: .utf8)
    }
  }

  /// Kills a process at some moment of its life: the moment is what's random, and no event is awaited.
  private func killSomewhere(_ tool: RunningTool, _ random: inout SplitMix) {
    usleep(UInt32(random.next() % 120_000))
    tool.kill()
  }

  @Test(
    "Contents that a process has reported as kept are kept, and nothing is left over",
    arguments: Budget.seeds(normal: 1, long: 20))
  func kills(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    var promised: Set<String> = []
    for round in 1...6 {
      let text = "text \(round)"
      try bench.makeFile("f", text)
      let (victim, survivors) = (try bench.start("keep", file), try (0..<2).map { _ in try bench.start("keep", file) })
      killSomewhere(victim, &random)
      for tool in survivors where try tool.end() == 0 { promised.insert(text) }
      let restorer = try bench.start("restore", file, "2")
      killSomewhere(restorer, &random)
      let kept = try keptTexts()
      let now = try #require(bench.text("f"))
      #expect(now == text || kept.contains(now), "seed \(seed), round \(round)")
      #expect(now == text || kept.contains(text), "seed \(seed), round \(round)")
      #expect(promised.isSubset(of: kept), "seed \(seed), round \(round): \(kept)")
    }
    #expect(promised.count == 6, "seed \(seed)")
    // Keeping once more clears up what was cut off.
    #expect(try bench.run("keep", file).status == 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: store + "/steps") == [], "seed \(seed)")
    let contents = store + "/contents"
    for name in try FileManager.default.subpathsOfDirectory(atPath: contents) where name.contains("/") {
      let count = try FileManager.default.attributesOfItem(atPath: "\(contents)/\(name)")[.referenceCount] as? Int
      #expect(count ?? 0 > 1, "seed \(seed): no version has \(name)")
    }
  }
}
