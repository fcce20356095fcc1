import ContentHashing
import Foundation
import SeededRandom
import SystemInterface
import Testing

@testable import VersionStore

@Suite("Histories that move to another store")
struct AdoptingTests {
  /// Two stores as if of two volumes; a file with two versions has moved from the first to the second, with its tag.
  private struct Scene {
    let (first, second): (VersionStore, VersionStore)
    let item: ItemID
    let path: SystemPath

    init(_ sandbox: StoreSandbox, _ door: any FileSystem = HostFileSystem(), copying: Bool = false) throws {
      first = try sandbox.store()
      second = try VersionStore(at: sandbox.root.appending("other"), files: door, worker: "2", time: { 9 })
      let old = try sandbox.write("a", "one")
      item = try #require(try first.item(at: old, creating: true))
      _ = try first.add(contentsOf: old, to: item, StoreSandbox.attributes)
      try sandbox.write("a", "two")
      _ = try first.add(contentsOf: old, to: item, StoreSandbox.attributes)
      path = sandbox.path("moved")
      try HostFileSystem().copyItem(from: old, to: path, replacing: false)
      if !copying { try HostFileSystem().removeItem(at: old) }
    }

    /// Adds a version without a directory.
    func keepBare(_ sandbox: StoreSandbox) throws -> StoredVersion {
      let path = try sandbox.write("b", "bare")
      return try first.keep(path, of: item, StoreSandbox.attributes) { target, settle in
        try sandbox.files.replaceContents(of: path, with: Array("new".utf8), over: target, settling: settle)
      }
    }
  }

  @Test("After a kill at any call of its adoption the history of a file without a tag is found by the next process")
  func untaggedAtAnyCall() async throws {
    var (number, isOver) = (0, false)
    while !isOver {
      number += 1
      isOver = try await withStore { sandbox in
        let path = try sandbox.write("a", "1")
        func store(_ name: String, _ worker: String, _ files: (any FileSystem)? = nil) throws -> VersionStore {
          try VersionStore(
            at: sandbox.root.appending(SystemPath(name)), files: files ?? DyingDoor.hurried(), worker: worker,
            isAlive: { $0 == worker }, time: { 1_000 })
        }
        let former = try store("first", "1")
        let item = try #require(try former.item(at: path, creating: true))
        let version = try former.add(contentsOf: path, to: item, StoreSandbox.attributes)
        try sandbox.files.withDescriptor(path, flags: [.nonBlocking]) { (file) throws(SystemError) in
          try sandbox.files.removeExtendedAttribute(VersionStore.tagName, of: file)
        }
        let door = DyingDoor.dying(atCall: number)
        let isDone = (try? store("second", "2", door).adopt(item, at: path, from: store("first", "2", door))) == true
        let (first, second) = (try store("first", "3"), try store("second", "3"))
        try first.recover()
        try second.recover()
        if let untaken = try second.itemWithoutTag(at: path, in: first) {
          #expect(try second.adopt(untaken, at: path, from: first), "call \(number)")
        }
        #expect(try second.item(at: path, creating: false) == item, "call \(number)")
        #expect(
          try second.versions(of: item).map(\.id) == [version.id] && !first.hasHistory(of: item), "call \(number)")
        return isDone
      }
    }
    #expect(number > 20)
  }

  @Test("All versions come along, each contents once, and the former store has nothing any more")
  func adopted() async throws {
    try await withStore { sandbox in
      let scene = try Scene(sandbox)
      #expect(try scene.second.unknownItems(at: scene.path) == [scene.item])
      let former = try scene.first.versions(of: scene.item)
      #expect(try scene.second.adopt(scene.item, at: scene.path, from: scene.first))
      #expect(try scene.second.item(at: scene.path, creating: false) == scene.item)
      let versions = try scene.second.versions(of: scene.item)
      #expect(versions == former && versions.count == 2)
      for version in versions {
        try scene.second.verify(version)
        let status = try HostFileSystem().status(
          of: scene.second.path(of: version), at: .workingDirectory, links: .noFollow)
        #expect(status.mode == 0o444 && status.linkCount == 2)
      }
      #expect(try scene.first.versions(of: scene.item) == [])
      #expect(try scene.first.goneItems(below: sandbox.path("")) == [])
      #expect(try sandbox.tree("store").filter { $0.hasPrefix("contents/") && $0.count > 60 } == [])
      #expect(try scene.second.unknownItems(at: scene.path) == [])
    }
  }

  @Test("Versions that were removed come along, and can be brought back there, until their window has ended")
  func removed() async throws {
    try await withStore { sandbox in
      let scene = try Scene(sandbox)
      let bare = try scene.keepBare(sandbox)
      let full = ScriptedFileSystem { call in
        call.call == .makeDirectory ? .fail(28) : call.call == .synchronize ? .skip : .proceed
      }
      let kept = try scene.first.versions(of: scene.item, unfolding: false)
      try sandbox.store(full, at: 6).retire(bare.id, of: scene.item)
      try sandbox.store(full, at: 7).retire(kept[0].id, of: scene.item)
      try sandbox.store(at: 8).retire(kept[1].id, of: scene.item)
      #expect(try scene.second.adopt(scene.item, at: scene.path, from: scene.first))
      #expect(try scene.first.removedVersions(of: scene.item).isEmpty)
      #expect(try sandbox.tree("store").filter { $0.contains(scene.item.description) } == [])
      let removed = try scene.second.removedVersions(of: scene.item)
      #expect(removed.map(\.version.id) == [kept[1].id, kept[0].id, bare.id] && removed.map(\.time) == [8, 7, 6])
      let texts = try removed.map { try sandbox.text(scene.second.path(of: $0)) }
      #expect(texts == ["two", "one", "bare"])
      #expect(try scene.second.versions(of: scene.item).isEmpty)
      for version in removed { _ = try scene.second.reinstate(version.version.id, of: scene.item) }
      let versions = try scene.second.versions(of: scene.item)
      #expect(versions.map(\.id) == kept.map(\.id) + [bare.id])
      #expect(versions.last?.modificationTime == bare.modificationTime)
      for version in versions { try scene.second.verify(version) }
      #expect(try scene.second.forgetRemovals(before: .max, of: scene.item) == 0)
      #expect(try sandbox.tree("other/removed") == [])
    }
  }

  @Test(
    "A removed version that another process forgets meanwhile doesn't keep the others from coming along",
    arguments: [false, true], [false, true])
  func forgotten(isBare: Bool, isInPlace: Bool) async throws {
    var (number, isOver, counts) = (0, false, Set<Int>())
    while !isOver {
      number += Budget.isLong || number == 0 ? 1 : 4
      let last = number
      isOver = try await withStore { sandbox in
        let scene = try Scene(sandbox)
        let kept = try scene.first.versions(of: scene.item)
        var id = kept[0].id
        if isBare {
          let path = try sandbox.write("b", "bare")
          id = try scene.first.keep(path, of: scene.item, StoreSandbox.attributes) { target, settle in
            try sandbox.files.replaceContents(of: path, with: Array("new".utf8), over: target, settling: settle)
          }.id
        }
        let full = ScriptedFileSystem { call in
          call.call == .makeDirectory ? .fail(28) : call.call == .synchronize ? .skip : .proceed
        }
        try sandbox.store(isInPlace ? full : nil, at: 8).retire(id, of: scene.item)
        let hasMet = Guarded(false)
        let door = DyingDoor.interrupted(atCall: last) {
          hasMet.withLock { $0 = true }
          #expect(throws: Never.self) { try sandbox.store().forgetRemovals(before: 9, of: scene.item) }
        }
        let second = try VersionStore(at: scene.second.root, files: door, worker: "2", time: { 9 })
        #expect(throws: Never.self, "call \(last)") {
          try #require(try second.adopt(scene.item, at: scene.path, from: scene.first))
        }
        let versions = try scene.second.versions(of: scene.item)
        #expect(versions == (isBare ? kept : [kept[1]]), "call \(last)")
        #expect(try scene.second.damagedRemovals(of: scene.item) == [], "call \(last)")
        let removed = try scene.second.removedVersions(of: scene.item)
        counts.insert(removed.count)
        for removed in removed {
          #expect(removed.version.id == id && removed.time == 8)
          #expect(try sandbox.text(scene.second.path(of: removed)) == (isBare ? "bare" : "one"), "call \(last)")
        }
        return hasMet.withLock { !$0 }
      }
    }
    #expect(counts == [0, 1])
  }

  @Test("A removed version without a directory that has lost its record comes along, and is damaged there, too")
  func lostRecord() async throws {
    try await withStore { sandbox in
      let scene = try Scene(sandbox)
      let id = try scene.keepBare(sandbox).id
      let full = ScriptedFileSystem { call in
        call.call == .makeDirectory ? .fail(28) : call.call == .synchronize ? .skip : .proceed
      }
      try sandbox.store(full, at: 8).retire(id, of: scene.item)
      let removal = try #require(try scene.first.removals(of: scene.item).first)
      try sandbox.files.withDescriptor(scene.first.path(of: removal, of: scene.item), flags: []) {
        (file) throws(SystemError) in try sandbox.files.removeExtendedAttribute(VersionStore.bareName, of: file)
      }
      #expect(try scene.second.adopt(scene.item, at: scene.path, from: scene.first))
      #expect(try scene.second.versions(of: scene.item).count == 2)
      let damaged = try scene.second.damagedRemovals(of: scene.item)
      #expect(try damaged.map { try sandbox.text($0) } == ["bare"])
    }
  }

  @Test("A copy on another volume doesn't take the history away")
  func copied() async throws {
    try await withStore { sandbox in
      let scene = try Scene(sandbox, copying: true)
      #expect(try !scene.second.adopt(scene.item, at: scene.path, from: scene.first))
      #expect(try scene.first.versions(of: scene.item).count == 2)
    }
  }

  @Test("A file whose volume has got a store takes its history there, where it is")
  func samePath() async throws {
    try await withStore { sandbox in
      let scene = try Scene(sandbox, copying: true)
      let path = sandbox.path("a")
      #expect(try scene.second.unknownItems(at: path) == [scene.item])
      #expect(try scene.second.adopt(scene.item, at: path, from: scene.first))
      #expect(try scene.second.item(at: path, creating: false) == scene.item)
      #expect(try scene.second.versions(of: scene.item).count == 2)
      #expect(try scene.first.versions(of: scene.item) == [])
    }
  }

  @Test("A store that doesn't know the history has nothing to give")
  func unknown() async throws {
    try await withStore { sandbox in
      let scene = try Scene(sandbox)
      #expect(try !scene.first.adopt(scene.item, at: scene.path, from: scene.second))
      #expect(try scene.first.versions(of: scene.item).count == 2)
    }
  }

  @Test(
    "A crash at any call leaves the history in one store or in both, and the next look completes it",
    arguments: [false, true], [VersionStoreLimits(), hashingLater])
  func deaths(fails: Bool, limits: VersionStoreLimits) async throws {
    let callCount = try await withStore(limits) { sandbox in
      let scene = try Scene(sandbox)
      return try DyingDoor.callCount { door in
        let store = try VersionStore(at: scene.second.root, files: door, worker: "2", time: { 9 })
        _ = try store.adopt(
          scene.item, at: scene.path, from: VersionStore(at: scene.first.root, files: door, worker: "2", time: { 9 }))
      }
    }
    for number in stride(from: 1, through: callCount, by: Budget.isLong ? 1 : 5) {
      try await withStore(limits) { sandbox in
        let scene = try Scene(sandbox)
        let door: any FileSystem = fails ? DyingDoor.failing(atCall: number) : DyingDoor.dying(atCall: number)
        _ = try? VersionStore(at: scene.second.root, files: door, worker: "2", time: { 9 }).adopt(
          scene.item, at: scene.path, from: VersionStore(at: scene.first.root, files: door, worker: "2", time: { 9 }))
        for store in [scene.first, scene.second] { try store.recover() }
        let isThere = scene.second.hasHistory(of: scene.item)
        #expect(isThere == !scene.first.hasHistory(of: scene.item), "call \(number)")
        if try !scene.second.unknownItems(at: scene.path).isEmpty {
          #expect(try scene.second.adopt(scene.item, at: scene.path, from: scene.first), "call \(number)")
        }
        #expect(try scene.second.item(at: scene.path, creating: false) == scene.item, "call \(number)")
        let versions = try scene.second.versions(of: scene.item)
        #expect(versions.allSatisfy { $0.hash != nil }, "call \(number)")
        #expect(versions.count == 2, "call \(number)")
        for version in versions { try scene.second.verify(version) }
        #expect(try sandbox.tree("other").filter { $0.hasPrefix("steps/") } == [], "call \(number)")
        #expect(try sandbox.tree("store").filter { $0.contains(scene.item.description) } == [], "call \(number)")
      }
    }
  }

  @Test("A version that's added to the history in the former store meanwhile isn't lost, whenever it comes")
  func addedMeanwhile() async throws {
    var (number, isOver) = (0, false)
    while !isOver {
      number += Budget.isLong || number == 0 ? 1 : 5
      let last = number
      isOver = try await withStore { sandbox in
        let scene = try Scene(sandbox)
        let added = Guarded<VersionID?>(nil)
        let body: @Sendable () -> Void = {
          // Another file comes to the former place, and is saved.
          guard let path = try? sandbox.write("a", "added"), let first = try? sandbox.store(at: 5_000),
            let item = try? first.item(at: path, creating: true)
          else { return }
          let version = try? first.add(contentsOf: path, to: item, StoreSandbox.attributes)
          added.withLock { $0 = version?.id }
        }
        let second = try VersionStore(
          at: scene.second.root, files: DyingDoor.interrupted(atCall: last, by: body), worker: "2", time: { 9 })
        let former = try VersionStore(
          at: scene.first.root, files: DyingDoor.hurried(), worker: "2", time: { 9 })
        _ = try second.adopt(scene.item, at: scene.path, from: former)
        guard let id = added.withLock({ $0 }) else { return true }
        let first = try sandbox.store()
        let (here, there) = (try scene.second.versions(of: scene.item), try first.versions(of: scene.item))
        let others = try first.item(at: sandbox.path("a"), creating: false).map { try first.versions(of: $0) } ?? []
        #expect((here + there + others).contains { $0.id == id }, "call \(last)")
        // The file at the former place may have been there before this one was asked for.
        #expect(here.count >= 2 || there.count == 3, "call \(last)")
        return false
      }
    }
    #expect(number > 20)
  }

  @Test("A resolution that was cut off after its file had the result is completed where the history is")
  func resolution() async throws {
    try await withStore { sandbox in
      let scene = try Scene(sandbox)
      let id = try #require(try scene.first.versions(of: scene.item).first?.id)
      let result = try scene.first.contents(ofItemAt: scene.path)?.hash
      let resolution = ConflictResolution(result: result, resolved: [id], removed: [id], time: 7)
      try scene.first.write(resolution.record, to: scene.first.layout.resolution(of: scene.item))
      #expect(try scene.second.adopt(scene.item, at: scene.path, from: scene.first))
      #expect(try scene.second.item(at: scene.path, creating: false) == scene.item)
      #expect(try scene.second.versions(of: scene.item).map(\.id).contains(id) == false)
      #expect(try scene.second.removedVersions(of: scene.item).map(\.version.id) == [id])
    }
  }

  @Test(
    "A file that has gone back after a kill keeps the history that it has there, with and without new versions",
    arguments: [false, true])
  func goneBack(hasNewVersion: Bool) async throws {
    try await withStore { sandbox in
      let scene = try Scene(sandbox)
      let place = scene.second.layout.directory(of: scene.item)
      let door = DyingDoor.dying { $0.call == .rename && $0.paths.last == place }
      let second = try VersionStore(at: scene.second.root, files: door, worker: "2", time: { 9 })
      #expect(throws: (any Error).self) { try second.adopt(scene.item, at: scene.path, from: scene.first) }
      #expect(scene.first.hasHistory(of: scene.item) && scene.second.hasHistory(of: scene.item))
      let old = sandbox.path("a")
      try sandbox.files.copyItem(from: scene.path, to: old, replacing: false)
      try sandbox.files.removeItem(at: scene.path)
      #expect(try scene.first.item(at: old, creating: false) == scene.item)
      if hasNewVersion { _ = try scene.first.add(contentsOf: old, to: scene.item, StoreSandbox.attributes) }
      try scene.second.recover()
      let count = hasNewVersion ? 3 : 2
      #expect(try scene.first.versions(of: scene.item).count == count)
      #expect(try sandbox.tree("other").filter { $0.hasPrefix("steps/") } == [])
      // An old copy would be taken for the history when the file comes once more.
      #expect(!scene.second.hasHistory(of: scene.item))
      try sandbox.files.copyItem(from: old, to: scene.path, replacing: false)
      try sandbox.files.removeItem(at: old)
      #expect(try scene.second.unknownItems(at: scene.path) == [scene.item])
      #expect(try scene.second.adopt(scene.item, at: scene.path, from: scene.first))
      #expect(try scene.second.versions(of: scene.item).count == count)
    }
  }

  @Test(
    "A file that goes back after a kill at any call of the adoption has all versions there, and none is left over",
    arguments: [false, true], [VersionStoreLimits(), hashingLater])
  func goneBackAtAnyCall(looksAtOtherFirst: Bool, limits: VersionStoreLimits) async throws {
    func adopt(_ scene: Scene, _ door: any FileSystem) throws {
      let second = try VersionStore(at: scene.second.root, files: door, worker: "2", limits: limits, time: { 9 })
      let first = try VersionStore(at: scene.first.root, files: door, worker: "2", limits: limits, time: { 9 })
      _ = try second.adopt(scene.item, at: scene.path, from: first)
      _ = try second.item(at: scene.path, creating: false)
    }
    func prepare(_ sandbox: StoreSandbox) throws -> Scene {
      let scene = try Scene(sandbox)
      let removed = try scene.keepBare(sandbox)
      try sandbox.store(at: 8).retire(removed.id, of: scene.item)
      return scene
    }
    let callCount = try await withStore(limits) { sandbox in
      let scene = try prepare(sandbox)
      return try DyingDoor.callCount { try adopt(scene, $0) }
    }
    for number in explored(callCount) + [callCount + 1] {
      try await withStore(limits) { sandbox in
        let scene = try prepare(sandbox)
        try? adopt(scene, DyingDoor.dying(atCall: number))
        let old = sandbox.path("a")
        try sandbox.files.copyItem(from: scene.path, to: old, replacing: false)
        try sandbox.files.removeItem(at: scene.path)
        // The next processes: one looks at the file, another one uses the other store.
        if looksAtOtherFirst { try scene.second.recover() }
        try scene.first.recover()
        for item in try scene.first.unknownItems(at: old) {
          _ = try scene.first.adopt(item, at: old, from: scene.second)
        }
        #expect(try scene.first.item(at: old, creating: false) == scene.item, "call \(number)")
        for _ in 1...2 {
          let texts = try sandbox.texts(scene.item)
          let removed = try scene.first.removedVersions(of: scene.item).map { removed in
            try sandbox.text(scene.first.path(of: removed))
          }
          #expect(texts == ["one", "two"] && removed == ["bare"], "call \(number)")
          try scene.second.recover()
        }
        #expect(!scene.second.hasHistory(of: scene.item), "call \(number)")
        for store in [scene.first, scene.second] { #expect(try store.performTasks() == [], "call \(number)") }
        for store in ["other", "store"] {
          #expect(try sandbox.tree(store).filter { $0.hasPrefix("steps/") } == [], "call \(number)")
        }
      }
    }
  }

  /// ```
  /// first   [--n      ----]
  /// second       [--]        // from the first one's call n
  /// ```
  @Test(
    "Two calls take a history over for two copies of its file, wherever one meets the other: all versions are there once",
    arguments: [VersionStoreLimits(), hashingLater])
  func twice(limits: VersionStoreLimits) async throws {
    var (number, isOver) = (0, false)
    while !isOver {
      number += Budget.isLong || number == 0 ? 1 : 5
      let last = number
      isOver = try await withStore(limits) { sandbox in
        let scene = try Scene(sandbox)
        let copy = sandbox.path("copy")
        try sandbox.files.copyItem(from: scene.path, to: copy, replacing: false)
        let removed = try scene.first.versions(of: scene.item)[0]
        try sandbox.store(at: 8).retire(removed.id, of: scene.item)
        let hasMet = Guarded(false)
        func stores(_ door: any FileSystem) throws -> (VersionStore, VersionStore) {
          func store(_ root: SystemPath) throws -> VersionStore {
            try VersionStore(at: root, files: door, worker: "2", limits: limits, isAlive: { $0 == "2" }, time: { 9 })
          }
          return (try store(scene.first.root), try store(scene.second.root))
        }
        let others = try stores(DyingDoor.hurried())
        let door = DyingDoor.interrupted(atCall: last) {
          hasMet.withLock { $0 = true }
          #expect(throws: Never.self, "call \(last)") {
            _ = try others.1.adopt(scene.item, at: copy, from: others.0)
          }
        }
        let (first, second) = try stores(door)
        #expect(throws: Never.self, "call \(last)") { _ = try second.adopt(scene.item, at: scene.path, from: first) }
        let versions = try scene.second.versions(of: scene.item)
        #expect(versions.count == 1, "call \(last)")
        for version in versions { try scene.second.verify(version) }
        let there = try scene.second.removedVersions(of: scene.item)
        #expect(there.map(\.version.id) == [removed.id] && there.first?.time == 8, "call \(last)")
        #expect(try scene.first.versions(of: scene.item) == [], "call \(last)")
        #expect(try sandbox.tree("other/steps").filter { $0.hasPrefix("adopt-") } == [], "call \(last)")
        return hasMet.withLock { !$0 }
      }
    }
  }

  /// ```
  /// first   [--r·······r--]       // r = its copy is complete, and gets its place
  /// second       [--c·····c--]    // c = its copy gets the first version of two
  /// ```
  @Test("No call gives another one's half-made copy its place")
  func halfMade() async throws {
    try await withStore { sandbox in
      let scene = try Scene(sandbox)
      let copy = sandbox.path("copy")
      try sandbox.files.copyItem(from: scene.path, to: copy, replacing: false)
      let (isComplete, isHalfMade, isPlaced, isOver) = (
        DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0),
        DispatchSemaphore(value: 0)
      )
      let renameCount = Guarded(0)
      let second = try VersionStore(
        at: scene.second.root,
        files: ScriptedFileSystem { call in
          if call.call == .rename,
            renameCount.withLock({ count in
              count += 1
              return count == 1
            })
          {
            isHalfMade.signal()
            isPlaced.wait()
          }
          return call.call == .synchronize ? .skip : .proceed
        }, worker: "2", time: { 9 })
      let adopted = Guarded<Bool?>(nil)
      Thread.detachNewThread {
        isComplete.wait()
        let result = try? second.adopt(scene.item, at: copy, from: scene.first)
        adopted.withLock { $0 = result }
        isHalfMade.signal()
        isOver.signal()
      }
      let place = scene.second.layout.directory(of: scene.item)
      let first = try VersionStore(
        at: scene.second.root,
        files: ScriptedFileSystem { call in
          if call.call == .rename, call.paths.last == place {
            isComplete.signal()
            isHalfMade.wait()
          }
          return call.call == .synchronize ? .skip : .proceed
        }, worker: "2", time: { 9 })
      let isAdopted = try? first.adopt(scene.item, at: scene.path, from: scene.first)
      isComplete.signal()
      isPlaced.signal()
      isOver.wait()
      #expect(isAdopted == true && adopted.withLock { $0 } == true)
      let versions = try scene.second.versions(of: scene.item)
      #expect(versions.count == 2)
      for version in versions { try scene.second.verify(version) }
      #expect(try scene.first.versions(of: scene.item) == [])
      #expect(try sandbox.tree("other/steps") == [])
    }
  }

  @Test(
    "Without room for it the history stays where it was, and no part of it takes the room that there is",
    arguments: [1, 2, 3])
  func noRoom(writeCount: Int) async throws {
    try await withStore { sandbox in
      let scene = try Scene(sandbox)
      let counted = Guarded(0)
      let full = ScriptedFileSystem { call in
        let isOfRoom = [.write, .makeDirectory, .clone, .copyRange].contains(call.call)
        let count = counted.withLock { count in
          count += isOfRoom ? 1 : 0
          return count
        }
        return isOfRoom && count >= writeCount ? .fail(28) : call.call == .synchronize ? .skip : .proceed
      }
      let store = try VersionStore(at: scene.second.root, files: full, worker: "2", time: { 9 })
      let error = #expect(throws: VersionStoreError.self) {
        _ = try store.adopt(scene.item, at: scene.path, from: scene.first)
      }
      #expect(error?.isOfFullVolume == true)
      #expect(try sandbox.tree("other").filter { $0.hasPrefix("steps/") } == [])
      #expect(try scene.second.unknownItems(at: scene.path) == [scene.item])
      #expect(try scene.first.versions(of: scene.item).count == 2)
      #expect(try scene.second.adopt(scene.item, at: scene.path, from: scene.first))
    }
  }

  @Test("If there's no room to share its contents in the end, the history has come along all the same")
  func noRoomForSharing() async throws {
    try await withStore { sandbox in
      let scene = try Scene(sandbox)
      let contents = scene.second.layout.contents
      let full = ScriptedFileSystem { call in
        let isOfSharing = call.call == .makeDirectory && call.paths.last?.isInside(contents) == true
        return isOfSharing ? .fail(28) : call.call == .synchronize ? .skip : .proceed
      }
      let store = try VersionStore(at: scene.second.root, files: full, worker: "2", time: { 9 })
      #expect(try store.adopt(scene.item, at: scene.path, from: scene.first))
      let versions = try scene.second.versions(of: scene.item)
      #expect(versions.count == 2)
      for version in versions {
        try scene.second.verify(version)
        #expect(try sandbox.files.statusIfPresent(of: scene.second.path(of: version))?.mode == 0o444)
      }
      #expect(try scene.first.versions(of: scene.item) == [])
    }
  }

  /// A door to a volume that has room for the contents of some files only; records are small enough for the rest.
  private static func roomy(_ root: SystemPath, forFiles countMax: Int) -> ScriptedFileSystem {
    ScriptedFileSystem { call in
      if call.call == .synchronize { return .skip }
      guard call.call == .open, let path = call.paths.last, isContents(path), let directory = call.directories.last
      else { return .proceed }
      // Files are copied by their names in directories that are open.
      let opened = try? HostFileSystem().readLink(
        SystemPath("/proc/self/fd/\(directory.rawValue)"), at: .workingDirectory)
      guard let opened, !FileManager.default.fileExists(atPath: "\(opened)/\(path)") else { return .proceed }
      return countOfContents(below: root) < countMax ? .proceed : .fail(28)
    }
  }

  private static func isContents(_ path: SystemPath) -> Bool {
    let name = path.lastComponent.nameOfTemporary ?? path.lastComponent
    return ["a", "p", "x", "y"].contains(name.description) || ContentHash(name.description) != nil
  }

  private static func countOfContents(below root: SystemPath) -> Int {
    let names = FileManager.default.enumerator(atPath: root.description)?.compactMap { $0 as? String } ?? []
    let files = names.filter { isContents(SystemPath($0)) }.compactMap { name in
      try? HostFileSystem().status(of: root.appending(SystemPath(name)), at: .workingDirectory, links: .noFollow)
    }
    return Set(files.filter { $0.kind == .regular && $0.size > 0 }.map(\.identity)).count
  }

  @Test("Versions with equal contents need room for these once", arguments: [false, true])
  func equalContents(isPackage: Bool) async throws {
    try await withStore { sandbox in
      let first = try sandbox.store()
      let name = isPackage ? "p/d/x" : "p"
      try sandbox.write(name, "same")
      if isPackage { try sandbox.write("p/y", "same") }
      let old = sandbox.path("p")
      let item = try #require(try first.item(at: old, creating: true))
      for _ in 0..<20 { _ = try first.add(contentsOf: old, to: item, StoreSandbox.attributes) }
      let removed = try first.versions(of: item)[3]
      try first.retire(removed.id, of: item)
      let path = sandbox.path("moved")
      try sandbox.files.copyItem(from: old, to: path, replacing: false)
      try sandbox.files.removeItem(at: old)
      let other = sandbox.root.appending("other")
      let second = try VersionStore(at: other, files: Self.roomy(other, forFiles: 1), worker: "2", time: { 9 })
      let kept = try first.versions(of: item)
      #expect(try second.adopt(item, at: path, from: first))
      #expect(try second.versions(of: item) == kept && kept.count == 19)
      let all = try second.versions(of: item).map(second.path) + second.removedVersions(of: item).map(second.path)
      var numbers: Set<FileIdentity> = []
      for version in all {
        for file in isPackage ? [version.appending("d").appending("x"), version.appending("y")] : [version] {
          let status = try sandbox.files.status(of: file, at: .workingDirectory, links: .noFollow)
          numbers.insert(status.identity)
          #expect(status.mode == 0o444 && status.linkCount == (isPackage ? 41 : 21))
        }
      }
      #expect(all.count == 20 && numbers.count == 1)
      for version in try second.versions(of: item) { try second.verify(version) }
      for version in try second.removedVersions(of: item) { try second.verify(version) }
      #expect(try first.versions(of: item) == [] && sandbox.tree("store/contents").filter { $0.count > 60 } == [])
    }
  }

  @Test("Without room for all contents nothing is lost, and nothing of them stays there")
  func noRoomForContents() async throws {
    try await withStore { sandbox in
      let scene = try Scene(sandbox)
      let store = try VersionStore(
        at: scene.second.root, files: Self.roomy(scene.second.root, forFiles: 1), worker: "2", time: { 9 })
      #expect { try store.adopt(scene.item, at: scene.path, from: scene.first) } throws: {
        ($0 as? VersionStoreError)?.isOfFullVolume == true
      }
      #expect(try sandbox.tree("other/contents").filter { $0.count > 60 } == [])
      #expect(try scene.first.versions(of: scene.item).count == 2 && !scene.second.hasHistory(of: scene.item))
      #expect(try scene.second.adopt(scene.item, at: scene.path, from: scene.first))
      for version in try scene.second.versions(of: scene.item) { try scene.second.verify(version) }
    }
  }

  @Test("Contents that were changed in the new store don't become those of a version")
  func changedContents() async throws {
    try await withStore { sandbox in
      let scene = try Scene(sandbox)
      let hash = try #require(try scene.first.versions(of: scene.item).last?.hash)
      let stored = scene.second.layout.contents(of: hash)
      try scene.second.ensureDirectory(stored.parent)
      try scene.second.writeDraft(Array("tow".utf8), to: stored)
      #expect(try scene.second.adopt(scene.item, at: scene.path, from: scene.first))
      for version in try scene.second.versions(of: scene.item) { try scene.second.verify(version) }
      #expect(try sandbox.text(stored) == "two")
    }
  }
}
