import SystemInterface
import Testing

@testable import VersionStore

@Suite("Histories of deleted files that are removed while a program finds the file")
struct ForgettingTests {
  /// A file with two versions that a program has moved without coordination, so that it's listed as gone.
  private struct Scene {
    let sandbox: StoreSandbox
    let item: ItemID
    let moved: SystemPath
    let versions: [StoredVersion]
    let gone: GoneItem

    init(_ sandbox: StoreSandbox) throws {
      self.sandbox = sandbox
      let (store, path) = (try sandbox.store(), try sandbox.write("a", "one"))
      item = try #require(try store.item(at: path, creating: true))
      _ = try store.add(contentsOf: path, to: item, StoreSandbox.attributes)
      try sandbox.write("a", "two")
      _ = try store.add(contentsOf: path, to: item, StoreSandbox.attributes)
      versions = try store.versions(of: item)
      moved = sandbox.path("moved")
      try sandbox.files.rename(path, at: .workingDirectory, to: moved, at: .workingDirectory, .exclusive)
      try store.noteAbsences(below: sandbox.path(""))
      gone = try #require(try store.goneItems(below: sandbox.path("")).first)
    }

    /// The versions that a look at the file shows where it is.
    func find(_ door: (any FileSystem)? = nil) throws -> [StoredVersion] {
      let store = try sandbox.store(door)
      guard try store.item(at: moved, creating: false) == item else { return [] }
      return try store.versions(of: item)
    }

    func steps() throws -> [SystemPath] {
      try sandbox.files.names(in: sandbox.store().layout.steps).filter { $0.description.hasPrefix("forgotten-") }
    }
  }

  @Test("A history that a program has seen isn't removed, whenever the program comes")
  func found() async throws {
    var (number, isOver, outcomes) = (0, false, Set<Bool>())
    while !isOver {
      number += 1
      let call = number
      isOver = try await withStore { sandbox in
        let scene = try Scene(sandbox)
        let (hasMet, seen) = (Guarded(false), Guarded<[StoredVersion]>([]))
        let door = DyingDoor.interrupted(atCall: call) {
          hasMet.withLock { $0 = true }
          #expect(throws: Never.self, "call \(call)") {
            let versions = try scene.find()
            seen.withLock { $0 = versions }
          }
        }
        let isForgotten = try sandbox.store(door).forget(scene.gone)
        outcomes.insert(isForgotten)
        let (before, after) = (seen.withLock { $0 }, try sandbox.store().versions(of: scene.item))
        #expect(after == (isForgotten ? [] : scene.versions), "call \(call)")
        #expect(before.isEmpty || after == before, "call \(call)")
        if !isForgotten {
          #expect(try scene.find() == scene.versions, "call \(call)")
          for version in after { try sandbox.store().verify(version) }
        }
        #expect(try scene.steps() == [])
        return !hasMet.withLock { $0 }
      }
    }
    #expect(outcomes == [false, true])
  }

  @Test("A removal at any moment of a look at the moved file removes the whole history, or nothing")
  func removedMeanwhile() async throws {
    var (number, isOver, outcomes) = (0, false, Set<Bool>())
    while !isOver {
      number += 1
      let call = number
      isOver = try await withStore { sandbox in
        let scene = try Scene(sandbox)
        let (hasMet, isForgotten) = (Guarded(false), Guarded(false))
        let door = DyingDoor.interrupted(atCall: call) {
          hasMet.withLock { $0 = true }
          #expect(throws: Never.self, "call \(call)") {
            let result = try sandbox.store().forget(scene.gone)
            isForgotten.withLock { $0 = result }
          }
        }
        // The directory of the history may go at the moment at which the look writes there.
        let seen = (try? scene.find(door)) ?? []
        let removed = isForgotten.withLock { $0 }
        outcomes.insert(removed)
        let after = try sandbox.store().versions(of: scene.item)
        #expect(after == (removed ? [] : scene.versions), "call \(call)")
        #expect(seen.isEmpty || seen == after, "call \(call)")
        #expect(try scene.find() == after && scene.steps() == [], "call \(call)")
        return !hasMet.withLock { $0 }
      }
    }
    #expect(outcomes == [false, true])
  }

  @Test(
    "After a kill the history is there as a whole, or is gone; one that's found until then stays",
    arguments: [false, true])
  func killed(isFound: Bool) async throws {
    let count = try await withStore { sandbox in
      let scene = try Scene(sandbox)
      return try DyingDoor.callCount { door in try sandbox.store(door).forget(scene.gone) }
    }
    var outcomes: Set<Int> = []
    for call in explored(count) {
      try await withStore { sandbox in
        let scene = try Scene(sandbox)
        _ = try? sandbox.store(DyingDoor.dying(atCall: call)).forget(scene.gone)
        let seen = isFound ? try scene.find() : []
        try sandbox.store().recover()
        let after = try sandbox.store().versions(of: scene.item)
        outcomes.insert(after.count)
        #expect(after.isEmpty || after == scene.versions, "call \(call)")
        #expect(seen.isEmpty || after == seen, "call \(call)")
        for version in after { try sandbox.store().verify(version) }
        #expect(try scene.steps() == [], "call \(call)")
        if !isFound {
          try sandbox.store().noteAbsences(below: sandbox.path(""))
          for gone in try sandbox.store().goneItems(below: sandbox.path("")) { try sandbox.store().forget(gone) }
          try sandbox.store().sweepContents()
          #expect(try sandbox.tree("store/contents").filter { $0.count > 60 } == [], "call \(call)")
          #expect(try sandbox.store().goneItems(below: sandbox.path("")) == [], "call \(call)")
        }
      }
    }
    #expect(outcomes == [0, 2])
  }

  @Test("A history that a program has begun anew gets its versions back after a kill")
  func begunAnew() async throws {
    try await withStore { sandbox in
      let scene = try Scene(sandbox)
      let directory = try sandbox.store().layout.directory(of: scene.item)
      let door = DyingDoor.dying { $0.call == .rename && $0.paths.first == directory }
      _ = try? sandbox.store(door).forget(scene.gone)
      #expect(try scene.steps().count == 1 && sandbox.store().versions(of: scene.item) == [])
      // As the look does that found the history right before.
      let store = try sandbox.store()
      let status = try #require(try store.status(of: scene.moved))
      try store.settle(PlaceRecord(scene.item, status), at: scene.moved, isTagged: true)
      let third = try sandbox.store(at: 5_000).add(contentsOf: scene.moved, to: scene.item, StoreSandbox.attributes)
      try store.recover()
      #expect(try store.versions(of: scene.item) == scene.versions + [third])
      #expect(try store.lastPath(of: scene.item) == scene.moved && scene.steps() == [])
    }
  }
}
