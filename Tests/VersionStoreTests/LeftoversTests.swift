import Foundation
import SystemInterface
import Testing

@testable import VersionStore

/// The process ends at each call of an operation that overwrites a file, and another program, which doesn't wait, has written the file right
/// before it was replaced.
@Suite("The leftovers of killed saves become versions, and are removed", .timeLimit(.minutes(4)))
struct LeftoversTests {
  private static let item = ItemID.drawn()

  enum Operation: CaseIterable, Sendable {
    case restore, restoreWhereNothingIs, replaceContents, restorePackage, restoreFileOverPackage, keep

    var isOverPackage: Bool { self == .restorePackage || self == .restoreFileOverPackage }
    /// The text that the other program overwrites.
    var place: String { isOverPackage ? "a/member" : "a" }

    func prepare(_ sandbox: StoreSandbox) throws -> StoredVersion {
      let source = self == .restoreFileOverPackage ? "b" : place
      try sandbox.write(source, "old")
      let version = try sandbox.store().add(
        contentsOf: sandbox.path(self == .restorePackage ? "a" : source), to: item, StoreSandbox.attributes)
      if self == .restoreFileOverPackage {
        try FileManager.default.removeItem(atPath: sandbox.path("b").description)
      }
      if self == .restoreWhereNothingIs {
        try FileManager.default.removeItem(atPath: sandbox.path("a").description)
      } else {
        try sandbox.write(place, "mine")
        _ = try sandbox.store().item(at: sandbox.path("a"), creating: true)
      }
      return version
    }

    /// Whether a call is about to take the file's place.
    func replaces(_ sandbox: StoreSandbox, by call: ScriptedCall) -> Bool {
      if self == .restoreWhereNothingIs || call.call != .rename { return false }
      // Copies in the store get their names so as well, before the restoration begins.
      let isSaving = self == .keep || (try? sandbox.rest().contains { $0.hasPrefix("saving-") }) == true
      return isSaving && call.paths.last?.lastComponent == SystemPath("a")
    }

    func run(_ version: StoredVersion, _ sandbox: StoreSandbox, _ door: any FileSystem) throws {
      let (store, path) = (try sandbox.store(door, at: 5_000), sandbox.path("a"))
      if self == .restoreWhereNothingIs { return try store.restore(version, to: path, over: .nothing) }
      guard let item = try store.item(at: path, creating: true) else { return }
      if self == .keep {
        _ = try store.keep(path, of: item, StoreSandbox.attributes) { target, settle in
          try door.replaceContents(of: path, with: Array("result".utf8), over: target, settling: settle)
        }
        return
      }
      let state = try store.keepState(of: path, for: item, StoreSandbox.attributes).state
      let target = RestoringTarget.kept(state) { (other) throws(VersionStoreError) in
        _ = try store.add(contentsOf: other, to: item, named: path.lastComponent, StoreSandbox.attributes)
      }
      if self == .replaceContents {
        try store.replaceContents(of: path, with: Array("result".utf8), over: target)
      } else {
        try store.restore(version, to: path, over: target)
      }
    }
  }

  @Test(
    "CV-37: A text that another program has written before a restoration is killed is in the item or a version after the next call, and nothing is left",
    arguments: Operation.allCases)
  func kills(operation: Operation) async throws {
    let count = try await withStore { sandbox in
      let version = try operation.prepare(sandbox)
      return try DyingDoor.callCount { try operation.run(version, sandbox, $0) }
    }
    var (leftCount, keptCount) = (0, 0)
    for number in explored(count) + [count + 1] {
      try await withStore { sandbox in
        let version = try operation.prepare(sandbox)
        let hasWritten = Guarded(false)
        let door = DyingDoor.dying(atCall: number) { call in
          guard operation.replaces(sandbox, by: call) else { return }
          hasWritten.withLock { hasWritten in
            if !hasWritten { hasWritten = (try? sandbox.write(operation.place, "theirs")) != nil }
          }
        }
        try? operation.run(version, sandbox, door)
        let before = try sandbox.rest()
        leftCount += before.isEmpty ? 0 : 1
        let added = try nextProcess(sandbox)
        keptCount += added.isEmpty ? 0 : 1
        let comment: Comment = "\(operation), call \(number), left \(before)"
        #expect(try sandbox.rest() == [], comment)
        let texts = try texts(sandbox)
        if hasWritten.withLock({ $0 }) { #expect(texts.contains("theirs"), comment) }
        // A version that's another name of the file has the text that the file has when it's replaced.
        let isOverwritten = operation == .keep && hasWritten.withLock { $0 }
        if operation != .restoreWhereNothingIs, !isOverwritten { #expect(texts.contains("mine"), comment) }
        // The next one finds nothing more.
        #expect(try nextProcess(sandbox) == [], comment)
        #expect(try self.texts(sandbox) == texts, comment)
      }
    }
    #expect(leftCount > 0)
    if operation != .restoreWhereNothingIs { #expect(keptCount > 0) }
  }

  @Test("CV-37: The file of a save that's under way isn't taken")
  func underWay() async throws {
    try await withStore { sandbox in
      let version = try Operation.restore.prepare(sandbox)
      let (store, path) = (try sandbox.store(), sandbox.path("a"))
      let seen = Guarded(0)
      let target = RestoringTarget.kept(.nothing) { (displaced) throws(VersionStoreError) in
        // The file that was replaced has another name at this moment.
        do {
          let name = displaced.lastComponent.description
          #expect(try sandbox.rest().filter { $0.hasPrefix(".") } == [name])
          let other = try sandbox.store(alive: ["1-2"])
          try other.recover()
          #expect(try other.cutOffSaves() == [])
          #expect(try other.takeLeftovers(at: path, StoreSandbox.attributes).added.isEmpty)
          #expect(try sandbox.rest().filter { $0.hasPrefix(".") } == [name])
          seen.withLock { $0 += 1 }
        } catch { Issue.record(error) }
      }
      try store.restore(version, to: path, over: target)
      #expect(seen.withLock { $0 } == 1)
      #expect(try sandbox.rest() == [])
      #expect(try store.cutOffSaves() == [])
    }
  }

  @Test("CV-37: The leftover of a file that's gone becomes a version of that, and is found among the deleted ones")
  func goneFile() async throws {
    try await withStore { sandbox in
      let version = try Operation.restore.prepare(sandbox)
      let path = sandbox.path("a")
      try sandbox.write("a", "theirs")
      // The process ends when the two files have changed places.
      let door = DyingDoor.dying { $0.call == .rename && $0.paths.last?.lastComponent == SystemPath("a") }
      let target = RestoringTarget.kept(.nothing) { (_) throws(VersionStoreError) in }
      #expect(throws: VersionStoreError.self) { try sandbox.store(door).restore(version, to: path, over: target) }
      #expect(try sandbox.text(path) == "old")
      try sandbox.files.unlink(path, at: .workingDirectory, .file)
      let item = try #require(try sandbox.store().items(below: .root).first { $0.path == path }?.item)
      let added = try nextProcess(sandbox)
      #expect(added.map(\.item) == [item])
      #expect(try sandbox.rest() == [])
      #expect(try sandbox.store().goneItems(below: .root).map(\.item) == [item])
      let kept = try #require(added.first)
      #expect(try sandbox.text(sandbox.store().path(of: kept)) == "theirs")
      // A file that comes later doesn't change that.
      try sandbox.write("a", "another")
      #expect(try nextProcess(sandbox) == [])
      #expect(try sandbox.store().versions(of: item).contains { $0.id == kept.id })
    }
  }

  /// How the file of a killed save leaves its place.
  enum Departure: CaseIterable, Sendable {
    /// By a program that says so.
    case noted
    /// By one that doesn't, and somebody has looked at the file since.
    case found
    /// The same, and another file is at the former place.
    case replaced
    /// Nobody knows where the file is, or whether it's anywhere.
    case deleted

    func perform(_ sandbox: StoreSandbox) throws -> SystemPath {
      let (path, new) = (sandbox.path("a"), sandbox.path("moved"))
      if self == .deleted {
        try sandbox.files.unlink(path, at: .workingDirectory, .file)
        return path
      }
      try sandbox.files.rename(path, at: .workingDirectory, to: new, at: .workingDirectory, .exclusive)
      if self == .noted { try sandbox.store().noteMove(from: path, to: new) }
      #expect(try sandbox.store().item(at: new, creating: true) != nil)
      if self == .replaced { try sandbox.write("a", "another") }
      return new
    }
  }

  @Test(
    "CV-37: The leftover of a file whose history has moved on becomes a version there, whatever is at the former place",
    arguments: Departure.allCases)
  func movedHistory(departure: Departure) async throws {
    try await withStore { sandbox in
      let version = try Operation.restore.prepare(sandbox)
      let path = sandbox.path("a")
      let item = try #require(try sandbox.store().item(at: path, creating: false))
      try sandbox.write("a", "theirs")
      let door = DyingDoor.dying { $0.call == .rename && $0.paths.last?.lastComponent == SystemPath("a") }
      let target = RestoringTarget.kept(.nothing) { (_) throws(VersionStoreError) in }
      #expect(throws: VersionStoreError.self) { try sandbox.store(door).restore(version, to: path, over: target) }
      let new = try departure.perform(sandbox)
      // A caller that hasn't claimed the other place leaves it.
      let store = try sandbox.store()
      let unclaimed = try store.takeLeftovers(at: path, StoreSandbox.attributes)
      #expect(unclaimed.elsewhere == (new == path ? [] : [new]))
      let added = try unclaimed.added.map(\.version) + nextProcess(sandbox)
      #expect(added.map(\.item) == [item])
      #expect(try sandbox.text(store.path(of: #require(added.first))) == "theirs")
      #expect(try sandbox.rest() == [])
      #expect(try nextProcess(sandbox) == [])
    }
  }

  @Test(
    "CV-37: A killed save that kept a version leaves nothing for good when its file has moved on, or is gone",
    arguments: Departure.allCases, [false, true])
  func keptFileMovesOn(departure: Departure, isExchanged: Bool) async throws {
    try await withStore { sandbox in
      _ = try Operation.keep.prepare(sandbox)
      let item = try #require(try sandbox.store().item(at: sandbox.path("a"), creating: false))
      // The process ends when the new file has its first name, or its place.
      let door = DyingDoor.dying { call in
        if !isExchanged { return call.call == .link && call.paths.last?.isTemporaryName == true }
        return Operation.keep.replaces(sandbox, by: call)
      }
      #expect(throws: (any Error).self) {
        try Operation.keep.run(#require(sandbox.store().versions(of: Self.item).first), sandbox, door)
      }
      let names = try sandbox.files.names(in: sandbox.root.appending("files"))
      let draft = try #require(names.first { $0.isTemporaryName })
      if isExchanged {
        // A program that has the file open doesn't know that it was replaced.
        try sandbox.write(draft.description, "theirs")
      }
      let new = try departure.perform(sandbox)
      let store = try sandbox.store()
      try store.noteAbsences(below: sandbox.path("a"))
      try store.completeMoves(of: item)
      #expect(try sandbox.rest() == [])
      #expect(try store.openVersionIDs(of: item) == [])
      let texts = try texts(sandbox)
      if isExchanged {
        #expect(texts.isSuperset(of: ["theirs"]))
        if departure != .deleted { #expect(try sandbox.text(new) == "result") }
      } else {
        #expect(texts.contains("mine"))
        // The new file never had its place. If the kept one is gone, nobody knows that.
        #expect(texts.contains("result") == (departure == .deleted))
      }
    }
  }

  @Test(
    "CV-37: Contents that another program has written right before a killed save are in the next list, however large the file is",
    arguments: [VersionStoreLimits(), hashingLater])
  func listedAtOnce(limits: VersionStoreLimits) async throws {
    try await withStore(limits) { sandbox in
      let version = try Operation.keep.prepare(sandbox)
      let item = try #require(try sandbox.store().item(at: sandbox.path("a"), creating: false))
      // The file has been replaced by another one since it was kept.
      let door = DyingDoor.dying { call in
        guard Operation.keep.replaces(sandbox, by: call) else { return false }
        try? FileManager.default.removeItem(atPath: sandbox.path("a").description)
        return (try? sandbox.write("a", "theirs")) != nil
      }
      #expect(throws: (any Error).self) { try Operation.keep.run(version, sandbox, door) }
      #expect(try sandbox.texts(item).contains("theirs"))
      #expect(try sandbox.text(sandbox.path("a")) == "result")
    }
  }

  @Test("CV-37: A leftover stays if the version with its contents has lost a byte")
  func damagedVersion() async throws {
    try await withStore { sandbox in
      let store = try sandbox.store()
      let path = try sandbox.write("a", "old")
      let item = try #require(try store.item(at: path, creating: true))
      let version = try store.add(contentsOf: path, to: item, StoreSandbox.attributes)
      let leftover = try sandbox.write("b", "old")
      #expect(try store.addUnlessKept(leftover, to: item, at: sandbox.path("none"), StoreSandbox.attributes) == nil)
      try FileManager.default.removeItem(atPath: store.path(of: version).description)
      try sandbox.files.replaceContents(of: store.path(of: version), with: Array("OLD".utf8))
      let kept = try store.addUnlessKept(leftover, to: item, at: sandbox.path("none"), StoreSandbox.attributes)
      #expect(try sandbox.text(store.path(of: #require(kept))) == "old")
    }
  }

  @Test("A version whose record was damaged while its save was cut off doesn't hide the others")
  func damagedRecord() async throws {
    try await withStore(hashingLater) { sandbox in
      let version = try Operation.keep.prepare(sandbox)
      let item = try #require(try sandbox.store().item(at: sandbox.path("a"), creating: false))
      let other = try sandbox.store().add(contentsOf: sandbox.write("b", "b"), to: item, StoreSandbox.attributes)
      let door = DyingDoor.dying { call in Operation.keep.replaces(sandbox, by: call) }
      #expect(throws: (any Error).self) { try Operation.keep.run(version, sandbox, door) }
      let store = try sandbox.store()
      let id = try #require(try store.openVersionIDs(of: item).last)
      let record = store.recordPath(of: id, of: item)
      try FileManager.default.removeItem(atPath: record.description)
      try sandbox.files.replaceContents(of: record, with: Array("no record".utf8))
      #expect(try store.versions(of: item).contains { $0.id == other.id })
      let listing = try store.listing(of: item)
      #expect(listing.versions.contains { $0.id == other.id })
      // A damaged version is reported, or goes if its file has another name still.
      let isThere = try sandbox.tree("files").contains { $0.hasSuffix(" mine") }
      #expect(isThere || listing.damaged == [record])
    }
  }

  /// Does the work of the next process that uses the store, and the file.
  private func nextProcess(_ sandbox: StoreSandbox) throws -> [StoredVersion] {
    let (store, path) = (try sandbox.store(), sandbox.path("a"))
    try store.recover()
    var added: [StoredVersion] = []
    for path in try store.cutOffSaves() {
      var taken = try store.takeLeftovers(at: path, StoreSandbox.attributes)
      added += taken.added.map(\.version)
      taken = try store.takeLeftovers(at: path, StoreSandbox.attributes, claimed: taken.elsewhere)
      #expect(taken.elsewhere == [])
      added += taken.added.map(\.version)
    }
    if let item = try store.item(at: path, creating: false) {
      let before = Set(try store.versions(of: item, unfolding: false).map(\.id))
      try store.completeMoves(of: item)
      added += try store.versions(of: item).filter { !before.contains($0.id) }
    }
    #expect(try store.performTasks() == [])
    return added
  }

  /// All texts: of files, and of the versions of all items.
  private func texts(_ sandbox: StoreSandbox) throws -> Set<String> {
    let store = try sandbox.store()
    var lines = try sandbox.tree("files")
    let gone = try store.goneItems(below: .root).map(\.item)
    let items = try Set(store.items(below: .root).map(\.item)).union(gone + [Self.item])
    for version in try items.flatMap({ try store.versions(of: $0) }) {
      try store.verify(version)
      let directory = store.layout.directory(of: version.id, of: version.item)
      lines += try sandbox.tree(String(directory.description.dropFirst(sandbox.root.description.count + 1)))
    }
    let ends = lines.compactMap { $0.split(separator: " ").last.map(String.init) }
    return Set(ends).intersection(["old", "mine", "theirs", "result"])
  }

  @Test(
    "A copy in the making goes when the process of its step has ended, and another one when nobody has written to it for an hour"
  )
  func copiesInTheMaking() async throws {
    try await withStore { sandbox in
      let steps = try sandbox.store().layout.steps
      let id = VersionID(at: 1, after: nil)
      let (ended, alive) = (SystemPath("own-\(id).8-8"), SystemPath("own-\(id).9-9"))
      let hour: Int64 = 3_600_000_000_000
      for name in [ended, alive] {
        let path = steps.appending(SystemPath.temporaryName(for: name))
        try sandbox.files.withDescriptor(path, flags: [.create, .writeOnly], mode: 0o600) {
          (file) throws(SystemError) in
          try sandbox.files.setModificationTime(of: file, to: hour)
        }
      }
      let young = try sandbox.store(at: 2 * hour - 1, alive: ["9-9"])
      #expect(try young.recover() == 1)
      #expect(try sandbox.files.names(in: steps).compactMap(\.nameOfTemporary) == [alive])
      #expect(try sandbox.store(at: 2 * hour + 1, alive: ["9-9"]).recover() == 1)
      #expect(try sandbox.files.names(in: steps) == [])
    }
  }

  @Test("A step of a process of which nobody can tell whether it has ended goes when it's a day old")
  func unknownProcesses() async throws {
    try await withStore { sandbox in
      func store(_ worker: String, at time: Int64) throws -> VersionStore {
        try VersionStore(
          at: sandbox.root.appending("store"), worker: worker, isAlive: { $0 == worker ? true : nil }, time: { time })
      }
      let path = try sandbox.write("a", "1")
      let other = try store("5-5-77", at: 1)
      let item = try #require(try other.item(at: path, creating: true))
      _ = try other.makeTemporaryDirectory()
      let draft = path.parent.appending(SystemPath.temporaryName(for: path.lastComponent))
      try sandbox.files.withDescriptor(draft, flags: [.create, .writeOnly], mode: 0o600) { _ throws(SystemError) in }
      try other.noteSave(at: path, draft: draft, of: item)
      let steps = try sandbox.files.names(in: other.layout.steps)
      let times = try steps.compactMap { try other.status(of: other.layout.steps.appending($0))?.changeTime }
      let last = try #require(times.max())
      #expect(try store("1-2", at: last + VersionStore.unknownWorkerAgeMax - 1_000_000_000).recover() == 0)
      #expect(try sandbox.files.names(in: other.layout.steps) == steps && steps.count == 2)
      #expect(try sandbox.tree("files").count == 2)
      #expect(try store("1-2", at: last + VersionStore.unknownWorkerAgeMax).recover() == 1)
      // Files that a program writes in a directory that it was lent may be in no other place.
      #expect(try sandbox.files.names(in: other.layout.steps).map { $0.description.prefix(4) } == ["new-"])
      #expect(try sandbox.tree("files").count == 1)
    }
  }

  @Test(
    "A file that a restoration overwrites isn't kept once more if its newest version has the contents, though that isn't hashed yet"
  )
  func unhashed() async throws {
    try await withStore(hashingLater) { sandbox in
      let (store, path) = (try sandbox.store(), try sandbox.write("a", "text"))
      let item = try #require(try store.item(at: path, creating: true))
      let version = try store.add(contentsOf: path, to: item, StoreSandbox.attributes)
      #expect(version.hash == nil)
      let (kept, state) = try store.keepState(of: path, for: item, StoreSandbox.attributes)
      #expect(kept == nil && state.version?.id == version.id)
      try sandbox.write("a", "TEXT")
      #expect(try store.keepState(of: path, for: item, StoreSandbox.attributes).version != nil)
    }
  }
}

extension StoreSandbox {
  /// The names beside the files that aren't theirs, and those of steps.
  func rest() throws -> [String] {
    let beside = try files.names(in: root.appending("files")).filter { $0.bytes.first == UInt8(ascii: ".") }
    // A file that was written to be moved is removed after an hour.
    return try beside.map(\.description) + tree("store/steps").filter { !$0.hasPrefix(".restoring-") }
  }
}
