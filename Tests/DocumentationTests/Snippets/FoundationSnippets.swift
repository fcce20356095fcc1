import Foundation
import FoundationCompatibility
import Testing

// snippet: foundation-read
func contents(of url: URL) throws -> Data {
  var coordinationError: NSError?
  var result: Result<Data, any Error>?
  NSFileCoordinator().coordinate(readingItemAt: url, options: [], error: &coordinationError) { url in
    result = Result { try Data(contentsOf: url) }
  }
  if let coordinationError { throw coordinationError }
  guard let result else { throw CocoaError(.fileReadUnknown) }
  return try result.get()
}
// end

// snippet: foundation-query
final class NoteList {
  private let query = NSMetadataQuery()
  private var observer: (any NSObjectProtocol)?

  func start(in folder: URL, onChange: @escaping @Sendable ([String]) -> Void) {
    query.searchScopes = [folder]
    query.predicate = NSPredicate(format: "%K LIKE[c] '*.note'", NSMetadataItemFSNameKey)
    query.sortDescriptors = [NSSortDescriptor(key: NSMetadataItemFSNameKey, ascending: true)]
    observer = NotificationCenter.default.addObserver(
      forName: .NSMetadataQueryDidFinishGathering, object: query, queue: nil
    ) { notification in
      guard let query = notification.object as? NSMetadataQuery else { return }
      let items = query.results.compactMap { $0 as? NSMetadataItem }
      onChange(items.compactMap { $0.value(forAttribute: NSMetadataItemFSNameKey) as? String })
    }
    query.start()
  }
}
// end

@Suite("The code of the guide to Apple's names")
struct FoundationSnippets {
  @Test("A file is read under Apple's names")
  func reading() throws {
    let place = try Place()
    let url = try place.file("letter", "Dear Ada")
    #expect(try contents(of: url) == Data("Dear Ada".utf8))
    #expect(throws: CocoaError.self) { try contents(of: place.url.appending(path: "none")) }
  }

  @Test("Files are found under Apple's names")
  func searching() async throws {
    let place = try Place()
    for name in ["b.note", "a.NOTE", "c.txt"] { _ = try place.file(name, "") }
    let (names, continuation) = AsyncStream.makeStream(of: [String].self)
    let list = NoteList()
    list.start(in: place.url) { continuation.yield($0) }
    var iterator = names.makeAsyncIterator()
    #expect(await iterator.next() == ["a.NOTE", "b.note"])
    withExtendedLifetime(list) {}
  }
}
