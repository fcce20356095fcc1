import Foundation
import SeededRandom
import SystemInterface
import Testing

@testable import VersionStore

/// The process ends at each call of an operation on whole histories: the next one finds the state before or after it.
@Suite("Histories after a crash", .timeLimit(.minutes(8)))
struct HistoryCrashTests {
  /// An operation on the histories of some files, after what a program has done with the files.
  enum Operation: CaseIterable, Sendable {
    case move, moveOver, moveToMissed, moveDirectory, mergeDirectory, removal, directoryRemoval, revival

    /// Makes the files and their versions, and does what's done before the operation.
    func prepare(_ sandbox: StoreSandbox, _ store: VersionStore) throws {
      for name in ["a", "b", "d/x", "d/y", "e/x"] {
        let path = try sandbox.write(name, "old \(name)")
        let item = try #require(try store.item(at: path, creating: true))
        for text in ["old \(name)", "shared"] {
          try sandbox.write(name, text)
          _ = try store.add(contentsOf: path, to: item, StoreSandbox.attributes)
        }
      }
      func remove(_ name: String) throws { try sandbox.files.removeItem(at: sandbox.path(name)) }
      func move(_ old: String, _ new: String) throws {
        try sandbox.files.moveItem(from: sandbox.path(old), to: sandbox.path(new), replacing: true)
      }
      switch self {
      case .move: try move("a", "c")
      case .moveOver: try move("a", "b")
      case .moveToMissed:
        try remove("b")
        #expect(try store.item(at: sandbox.path("b"), creating: false) == nil)
        try move("a", "b")
      case .moveDirectory: try move("d", "f")
      case .mergeDirectory:
        try remove("e")
        try store.noteRemoval(of: sandbox.path("e"))
        try move("d", "e")
      case .removal: try remove("a")
      case .directoryRemoval: try remove("d")
      case .revival:
        try remove("a")
        try store.noteRemoval(of: sandbox.path("a"))
      }
    }

    func run(_ sandbox: StoreSandbox, _ store: VersionStore) throws {
      switch self {
      case .move: try store.noteMove(from: sandbox.path("a"), to: sandbox.path("c"))
      case .moveOver, .moveToMissed: try store.noteMove(from: sandbox.path("a"), to: sandbox.path("b"))
      case .moveDirectory: try store.noteMove(from: sandbox.path("d"), to: sandbox.path("f"))
      case .mergeDirectory: try store.noteMove(from: sandbox.path("d"), to: sandbox.path("e"))
      case .removal: try store.noteRemoval(of: sandbox.path("a"))
      case .directoryRemoval: try store.noteRemoval(of: sandbox.path("d"))
      case .revival:
        let gone = try #require(try store.goneItems(below: .root).first)
        let version = try #require(try store.versions(of: gone.item).first)
        try store.restore(version, to: sandbox.path("a"), over: .nothing, taggedAs: gone.item)
        try store.revive(gone, at: sandbox.path("a"))
      }
    }
  }

  /// A store of a process that may end, with or without extended attributes.
  private func store(_ sandbox: StoreSandbox, isTagged: Bool, diesAt number: Int = .max) throws -> VersionStore {
    try sandbox.store(door(isTagged: isTagged, diesAt: number))
  }

  private func door(isTagged: Bool, diesAt number: Int = .max) -> ScriptedFileSystem {
    ScriptedFileSystem { call in
      if call.number >= number { return call.call == .close ? .proceed : .fail(5) }
      let refused: Set<SystemCall> = [.attribute, .setAttribute, .attributeByName, .setAttributeByName]
      return !isTagged && refused.contains(call.call) ? .fail(95) : DyingDoor.hurry(call)
    }
  }

  /// The histories of the files that are there, and of those that are gone, and everything else in the store; after the next
  /// process has looked.
  private func state(_ sandbox: StoreSandbox, isTagged: Bool) throws -> String {
    let store = try store(sandbox, isTagged: isTagged)
    try store.recover()
    let names = ["a", "b", "c", "d/x", "d/y", "e/x", "e/y", "f/x", "f/y"]
    var lines: [String] = []
    func texts(_ item: ItemID) throws -> [String] {
      try store.completeMoves(of: item)
      return try store.versions(of: item).map { version in
        try store.verify(version)
        return try sandbox.text(store.path(of: version))
      }
    }
    // Each place is looked at before the absences are noted, as if somebody listed versions, and then deleted files.
    for name in names { _ = try store.item(at: sandbox.path(name), creating: false) }
    try store.noteAbsences(below: .root)
    for name in names {
      guard let item = try store.item(at: sandbox.path(name), creating: false) else { continue }
      lines.append("\(name) has \(try texts(item))")
    }
    for gone in try store.goneItems(below: .root).sorted(by: { $0.path < $1.path }) {
      lines.append("\(gone.path.lastComponent) had \(try texts(gone.item)) \(gone.isMissed)")
    }
    let items = try FileManager.default.subpathsOfDirectory(atPath: store.layout.items.description)
    lines.append("\(items.count { $0.count == 3 + 32 }) histories")
    let places = try FileManager.default.subpathsOfDirectory(atPath: store.layout.places.description)
    let top = String(sandbox.root.description.dropFirst())
    lines += places.filter { !$0.contains("=") && $0.hasPrefix(top) }.sorted().map { String($0.dropFirst(top.count)) }
    let contents = try sandbox.tree("store").filter { $0.hasPrefix("contents/") && $0.contains("444") }
    lines += contents.map { $0.split(separator: " ").dropFirst(2).joined(separator: " ") }.sorted()
    return (lines + (try sandbox.tree("store/steps")) + (try sandbox.tree("files"))).joined(separator: "\n")
  }

  @Test(
    "CV-29: Moves, removals and revivals of histories are done or not begun, and nothing is left over",
    arguments: Operation.allCases, [true, false])
  func deaths(operation: Operation, isTagged: Bool) async throws {
    let before = try await withStore { sandbox in
      try operation.prepare(sandbox, store(sandbox, isTagged: isTagged))
      return try state(sandbox, isTagged: isTagged)
    }
    let (after, count) = try await withStore { sandbox in
      try operation.prepare(sandbox, store(sandbox, isTagged: isTagged))
      let door = door(isTagged: isTagged)
      try operation.run(sandbox, sandbox.store(door))
      return (try state(sandbox, isTagged: isTagged), door.log.count)
    }
    #expect(count > 4)
    // Without attributes nothing says that a file is the one that was brought back, until its history is: it can be brought back again.
    let unfinished = operation == .revival && !isTagged ? before + "\nwith a 644 1 old a" : nil
    var ends: Set<String> = []
    for number in explored(count) + [count + 1] {
      try await withStore { sandbox in
        try operation.prepare(sandbox, store(sandbox, isTagged: isTagged))
        try? operation.run(sandbox, store(sandbox, isTagged: isTagged, diesAt: number))
        let state = try state(sandbox, isTagged: isTagged)
        #expect(
          [before, after].contains(state) || unfinished == withoutFile("a 644 1 old a", state),
          "\(operation), call \(number): \(state)\nbefore: \(before)\nafter: \(after)")
        ends.insert(state)
      }
    }
    #expect(ends.contains(after))
  }

  /// Puts the line of a file at the end.
  private func withoutFile(_ line: String, _ state: String) -> String {
    state.replacing("\n" + line, with: "") + "\nwith " + line
  }

  /// The ways to remove versions for good.
  enum Purge: CaseIterable, Sendable {
    /// A history whose file is gone.
    case history
    /// The versions that can't be brought back any more.
    case window
  }

  private func prepare(_ purge: Purge, _ sandbox: StoreSandbox) throws -> ItemID {
    let store = try sandbox.store()
    let path = try sandbox.write("a", "0")
    let item = try #require(try store.item(at: path, creating: true))
    for number in 1...4 {
      try sandbox.write("a", "\(number)")
      _ = try store.add(contentsOf: path, to: item, StoreSandbox.attributes)
    }
    try sandbox.write("a", "bare")
    _ = try store.keep(path, of: item, StoreSandbox.attributes) { target, settle in
      try sandbox.files.replaceContents(of: path, with: Array("now".utf8), over: target, settling: settle)
    }
    if purge == .window { try store.completeMoves(of: item) }
    for version in try store.versions(of: item, unfolding: false).prefix(2) { try store.retire(version.id, of: item) }
    if purge == .history {
      try sandbox.files.removeItem(at: path)
      try store.noteRemoval(of: path)
    }
    return item
  }

  private func run(_ purge: Purge, _ store: VersionStore, _ item: ItemID) throws {
    switch purge {
    case .history: for gone in try store.goneItems(below: .root) { try store.forget(gone) }
    case .window: try store.forgetRemovals(before: .max, of: item)
    }
  }

  private func texts(_ sandbox: StoreSandbox, _ item: ItemID) throws -> (listed: [String], removed: [String]) {
    let store = try sandbox.store()
    let removed = try store.removedVersions(of: item)
    for version in removed { try store.verify(version) }
    return (try sandbox.texts(item), try removed.map { try sandbox.text(store.path(of: $0)) })
  }

  @Test(
    "CV-29: Each version is there or gone after a purge that ends at any call, and the next one removes the rest",
    arguments: Purge.allCases)
  func purges(purge: Purge) async throws {
    let (after, count) = try await withStore { sandbox in
      let item = try prepare(purge, sandbox)
      _ = try texts(sandbox, item)
      let count = try DyingDoor.callCount { try run(purge, sandbox.store($0), item) }
      return (try sandbox.tree("store").filter { !$0.hasPrefix("items/") }.count, count)
    }
    var counts: Set<Int> = []
    for number in explored(count) + [count + 1] {
      try await withStore { sandbox in
        let item = try prepare(purge, sandbox)
        let before = try texts(sandbox, item)
        // The listing has given the bare one its directory.
        try? run(purge, sandbox.store(DyingDoor.dying(atCall: number)), item)
        try sandbox.store().recover()
        try sandbox.store().sweepContents()
        let left = try texts(sandbox, item)
        #expect(Set(left.listed).isSubset(of: before.listed), "call \(number)")
        #expect(Set(left.removed).isSubset(of: before.removed), "call \(number)")
        if purge == .window { #expect(left.listed == before.listed, "call \(number)") }
        counts.insert(left.listed.count + left.removed.count)
        #expect(try sandbox.tree("store/steps") == [], "call \(number)")
        // The next one.
        try sandbox.store().noteAbsences(below: .root)
        try run(purge, sandbox.store(), item)
        #expect(try texts(sandbox, item).removed == [], "call \(number)")
        #expect(try sandbox.tree("store").filter { !$0.hasPrefix("items/") }.count == after, "call \(number)")
        if purge == .history {
          #expect(try sandbox.store().goneItems(below: .root) == [], "call \(number)")
          let rest = try sandbox.tree("store").filter { $0.contains(item.description) || $0.hasPrefix("contents/") }
          #expect(
            rest.allSatisfy { $0.hasSuffix("directory") && !$0.contains(item.description) }, "call \(number): \(rest)")
        }
      }
    }
    #expect(counts.count > 2)
  }
}
