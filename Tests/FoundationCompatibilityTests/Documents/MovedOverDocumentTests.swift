import FileCoordination
import FileDocuments
import FileVersions
import Foundation
import FoundationCompatibility
import Glibc
import Testing

@Suite(
  "UIDocument, when another program brings the files of two documents of one process together", .timeLimit(.minutes(8)))
@MainActor struct MovedOverDocumentTests {
  init() { _ = Sandbox.versionStore }

  /// The move, and whether the document whose file is replaced has unsaved changes.
  enum Scene: String, CaseIterable, Sendable {
    case coordinated, coordinatedBesideEdits, uncoordinated, uncoordinatedBesideEdits

    var isCoordinated: Bool { self == .coordinated || self == .coordinatedBesideEdits }
    var hasEdits: Bool { self == .coordinatedBesideEdits || self == .uncoordinatedBesideEdits }

    /// Moves a file over another one, as another party.
    func move(_ box: Sandbox, _ old: String, over new: String) async throws {
      let (source, target) = (box.url(old), box.url(new))
      if isCoordinated {
        try await elsewhere {
          var error: NSError?
          let mover = NSFileCoordinator()
          mover.coordinate(
            writingItemAt: source, options: .forMoving, writingItemAt: target, options: .forReplacing, error: &error
          ) { source, target in
            #expect(rename(source.path, target.path) == 0)
            mover.item(at: source, didMoveTo: target)
          }
          if let error { throw error }
        }
      } else {
        try await elsewhere { #expect(rename(source.path, target.path) == 0) }
      }
    }
  }

  private func open(_ url: URL) async -> WatchfulNote {
    let document = WatchfulNote(fileURL: url)
    #expect(await document.open())
    return document
  }

  @Test(
    "CD-28: If one document's file is moved over another one's, the first document follows, and the other one keeps its contents in memory",
    arguments: Scene.allCases)
  func movedOver(scene: Scene) async throws {
    try await withSandbox { box in
      let (first, second) = (await open(try box.write("a.txt", "first")), await open(try box.write("b.txt", "second")))
      if scene.hasEdits { second.type(", edited") }
      try await scene.move(box, "a.txt", over: "b.txt")
      await first.until { first.fileURL.lastPathComponent == "b.txt" && first.documentState == .normal }
      await second.until { second.documentState.contains(.closed) }
      // The first one goes on, and nothing of the other one gets into its file.
      first.type(", moved")
      #expect(await first.autosave())
      #expect(try box.text(box.url("b.txt")) == "first, moved")
      #expect(await second.save(to: second.fileURL, for: .forOverwriting) == false)
      #expect(try box.text(box.url("b.txt")) == "first, moved")
      let expected = scene.hasEdits ? "second, edited" : "second"
      #expect(second.text == expected)
      #expect(await second.save(to: box.url("c.txt"), for: .forCreating))
      #expect(try box.text(box.url("c.txt")) == expected)
      #expect(second.documentState == .normal)
      second.type(", and more")
      #expect(await second.close())
      #expect(try box.text(box.url("c.txt")) == expected + ", and more")
      #expect(await first.close())
      #expect(try box.text(box.url("b.txt")) == "first, moved")
    }
  }

  @Test(
    "CD-28: The same holds for a native document and a UIDocument of one process, whichever of both is moved",
    arguments: [true, false], [Scene.coordinated, .uncoordinated])
  func nativeNeighbours(movesNative: Bool, scene: Scene) async throws {
    try await withSandbox { box in
      let (nativeName, otherName) = movesNative ? ("a.txt", "b.txt") : ("b.txt", "a.txt")
      let other = await open(try box.write(otherName, "other"))
      var options = DocumentOptions<String>(domain: Sandbox.domain)
      options.autosave = .never
      let native = FileDocument(try box.write(nativeName, "native"), as: .text, options: options)
      try await native.open()
      try await scene.move(box, "a.txt", over: "b.txt")
      if movesNative {
        for await snapshot in native.states where snapshot.url.lastPathComponent == "b.txt" { break }
        await other.until { other.documentState.contains(.closed) }
        try await native.edit { $0 += ", moved" }
        try await native.save()
        #expect(try box.text(box.url("b.txt")) == "native, moved")
        #expect(other.text == "other")
        #expect(await other.save(to: box.url("c.txt"), for: .forCreating))
        try await native.close()
      } else {
        await other.until { other.fileURL.lastPathComponent == "b.txt" && other.documentState == .normal }
        for await snapshot in native.states where snapshot.state.conditions.contains(.deleted) { break }
        other.type(", moved")
        #expect(await other.autosave())
        #expect(try box.text(box.url("b.txt")) == "other, moved")
        #expect(await native.contents == "native")
        try await native.close(discardingChanges: true)
      }
      #expect(await other.close())
    }
  }

  @Test(
    "CD-28: Two documents of one file follow it over another one, and have each other's saves there",
    arguments: Scene.allCases)
  func twins(scene: Scene) async throws {
    try await withSandbox { box in
      let url = try box.write("a.txt", "one")
      let (first, second) = (await open(url), await open(url))
      let third = await open(try box.write("b.txt", "third"))
      try await scene.move(box, "a.txt", over: "b.txt")
      await first.until { first.fileURL.lastPathComponent == "b.txt" && first.documentState == .normal }
      first.type(" two")
      #expect(await first.autosave())
      await second.until { second.text == "one two" && second.documentState == .normal }
      #expect(second.fileURL.lastPathComponent == "b.txt")
      second.type(" three")
      #expect(await second.close())
      await first.until { first.text == "one two three" && first.documentState == .normal }
      #expect(await first.close())
      await third.until { third.documentState.contains(.closed) }
      #expect(third.text == "third")
      #expect(try box.text(box.url("b.txt")) == "one two three")
    }
  }

  @Test(
    "CD-28, CD-36: If both documents of one file are edited, both texts survive, and both documents have the same one")
  func bothEdited() async throws {
    try await withSandbox { box in
      let url = try box.write("a.txt", "one")
      let (first, second) = (await open(url), await open(url))
      first.type(" first")
      second.type(" second")
      #expect(await first.autosave())
      #expect(await second.autosave())
      let text = try box.text(url)
      await first.until { first.text == text && second.text == text && !first.hasUnsavedChanges }
      await first.until { first.documentState == .inConflict }
      let conflicts = try #require(NSFileVersion.unresolvedConflictVersionsOfItem(at: url))
      #expect(Set(try conflicts.map { try box.text($0.url) } + [text]) == ["one first", "one second"])
      #expect(await first.close())
      #expect(await second.close())
    }
  }
}

/// Notices programs that don't coordinate.
private final class WatchfulNote: NoteDocument {
  override nonisolated var observesUncoordinatedChanges: Bool { true }
}
