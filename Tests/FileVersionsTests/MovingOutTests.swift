import FileCoordination
import Foundation
import SystemInterface
import Testing

@testable import FileVersions
@testable import VersionStore

/// A version that takes the place of a file and is no version any more.
@Suite("Versions that are moved out of the store", .serialized, .timeLimit(.minutes(4)))
struct MovingOutTests {
  @Test("CV-20: Of two that want the same version at once one gets it, and the file of the other stays as it was")
  func together() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "kept")
      for round in 0..<30 {
        try fixture.write("a", "kept \(round)")
        let version = try await fixture.versions.addVersion(of: file)
        let targets = try ["b", "c"].map { try fixture.write($0, "own \($0)") }
        let results = Guarded<[Int: Bool]>([:])
        await withTaskGroup(of: Void.self) { group in
          for (number, target) in targets.enumerated() {
            group.addTask {
              await onThread {
                let url = try? VersionsWithinAccess(fixture.versions).restore(version, to: target, byMoving: true)
                results.withLock { $0[number] = url != nil }
              }
            }
          }
        }
        let winners = results.withLock { $0.filter(\.value).map(\.key) }
        #expect(winners.count == 1, "round \(round)")
        for (number, target) in targets.enumerated() {
          let expected = winners.contains(number) ? "kept \(round)" : "own \(target.lastPathComponent)"
          #expect(try fixture.text(target) == expected, "round \(round)")
        }
        #expect(try await fixture.versions.versions(of: file)?.contains(version) == false)
      }
    }
  }

  private func onThread(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { done in
      Thread.detachNewThread {
        body()
        done.resume()
      }
    }
  }

  @Test("CV-20: A version that can't be removed stays, and that isn't an error about a file that was replaced")
  func unremovable() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "kept")
      let version = try await fixture.versions.addVersion(of: file)
      let other = try fixture.write("b", "own")
      let failed = Guarded(0)
      let door = ScriptedFileSystem { call in
        guard call.call == .rename, call.paths.contains(where: { $0.description.contains("-removed") }) else {
          return .proceed
        }
        failed.withLock { $0 += 1 }
        return .fail(5)
      }
      let keeper = VersionKeeper(fixture.domain, fixture.storage, fixture.versions.keeper.attributes, files: door) {
        1_000
      }
      #expect(try VersionsWithinAccess(keeper).restore(version, to: other, byMoving: true) == other)
      #expect(failed.withLock { $0 } > 0)
      #expect(try fixture.text(other) == "kept")
      #expect(try await fixture.versions.versions(of: file) == [version])
      #expect(try await fixture.texts(other) == ["own"])
    }
  }

  @Test("CV-20: A version that's gone changes no file, neither its contents nor its name")
  func gone() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a.txt", "kept")
      let version = try await fixture.versions.addVersion(of: file)
      try await fixture.versions.remove(version, of: file)
      let other = try fixture.write("b.md", "own")
      #expect {
        try VersionsWithinAccess(fixture.versions).restore(version, to: other, byMoving: true)
      } throws: {
        ($0 as? FileVersionError)?.code == .versionIsGone
      }
      #expect(try fixture.text(other) == "own")
      #expect(try await fixture.versions.versions(of: other) == [])
    }
  }

  @Test("CV-19: A version of a file that's gone, or in the store of another volume, is moved out as well")
  func elsewhere() async throws {
    try await withFixture { fixture in
      let tops = ["one", "two"].map { fixture.root.appending(path: $0) }
      for top in tops { try FileManager.default.createDirectory(at: top, withIntermediateDirectories: false) }
      let versions = FileVersions(domain: fixture.domain, storage: .volumes(tops.map { SystemPath($0.path) }))
      let file = try fixture.write("one/a", "1")
      let kept = try await versions.addVersion(of: file)
      let target = tops[1].appending(path: "b")
      #expect(try VersionsWithinAccess(versions).restore(kept, to: target, byMoving: true) == target)
      #expect(try fixture.text(target) == "1")
      #expect(try await versions.versions(of: file) == [])
      let last = try await versions.addVersion(of: file)
      try await FileCoordinator(domain: fixture.domain).delete(file)
      #expect(try await versions.versions(of: file) == nil)
      #expect(try VersionsWithinAccess(versions).restore(last, to: target, byMoving: true) == target)
      #expect(try fixture.text(target) == "1")
      #expect {
        try VersionsWithinAccess(versions).restore(last, to: target, byMoving: true)
      } throws: {
        ($0 as? FileVersionError)?.code == .versionIsGone
      }
    }
  }
}
