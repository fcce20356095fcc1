import FileVersions
import Foundation
import SeededRandom
import SystemInterface
import Testing

@Suite("The conflicts in a directory, whatever happens there", .timeLimit(.minutes(4)))
struct FileConflictsExplorationTests {
  private static let names = [
    "a.txt", "a.txt.conflict1", "a.txt.conflict1.conflict2", "a.sync-conflict-20260102-030405-ABCDEFG.txt",
    "a (Jane's conflicted copy 2026-01-02).txt.conflict1", "b", "b.conflict1",
  ]
  private static let directories = ["", "d", "e"]

  /// Makes, removes and moves files and directories.
  private func act(_ random: inout SplitMix, _ sandbox: ConflictCopySandbox) throws {
    func name() -> String { random.pick(Self.directories) + "/" + random.pick(Self.names) }
    let files = HostFileSystem()
    switch random.below(6) {
    case 0, 1:
      if try files.statusIfPresent(of: sandbox.path(name()))?.kind != .directory { try sandbox.write(name(), "text") }
    case 2: try? sandbox.remove(name())
    case 3: try? files.moveItem(from: sandbox.path(name()), to: sandbox.path(name()), replacing: true)
    case 4: try? FileManager.default.createDirectory(at: sandbox.url(name()), withIntermediateDirectories: true)
    default: try? files.moveItem(from: sandbox.path("d"), to: sandbox.path("e"), replacing: random.chance(1, in: 2))
    }
  }

  @Test(
    "CV-35: The conflicts that the updates have reported are those that a fresh look finds",
    arguments: Budget.seeds(normal: 8, long: 300))
  func live(seed: UInt64) async throws {
    try await withConflictCopies { sandbox in
      var random = SplitMix(seed: seed)
      var iterator = sandbox.versions.conflicts(in: sandbox.directory).makeAsyncIterator()
      var told = try #require(try await iterator.next()).conflicts
      for _ in 0..<20 {
        for _ in 0..<(1 + random.below(6)) { try? act(&random, sandbox) }
        // Nothing happens now, so the end of this is that both are the same.
        let found = try await sandbox.versions.conflicts(in: sandbox.directory).snapshot()
        while Set(told) != Set(found) {
          let update = try #require(try await iterator.next())
          var rebuilt = Dictionary(uniqueKeysWithValues: told.map { ($0.path, $0) })
          for change in update.changes {
            switch change {
            case .appeared(let file): #expect(rebuilt.updateValue(file, forKey: file.path) == nil)
            case .changed(let file): #expect(rebuilt.updateValue(file, forKey: file.path) != nil)
            case .ended(let path): #expect(rebuilt.removeValue(forKey: path) != nil)
            }
          }
          #expect(rebuilt.values.sorted { $0.path < $1.path } == update.conflicts)
          told = update.conflicts
        }
      }
    }
  }
}
