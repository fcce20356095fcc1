import FileCoordination
import FileDocuments
import FilePackages
import FileVersions
import Foundation
import SystemInterface
import Testing

@Suite("The code about documents", .serialized)
struct DocumentSnippets {
  @Test("The editor of the guide: others read what was typed, and it takes over what they write")
  @MainActor func editor() async throws {
    let place = try Place()
    let file = try place.file("note.txt", "Dear")
    let domain = CoordinationDomain(.init())
    let versions = FileVersions(domain: domain, storage: .directory(place.url.appending(path: "store")))
    let editor = NoteModel(file, options: DocumentOptions(domain: domain, versions: versions))
    try await editor.open()
    let following = Task { await editor.followState() }
    try await editor.type(" Ada")
    let other = FileCoordinator(label: "other", domain: domain)
    #expect(try await other.contents(of: file) == Data("Dear Ada".utf8))
    try await other.update(file) { $0.append(Data(", how".utf8)) }
    try await editor.type(" are you?")
    #expect(await editor.text() == "Dear Ada, how are you?")
    while !editor.title.hasSuffix("edited") { await Task.yield() }
    try await editor.close()
    #expect(try Data(contentsOf: file) == Data("Dear Ada, how are you?".utf8))
    #expect(editor.warning == nil)
    following.cancel()
  }

  @Test("The examples about editing without waiting, and about merging")
  func editing() async throws {
    let place = try Place()
    let domain = CoordinationDomain(.init())
    let versions = FileVersions(domain: domain, storage: .directory(place.url.appending(path: "store")))
    // snippet: documents-merge
    var options = DocumentOptions<[String]>(domain: domain, versions: versions)
    options.merge = { lists in
      let added = lists.mine.filter { !lists.base.contains($0) && !lists.theirs.contains($0) }
      return .merged(lists.theirs + added)
    }
    // end
    let list = try place.file("list.json", #"["a"]"#)
    let document = FileDocument(list, as: .json([String].self), options: options)
    try await document.open()
    try await document.edit { $0.append("mine") }
    try await FileCoordinator(domain: domain).replaceContents(of: list, with: Data(#"["a","theirs"]"#.utf8))
    try await document.close()
    #expect(try JSONDecoder().decode([String].self, from: Data(contentsOf: list)) == ["a", "theirs", "mine"])
    try await type(try place.file("note.txt", "Hello"), DocumentOptions(domain: domain, versions: versions))
  }

  @MainActor private func type(_ file: URL, _ options: DocumentOptions<String>) async throws {
    let note = FileDocument(file, as: .text, options: options)
    try await note.open()
    try Self.exclaim(note)
    try await note.close()
    #expect(try Data(contentsOf: file) == Data("Hello!".utf8))
  }

  @Test("The example about what a killed program hadn't saved")
  func recovering() async throws {
    let place = try Place()
    let file = try place.file("note.txt", "Dear")
    let domain = CoordinationDomain(.init())
    let versions = FileVersions(domain: domain, storage: .directory(place.url.appending(path: "store")))
    var options = DocumentOptions<String>(domain: domain, versions: versions)
    options.autosave = .never
    options.crashJournal = .directory(place.url.appending(path: "journals"))
    try await Self.typeAndVanish(file, options)
    #expect(try Data(contentsOf: file) == Data("Dear".utf8))
    func ask(_ question: String) async -> Bool { question.hasPrefix("Restore") }
    // snippet: documents-journal
    let note = FileDocument(file, as: .text, options: options)
    try await note.open(creatingWith: "")
    for recovery in await note.recoveries {
      let question = "Restore what you typed until \(recovery.date)?"
      try await note.resolve(recovery, by: await ask(question) ? .restoring : .keepingAsVersion)
    }
    // end
    try await note.close()
    #expect(try Data(contentsOf: file) == Data("Dear Ada".utf8))

    try await Self.typeAndVanish(file, options)
    try FileManager.default.removeItem(at: file)
    let untitled = place.url.appending(path: "untitled.txt")
    // snippet: documents-abandoned
    for abandoned in try await FileDocument.abandonedContents(as: .text, options: options) {
      let note = FileDocument(untitled, as: .text, options: options)
      try await note.open(creatingWith: abandoned.contents ?? "")
      try await abandoned.discard()
    }
    // end
    #expect(try Data(contentsOf: untitled) == Data("Dear Ada Ada".utf8))
  }

  @Test("The examples about errors, grants and locks, and about following some attributes")
  func deciding() async throws {
    let place = try Place()
    let file = try place.file("note.txt", "Dear")
    let domain = CoordinationDomain(.init())
    let versions = FileVersions(domain: domain, storage: .directory(place.url.appending(path: "store")))
    var options = DocumentOptions<String>(domain: domain, versions: versions)
    func ask(_ question: String) async -> Bool { question.hasPrefix("Unlock") }
    let (spare, vault) = (place.url.appending(path: "spare.txt"), Vault())
    // snippet: documents-errors
    options.errorHandler = DocumentErrorHandler(within: .seconds(10)) { failure in
      switch (failure.activity, failure.error.code) {
      case (.saving, .notWritable): .saveElsewhere(spare)
      case (.saving, _) where failure.attempt < 3: .retryLater
      default: .present
      }
    }
    // end
    // snippet: documents-grant
    options.grant = { url in
      try await vault.unlock(url)
      return DocumentGrant { await vault.lock(url) }
    }
    // end
    let note = FileDocument(file, as: .text, options: options)
    try await note.open()
    #expect(await vault.open == [file])
    // snippet: documents-lock
    try await note.lock()
    if note.isLocked, await ask("Unlock it?") { try await note.unlock() }
    try await note.edit { $0 += " Ada" }
    // end
    let following = Task {
      var title = ""
      // snippet: documents-changes
      for await change in note.changes(of: [.place, .unsavedChanges]) {
        let snapshot = change.snapshot
        title = snapshot.url.lastPathComponent + (snapshot.state.hasUnsavedChanges ? " – edited" : "")
        if snapshot.state.conditions.contains(.closed) { break }
      }
      // end
      return title
    }
    try await note.close()
    #expect(await following.value == "note.txt")
    #expect(try Data(contentsOf: file) == Data("Dear Ada".utf8))
  }

  @Test("The example about packages")
  func packages() async throws {
    let place = try Place()
    let domain = CoordinationDomain(.init())
    let versions = FileVersions(domain: domain, storage: .directory(place.url.appending(path: "store")))
    let options = DocumentOptions<PackageTree>(domain: domain, versions: versions)
    let (url, picture) = (place.url.appending(path: "album"), Data([1, 2, 3]))
    // snippet: documents-package
    let album = FileDocument(url, as: .package, options: options)
    try await album.open(creatingWith: PackageTree())
    try await album.edit { try? $0.update(SystemPath("title.txt"), Array("Summer".utf8)) }
    try await album.save()
    try await album.replaceMember(SystemPath("cover.png"), with: picture)
    let title = try await album.contents(ofMember: SystemPath("title.txt"))
    // end
    #expect(title == Data("Summer".utf8))
    #expect(try Data(contentsOf: url.appending(path: "cover.png")) == picture)
    try await album.close()
  }

  @Test("The example about signals")
  func ending() throws {
    // snippet: documents-termination
    try TerminationFlush.start(on: [.terminate, .hangUp], within: .seconds(5))
    // end
    TerminationFlush.stop()
  }

  /// The kernel takes a journal's lock back when its process ends, and the document does when nobody has it any more.
  private static func typeAndVanish(_ file: URL, _ options: DocumentOptions<String>) async throws {
    let note = FileDocument(file, as: .text, options: options)
    try await note.open()
    try await note.edit { $0 += " Ada" }
    try await note.writeJournal()
  }

  @MainActor private static func exclaim(_ note: FileDocument<String>) throws {
    // snippet: documents-edit-now
    try note.assumeIsolated { note in try note.editNow { $0.append("!") } }
    // end
  }
}

/// A place that has to be unlocked.
private actor Vault {
  var open: [URL] = []
  func unlock(_ url: URL) throws { open.append(url) }
  func lock(_ url: URL) { open.removeAll { $0 == url } }
}

// snippet: documents-editor
@MainActor
final class NoteModel {
  private let note: FileDocument<String>
  private(set) var title = ""
  private(set) var warning: String?

  init(_ url: URL, options: DocumentOptions<String> = DocumentOptions()) {
    note = FileDocument(url, as: .text, options: options)
  }

  func open() async throws { try await note.open(creatingWith: "") }

  func type(_ text: String) async throws { try await note.edit { $0 += text } }

  func text() async -> String { await note.contents ?? "" }

  /// Runs as long as the window is there.
  func followState() async {
    for await snapshot in note.states {
      let state = snapshot.state
      title = snapshot.url.lastPathComponent + (state.hasUnsavedChanges ? " – edited" : "")
      warning = state.savingError?.message
      if state.conditions.contains(.inConflict) { warning = "Someone else has changed the file as well." }
      if state.conditions.contains(.deleted) { warning = "The file was deleted." }
    }
  }

  func close() async throws { try await note.close() }
}
// end
