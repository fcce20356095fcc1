import FileCoordination
import Foundation
import Testing

@Suite("The code of the article about programs that don't coordinate")
struct StrangersSnippets {
  // snippet: strangers-presenter
  final class Preview: FilePresenter {
    let presentedItemURL: URL?
    let presentedItemCallbacks: FilePresenterCallbacks = [.itemDidChange, .itemDidMove]
    let observesUncoordinatedChanges = true
    let reload: @Sendable (String) async -> Void

    init(_ url: URL, reload: @escaping @Sendable (String) async -> Void) {
      presentedItemURL = url
      self.reload = reload
    }

    func presentedItemDidChange(origin: AccessOrigin) async {
      await reload(origin.isCoordinated ? "by \(origin.processName)" : "by an uncoordinated program")
    }
  }
  // end

  @Test("A preview is reloaded when an uncoordinated program has written the file")
  func preview() async throws {
    let place = try Place()
    let url = try place.file("notes.txt", "old")
    let (reasons, reload) = AsyncStream.makeStream(of: String.self)
    let preview = Preview(url) { reload.yield($0) }
    let registration = try await CoordinationDomain.standard.register(preview)
    try Data("new".utf8).write(to: url)
    var iterator = reasons.makeAsyncIterator()
    #expect(await iterator.next() == "by an uncoordinated program")
    registration.end()
  }
}
