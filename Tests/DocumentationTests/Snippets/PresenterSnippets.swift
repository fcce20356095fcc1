import FileCoordination
import Foundation
import Synchronization
import Testing

@Suite("The code of the article about presenters")
struct PresenterSnippets {
  private let place: Place
  private let url: URL

  init() throws {
    place = try Place()
    url = try place.file("picture.txt", "old")
  }

  @Test("A cache is dropped before a write, and filled again after it")
  func relinquishing() async throws {
    let url = url
    let viewer = Viewer(url)
    // snippet: presenter-register
    let registration = try await FileCoordinator(presenter: viewer).read(url) { access in
      try viewer.load(access.url)
      return try await CoordinationDomain.standard.register(viewer)
    }
    // end
    #expect(viewer.contents == Data("old".utf8))
    try await FileCoordinator().write(url) { access in
      #expect(viewer.contents == nil)
      try "new".write(to: access.url, atomically: false, encoding: .utf8)
    }
    try await CoordinationDomain.standard.waitUntil { state in
      state.presenters.allSatisfy { $0.label != "viewer" || $0.running.isEmpty && $0.pendingMessageCount == 0 }
    }
    #expect(viewer.contents == Data("new".utf8))
    registration.end()
  }

  @Test("A completion handler that fails, or is forgotten, fails the access")
  func bridging() async throws {
    #expect(await code(for: .success) == nil)
    #expect(await code(for: .failure) == .presenterFailed)
    #expect(await code(for: .none) == .answerDropped)
  }

  /// The result of a read if its presenter answers in this way.
  private func code(for answer: LegacyEditor.Answer) async -> FileCoordinationError.Code? {
    let editor = LegacyEditor(url, answer)
    do {
      let registration = try await CoordinationDomain.standard.register(editor)
      defer { registration.end() }
      _ = try await FileCoordinator().contents(of: url)
      return nil
    } catch {
      return (error as? FileCoordinationError)?.code
    }
  }

  @Test("Events are told to those who only want to be told")
  func events() async throws {
    let folder = place.url
    let file = folder.appending(path: "file.txt")
    let (seen, log) = AsyncStream<String>.makeStream()
    let task = Task {
      // snippet: presenter-events
      for await event in try CoordinationDomain.standard.events(at: folder, label: "log") {
        log.yield("\(event.kind) by \(event.origin.label)")
      }
      // end
      log.finish()
    }
    try await CoordinationDomain.standard.waitUntil { state in
      state.presenters.contains { $0.label == "log" && $0.path?.hasSuffix(folder.lastPathComponent) == true }
    }
    try await FileCoordinator(label: "script").replaceContents(of: file, with: Data("text".utf8))
    var iterator = seen.makeAsyncIterator()
    let event = try #require(await iterator.next())
    #expect(event.hasPrefix("subitemDidAppear("))
    #expect(event.hasSuffix("file.txt) by script"))
    task.cancel()
    try await task.value
  }
}

private final class Viewer: FilePresenter {
  let presenterLabel = "viewer"
  let presentedItemURL: URL?
  let presentedItemCallbacks: FilePresenterCallbacks = [.relinquishToWriter]
  private let cache = Mutex<Data?>(nil)
  var contents: Data? { cache.withLock { $0 } }

  init(_ url: URL) { presentedItemURL = url }

  func load(_ url: URL) throws {
    let contents = try Data(contentsOf: url)
    cache.withLock { $0 = contents }
  }

  // snippet: presenter-relinquish
  func relinquishPresentedItem(toWriter origin: AccessOrigin) async throws -> FileReacquirer? {
    cache.withLock { $0 = nil }
    return { [weak self] in await self?.reload() }
  }

  private func reload() async {
    guard let url = presentedItemURL else { return }
    try? await FileCoordinator(label: "viewer", presenter: self).read(url) { access in try load(access.url) }
  }
  // end
}

private final class LegacyEditor: FilePresenter {
  enum Answer { case success, failure, none }
  struct Failure: Error {}

  struct Document {
    let answer: Answer

    func save(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
      switch answer {
      case .success: completionHandler(nil)
      case .failure: completionHandler(Failure())
      case .none: break
      }
    }
  }

  let presentedItemURL: URL?
  let presentedItemCallbacks: FilePresenterCallbacks = [.saveChanges]
  private let document: Document

  init(_ url: URL, _ answer: Answer) {
    presentedItemURL = url
    document = Document(answer: answer)
  }

  // snippet: presenter-answer
  func savePresentedItemChanges(origin: AccessOrigin) async throws {
    try await FileAnswer<Void>.wait { answer in
      document.save { error in
        if let error { answer.fail(error) } else { answer.succeed() }
      }
    }
  }
  // end
}
