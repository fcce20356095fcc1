import FileCoordination
import FileVersions
import Foundation
import Testing

@Suite("The code about versions", .serialized)
struct VersionSnippets {
  @Test("The examples of the README and the guide")
  func keeping() async throws {
    let place = try Place()
    let versions = FileVersions(
      domain: CoordinationDomain(.init()), storage: .directory(place.url.appending(path: "store")))
    let file = try place.file("a.txt", "text")
    // snippet: versions-keeping
    let kept = try await versions.addVersion(of: file)
    try Data("ruined".utf8).write(to: file)
    try await versions.restore(kept, to: file)
    let names = try await versions.versions(of: file)?.map(\.name)
    // end
    #expect(names == ["a.txt", "a.txt"])
    #expect(try Data(contentsOf: file) == Data("text".utf8))
    let other = try place.file("b", "more")
    try await versions.addVersion(of: file, contentsOf: other, isConflict: true)
    try await resolve(file, versions)
    #expect(try Data(contentsOf: file) == Data("text\nmore".utf8))
  }

  private func resolve(_ file: URL, _ versions: FileVersions) async throws {
    // snippet: versions-resolving
    try await versions.resolve(at: file) { conflict in
      var texts = try await [conflict.contents(of: conflict.current)]
      for other in conflict.others { texts.append(try await conflict.contents(of: other)) }
      return .merged(Data(texts.joined(separator: Data("\n".utf8))))
    }
    // end
  }
}
