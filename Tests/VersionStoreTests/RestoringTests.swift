import Foundation
import SystemInterface
import Testing

@testable import VersionStore

@Suite("A version is put in the place of a file", .timeLimit(.minutes(4)))
struct RestoringTests {
  private let item = ItemID.drawn()

  @Test("A file gets the contents and keeps its permissions; where there's none, it gets those of the version (CV-17)")
  func files() async throws {
    try await withStore { sandbox in
      let store = try sandbox.store()
      let path = try sandbox.write("a", "old", mode: 0o640)
      let version = try store.add(contentsOf: path, to: item, StoreSandbox.attributes)
      try sandbox.write("a", "new", mode: 0o600)
      try store.restore(version, to: path)
      #expect(try sandbox.text(path) == "old")
      #expect(try sandbox.files.statusIfPresent(of: path)?.mode == 0o600)
      try store.restore(version, to: sandbox.path("b"))
      #expect(try sandbox.tree("files") == ["a 600 1 old", "b 640 1 old"])
      try store.verify(version)
      try store.remove(version.id, of: item)
      #expect(throws: VersionStoreError.versionIsGone(version.id)) { try store.restore(version, to: path) }
    }
  }

  @Test("A package comes back as it was, and takes the place of another one, or of a file, whole")
  func packages() async throws {
    try await withStore { sandbox in
      let store = try sandbox.store()
      try sandbox.write("p/in/1", "one", mode: 0o600)
      try sandbox.write("p/2", "two", mode: 0o444)
      try sandbox.files.makeSymbolicLink(sandbox.path("p/link"), at: .workingDirectory, target: SystemPath("in/1"))
      let before = try sandbox.tree("files/p")
      let version = try store.add(contentsOf: sandbox.path("p"), to: item, StoreSandbox.attributes)
      try FileManager.default.removeItem(atPath: sandbox.path("p/2").description)
      try sandbox.write("p/3", "three")
      try store.restore(version, to: sandbox.path("p"))
      #expect(try sandbox.tree("files/p") == before)
      try sandbox.write("f", "a file")
      try store.restore(version, to: sandbox.path("f"))
      #expect(try sandbox.tree("files/f") == before)
      let file = try store.add(contentsOf: sandbox.write("g", "g"), to: item, StoreSandbox.attributes)
      try store.restore(file, to: sandbox.path("p"))
      #expect(try sandbox.text(sandbox.path("p")) == "g")
      #expect(try sandbox.tree("files").count == 2 + 1 + before.count)
    }
  }

  @Test("A program that writes into a package in the store changes nothing of what is restored (CV-21)")
  func foreignMembers() async throws {
    try await withStore { sandbox in
      let store = try sandbox.store()
      try sandbox.write("p/in/db", "one", mode: 0o600)
      let before = try sandbox.tree("files/p")
      let version = try store.add(contentsOf: sandbox.path("p"), to: item, StoreSandbox.attributes)
      let kept = store.path(of: version)
      // As databases do that are opened there.
      for name in ["in/db-wal", "log/1"] {
        let path = kept.appending(SystemPath(name))
        try FileManager.default.createDirectory(
          atPath: path.parent.description, withIntermediateDirectories: true)
        try sandbox.files.replaceContents(of: path, with: Array("foreign".utf8))
      }
      try store.restore(version, to: sandbox.path("p"))
      #expect(try sandbox.tree("files/p") == before)
    }
  }

  @Test("Removed versions of files and packages are verified where they are", arguments: ["a", "p"])
  func removed(name: String) async throws {
    try await withStore { sandbox in
      let (store, member) = (try sandbox.store(), name == "p" ? "p/in/1" : "a")
      try sandbox.write(member, "text", mode: 0o640)
      let version = try store.add(contentsOf: sandbox.path(name), to: item, StoreSandbox.attributes)
      try store.retire(version.id, of: item)
      let removed = try #require(try store.removedVersions(of: item).first)
      try store.verify(removed)
      let top = store.path(of: removed)
      let path = name == "p" ? top.appending("in").appending("1") : top
      try FileManager.default.removeItem(atPath: path.description)
      try sandbox.files.replaceContents(of: path, with: Array("TEXT".utf8))
      #expect(throws: VersionStoreError.damaged(path)) { try store.verify(removed) }
    }
  }

  @Test(
    "An error or the end of the process at any call leaves the file as it was, or the contents (CV-20)",
    arguments: [VersionStoreLimits(), hashingLater])
  func faults(limits: VersionStoreLimits) async throws {
    for isPackage in [false, true] {
      let names = isPackage ? ["p/1", "p/2"] : ["p"]
      func prepare(_ sandbox: StoreSandbox) throws -> StoredVersion {
        for name in names { try sandbox.write(name, "old") }
        let version = try sandbox.store().add(contentsOf: sandbox.path("p"), to: item, StoreSandbox.attributes)
        for name in names { try sandbox.write(name, "new") }
        return version
      }
      let callCount = try await withStore(limits) { sandbox in
        let version = try prepare(sandbox)
        return try DyingDoor.callCount { try sandbox.store($0).restore(version, to: sandbox.path("p")) }
      }
      for number in explored(callCount) {
        for isDeath in [true, false] {
          try await withStore(limits) { sandbox in
            let version = try prepare(sandbox)
            let door = isDeath ? DyingDoor.dying(atCall: number) : DyingDoor.failing(atCall: number)
            try? sandbox.store(door).restore(version, to: sandbox.path("p"))
            if isDeath {
              let next = try sandbox.store()
              try next.recover()
              for path in try next.cutOffSaves() { _ = try next.takeLeftovers(at: path, StoreSandbox.attributes) }
              #expect(try next.performTasks() == [])
              #expect(try sandbox.rest() == [], "call \(number)")
            }
            let texts = try names.map { try sandbox.text(sandbox.path($0)) }
            #expect(Set(texts).count == 1, "call \(number)")
            try sandbox.store().restore(version, to: sandbox.path("p"))
            #expect(try names.map { try sandbox.text(sandbox.path($0)) } == names.map { _ in "old" })
          }
        }
      }
    }
  }
}
