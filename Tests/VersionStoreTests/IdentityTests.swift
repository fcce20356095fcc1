import Foundation
import SystemInterface
import Testing

@testable import VersionStore

@Suite("Which history belongs to a file", .timeLimit(.minutes(4)))
struct IdentityTests {
  @Test(
    "It goes on through saves by other programs, and through moves that nobody announces",
    arguments: ForeignEditor.allCases)
  func foreignSaves(editor: ForeignEditor) async throws {
    try await withStore { sandbox in
      let store = try sandbox.store()
      try sandbox.write("a", "1")
      #expect(try store.item(at: sandbox.path("a"), creating: false) == nil)
      let item = try #require(try store.item(at: sandbox.path("a"), creating: true))
      for text in ["2", "3"] {
        try editor.save(sandbox, "a", text)
        #expect(try store.item(at: sandbox.path("a"), creating: false) == item)
      }
      try FileManager.default.moveItem(atPath: sandbox.path("a").description, toPath: sandbox.path("b").description)
      #expect(try store.item(at: sandbox.path("b"), creating: false) == item)
      #expect(try store.item(at: sandbox.path("a"), creating: false) == nil)
      try editor.save(sandbox, "b", "4")
      #expect(try store.item(at: sandbox.path("b"), creating: true) == item)
    }
  }

  @Test(
    "A file that's missed while an editor puts a new one in its place goes on; later, or if its removal was noted, it doesn't",
    arguments: [(later: Int64(1_999_999_999), isNoted: false), (2_000_000_000, false), (0, true)])
  func missed(later: Int64, isNoted: Bool) async throws {
    try await withStore { sandbox in
      let path = try sandbox.write("a", "1")
      let item = try #require(try sandbox.store().item(at: path, creating: true))
      _ = try sandbox.store().add(contentsOf: path, to: item, StoreSandbox.attributes)
      // The steps of an editor that keeps a backup, with a look at the store in between.
      #expect(Foundation.rename(path.description, path.description + "~") == 0)
      if isNoted { try sandbox.store().noteRemoval(of: path) }
      #expect(try sandbox.store().item(at: path, creating: false) == nil)
      try sandbox.write("a", "2")
      let found = try sandbox.store(at: 1_000 + later).item(at: path, creating: false)
      #expect(found == (later < 2_000_000_000 && !isNoted ? item : nil))
      let backup = try sandbox.store(at: 1_000 + later).item(at: sandbox.path("a~"), creating: false)
      #expect(backup == (found == nil ? item : nil), "the backup is the file that was moved if no other one is")
    }
  }

  @Test("Nothing is left of a history without versions whose file is gone, nor of the directories of its place")
  func emptyHistories() async throws {
    try await withStore { sandbox in
      let store = try sandbox.store()
      let paths = try ["d/removed", "d/e/missed", "d/listed", "d/kept"].map { try sandbox.write($0, "1") }
      let items = try paths.map { try #require(try store.item(at: $0, creating: true)) }
      let version = try store.add(contentsOf: paths[0], to: items[0], StoreSandbox.attributes)
      try store.remove(version.id, of: items[0])
      let kept = try store.add(contentsOf: paths[3], to: items[3], StoreSandbox.attributes)
      for path in paths { try sandbox.files.unlink(path, at: .workingDirectory, .file) }
      try store.noteRemoval(of: paths[0])
      #expect(!store.hasHistory(of: items[0]))
      // It may come back at first.
      #expect(try store.item(at: paths[1], creating: false) == nil && store.hasHistory(of: items[1]))
      try sandbox.write("d/e/missed", "2")
      #expect(
        try sandbox.store(at: 1_000 + VersionStore.gracePeriod).item(at: paths[1], creating: false) == nil
          && !store.hasHistory(of: items[1]))
      try store.noteAbsences(below: sandbox.path("d"))
      #expect(!store.hasHistory(of: items[2]))
      #expect(try store.versions(of: items[3]) == [kept])
      #expect(try sandbox.tree("store/places" + sandbox.path("d").description).count == 2, "the history that's kept")
      let gone = try #require(try store.goneItems(below: sandbox.path("d")).first)
      #expect(try store.forget(gone))
      #expect(try sandbox.files.names(in: store.layout.places) == [])
      for group in try sandbox.files.names(in: store.layout.items) {
        #expect(try sandbox.files.names(in: store.layout.items.appending(group)) == [])
      }
    }
  }

  @Test("A place whose directories another process removes, because they were empty, is made all the same")
  func removedPlaces() async throws {
    try await withStore { sandbox in
      let store = try sandbox.store()
      let path = try sandbox.write("d/a", "1")
      let removals = Guarded(0)
      // Right before each name is made in the place, its directories go.
      let door = ScriptedFileSystem { call in
        guard call.call == .makeDirectory || call.call == .rename, let name = call.paths.last,
          name.isInside(store.layout.places), removals.withLock({ $0 }) < 20
        else { return .proceed }
        removals.withLock { $0 += 1 }
        store.removeEmptyPlaces(name.parent)
        return .proceed
      }
      let item = try #require(try sandbox.store(door).item(at: path, creating: true))
      #expect(removals.withLock { $0 } == 20)
      #expect(try store.item(at: path, creating: false) == item)
    }
  }

  @Test("A copy has none, also if it was made with all attributes", arguments: [true, false])
  func copies(looksAtCopyFirst: Bool) async throws {
    try await withStore { sandbox in
      let store = try sandbox.store()
      try sandbox.write("a", "1")
      let item = try #require(try store.item(at: sandbox.path("a"), creating: true))
      try sandbox.files.copyItem(from: sandbox.path("a"), to: sandbox.path("b"), replacing: false)
      #expect(store.tag(of: sandbox.path("b")) == item)
      if !looksAtCopyFirst { #expect(try store.item(at: sandbox.path("a"), creating: true) == item) }
      #expect(try store.item(at: sandbox.path("b"), creating: false) == nil)
      let other = try #require(try store.item(at: sandbox.path("b"), creating: true))
      #expect(other != item)
      #expect(try store.item(at: sandbox.path("a"), creating: true) == item)
      #expect(try store.item(at: sandbox.path("b"), creating: true) == other)
      // A copy with the tag of another one that replaces a file is a save of that file.
      try sandbox.files.copyItem(from: sandbox.path("a"), to: sandbox.path("b"), replacing: true)
      #expect(try store.item(at: sandbox.path("b"), creating: true) == other)
      #expect(store.tag(of: sandbox.path("b")) == other)
    }
  }

  @Test("A new file where a deleted one was has none, and the old one can be revived", arguments: [true, false])
  func deletions(isNoted: Bool) async throws {
    try await withStore { sandbox in
      let store = try sandbox.store(at: 77)
      let path = try sandbox.write("d/a", "1")
      let item = try #require(try store.item(at: path, creating: true))
      let version = try store.add(contentsOf: path, to: item, StoreSandbox.attributes)
      try FileManager.default.removeItem(atPath: path.description)
      if isNoted { try store.noteRemoval(of: sandbox.path("d")) }
      #expect(try store.item(at: path, creating: false) == nil)
      try sandbox.write("d/a", "2")
      let later = try sandbox.store(at: 77 + VersionStore.gracePeriod)
      let other = try #require(try later.item(at: path, creating: true))
      #expect(other != item)
      #expect(try store.versions(of: other) == [])
      let gone = try #require(try store.goneItems(below: sandbox.root).first)
      #expect(gone == GoneItem(item: item, path: path, time: 77, isMissed: !isNoted))
      let revived = try sandbox.write("d/b", "1")
      try store.revive(gone, at: revived)
      #expect(try store.item(at: revived, creating: false) == item)
      #expect(try store.versions(of: item) == [version])
      #expect(try store.goneItems(below: sandbox.root) == [])
    }
  }

  @Test("A directory that moves takes all histories in it along; those that were there are gone")
  func directories() async throws {
    try await withStore { sandbox in
      let store = try sandbox.store()
      var items: [String: ItemID] = [:]
      for name in ["d/a", "d/in/=b", "d/in/=item", "e/a", "e/c"] {
        items[name] = try store.item(at: sandbox.write(name, name), creating: true)
      }
      #expect(Set(items.values).count == 5)
      try FileManager.default.removeItem(atPath: sandbox.path("e").description)
      try FileManager.default.moveItem(atPath: sandbox.path("d").description, toPath: sandbox.path("e").description)
      try store.noteMove(from: sandbox.path("d"), to: sandbox.path("e"))
      for (old, new) in [("d/a", "e/a"), ("d/in/=b", "e/in/=b"), ("d/in/=item", "e/in/=item")] {
        #expect(try store.item(at: sandbox.path(new), creating: false) == items[old])
      }
      #expect(try store.item(at: sandbox.path("e/c"), creating: false) == nil)
      #expect(
        try store.goneItems(below: sandbox.path("e")).map(\.item) == [items["e/a"], items["e/c"]].compactMap(\.self))
      // A copy of what has moved isn't taken for it.
      try sandbox.files.copyItem(from: sandbox.path("e/a"), to: sandbox.path("x"), replacing: false)
      #expect(try store.item(at: sandbox.path("x"), creating: false) == nil)
    }
  }

  @Test("A file without history that takes the place of one goes on with it; a file that has one brings it along")
  func takingPlaces() async throws {
    try await withStore { sandbox in
      let store = try sandbox.store()
      let (path, other) = (try sandbox.write("a", "1"), sandbox.path("new"))
      let item = try #require(try store.item(at: path, creating: true))
      try sandbox.write("new", "2")
      #expect(Foundation.rename(other.description, path.description) == 0)
      try store.noteMove(from: other, to: path)
      #expect(try store.item(at: path, creating: false) == item)
      try sandbox.write("new", "3")
      let newcomer = try #require(try store.item(at: other, creating: true))
      #expect(Foundation.rename(other.description, path.description) == 0)
      try store.noteMove(from: other, to: path)
      #expect(try store.item(at: path, creating: false) == newcomer)
      #expect(try store.goneItems(below: path).map(\.item) == [item])
    }
  }

  @Test(
    "Files that change their places take their histories along, whichever is looked at first, also when they were saved before",
    arguments: [["a", "b"], ["b", "a"], ["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"], ["c", "b", "a"]],
    [false, true])
  func changingPlaces(looks: [String], areSaved: Bool) async throws {
    try await withStore { sandbox in
      let (store, names) = (try sandbox.store(), looks.sorted())
      var items: [ItemID] = []
      for name in names { items.append(try #require(try store.item(at: sandbox.write(name, name), creating: true))) }
      for (name, item) in zip(names, items) where areSaved {
        // Another file, which says that it's the same item.
        try sandbox.files.replaceContents(of: sandbox.path(name), with: Array("saved".utf8))
        #expect(try store.item(at: sandbox.path(name), creating: false) == item)
      }
      // Each file gets the name of the one before it.
      #expect(Foundation.rename(sandbox.path(names[0]).description, sandbox.path("out").description) == 0)
      for (old, new) in zip(names.dropFirst(), names) {
        #expect(Foundation.rename(sandbox.path(old).description, sandbox.path(new).description) == 0)
      }
      #expect(Foundation.rename(sandbox.path("out").description, sandbox.path(names[names.count - 1]).description) == 0)
      for _ in 0..<2 {
        for name in looks {
          let index = try #require(names.firstIndex(of: name))
          #expect(try store.item(at: sandbox.path(name), creating: false) == items[(index + 1) % items.count])
        }
      }
      #expect(try store.goneItems(below: sandbox.root) == [])
    }
  }

  @Test("A file that takes the name of a renamed one keeps its history, as does the renamed one, when both were saved")
  func rotation() async throws {
    try await withStore { sandbox in
      let (store, paths) = (try sandbox.store(), ["a", "b"].map(sandbox.path))
      var items: [ItemID?] = []
      for path in paths {
        try sandbox.write(path.lastComponent.description, "text")
        items.append(try store.item(at: path, creating: true))
        try sandbox.files.replaceContents(of: path, with: Array("saved".utf8))
      }
      #expect(Foundation.rename(paths[0].description, sandbox.path("c").description) == 0)
      #expect(Foundation.rename(paths[1].description, paths[0].description) == 0)
      #expect(try store.item(at: sandbox.path("c"), creating: false) == items[0])
      #expect(try store.item(at: paths[0], creating: false) == items[1])
    }
  }

  @Test("CV-29: A file that was missed while the clock was ahead isn't missed a moment ago")
  func clockSetBack() async throws {
    try await withStore { sandbox in
      let path = try sandbox.write("a", "1")
      let item = try #require(try sandbox.store().item(at: path, creating: true))
      try sandbox.files.removeItem(at: path)
      #expect(try sandbox.store(at: 3_600_000_000_000).item(at: path, creating: false) == nil)
      try sandbox.write("a", "another one")
      let new = try sandbox.store(at: 77).item(at: path, creating: true)
      #expect(new != nil && new != item)
    }
  }

  @Test("A copy of a file whose volume isn't mounted is a copy, then and later", arguments: [false, true])
  func unmounted(creating: Bool) async throws {
    try await withStore { sandbox in
      let (store, path, copy) = (try sandbox.store(), try sandbox.write("v/a", "1"), sandbox.path("copy"))
      let item = try #require(try store.item(at: path, creating: true))
      try sandbox.files.copyItem(from: path, to: copy, replacing: false)
      let status = try sandbox.files.status(of: path, at: .workingDirectory, links: .noFollow)
      // As if it had been on another volume than the one that's there now.
      var elsewhere = status
      elsewhere.identity = FileIdentity(device: status.device + 1, inode: status.identity.inode)
      try store.settle(PlaceRecord(item, elsewhere), at: path, isTagged: true)
      try sandbox.files.rename(
        path, at: .workingDirectory, to: sandbox.path("away"), at: .workingDirectory, .exclusive)
      let began = try store.item(at: copy, creating: creating)
      #expect(creating ? began != nil && began != item : began == nil)
      try sandbox.files.rename(
        sandbox.path("away"), at: .workingDirectory, to: path, at: .workingDirectory, .exclusive)
      try store.settle(PlaceRecord(item, status), at: path, isTagged: true)
      #expect(try store.item(at: path, creating: false) == item)
      #expect(try store.item(at: copy, creating: false) == began)
    }
  }

  @Test("A file takes its history along also if its volume has another number now", arguments: [false, true])
  func renumberedVolume(isSaved: Bool) async throws {
    try await withStore { sandbox in
      let (store, path, new) = (try sandbox.store(), try sandbox.write("v/a", "1"), sandbox.path("v/b"))
      let item = try #require(try store.item(at: path, creating: true))
      var former = try sandbox.files.status(of: path, at: .workingDirectory, links: .noFollow)
      former.identity = FileIdentity(device: former.device + 1, inode: former.identity.inode)
      try store.settle(PlaceRecord(item, former), at: path, isTagged: true)
      // It can't be told from another one then but by those beside it.
      if isSaved { try sandbox.files.replaceContents(of: path, with: Array("2".utf8)) }
      #expect(Foundation.rename(path.description, new.description) == 0)
      #expect(try store.item(at: new, creating: true) == item)
    }
  }

  @Test("A backup of a file that was replaced by a copy is a backup, when the original of the copy was saved by others")
  func backups() async throws {
    try await withStore { sandbox in
      let (store, path, other) = (try sandbox.store(), sandbox.path("a"), sandbox.path("t"))
      var items: [ItemID?] = []
      for path in [path, other] {
        try sandbox.write(path.lastComponent.description, "text")
        items.append(try store.item(at: path, creating: true))
      }
      try sandbox.files.copyItem(from: path, to: sandbox.path("a.bak"), replacing: false)
      try sandbox.files.copyItem(from: other, to: path, replacing: true)
      // By way of another file, without a tag.
      try sandbox.files.removeItem(at: other)
      try sandbox.write("t", "saved")
      #expect(try store.item(at: sandbox.path("a.bak"), creating: false) == nil)
      #expect(try store.item(at: path, creating: false) == items[0])
      #expect(try store.item(at: other, creating: false) == items[1])
    }
  }

  @Test(
    "A copy that replaces a file is a save of that file, also if another file has come to the place of the original")
  func copiesOfReplacedFiles() async throws {
    try await withStore { sandbox in
      let store = try sandbox.store()
      var items: [String: ItemID] = [:]
      for name in ["a", "b", "c"] { items[name] = try store.item(at: sandbox.write(name, name), creating: true) }
      try sandbox.files.copyItem(from: sandbox.path("a"), to: sandbox.path("b"), replacing: true)
      #expect(Foundation.rename(sandbox.path("c").description, sandbox.path("a").description) == 0)
      #expect(try store.item(at: sandbox.path("b"), creating: false) == items["b"])
      #expect(try store.item(at: sandbox.path("a"), creating: false) == items["c"])
    }
  }

  @Test("A look, or a history, of one store leaves what another store says of the file", arguments: [false, true])
  func severalStores(creating: Bool) async throws {
    try await withStore { sandbox in
      let other = try VersionStore(at: sandbox.root.appending("other"), worker: "2", time: { 9 })
      let store = try sandbox.store()
      let path = try sandbox.write("a", "1")
      let item = try #require(try store.item(at: path, creating: true))
      let others = try other.item(at: path, creating: creating)
      #expect((others != nil) == creating)
      #expect(Foundation.rename(path.description, sandbox.path("b").description) == 0)
      #expect(try other.item(at: sandbox.path("b"), creating: false) == others)
      #expect(try store.item(at: sandbox.path("b"), creating: false) == item)
      // A copy is one for each of them.
      try sandbox.files.copyItem(from: sandbox.path("b"), to: sandbox.path("c"), replacing: false)
      for store in [store, other] { #expect(try store.item(at: sandbox.path("c"), creating: false) == nil) }
      #expect(store.tags(of: sandbox.path("c")).contains(item) == false)
    }
  }

  @Test("Looks by several stores don't change the file")
  func looksOfSeveralStores() async throws {
    try await withStore { sandbox in
      let stores = [
        try sandbox.store(), try VersionStore(at: sandbox.root.appending("other"), worker: "2", time: { 9 }),
      ]
      let path = try sandbox.write("a", "1")
      let items = try stores.map { try $0.item(at: path, creating: true) }
      let before = try sandbox.files.extendedAttribute(VersionStore.tagName, ofItemAt: path)
      for (store, item) in zip(stores, items) {
        #expect(try store.item(at: path, creating: false) == item)
        #expect(try sandbox.files.extendedAttribute(VersionStore.tagName, ofItemAt: path) == before)
      }
    }
  }

  @Test("A file names the histories of eight stores; those that named it last stay", arguments: [8, 9])
  func tagLimit(storeCount: Int) async throws {
    try await withStore { sandbox in
      let path = try sandbox.write("a", "1")
      let items = try (0..<storeCount).map { number in
        let store = try VersionStore(at: sandbox.root.appending("store\(number)"), worker: "2", time: { 9 })
        return try #require(try store.item(at: path, creating: true))
      }
      #expect(try sandbox.store().tags(of: path) == Array(items.reversed().prefix(VersionStore.tagItemCountMax)))
      #expect(VersionStore.tagItemCountMax == 8)
    }
  }

  @Test("Without extended attributes it follows saves and noted moves")
  func withoutAttributes() async throws {
    try await withStore { sandbox in
      let door = ScriptedFileSystem { call in
        if call.call == .synchronize { return .skip }
        let refused: Set<SystemCall> = [.attribute, .setAttribute, .attributeByName, .setAttributeByName]
        return refused.contains(call.call) ? .fail(95) : .proceed
      }
      let store = try sandbox.store(door)
      let path = try sandbox.write("a", "1")
      let item = try #require(try store.item(at: path, creating: true))
      try ForeignEditor.renamingOver.save(sandbox, "a", "2")
      #expect(try store.item(at: path, creating: true) == item)
      #expect(Foundation.rename(path.description, sandbox.path("b").description) == 0)
      try store.noteMove(from: path, to: sandbox.path("b"))
      #expect(try store.item(at: sandbox.path("b"), creating: true) == item)
      #expect(Foundation.rename(sandbox.path("b").description, sandbox.path("c").description) == 0)
      #expect(try store.item(at: sandbox.path("c"), creating: true) != item)
    }
  }

  @Test(
    "Without extended attributes it's found again if its place's record has lost a byte, and no other one is",
    arguments: [true, false])
  func damagedPlace(hasAttributes: Bool) async throws {
    try await withStore { sandbox in
      let door = ScriptedFileSystem { call in
        if call.call == .synchronize { return .skip }
        let refused: Set<SystemCall> = [.attribute, .setAttribute, .attributeByName, .setAttributeByName]
        return !hasAttributes && refused.contains(call.call) ? .fail(95) : .proceed
      }
      let store = try sandbox.store(door)
      let path = try sandbox.write("a", "1")
      _ = try store.item(at: sandbox.write("b", "b"), creating: true)
      // One that was there before, and is gone.
      let former = try #require(try store.item(at: path, creating: true))
      try store.noteRemoval(of: path)
      try sandbox.files.removeItem(at: path)
      try sandbox.write("a", "2")
      let item = try #require(try store.item(at: path, creating: true))
      #expect(item != former)
      let record = store.place(of: path).appending(StoreLayout.itemName)
      var bytes = try sandbox.files.contents(of: record)
      bytes[bytes.count / 2] ^= 1
      try sandbox.files.replaceContents(of: record, with: bytes)
      #expect(try store.place(at: path) == nil)
      #expect(try store.item(at: path, creating: false) == item)
      #expect(try store.place(at: path)?.item == item)
    }
  }

  @Test("Files that are gone are named on a volume that can't be written, and nothing of it is noted")
  func readOnlyVolume() async throws {
    try await withStore { sandbox in
      let path = try sandbox.write("d/a", "1")
      let item = try #require(try sandbox.store().item(at: path, creating: true))
      let version = try sandbox.store().add(contentsOf: path, to: item, StoreSandbox.attributes)
      try sandbox.files.removeItem(at: path)
      let before = try sandbox.tree("store")
      let changes: Set<SystemCall> = [.makeDirectory, .rename, .unlink, .setAttribute, .setAttributeByName, .write]
      let door = ScriptedFileSystem { changes.contains($0.call) ? .fail(30) : .proceed }
      let store = try sandbox.store(door, at: 77)
      let gone = GoneItem(item: item, path: path, time: 77)
      #expect(try store.noteAbsences(below: sandbox.root) == [gone])
      #expect { try store.noteAbsence(of: gone) } throws: { ($0 as? VersionStoreError)?.isOfReadOnlyVolume == true }
      #expect(try store.versions(of: item) == [version])
      #expect(try sandbox.tree("store").filter { !$0.contains("steps/") } == before)
      // The history can be removed as soon as the volume can be written.
      #expect(try !sandbox.store().forget(gone))
      try sandbox.store().noteAbsence(of: gone)
      #expect(try sandbox.store().isGone(gone))
      #expect(try sandbox.store().forget(gone))
      #expect(try sandbox.store().versions(of: item) == [])
      // Another failure is one.
      _ = try sandbox.store().item(at: sandbox.write("d/a", "2"), creating: true)
      try sandbox.files.removeItem(at: path)
      let full = ScriptedFileSystem { changes.contains($0.call) ? .fail(28) : .proceed }
      #expect(throws: VersionStoreError.self) { try sandbox.store(full).noteAbsences(below: sandbox.root) }
    }
  }
}
