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

@Suite("The code of the guide to Apple's names")
struct FoundationSnippets {
  @Test("A file is read under Apple's names")
  func reading() throws {
    let place = try Place()
    let url = try place.file("letter", "Dear Ada")
    #expect(try contents(of: url) == Data("Dear Ada".utf8))
    #expect(throws: CocoaError.self) { try contents(of: place.url.appending(path: "none")) }
  }
}
