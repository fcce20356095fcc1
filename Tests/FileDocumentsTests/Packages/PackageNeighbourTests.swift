import FileCoordination
import FilePackages
import FileVersions
import Foundation
import SeededRandom
import SystemInterface
import Testing

@testable import FileDocuments

/// Lets another program act right before chosen calls of a save.
private final class Neighbour: Sendable {
  typealias Deed = @Sendable () -> Void

  private struct State: Sendable {
    /// Counts the calls of the save; `nil` before it.
    var count: Int?
    var deeds: [Int: Deed] = [:]
    /// Acts before the first exchange of names, and after it before as many calls.
    var afterExchange: [Int: Deed] = [:]
    var sinceExchange: Int?
    /// How many deeds were done.
    var doneCount = 0
    /// Whether one was done when the names had been exchanged.
    var isDoneLate = false
  }

  private let state = Guarded(State())

  var files: ScriptedFileSystem {
    ScriptedFileSystem { [self] made in
      for deed in deeds(before: made) { deed() }
      return .proceed
    }
  }

  private func deeds(before made: ScriptedCall) -> [Deed] {
    state.withLock { state in
      guard let count = state.count else { return [] }
      state.count = count + 1
      if let since = state.sinceExchange { state.sinceExchange = since + 1 }
      if made.call == .rename, state.sinceExchange == nil { state.sinceExchange = 0 }
      state.isDoneLate = state.isDoneLate || (state.sinceExchange ?? 0) > 0 && state.deeds[count] != nil
      let sinceExchange = state.sinceExchange.flatMap { state.afterExchange[$0] }
      let deeds = [state.deeds[count], sinceExchange].compactMap(\.self)
      state.doneCount += deeds.count
      return deeds
    }
  }

  func begin(_ deeds: [Int: Deed] = [:], afterExchange: [Int: Deed] = [:]) {
    state.withLock { $0 = State(count: 0, deeds: deeds, afterExchange: afterExchange) }
  }

  /// - Returns: How many deeds were done, and whether the first exchange of names came before the deed.
  func end() -> (doneCount: Int, isDoneLate: Bool) {
    state.withLock { state in
      defer { state = State() }
      return (state.doneCount, state.isDoneLate)
    }
  }
}

@Suite("Packages that another program alters during a save, without coordination", .timeLimit(.minutes(8)))
struct PackageNeighbourTests {
  enum Deed: String, CaseIterable, Sendable {
    case writesInPlace, replaces, adds, removes, writesAlteredInPlace, replacesAltered

    /// Acts as the other program, whose text is `theirs`.
    func act(_ album: URL, _ text: String = "theirs") {
      func url(_ name: String) -> URL { album.appending(path: name) }
      func write(_ name: String) {
        guard let file = try? FileHandle(forWritingTo: url(name)) else { return }
        try? file.truncate(atOffset: 0)
        try? file.write(contentsOf: Data(text.utf8))
        try? file.close()
      }
      switch self {
      case .writesInPlace: write("b.txt")
      case .replaces: try? Data(text.utf8).write(to: url("images/1.png"), options: .atomic)
      case .adds: try? Data(text.utf8).write(to: url("images/theirs.txt"))
      case .removes: try? FileManager.default.removeItem(at: url("b.txt"))
      case .writesAlteredInPlace: write("a.txt")
      case .replacesAltered: try? Data(text.utf8).write(to: url("a.txt"), options: .atomic)
      }
    }
  }

  /// Short runs leave out two of three calls.
  private static let step = Budget.isLong ? 1 : 3

  private static func alter(_ tree: inout PackageTree, _ alteredCount: Int) {
    tree.set("a.txt", "mine")
    if alteredCount > 1 { tree.set("c.txt", "mine too") }
  }

  @Test(
    "CD-76: A change that another program makes at any call of a save is in the package afterwards, or in a version",
    arguments: Deed.allCases, [1, 2])
  func anyMoment(deed: Deed, alteredCount: Int) async throws {
    var (number, isDone) = (0, true)
    // Until the save ends before its neighbour acts.
    while isDone {
      let neighbour = Neighbour()
      try await withFixture(neighbour.files) { fixture in
        try fixture.makeAlbum()
        let document = try await fixture.openAlbum()
        try await document.edit { Self.alter(&$0, alteredCount) }
        let album = fixture.album
        neighbour.begin([number: { deed.act(album) }])
        try await document.save()
        let end = neighbour.end()
        isDone = end.doneCount == 1
        try await document.edit { $0.set("d.txt", "later") }
        try await document.close()
        let members = try fixture.members()
        let found = try [members] + (await fixture.albumVersions())
        if !isDone {
          #expect(found.count == 1 && members["b.txt"] == "b", "call \(number): \(found)")
        } else if deed != .removes {
          #expect(found.contains { $0.values.contains("theirs") }, "call \(number): \(found)")
        } else {
          #expect(members["b.txt"] == nil || found.count > 1, "call \(number): \(found)")
        }
        // Unless the other program has overwritten what was saved.
        let isOverwritten = end.isDoneLate && members["a.txt"] == "theirs"
        #expect(isOverwritten || found.contains { $0["a.txt"] == "mine" }, "call \(number): \(found)")
        #expect(members["d.txt"] == "later", "call \(number): \(found)")
        #expect(alteredCount == 1 || members["c.txt"] == "mine too", "call \(number): \(found)")
        #expect(try fixture.names() == ["album"], "call \(number)")
      }
      number += Self.step
    }
    #expect(number > 20)
  }

  @Test("CD-76: So are changes to both packages, if the new one is altered before it's taken back from its place")
  func bothPackages() async throws {
    var (number, isDone) = (1, true)
    while isDone {
      let neighbour = Neighbour()
      try await withFixture(neighbour.files) { fixture in
        try fixture.makeAlbum()
        let document = try await fixture.openAlbum()
        try await document.edit { Self.alter(&$0, 2) }
        let album = fixture.album
        neighbour.begin(
          afterExchange: [
            0: { Deed.replaces.act(album) }, number: { Deed.adds.act(album, "theirs, later") },
          ])
        try await document.save()
        isDone = neighbour.end().doneCount == 2
        try await document.edit { $0.set("d.txt", "later") }
        try await document.close()
        let members = try fixture.members()
        let found = try [members] + (await fixture.albumVersions())
        for text in ["theirs", "theirs, later"].prefix(isDone ? 2 : 1) {
          #expect(found.contains { $0.values.contains(text) }, "call \(number): \(text) isn't in \(found)")
        }
        #expect(members["a.txt"] == "mine" && members["c.txt"] == "mine too", "call \(number): \(found)")
        #expect(try fixture.names() == ["album"], "call \(number)")
      }
      number += Self.step
    }
    #expect(number > 10)
  }

  @Test("CD-76: A member replaced alone isn't written over another program's, and others that it alters are noticed")
  func membersAlone() async throws {
    for deed in [Deed.replacesAltered, .writesAlteredInPlace, .adds, .writesInPlace] {
      var (number, isDone) = (0, true)
      while isDone {
        let neighbour = Neighbour()
        try await withFixture(neighbour.files) { fixture in
          try fixture.makeAlbum()
          let document = try await fixture.openAlbum()
          let album = fixture.album
          neighbour.begin([number: { deed.act(album) }])
          try? await document.replaceMember(SystemPath("a.txt"), with: Data("mine".utf8))
          isDone = neighbour.end().doneCount == 1
          try await document.edit { $0.set("d.txt", "later") }
          try await document.close()
          let found = try [fixture.members()] + (await fixture.albumVersions())
          #expect(found.contains { $0.values.contains("theirs") } == isDone, "\(deed), call \(number): \(found)")
        }
        number += Self.step
      }
      #expect(number > 10)
    }
  }

  @Test(
    "CD-76: The same holds where names can't be exchanged", arguments: [Deed.replaces, .adds, .writesAlteredInPlace])
  func withoutExchange(deed: Deed) async throws {
    let (renames, album) = (Guarded<Int?>(nil), Guarded<URL?>(nil))
    // The second renaming is the exchange, and the fifth one the exchange that would take it back.
    let files = ScriptedFileSystem { made in
      guard made.call == .rename else { return .proceed }
      let number = renames.withLock { count -> Int? in
        count = count.map { $0 + 1 }
        return count
      }
      if number == 3, let album = album.withLock({ $0 }) { deed.act(album) }
      return number == 2 || number == 5 ? .fail(22) : .proceed
    }
    try await withFixture(files) { fixture in
      try fixture.makeAlbum()
      let document = try await fixture.openAlbum()
      try await document.edit { Self.alter(&$0, 2) }
      album.withLock { $0 = fixture.album }
      renames.withLock { $0 = 0 }
      try await document.save()
      #expect(renames.withLock { $0 ?? 0 } > 5)
      try await document.close()
      let members = try fixture.members()
      let found = try [members] + (await fixture.albumVersions())
      #expect(found.contains { $0.values.contains("theirs") }, "\(found)")
      #expect(members["a.txt"] == "mine" && members["c.txt"] == "mine too", "\(found)")
      #expect(try fixture.names() == ["album"])
    }
  }
}
