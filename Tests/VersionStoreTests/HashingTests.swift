import ContentHashing
import SeededRandom
import Synchronization
import SystemInterface
import Testing

@testable import VersionStore

@Suite("Versions that aren't hashed yet", .timeLimit(.minutes(4)))
struct HashingTests {
  private let item = ItemID.drawn()

  @Test("A file is hashed at once up to a size, and beyond it later", arguments: [3, 4, 5])
  func sizes(size: Int) async throws {
    try await withStore(VersionStoreLimits(sizeHashedAtOnceMax: 4)) { sandbox in
      let text = String(repeating: "x", count: size)
      let file = try sandbox.write("a", text, mode: 0o640)
      let due = Mutex(0)
      let store = try VersionStore(
        at: sandbox.root.appending("store"), files: DyingDoor.hurried(), worker: "1-2", limits: sandbox.limits,
        hashingIsDue: { due.withLock { $0 += 1 } }, time: { 1_000 })
      let version = try store.add(contentsOf: file, to: item, StoreSandbox.attributes)
      let hash = ContentHash(of: Array(text.utf8))
      let isLater = size > 4
      #expect(version.hash == (isLater ? nil : hash) && version.mode == 0o640)
      #expect(due.withLock { $0 } == (isLater ? 1 : 0))
      let path = store.path(of: version)
      let status = try #require(try sandbox.files.statusIfPresent(of: path))
      #expect(status.mode == 0o444 && status.linkCount == (isLater ? 1 : 2))
      #expect(try store.unhashedVersions() == (isLater ? [UnhashedVersion(item: item, id: version.id)] : []))
      #expect(try store.performTasks() == [])
      #expect(try store.unhashedVersions() == [])
      let settled = try #require(try store.versions(of: item).first)
      #expect(settled.hash == hash && settled.size == Int64(size))
      #expect(try sandbox.files.statusIfPresent(of: store.layout.contents(of: hash))?.linkCount == 2)
      #expect(try sandbox.tree("store/steps") == [])
    }
  }

  @Test("A package is hashed at once, whatever its size")
  func packages() async throws {
    try await withStore(hashingLater) { sandbox in
      try sandbox.write("p/a", "one")
      let version = try sandbox.store().add(contentsOf: sandbox.path("p"), to: item, StoreSandbox.attributes)
      #expect(version.hash != nil)
      #expect(try sandbox.tree("store/steps") == [])
    }
  }

  @Test("Contents are hashed before they are compared")
  func onAccess() async throws {
    try await withStore(hashingLater) { sandbox in
      let store = try sandbox.store()
      let file = try sandbox.write("a", "text")
      let hash = ContentHash(of: Array("text".utf8))
      func unhashed() throws -> StoredVersion {
        let version = try store.add(contentsOf: file, to: item, StoreSandbox.attributes)
        #expect(version.hash == nil)
        return version
      }
      let verified = try unhashed()
      try store.verify(verified)
      #expect(try store.versionIfPresent(verified.id, of: item)?.hash == hash)
      let restored = try unhashed()
      try store.restore(restored, to: sandbox.path("b"))
      #expect(try sandbox.text(sandbox.path("b")) == "text")
      #expect(try store.versionIfPresent(restored.id, of: item)?.hash == hash)
      let compared = try unhashed()
      let status = try #require(try sandbox.files.statusIfPresent(of: file))
      #expect(try store.has(compared, file, status))
      #expect(try store.versionIfPresent(compared.id, of: item)?.hash == hash)
      // A change keeps what came to be known beside it.
      let changed = try store.change(compared.id, of: item) { $0.isDiscardable = true }
      #expect(changed.hash == hash && changed.isDiscardable)
      #expect(try sandbox.files.statusIfPresent(of: store.layout.contents(of: hash))?.linkCount == 4)
      #expect(try store.performTasks() == [])
    }
  }

  @Test("A byte that has changed since it was hashed is found, and a damaged hash is made again")
  func damage() async throws {
    try await withStore(hashingLater) { sandbox in
      let store = try sandbox.store()
      let version = try store.add(contentsOf: sandbox.write("a", "text"), to: item, StoreSandbox.attributes)
      try store.performTasks()
      let path = store.path(of: version)
      let hashFile = store.layout.directory(of: version.id, of: item).appending(StoreLayout.hash)
      let bytes = try sandbox.files.contents(of: hashFile)
      for index in bytes.indices {
        var changed = bytes
        changed[index] ^= 1
        try sandbox.files.replaceContents(of: hashFile, with: changed)
        #expect(try store.versionIfPresent(version.id, of: item)?.hash == nil)
      }
      #expect(try store.hashed(version).hash == ContentHash(of: Array("text".utf8)))
      #expect(try sandbox.files.contents(of: hashFile) == bytes)
      try sandbox.files.withDescriptor(path, flags: []) { (file) throws(SystemError) in
        try sandbox.files.setMode(of: file, to: 0o600)
      }
      try sandbox.files.withDescriptor(path, flags: .writeOnly) { (file) throws(SystemError) in
        try sandbox.files.writeAll(Array("T".utf8), to: file)
      }
      // Also for somebody who listed it before it was hashed.
      #expect(throws: VersionStoreError.damaged(path)) { try store.verify(version) }
    }
  }

  @Test("Bytes that a program writes to a file that it still has open, before it's hashed, are part of the version")
  func openDescriptor() async throws {
    try await withStore(hashingLater) { sandbox in
      let store = try sandbox.store()
      let file = try sandbox.write("a", "text")
      let writer = try sandbox.files.open(file, at: .workingDirectory, flags: .writeOnly, mode: 0)
      defer { try? sandbox.files.close(writer) }
      let version = try store.add(contentsOf: file, to: item, StoreSandbox.attributes, taking: .moving)
      #expect(version.hash == nil)
      let path = store.path(of: version)
      // Nobody else may open it for writing.
      #expect(try sandbox.files.statusIfPresent(of: path)?.mode == 0o444)
      try sandbox.files.writeAll(Array("longer".utf8), to: writer)
      try store.performTasks()
      let hashed = try #require(try store.versionIfPresent(version.id, of: item))
      #expect(hashed.size == 6 && hashed.hash == ContentHash(of: Array("longer".utf8)))
      try sandbox.files.writeAll(Array("!".utf8), to: writer)
      #expect(throws: VersionStoreError.damaged(path)) { try store.verify(hashed) }
    }
  }

  @Test("A file that changes while it's hashed is hashed again, a few times")
  func busy() async throws {
    try await withStore(hashingLater) { sandbox in
      let store = try sandbox.store()
      let file = try sandbox.write("a", "text")
      let writer = try sandbox.files.open(file, at: .workingDirectory, flags: .writeOnly, mode: 0)
      defer { try? sandbox.files.close(writer) }
      let version = try store.add(contentsOf: file, to: item, StoreSandbox.attributes, taking: .moving)
      let path = store.path(of: version)
      let isWriting = Mutex(true)
      let door = ScriptedFileSystem { call in
        // Each read of the version meets a write.
        if call.call == .read, call.openedPath == path, isWriting.withLock({ $0 }) {
          try? HostFileSystem().writeAll(Array("more".utf8), to: writer)
        }
        return call.call == .synchronize ? .skip : .proceed
      }
      let busy = try sandbox.store(door)
      #expect(try busy.performTasks() == [UnhashedVersion(item: item, id: version.id)])
      #expect(try busy.versionIfPresent(version.id, of: item)?.hash == nil)
      isWriting.withLock { $0 = false }
      #expect(try busy.performTasks() == [])
      try store.verify(#require(try store.versionIfPresent(version.id, of: item)))
    }
  }

  @Test("The next process takes over the tasks of one that has ended, and leaves those of others")
  func tasks() async throws {
    try await withStore(hashingLater) { sandbox in
      func store(_ worker: String) throws -> VersionStore {
        try VersionStore(
          at: sandbox.root.appending("store"), files: DyingDoor.hurried(), worker: worker, limits: sandbox.limits,
          isAlive: { $0 != "1-1" }, time: { 1_000 })
      }
      let file = try sandbox.write("a", "text")
      let dead = try store("1-1").add(contentsOf: file, to: item, StoreSandbox.attributes)
      let alive = try store("2-2").add(contentsOf: file, to: item, StoreSandbox.attributes)
      let gone = try store("1-1").add(contentsOf: file, to: item, StoreSandbox.attributes)
      let next = try store("3-3")
      try next.remove(gone.id, of: item)
      #expect(try next.unhashedVersions() == [])
      try next.recover()
      #expect(try next.unhashedVersions() == [UnhashedVersion(item: item, id: dead.id)])
      #expect(try store("2-2").unhashedVersions() == [UnhashedVersion(item: item, id: alive.id)])
      for worker in ["2-2", "3-3"] { #expect(try store(worker).performTasks() == []) }
      #expect(try sandbox.tree("store/steps") == [])
      #expect(try next.versions(of: item).allSatisfy { $0.hash != nil })
      #expect(try sandbox.tree("store/contents").count { $0.contains("/") } == 1)
    }
  }
}
