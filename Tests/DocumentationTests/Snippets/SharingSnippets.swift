import FileCoordination
import Foundation
import Testing

@Suite("The code of the article about sharing a file")
struct SharingSnippets {
  private let place: Place
  private let url: URL
  private let coordinator: FileCoordinator

  init() throws {
    place = try Place()
    // Not before: until there's a place, the usual domain is that of the user.
    coordinator = FileCoordinator(label: "guide")
    url = try place.file("count.txt", "41")
  }

  @Test("The URL of the access")
  func accessURL() async throws {
    // snippet: sharing-url
    let size = try await coordinator.read(url) { access in
      try Data(contentsOf: access.url).count
    }
    // end
    #expect(size == 2)
  }

  @Test("Reading and writing in one access")
  func update() async throws {
    // snippet: sharing-update
    let count = try await coordinator.update(url) { contents in
      let count = (Int(String(decoding: contents, as: UTF8.self)) ?? 0) + 1
      contents = Data(String(count).utf8)
      return count
    }
    // end
    #expect(count == 42)
    #expect(text(url) == "42")
  }

  @Test("Saving safely inside an access of one's own")
  func compareAndReplace() async throws {
    let expected = Data("41".utf8)
    // snippet: sharing-replace
    let wasReplaced = try await coordinator.write(url) { access in
      guard try await access.contents() == expected else { return false }
      try await access.replaceContents(with: Data("42".utf8))
      return true
    }
    // end
    #expect(wasReplaced)
    #expect(text(url) == "42")
  }

  @Test("Items claimed together")
  func together() async throws {
    let inbox = try place.file("inbox.txt", "one\n")
    let archive = try place.file("archive.txt", "zero\n")
    // snippet: sharing-together
    try await coordinator.write(inbox, and: archive) { inbox, archive in
      let contents = try Data(contentsOf: archive.url) + Data(contentsOf: inbox.url)
      try await coordinator.replaceContents(of: archive.url, with: contents)
      try await coordinator.replaceContents(of: inbox.url, with: Data())
    }
    // end
    #expect(text(archive) == "zero\none\n")
    #expect(text(inbox) == "")
    let files = [url, inbox, archive]
    // snippet: sharing-intents
    let intents = files.map { FileAccessIntent.reading($0) }
    let sizes = try await coordinator.coordinate(intents) { _ in
      try intents.map { try Data(contentsOf: $0.url).count }
    }
    // end
    #expect(sizes == [2, 0, 9])
  }

  @Test("Moving by hand")
  func moving() async throws {
    let old = try place.file("old.txt", "text")
    let new = place.url.appending(path: "new.txt")
    // snippet: sharing-move
    try await coordinator.write(old, options: .forMoving, and: new, secondOptions: .forReplacing) { old, new in
      try FileManager.default.moveItem(at: old.url, to: new.url)
      try await old.didMove(to: new.url)
    }
    // end
    #expect(text(new) == "text")
  }

  @Test("Work that goes on after the access")
  func detaching() async throws {
    let copy = place.url.appending(path: "copy.txt")
    // snippet: sharing-detached
    let job = try await coordinator.read(url) { (access: borrowing FileAccess) in
      let contents = try Data(contentsOf: access.url)
      return Task.detached {
        try await FileCoordinator(label: "copier").replaceContents(of: copy, with: contents)
      }
    }
    try await job.value
    // end
    #expect(text(copy) == "41")
  }

  @Test("Blocking on a thread of one's own")
  func blocking() async throws {
    // snippet: sharing-blocking
    func load(_ url: URL) throws -> Data {
      try FileCoordinator(label: "importer").blocking.contents(of: url)
    }
    // end
    #expect(try load(url) == Data("41".utf8))
  }

  @Test("Uploading a snapshot")
  func uploading() async throws {
    func upload(_ archive: URL) async throws -> Int { try Data(contentsOf: archive).count }
    let folder = place.url
    // snippet: sharing-upload
    let size = try await coordinator.read(folder, options: .forUploading) { access in
      try await upload(access.url)
    }
    // end
    #expect(size > 22)
  }

  private struct TextsMissing: Error {
    let presenters: [String]
    init(from presenters: [String]) { self.presenters = presenters }
  }

  @Test("Asking for many items in advance")
  func preparing() async throws {
    let files = [url, try place.file("other.txt", "other")]
    var size = 0
    // snippet: sharing-prepare
    try await coordinator.prepare(reading: files) { preparation in
      guard preparation.unansweredPresenters.isEmpty else { throw TextsMissing(from: preparation.unansweredPresenters) }
      for file in files {
        size += try await coordinator.contents(of: file, options: .withoutChanges).count
      }
    }
    // end
    #expect(size == 7)
  }
}
