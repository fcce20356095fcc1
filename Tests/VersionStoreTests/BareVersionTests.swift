import SystemInterface
import Testing

@testable import VersionStore

@Suite("A version without a directory", .timeLimit(.minutes(4)))
struct BareVersionTests {
  private let item = ItemID.drawn()

  /// Replaces a file, and keeps it.
  @discardableResult
  private func keep(
    _ sandbox: StoreSandbox, _ door: (any FileSystem)? = nil, text: String = "new", by other: VersionStore? = nil
  ) throws -> StoredVersion {
    let (store, path) = (try other ?? sandbox.store(door), sandbox.path("a"))
    let files = door ?? sandbox.files
    return try store.keep(path, of: item, StoreSandbox.attributes) { target, settle in
      try files.replaceContents(of: path, with: Array(text.utf8), over: target, settling: settle)
    }
  }

  private func bareCount(_ sandbox: StoreSandbox) throws -> Int { try sandbox.store().bareVersionIDs(of: item).count }

  /// Unfinished work of the store.
  private func rest(_ sandbox: StoreSandbox) throws -> [String] {
    try sandbox.tree("store").filter { $0.hasPrefix("steps/") || $0.contains("/bare/") || $0.contains("/open/") }
  }

  @Test("The new file has the tag of the old one, and not its record")
  func attributes() async throws {
    try await withStore { sandbox in
      let path = try sandbox.write("a", "old", mode: 0o640)
      let store = try sandbox.store()
      store.tag(path, item)
      let version = try keep(sandbox)
      #expect(store.tag(of: path) == item)
      #expect((try? sandbox.files.extendedAttribute(.versionRecord, ofItemAt: path)) == nil)
      #expect(try bareCount(sandbox) == 1)
      #expect(try sandbox.texts(item) == ["old"])
      #expect(try store.versions(of: item) == [version])
      #expect(try rest(sandbox) == [])
      let kept = store.path(of: version)
      #expect(store.tag(of: kept) == nil)
      #expect(try sandbox.files.statusIfPresent(of: kept)?.mode == 0o444)
    }
  }

  @Test(
    "Where the file can't have a name or an attribute of the store's, the version has a directory at once",
    arguments: [
      SystemCall.setAttribute, SystemCall.link,
    ])
  func refusals(call: SystemCall) async throws {
    try await withStore { sandbox in
      try sandbox.write("a", "old")
      let door = ScriptedFileSystem { scripted in
        let isOfBare = scripted.call == .link ? scripted.paths.last?.parent.lastComponent == SystemPath("bare") : true
        return scripted.call == call && isOfBare ? .fail(95) : scripted.call == .synchronize ? .skip : .proceed
      }
      try keep(sandbox, door)
      #expect(try bareCount(sandbox) == 0)
      #expect(try sandbox.tree("files") == ["a 644 1 new"])
      #expect(try sandbox.texts(item) == ["old"])
      #expect(try rest(sandbox) == [])
    }
  }

  /// Some bare versions, two of which have the same contents.
  private func keepSome(_ sandbox: StoreSandbox) throws {
    try sandbox.write("a", "one")
    for text in ["two", "one", "three"] { try keep(sandbox, text: text) }
  }

  @Test(
    "Its directory is made whole, or next time, whatever call the process ends at or fails", arguments: [false, true])
  func deaths(isError: Bool) async throws {
    let count = try await withStore { sandbox in
      try keepSome(sandbox)
      #expect(try bareCount(sandbox) == 3)
      return try DyingDoor.callCount { try sandbox.store($0).unfold(of: item) }
    }
    var bareCounts: Set<Int> = []
    for number in explored(count) {
      try await withStore { sandbox in
        try keepSome(sandbox)
        let door = isError ? DyingDoor.failing(atCall: number) : DyingDoor.dying(atCall: number)
        _ = try? sandbox.store(door).unfold(of: item)
        #expect(try sandbox.openFiles() == [], "call \(number)")
        bareCounts.insert(try bareCount(sandbox))
        try sandbox.settle(item)
        #expect(try sandbox.texts(item) == ["one", "two", "one"], "call \(number)")
        #expect(try rest(sandbox) == [], "call \(number)")
        #expect(try sandbox.tree("store/contents").count { $0.contains("/") } == 2, "call \(number)")
        let modes = try sandbox.store().versions(of: item).map {
          try sandbox.files.statusIfPresent(of: sandbox.store().path(of: $0))?.mode
        }
        #expect(modes == [0o444, 0o444, 0o444], "call \(number)")
      }
    }
    #expect(bareCounts.isSuperset(of: [3, 1]))
  }

  @Test("Without room for directories it's listed, read and removed all the same")
  func noRoom() async throws {
    try await withStore { sandbox in
      try keepSome(sandbox)
      let full = ScriptedFileSystem { $0.call == .makeDirectory ? .fail(28) : .proceed }
      let store = try sandbox.store(full)
      let versions = try store.versions(of: item)
      #expect(try versions.map { try sandbox.text(store.path(of: $0)) } == ["one", "two", "one"])
      #expect(try store.newestVersion(of: item) == versions.last)
      #expect(try store.newestVersions(of: item, countMax: 2) == versions.suffix(2).reversed())
      #expect(try store.listing(of: item).versions == versions)
      for version in versions { try store.verify(version) }
      try store.restore(versions[1], to: sandbox.path("b"), over: .nothing)
      #expect(try sandbox.text(sandbox.path("b")) == "two")
      try store.retire(versions[0].id, of: item)
      #expect(try store.reinstate(versions[0].id, of: item) == versions[0])
      try store.remove(versions[0].id, of: item)
      #expect(throws: VersionStoreError.versionIsGone(versions[0].id)) { try store.remove(versions[0].id, of: item) }
      #expect(try store.versions(of: item) == Array(versions.dropFirst()))
      // As soon as there's room.
      #expect(try sandbox.texts(item) == ["two", "one"])
      #expect(try sandbox.text(store.path(of: versions[1])) == "two")
      // The value that was handed out before leads there as well.
      #expect(versions[1].isBare)
      #expect(try sandbox.text(VersionStore.path(ofLooked: versions[1], inStoreAt: store.root)) == "two")
    }
  }

  @Test("CV-21: It has the permissions of its file until it gets a directory, and can't be written from then on")
  func permissions() async throws {
    try await withStore { sandbox in
      try sandbox.write("a", "old", mode: 0o640)
      let id = try keep(sandbox).id
      let full = ScriptedFileSystem { $0.call == .makeDirectory ? .fail(28) : .proceed }
      for (store, mode) in [(try sandbox.store(full), 0o640), (try sandbox.store(), 0o444)] as [(VersionStore, UInt32)]
      {
        let version = try #require(try store.versions(of: item).first)
        #expect(version.id == id && version.mode == 0o640)
        #expect(try sandbox.files.statusIfPresent(of: store.path(of: version))?.mode == mode)
      }
    }
  }

  @Test("Bytes that a program writes to the file later, because it has it open, are a part of it")
  func laterWrites() async throws {
    try await withStore { sandbox in
      let path = try sandbox.write("a", "old")
      let open = try sandbox.files.open(path, at: .workingDirectory, flags: [.writeOnly], mode: 0)
      defer { try? sandbox.files.close(open) }
      try keep(sandbox)
      try sandbox.files.writeAll(Array("longer".utf8), to: open)
      #expect(try sandbox.texts(item) == ["longer"])
      #expect(try sandbox.store().listing(of: item).damaged == [])
    }
  }

  @Test("A file that gets another name elsewhere meanwhile keeps that, and the version has a file of its own")
  func otherName() async throws {
    try await withStore { sandbox in
      let (path, other) = (try sandbox.write("a", "old", mode: 0o640), sandbox.path("b"))
      try sandbox.files.link(path, at: .workingDirectory, to: other, at: .workingDirectory, links: .noFollow)
      try sandbox.files.unlink(path, at: .workingDirectory, .file)
      try sandbox.files.rename(other, at: .workingDirectory, to: path, at: .workingDirectory, .exclusive)
      let version = try keep(sandbox)
      // A program that knows the file by its number.
      let bare = try sandbox.store().layout.bare(version.id, of: item)
      try sandbox.files.link(bare, at: .workingDirectory, to: other, at: .workingDirectory, links: .noFollow)
      #expect(try sandbox.texts(item) == ["old"])
      #expect(try sandbox.tree("files") == ["a 644 1 new", "b 640 1 old"].map { $0.replacing("a 644", with: "a 640") })
    }
  }

  @Test("One whose record is gone is listed with what its file says")
  func lostRecord() async throws {
    try await withStore { sandbox in
      try sandbox.write("a", "old")
      let version = try keep(sandbox)
      let bare = try sandbox.store().layout.bare(version.id, of: item)
      try sandbox.files.withDescriptor(bare, flags: []) { (file) throws(SystemError) in
        try sandbox.files.removeExtendedAttribute(.versionRecord, of: file)
      }
      #expect(try sandbox.texts(item) == ["old"])
      let found = try #require(try sandbox.store().versions(of: item).first)
      #expect(found.id == version.id && found.hash == version.hash && found.attributes.author == nil)
    }
  }

  @Test(
    "A save that ends before the file is replaced leaves neither a version nor an attribute, and the next one keeps it",
    arguments: [SystemCall.setAttribute, SystemCall.link])
  func cutOff(last: SystemCall) async throws {
    try await withStore { sandbox in
      let path = try sandbox.write("a", "older")
      try keep(sandbox, text: "old")
      let door = DyingDoor.dying { call in
        call.call == last && (last != .link || call.paths.last?.parent.lastComponent == SystemPath("bare"))
      }
      _ = try? keep(sandbox, door)
      #expect(try sandbox.files.statusIfPresent(of: path)?.linkCount == (last == .link ? 2 : 1))
      #expect((try? sandbox.files.extendedAttribute(.versionRecord, ofItemAt: path)) != nil)
      let version = try keep(sandbox)
      #expect(try sandbox.store().bareVersionIDs(of: item).last == version.id)
      #expect(try sandbox.texts(item) == ["older", "old"])
      #expect(try sandbox.tree("files") == ["a 644 1 new"])
      #expect((try? sandbox.files.extendedAttribute(.versionRecord, ofItemAt: path)) == nil)
    }
  }

  @Test("A save in another domain that's going on keeps its version when somebody looks at the history meanwhile")
  func goingOn() async throws {
    try await withStore { sandbox in
      let path = try sandbox.write("a", "old")
      let seen = Guarded(0)
      let door = ScriptedFileSystem { call in
        if call.call == .rename, call.paths.last?.lastComponent == SystemPath("a") {
          let other = try? VersionStore(
            at: sandbox.root.appending("store"), worker: "2-2", isAlive: { $0 == "1-2" }, time: { 1_000 })
          let count = try? other?.versions(of: item).count
          seen.withLock { $0 += count == 0 ? 1 : 0 }
        }
        return call.call == .synchronize ? .skip : .proceed
      }
      let version = try keep(sandbox, door)
      #expect(seen.withLock { $0 } > 0)
      #expect(try sandbox.texts(item) == ["old"])
      #expect(try sandbox.store().versions(of: item).map(\.id) == [version.id])
      #expect(try sandbox.text(path) == "new")
    }
  }

  @Test("Two saves that don't wait for each other keep a version each")
  func both() async throws {
    try await withStore { sandbox in
      try sandbox.write("a", "old")
      let other = Guarded<StoredVersion?>(nil)
      let isOver = Guarded(false)
      @Sendable func store(_ door: any FileSystem, _ worker: String) throws -> VersionStore {
        try VersionStore(
          at: sandbox.root.appending("store"), files: door, worker: worker, isAlive: { _ in true }, time: { 1_000 })
      }
      let door = ScriptedFileSystem { call in
        let isFirst =
          call.call == .rename && call.paths.last?.lastComponent == SystemPath("a")
          && isOver.withLock { isOver in
            defer { isOver = true }
            return !isOver
          }
        if isFirst {
          let version = try? keep(sandbox, text: "theirs", by: store(DyingDoor.hurried(), "2-2"))
          other.withLock { $0 = version }
        }
        return call.call == .synchronize ? .skip : .proceed
      }
      let version = try keep(sandbox, door, by: store(door, "1-2"))
      let theirs = try #require(other.withLock { $0 })
      let versions = try sandbox.store().versions(of: item)
      #expect(Set(versions.map(\.id)).isSuperset(of: [version.id, theirs.id]))
      let texts = try sandbox.texts(item) + [sandbox.text(sandbox.path("a"))]
      #expect(Set(texts) == ["old", "theirs", "new"])
    }
  }

  @Test("If a program removes its file from the store right before it's replaced, its contents are kept all the same")
  func removedMeanwhile() async throws {
    try await withStore { sandbox in
      try sandbox.write("a", "old", mode: 0o640)
      let removedCount = Guarded(0)
      let bare = try sandbox.store().layout.bareVersions(of: item)
      let door = ScriptedFileSystem { call in
        if call.call == .rename, call.paths.last?.lastComponent == SystemPath("a") {
          for name in (try? sandbox.files.names(in: bare)) ?? [] {
            if (try? sandbox.files.unlink(bare.appending(name), at: .workingDirectory, .file)) != nil {
              removedCount.withLock { $0 += 1 }
            }
          }
        }
        return call.call == .synchronize ? .skip : .proceed
      }
      let version = try keep(sandbox, door)
      #expect(removedCount.withLock { $0 } == 1)
      #expect(try sandbox.texts(item) == ["old"])
      let found = try #require(try sandbox.store().versions(of: item).first)
      #expect(found.id == version.id && found.mode == 0o640 && found.name == SystemPath("a"))
      #expect(found.attributes == StoreSandbox.attributes && found.modificationTime == version.modificationTime)
      #expect(try rest(sandbox) == [])
      #expect(try sandbox.openFiles() == [])
    }
  }

  @Test(
    "It isn't kept once more if a process that doesn't wait has shared its contents meanwhile, or removed the version")
  func sharedMeanwhile() async throws {
    for removes in [false, true] {
      try await withStore { sandbox in
        try sandbox.write("a", "older")
        try keep(sandbox, text: "old")
        _ = try sandbox.texts(item)
        try sandbox.write("b", "old")
        _ = try sandbox.store().add(contentsOf: sandbox.path("b"), to: ItemID.drawn(), StoreSandbox.attributes)
        let (isReplaced, lookCount) = (Guarded(false), Guarded(0))
        let door = ScriptedFileSystem { call in
          // The look comes with the first call after the replaced file has lost its former name.
          let looks = isReplaced.withLock { isReplaced in
            defer { isReplaced = call.call == .unlink && call.paths.last?.isTemporaryName == true }
            return isReplaced
          }
          if looks {
            lookCount.withLock { $0 += 1 }
            let other = try? VersionStore(
              at: sandbox.root.appending("store"), worker: "2-2", isAlive: { _ in true }, time: { 1_000 })
            let newest = try? other?.versions(of: item).last
            if removes, let newest { try? other?.retire(newest.id, of: item) }
          }
          return call.call == .synchronize ? .skip : .proceed
        }
        let version = try keep(sandbox, door)
        #expect(lookCount.withLock { $0 } == 1)
        let store = try sandbox.store()
        #expect(try sandbox.texts(item) == (removes ? ["older"] : ["older", "old"]))
        #expect(try store.removedVersions(of: item).map(\.version.id) == (removes ? [version.id] : []))
      }
    }
  }

  @Test("It says who kept it, though a save that doesn't wait has given its file another record in the last instant")
  func otherRecord() async throws {
    try await withStore { sandbox in
      let path = try sandbox.write("a", "old")
      let other = VersionAttributes(deviceName: "lap", deviceID: "d2", author: "somebody")
      let isFirst = Guarded(true)
      let door = ScriptedFileSystem { call in
        let isLink = call.call == .link && call.paths.last?.parent.lastComponent == SystemPath("bare")
        if isLink,
          isFirst.withLock({ first in
            defer { first = false }; return first
          })
        {
          // It's killed before its version has the file.
          let dying = DyingDoor.dying(after: { $0.call == .setAttribute && $0.argument == .attribute(.versionRecord) })
          let store = try? VersionStore(
            at: sandbox.root.appending("store"), files: dying, worker: "2-2", time: { 1_000 })
          _ = try? store?.keep(path, of: item, other) { _, _ in }
        }
        return call.call == .synchronize ? .skip : .proceed
      }
      let version = try keep(sandbox, door)
      #expect(!isFirst.withLock { $0 })
      #expect(try sandbox.store().bareVersionIDs(of: item) == [version.id])
      #expect(try sandbox.store().versions(of: item).map(\.attributes) == [StoreSandbox.attributes])
    }
  }

  @Test("A file that isn't replaced after all, or is written in place, has a version of its own")
  func inPlace() async throws {
    try await withStore { sandbox in
      let path = try sandbox.write("a", "old")
      let store = try sandbox.store()
      _ = try store.keep(path, of: item, StoreSandbox.attributes) { _, _ in }
      #expect(try sandbox.texts(item) == ["old"])
      #expect(try sandbox.tree("files") == ["a 644 1 old"])
      #expect(try bareCount(sandbox) == 0)
    }
  }

  /// Sets the record of a bare version as another user may who can write the file.
  private func forge(
    _ version: StoredVersion, _ sandbox: StoreSandbox, _ step: Step? = nil
  ) throws -> SystemPath {
    let id = try #require(try sandbox.store().bareVersionIDs(of: item).first)
    let bare = try sandbox.store().layout.bare(id, of: item)
    var record = version.record
    if let step { record.add(step.record) }
    try sandbox.files.setExtendedAttribute(.versionRecord, ofItemAt: bare, to: record.bytes)
    return bare
  }

  @Test(
    "A record that names another place or item, or contents that aren't there, leads nowhere",
    arguments: [
      "/tmp/elsewhere", "../elsewhere", "..", ".", "a/b", "",
    ])
  func forgedNames(name: String) async throws {
    try await withStore { sandbox in
      try sandbox.write("a", "old")
      let version = try keep(sandbox)
      let other = ItemID.drawn()
      for item in [item, other] {
        let forged = StoredVersion(
          id: version.id, item: item, attributes: StoreSandbox.attributes, isPackage: false,
          hash: version.hash, size: 1 << 40, name: SystemPath(item == other ? "a" : name), mode: 0o4777,
          modificationTime: 7)
        _ = try forge(forged, sandbox)
        let listed = try sandbox.store().bareVersion(version.id, of: self.item) ?? version
        #expect(listed.item == self.item && listed.mode & 0o7000 == 0)
      }
      #expect(try sandbox.texts(item) == ["old"])
      let found = try #require(try sandbox.store().versions(of: item).first)
      #expect(found.size == 3 && found.mode == 0o644 && found.item == item && found.name.isSingleName)
      #expect(try sandbox.tree("files") == ["a 644 1 new"])
      #expect(
        try sandbox.tree("store/items").filter { $0.contains("elsewhere") || $0.contains(other.description) } == [])
    }
  }

  @Test("A record with the step of a killed save takes no file of another name")
  func forgedStep() async throws {
    try await withStore { sandbox in
      try sandbox.write("a", "old")
      let bystander = try sandbox.write(".b.abcdefgh.fcsave", "another file's")
      let version = try keep(sandbox)
      let identity = try #require(try sandbox.files.statusIfPresent(of: sandbox.path("a"))).identity
      for name in [".b.abcdefgh.fcsave", "../files/.a.abcdefgh.fcsave"] {
        let draft = Step.Draft(name: SystemPath(name), worker: "9-9")
        _ = try forge(version, sandbox, .add(item, source: sandbox.path("a"), identity, .linking, draft))
        #expect(try sandbox.store().bareRecord(version.id, of: item)?.step == nil)
      }
      #expect(try sandbox.texts(item) == ["old"])
      #expect(try sandbox.text(bystander) == "another file's")
    }
  }

  @Test(
    "A file whose permissions can't be set, because it's another user's, and one that can't be read, don't hide others")
  func unusual() async throws {
    try await withStore { sandbox in
      try keepSome(sandbox)
      let others = ScriptedFileSystem { $0.call == .setMode ? .fail(1) : $0.call == .synchronize ? .skip : .proceed }
      #expect(try sandbox.store(others).versions(of: item).count == 3)
      #expect(try rest(sandbox) == [])
      try keepSome(sandbox)
      let bare = try sandbox.store().layout.bareVersions(of: item)
      let isFirst = Guarded(true)
      let broken = ScriptedFileSystem { call in
        if call.call == .open, call.paths.last?.parent == bare,
          isFirst.withLock({ first in
            defer { first = false }
            return first
          })
        {
          return .fail(5)
        }
        return call.call == .synchronize ? .skip : .proceed
      }
      #expect(try sandbox.store(broken).versions(of: item).count == 6)
      #expect(try sandbox.texts(item) == ["one", "two", "one", "one", "two", "one"])
    }
  }

  @Test(
    "One that has a directory, and whose file couldn't be moved there, is read, removed and retired as others are",
    arguments: [
      false, true,
    ])
  func halfUnfolded(retires: Bool) async throws {
    try await withStore { sandbox in
      try sandbox.write("a", "old")
      let version = try keep(sandbox)
      let door = DyingDoor.dying { $0.call == .rename && $0.paths.last.flatMap { VersionID($0.lastComponent) } != nil }
      _ = try? sandbox.store(door).unfold(of: item)
      let store = try sandbox.store()
      #expect(try bareCount(sandbox) == 1)
      #expect(try store.versionIfPresent(version.id, of: item)?.isBare == false)
      #expect(try sandbox.text(store.path(of: version)) == "old")
      if retires { try store.retire(version.id, of: item) } else { try store.remove(version.id, of: item) }
      #expect(try store.versions(of: item).isEmpty)
      #expect(try rest(sandbox) == [])
      if retires { #expect(try sandbox.text(store.path(of: store.reinstate(version.id, of: item))) == "old") }
    }
  }

  @Test("A list of many that couldn't get directories doesn't take them for others later")
  func cached() async throws {
    try await withStore { sandbox in
      try sandbox.write("a", "0")
      for number in 1...40 { try keep(sandbox, text: "\(number)") }
      let full = ScriptedFileSystem { call in
        let isDirectory =
          call.call == .makeDirectory && call.paths.last?.lastComponent.description.hasPrefix("unfolding") == true
        return isDirectory ? .fail(28) : call.call == .synchronize ? .skip : .proceed
      }
      let store = try sandbox.store(full)
      for _ in 0..<2 {
        let versions = try store.versions(of: item)
        #expect(try versions.map { try sandbox.text(store.path(of: $0)) } == (0..<40).map { "\($0)" })
      }
    }
  }

  @Test(
    "It goes with its history, and to another store, also without room in the former one", arguments: [false, true])
  func histories(isFull: Bool) async throws {
    try await withStore { sandbox in
      let path = try sandbox.write("a", "old")
      let full = ScriptedFileSystem { call in
        let isThere = call.paths.last?.isInside(sandbox.root.appending("store")) == true
        return call.call == .makeDirectory && isThere ? .fail(28) : .proceed
      }
      let store = try sandbox.store()
      let item = try #require(try store.item(at: path, creating: true))
      func keep() throws {
        _ = try store.keep(path, of: item, StoreSandbox.attributes) { target, settle in
          try sandbox.files.replaceContents(of: path, with: Array("new".utf8), over: target, settling: settle)
        }
      }
      try keep()
      let other = try VersionStore(at: sandbox.root.appending("other"), files: DyingDoor.hurried(), worker: "1-2") { 1 }
      let moved = sandbox.path("moved")
      try sandbox.files.rename(path, at: .workingDirectory, to: moved, at: .workingDirectory, .exclusive)
      #expect(try other.adopt(item, at: moved, from: isFull ? sandbox.store(full) : store))
      let version = try #require(try other.versions(of: item).first)
      #expect(try sandbox.text(other.path(of: version)) == "old")
      #expect(try sandbox.tree("store/items").filter { $0.contains(item.description) } == [])
    }
    try await withStore { sandbox in
      try sandbox.write("a", "old")
      try keep(sandbox)
      let store = try sandbox.store()
      try store.removeHistory(GoneItem(item: item, path: sandbox.path("a"), time: 0))
      #expect(try sandbox.tree("store/items").filter { $0.contains(item.description) } == [])
    }
  }
}
