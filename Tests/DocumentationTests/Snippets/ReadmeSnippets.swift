import FileCoordination
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

  @Test("Step 3: present")
  func present() async throws {
    let place = try Place()
    let url = try place.file("note.txt", "Dear")
    // snippet: readme-register
    let editor = NoteEditor(url)
    let registration = try await editor.open()
    await editor.append(" Ada")

    let letter = try await FileCoordinator(label: "mailer").contents(of: url)
    print(String(decoding: letter, as: UTF8.self))  // Dear Ada
    registration.end()
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

  @Test("Step 3: an unsaved text doesn't overwrite what somebody else has written")
  func keepingOtherText() async throws {
    let place = try Place()
    let url = try place.file("note.txt", "Dear")
    let editor = NoteEditor(url)
    let registration = try await editor.open()
    await editor.append(" Ada")
    try await FileCoordinator(label: "stranger").replaceContents(of: url, with: Data("Hello".utf8))
    await #expect(throws: ConflictingTexts.self) { try await editor.save() }
    #expect(text(url) == "Hello")
    registration.end()
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

  @Test("Step 4: who waits for whom")
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
        // timedOut: couldn't write '…' within 50 ms; '…' held for reading by 'indexer' (pid 4711 'notes') since 1.2 s. …
        print(error)
        print(CoordinationDomain.standard.snapshot())
      }
      // end
      #expect(text(url) == "")
    }
  }
}

// snippet: readme-editor
actor NoteEditor: FilePresenter {
  nonisolated let presentedItemURL: URL?
  nonisolated let presentedItemCallbacks: FilePresenterCallbacks = [
    .saveChanges, .accommodateDeletion, .itemDidMove, .itemDidChange,
  ]
  private var url: URL
  private var text = ""
  private var savedText = ""
  private var isSaving = false
  private var nextSaves: [CheckedContinuation<Void, Never>] = []

  init(_ url: URL) {
    self.url = url
    presentedItemURL = url
  }

  /// Registers inside a read, so that no change comes between loading and being told about changes.
  func open() async throws -> FilePresenterRegistration {
    try await FileCoordinator(label: "editor", presenter: self).read(url) { access in
      try load(access.url)
      return try CoordinationDomain.standard.register(self)
    }
  }

  func append(_ more: String) { text += more }

  /// Saves take turns, because accesses of one presenter don't exclude each other.
  func save() async throws {
    if isSaving { await withCheckedContinuation { nextSaves.append($0) } }
    isSaving = true
    defer {
      isSaving = !nextSaves.isEmpty
      if isSaving { nextSaves.removeFirst().resume() }
    }
    let saving = text
    if saving == savedText { return }
    let coordinator = FileCoordinator(label: "editor", presenter: self)
    try await coordinator.write(url) { access in
      // Somebody may have written since the file was loaded: then neither text overwrites the other.
      if try await access.contents() != Data(savedText.utf8) { throw ConflictingTexts() }
      try await access.replaceContents(with: Data(saving.utf8))
    }
    savedText = saving
  }

  // Asked before somebody else accesses the file, who waits for the answer.

  func savePresentedItemChanges(origin: AccessOrigin) async throws { try await save() }

  func accommodatePresentedItemDeletion(origin: AccessOrigin) async throws {
    if text != savedText { throw UnsavedText() }
  }

  // Told afterwards.

  func presentedItemDidMove(to newURL: URL, origin: AccessOrigin) async { url = newURL }

  func presentedItemDidChange(origin: AccessOrigin) async {
    if text != savedText { return }  // Unsaved text stays; saving it will find the conflict.
    try? await FileCoordinator(label: "editor", presenter: self).read(url) { access in
      if text == savedText { try load(access.url) }
    }
  }

  private func load(_ url: URL) throws {
    text = try String(contentsOf: url, encoding: .utf8)
    savedText = text
  }
}

struct UnsavedText: Error {}
struct ConflictingTexts: Error {}
// end
