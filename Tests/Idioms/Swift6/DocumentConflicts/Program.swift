import Foundation
import FoundationCompatibility
import Scene

// A document that notices conflicts, and the code that resolves them as the user wishes.

class NoteDocument: UIDocument {
  var text = ""

  override func contents(forType typeName: String) throws -> Any { Data(text.utf8) }

  override func load(fromContents contents: Any, ofType typeName: String?) throws {
    text = String(decoding: contents as? Data ?? Data(), as: UTF8.self)
  }
}

@MainActor
final class ConflictResolver {
  let document: NoteDocument

  init(document: NoteDocument) { self.document = document }

  var versions: [NSFileVersion] {
    NSFileVersion.unresolvedConflictVersionsOfItem(at: document.fileURL) ?? []
  }

  func texts() throws -> [String] { try versions.map { try String(contentsOf: $0.url, encoding: .utf8) } }

  func keepCurrent() throws {
    for version in versions { version.isResolved = true }
    try NSFileVersion.removeOtherVersionsOfItem(at: document.fileURL)
  }

  func keep(_ version: NSFileVersion) async throws -> Bool {
    try version.replaceItem(at: document.fileURL, options: [])
    try keepCurrent()
    return await document.revert(toContentsOf: document.fileURL)
  }
}

@main @MainActor
struct Program {
  /// Writes as a program that doesn't coordinate, and waits until the document has a conflict.
  static func makeConflict(_ document: NoteDocument, mine: String, theirs: String) async throws {
    var changes = NotificationCenter.default.notifications(named: UIDocument.stateChangedNotification, object: document)
      .makeAsyncIterator()
    document.text = mine
    document.updateChangeCount(.done)
    try Data(theirs.utf8).write(to: document.fileURL)
    let isSaved = await document.autosave()
    Scene.check(isSaved, "saved")
    while !document.documentState.contains(.inConflict) { _ = await changes.next() }
  }

  static func main() async throws {
    let document = NoteDocument(fileURL: Scene.file("note.txt", "one"))
    let isOpen = await document.open()
    Scene.check(isOpen, "opened")
    let resolver = ConflictResolver(document: document)
    var changes = NotificationCenter.default.notifications(named: UIDocument.stateChangedNotification, object: document)
      .makeAsyncIterator()

    try await makeConflict(document, mine: "mine", theirs: "theirs")
    let texts = try resolver.texts()
    Scene.check(texts == ["theirs"] && document.text == "mine", "\(texts)")
    try resolver.keepCurrent()
    while document.documentState.contains(.inConflict) { _ = await changes.next() }
    Scene.check(try String(contentsOf: document.fileURL, encoding: .utf8) == "mine", "the current one stays")

    try await makeConflict(document, mine: "mine again", theirs: "theirs again")
    guard let version = resolver.versions.first else { return Scene.check(false, "no version") }
    Scene.check(version.isConflict && version.localizedNameOfSavingComputer != nil, "who it was")
    let isKept = try await resolver.keep(version)
    Scene.check(isKept && document.text == "theirs again", "the other one: \(document.text)")
    while document.documentState.contains(.inConflict) { _ = await changes.next() }
    let isClosed = await document.close()
    Scene.check(isClosed && resolver.versions.isEmpty, "closed")
    Scene.finish()
  }
}
