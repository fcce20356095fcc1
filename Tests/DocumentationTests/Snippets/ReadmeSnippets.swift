import FileCoordination
import FileCoordinationTesting
import FileDocuments
import Foundation
import Testing

@Suite("The code of the README")
struct ReadmeSnippets {
  @Test("Step 1: read")
  func read() async throws {
    let place = try Place()
    let url = try place.file("list.txt", "milk\neggs\n")
    // snippet: readme-read
    let coordinator = FileCoordinator(label: "word count")
    let count = try await coordinator.read(url) { access in
      try String(contentsOf: access.url, encoding: .utf8).split(whereSeparator: \.isWhitespace).count
    }
    // end
    #expect(count == 2)
  }

  @Test("Step 2: write")
  func write() async throws {
    let place = try Place()
    let url = try place.file("list.txt", "milk\n")
    let backup = place.url.appending(path: "backup.txt")
    let coordinator = FileCoordinator()
    // snippet: readme-write
    try await coordinator.update(url) { contents in
      contents.append(contentsOf: "bread\n".utf8)
    }
    try await coordinator.replaceContents(of: backup, with: Data("milk\n".utf8))
    try await coordinator.move(backup, to: url, replacing: true)
    try await coordinator.delete(url)
    // end
    #expect(try FileManager.default.contentsOfDirectory(atPath: place.url.path).isEmpty)
  }

  @Test("Hot loops")
  func handle() throws {
    let place = try Place()
    let url = try place.file("list.txt", "milk\n")
    // snippet: readme-handle
    let coordinator = FileCoordinator(label: "size counter")
    let item = try CoordinationDomain.standard.resolve(url)
    var total = 0
    for _ in 0..<1_000 {
      total += try coordinator.blocking.read(item) { access in try Data(contentsOf: access.url).count }
    }
    // end
    #expect(total == 5_000)
  }

  @Test("Step 3: edit")
  func present() async throws {
    let place = try Place()
    let url = try place.file("note.txt", "Dear")
    // snippet: readme-document
    let note = FileDocument(url, as: .text)
    try await note.open()
    try await note.edit { $0 += " Ada" }

    let letter = try await FileCoordinator(label: "mailer").contents(of: url)
    print(String(decoding: letter, as: UTF8.self))  // Dear Ada
    try await note.close()
    // end
    #expect(String(decoding: letter, as: UTF8.self) == "Dear Ada")
  }

  @Test("Step 3: an unsaved text is not lost when the file changes or is deleted under it")
  func keepingUnsavedText() async throws {
    let place = try Place()
    let url = try place.file("note.txt", "Dear")
    let editor = NoteEditor(url)
    let registration = try await editor.open()
    await editor.append(" Ada")
    await #expect(throws: FileCoordinationError.self) { try await FileCoordinator(label: "cleaner").delete(url) }
    #expect(text(url) == "Dear")
    try await editor.save()
    try await FileCoordinator(label: "cleaner").delete(url)
    #expect(text(url) == nil)
    registration.end()
  }

  @Test("Step 3: if somebody else has written meanwhile, both texts stay, and the conflict is over")
  func keepingBothTexts() async throws {
    let place = try Place()
    let url = try place.file("note.txt", "Dear")
    let editor = NoteEditor(url)
    let registration = try await editor.open()
    await editor.append(" Ada")
    try await FileCoordinator(label: "stranger").replaceContents(of: url, with: Data("Hello".utf8))
    try await editor.save()
    #expect(try place.texts() == ["Dear Ada", "Hello"])
    #expect(text(url) == "Hello")
    await editor.append(" Bob")
    try await editor.save()
    #expect(try place.texts() == ["Dear Ada", "Hello Bob"])
    registration.end()
  }

  @Test("Step 3: two editors of one file that both have unsaved text let a reader read, and both texts stay")
  func editingTogether() async throws {
    let place = try Place()
    let url = try place.file("note.txt", "Dear")
    let editors = [NoteEditor(url), NoteEditor(url)]
    var registrations: [FilePresenterRegistration] = []
    for editor in editors { registrations.append(try await editor.open()) }
    await editors[0].append(" Ada")
    await editors[1].append(" Bob")
    _ = try await FileCoordinator(label: "mailer").contents(of: url)
    #expect(try place.texts() == ["Dear Ada", "Dear Bob"])
    for registration in registrations { registration.end() }
  }

  @Test("Step 3: text that's typed after the file was deleted is saved")
  func typingAfterDeletion() async throws {
    let place = try Place()
    let url = try place.file("note.txt", "Dear")
    let editor = NoteEditor(url)
    let registration = try await editor.open()
    try await FileCoordinator(label: "cleaner").delete(url)
    await editor.append(" Ada")
    try await editor.save()
    #expect(try place.texts() == ["Dear Ada"])
    registration.end()
  }

  @Test("Step 3: the editor is a good presenter")
  func conformance() async {
    let conformance = PresenterConformance { presenter in
      await (presenter as? NoteEditor)?.append(" and more")
      return Data("and more".utf8)
    } makePresenter: { url, domain in
      let editor = NoteEditor(url, in: domain)
      try await editor.load(url)
      return editor
    }
    #expect(await conformance.run() == [])
  }

  @Test("Step 3: of many saves at once the newest text stays")
  func savingAtOnce() async throws {
    let place = try Place()
    let url = try place.file("note.txt", "0")
    let editor = NoteEditor(url)
    let registration = try await editor.open()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 1...20 {
        group.addTask {
          await editor.append("1")
          try await editor.save()
        }
        group.addTask { _ = try await FileCoordinator(label: "reader").contents(of: url) }
      }
      try await group.waitForAll()
    }
    #expect(text(url) == "0" + String(repeating: "1", count: 20))
    registration.end()
  }

  @Test("Step 4: the cause of a wait")
  func waiting() async throws {
    let place = try Place()
    let url = try place.file("list.txt")
    let contents = Data("milk".utf8)
    let coordinator = FileCoordinator(label: "sync")
    try await whileReading(url, as: "indexer") {
      // snippet: readme-deadline
      do {
        try await coordinator.replaceContents(of: url, with: contents, deadlines: .within(.milliseconds(50)))
      } catch let error as FileCoordinationError where error.code == .timedOut {
        // timedOut: couldn't write '…' within 50 ms; '…' held for reading by 'indexer' (pid 4711 'notes') for 1.2 s. …
        print(error)
        print(try await CoordinationDomain.standard.snapshot())
      }
      // end
      #expect(text(url) == "")
    }
  }
}
