import Foundation
import SystemInterface
import Testing

@testable import VersionStore

/// Another program, which doesn't wait, acts right before each call of an operation that overwrites a file.
///
/// The operation is the real one, and so is the other program's: the text that it finds, and the one that it leaves.
@Suite("Overwritten contents are kept, whatever another program does meanwhile", .timeLimit(.minutes(4)))
struct OverwritingTests {
  private static let item = ItemID.drawn()

  enum Operation: CaseIterable, Sendable {
    case restore, restorePackage, restoreFileOverPackage, replace, replaceContents
  }

  /// The deed of the other program.
  enum Deed: CaseIterable, Sendable {
    case replaces, writesInPlace, removes, removesAndWrites

    var leaves: Bool { self != .removes }
  }

  @Test(
    "CV-17: A restored version loses no text that another program writes in the last instant", arguments: Deed.allCases)
  func restoring(deed: Deed) async throws { try await explore(.restore, deed) }

  @Test("The contents that a merge overwrites are kept as they are in the last instant", arguments: Deed.allCases)
  func merging(deed: Deed) async throws { try await explore(.replaceContents, deed) }

  @Test("The contents that a save overwrites are kept as they are in the last instant", arguments: Deed.allCases)
  func saving(deed: Deed) async throws { try await explore(.replace, deed) }

  @Test("A restored package loses no member that another program writes in the last instant")
  func packages() async throws { try await explore(.restorePackage, .writesInPlace) }

  @Test("A file that's restored over its package loses no member that another program writes in the last instant")
  func fileOverPackage() async throws { try await explore(.restoreFileOverPackage, .writesInPlace) }

  private func explore(_ operation: Operation, _ deed: Deed) async throws {
    let isPackage = operation == .restorePackage || operation == .restoreFileOverPackage
    let place = isPackage ? "a/member" : "a"
    func prepare(_ sandbox: StoreSandbox) throws -> StoredVersion {
      try sandbox.write(operation == .restoreFileOverPackage ? "b" : place, "old")
      let source = sandbox.path(operation == .restoreFileOverPackage ? "b" : "a")
      let version = try sandbox.store().add(contentsOf: source, to: Self.item, StoreSandbox.attributes)
      try sandbox.write(place, "mine")
      let path = sandbox.path("a")
      _ = try sandbox.store().item(at: path, creating: true)
      return version
    }
    let count = try await withStore { sandbox in
      let version = try prepare(sandbox)
      return try DyingDoor.callCount { try perform(operation, version, sandbox, $0) }
    }
    for number in explored(count) {
      try await withStore { sandbox in
        let version = try prepare(sandbox)
        let isDone = Guarded(false)
        let door = DyingDoor.interrupted(atCall: number) {
          let done = carryOut(deed, at: place, in: sandbox)
          isDone.withLock { $0 = done }
        }
        let comment: Comment = "\(operation), \(deed) before call \(number)"
        // It may fail, for example because nothing is there: then, too, no text is lost.
        try? perform(operation, version, sandbox, door)
        let texts = try texts(sandbox)
        if deed.leaves, isDone.withLock({ $0 }) { #expect(texts.contains("theirs"), comment) }
        #expect(texts.contains("old"), comment)
      }
    }
  }

  private func perform(
    _ operation: Operation, _ version: StoredVersion, _ sandbox: StoreSandbox, _ door: any FileSystem
  ) throws {
    let (store, path) = (try sandbox.store(door, at: 5_000), sandbox.path("a"))
    if operation == .replace {
      _ = try store.keep(path, of: Self.item, StoreSandbox.attributes) { target, settle in
        try door.replaceContents(of: path, with: Array("result".utf8), over: target, settling: settle)
      }
      return
    }
    let state = try store.keepState(of: path, for: Self.item, StoreSandbox.attributes).state
    let target = RestoringTarget.kept(state) { (other) throws(VersionStoreError) in
      _ = try store.add(
        contentsOf: other, to: Self.item, named: path.lastComponent, StoreSandbox.attributes)
    }
    if operation == .replaceContents {
      try store.replaceContents(of: path, with: Array("result".utf8), over: target)
    } else {
      try store.restore(version, to: path, over: target)
    }
  }

  /// - Returns: Whether it's done: a package may be a file by then, or gone.
  private func carryOut(_ deed: Deed, at name: String, in sandbox: StoreSandbox) -> Bool {
    if name != "a", (try? sandbox.files.statusIfPresent(of: sandbox.path("a")))??.kind != .directory { return false }
    do {
      switch deed {
      case .replaces:
        try sandbox.write("draft", "theirs")
        try sandbox.files.rename(
          sandbox.path("draft"), at: .workingDirectory, to: sandbox.path(name), at: .workingDirectory, .replacing)
      case .writesInPlace: try sandbox.write(name, "theirs")
      case .removes: try sandbox.files.unlink(sandbox.path(name), at: .workingDirectory, .file)
      case .removesAndWrites:
        try sandbox.files.unlink(sandbox.path(name), at: .workingDirectory, .file)
        try sandbox.write(name, "theirs")
      }
    } catch {
      Issue.record("\(deed): \(error)")
    }
    return true
  }

  /// All texts: of files, and of the versions that are what their records say.
  private func texts(_ sandbox: StoreSandbox) throws -> Set<String> {
    let store = try sandbox.store()
    var lines = try sandbox.tree("files")
    for version in try store.versions(of: Self.item) where (try? store.verify(version)) != nil {
      let directory = store.layout.directory(of: version.id, of: version.item)
      lines += try sandbox.tree(String(directory.description.dropFirst(sandbox.root.description.count + 1)))
    }
    let ends = lines.compactMap { $0.split(separator: " ").last.map(String.init) }
    return Set(ends).intersection(["old", "mine", "theirs", "result"])
  }
}
