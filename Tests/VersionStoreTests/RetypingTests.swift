import Foundation
import SystemInterface
import Testing

@testable import VersionStore

/// The file `a.txt` gets the contents of a version of `a.md`, and the name.
@Suite("A version takes the place of a file that gets another name by that", .timeLimit(.minutes(4)))
struct RetypingTests {
  enum Kind: CaseIterable, Sendable { case file, package }

  private static let (old, new) = ("a.txt", "a.md")

  private func member(_ name: String, _ kind: Kind) -> String { kind == .file ? name : name + "/in" }

  private func prepare(_ sandbox: StoreSandbox, _ kind: Kind) throws -> (item: ItemID, version: StoredVersion) {
    let store = try sandbox.store()
    let (old, new) = (sandbox.path(Self.old), sandbox.path(Self.new))
    try sandbox.write(member(Self.new, kind), "markdown", mode: 0o640)
    let item = try #require(try store.item(at: new, creating: true))
    let version = try store.add(contentsOf: new, to: item, StoreSandbox.attributes)
    try sandbox.files.moveItem(from: new, to: old, replacing: false)
    try store.noteMove(from: new, to: old)
    try sandbox.write(member(Self.old, kind), "text", mode: 0o604)
    #expect(try store.item(at: old, creating: false) == item)
    return (item, version)
  }

  private func restore(_ version: StoredVersion, _ item: ItemID, _ sandbox: StoreSandbox, _ door: any FileSystem) throws
  {
    let store = try sandbox.store(door)
    let (old, new) = (sandbox.path(Self.old), sandbox.path(Self.new))
    let state = try store.keepState(of: old, for: item, StoreSandbox.attributes).state
    try store.restore(
      version, of: item, from: old, to: new, keptAs: state,
      orElse: { (other) throws(VersionStoreError) in
        _ = try store.add(contentsOf: other, to: item, named: SystemPath(Self.old), StoreSandbox.attributes)
      })
  }

  /// Does what the next process does that looks at one of the names.
  private func nextProcess(_ sandbox: StoreSandbox, _ item: ItemID) throws {
    let store = try sandbox.store()
    try store.recover()
    let both: Set = [sandbox.path(Self.old), sandbox.path(Self.new)]
    let unclaimed = try store.takeLeftovers(at: sandbox.path(Self.old), StoreSandbox.attributes).unclaimed
    #expect(unclaimed.isEmpty || unclaimed == both)
    for path in try store.cutOffSaves() {
      let taken = try store.takeLeftovers(at: path, StoreSandbox.attributes, claimed: both)
      #expect(taken.elsewhere.isEmpty && taken.unclaimed.isEmpty)
    }
    for path in both.sorted() { _ = try store.item(at: path, creating: false) }
    try sandbox.settle(item)
  }

  /// The files, where the history is, its texts, and what is left over.
  private func state(_ sandbox: StoreSandbox, _ item: ItemID, _ kind: Kind) throws -> String {
    let store = try sandbox.store()
    let files = try sandbox.tree("files").map { $0.split(separator: " ").joined(separator: " ") }
    let texts = try store.versions(of: item).map { version in
      try store.verify(version)
      return try sandbox.text(kind == .file ? store.path(of: version) : store.path(of: version).appending("in"))
    }
    let places = try store.items(below: .root).filter { $0.item == item }.map(\.path.lastComponent)
    let (gone, steps) = (try store.goneItems(below: .root).count, try sandbox.tree("store/steps"))
    return "\(files) \(Set(texts).sorted()) at \(places) gone \(gone) steps \(steps)"
  }

  @Test(
    "CV-18, CV-20: A process that ends at any call leaves the file as it was, or restored, and nothing else after the next one",
    arguments: Kind.allCases)
  func deaths(kind: Kind) async throws {
    // Whether the text was kept before.
    var before: Set<String> = []
    for isKept in [false, true] {
      try await withStore { sandbox in
        let (item, _) = try prepare(sandbox, kind)
        if isKept {
          _ = try sandbox.store().keepState(of: sandbox.path(Self.old), for: item, StoreSandbox.attributes)
        }
        try nextProcess(sandbox, item)
        before.insert(try state(sandbox, item, kind))
      }
    }
    let (after, count) = try await withStore { sandbox in
      let (item, version) = try prepare(sandbox, kind)
      let count = try DyingDoor.callCount { try restore(version, item, sandbox, $0) }
      try nextProcess(sandbox, item)
      return (try state(sandbox, item, kind), count)
    }
    #expect(after.contains("markdown") && after.contains(#"["markdown", "text"] at ["#) && !after.contains("a.txt"))
    #expect(after.contains(kind == .file ? " 604 " : " 640 "))
    var afterCount = 0
    for number in explored(count) + [count + 1] {
      try await withStore { sandbox in
        let (item, version) = try prepare(sandbox, kind)
        try? restore(version, item, sandbox, DyingDoor.dying(atCall: number))
        try nextProcess(sandbox, item)
        let state = try state(sandbox, item, kind)
        #expect(before.contains(state) || state == after, "call \(number): \(state)")
        afterCount += state == after ? 1 : 0
      }
    }
    #expect(afterCount > 1)
  }

  @Test(
    "CV-20: An error at any call leaves the file as it was, also by its name, or restored", arguments: Kind.allCases)
  func errors(kind: Kind) async throws {
    let count = try await withStore { sandbox in
      let (item, version) = try prepare(sandbox, kind)
      return try DyingDoor.callCount { try restore(version, item, sandbox, $0) }
    }
    for number in explored(count) {
      try await withStore { sandbox in
        let (item, version) = try prepare(sandbox, kind)
        let isDone: Bool
        do {
          try restore(version, item, sandbox, DyingDoor.failing(atCall: number))
          isDone = true
        } catch { isDone = false }
        let there = try sandbox.tree("files").filter { !$0.hasPrefix(".") }
        let (name, text) = isDone ? (Self.new, "markdown") : (Self.old, "text")
        #expect(there.allSatisfy { $0.hasPrefix(name) }, "call \(number): \(there)")
        #expect(try sandbox.text(sandbox.path(member(name, kind))) == text, "call \(number)")
        #expect(try sandbox.store().item(at: sandbox.path(name), creating: false) == item, "call \(number)")
        #expect(try sandbox.openFiles() == [], "call \(number)")
      }
    }
  }

  @Test(
    "CV-37: A text that another program has written in the last instant is a version, or still in its file",
    arguments: [false, true])
  func lastInstant(isKilled: Bool) async throws {
    for number in 0..<(isKilled ? 8 : 1) {
      try await withStore { sandbox in
        let (item, version) = try prepare(sandbox, .file)
        let (old, count) = (sandbox.path(Self.old), Guarded<Int?>(nil))
        // The call that takes the former file away, and those behind it.
        let door = DyingDoor.dying { call in
          if let rest = count.withLock({ $0 }) {
            count.withLock { $0 = rest - 1 }
            return isKilled && rest == 0
          }
          guard call.call == .rename, call.paths.first?.lastComponent == old.lastComponent,
            call.paths.last?.lastComponent.isTemporaryName == true
          else { return false }
          _ = try? sandbox.write(Self.old, "theirs")
          count.withLock { $0 = number }
          return false
        }
        if isKilled {
          try? restore(version, item, sandbox, door)
        } else {
          try restore(version, item, sandbox, door)
        }
        #expect(count.withLock { $0 } != nil)
        try nextProcess(sandbox, item)
        var texts = Set(try sandbox.texts(item))
        if let text = try? sandbox.text(old) { texts.insert(text) }
        #expect(texts.isSuperset(of: ["markdown", "theirs"]), "\(number)")
        #expect(try sandbox.text(sandbox.path(Self.new)) == "markdown")
        #expect(try sandbox.store().item(at: sandbox.path(Self.new), creating: false) == item)
        #expect(try sandbox.tree("files").allSatisfy { !$0.hasPrefix(".") })
      }
    }
  }

  @Test("CV-20: A file that's at the new name already stays, like the other one")
  func taken() async throws {
    try await withStore { sandbox in
      let (item, version) = try prepare(sandbox, .file)
      try sandbox.write(Self.new, "another")
      let before = try sandbox.tree("files")
      #expect(throws: VersionStoreError.self) { try restore(version, item, sandbox, DyingDoor.hurried()) }
      #expect(try sandbox.tree("files") == before)
      #expect(try sandbox.tree("store/steps") == [])
    }
  }
}
