import FileCoordination
import FileVersions
import Foundation
import Testing

@Suite("The code about versions", .serialized)
struct VersionSnippets {
  @Test("The examples of the guide")
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

  @Test("The example of the README")
  func readme() async throws {
    let place = try Place()
    let domain = CoordinationDomain(.init())
    let coordinator = FileCoordinator(domain: domain)
    let versions = FileVersions(domain: domain, storage: .directory(place.url.appending(path: "store")))
    let file = try place.file("list.txt", "milk\n")
    // snippet: readme-versions
    let kept = try await versions.addVersion(of: file)
    try await coordinator.update(file, keepingVersion: versions) { $0.append(contentsOf: "eggs\n".utf8) }
    try await versions.restore(kept, to: file)  // the contents before become a version
    // end
    #expect(try Data(contentsOf: file) == Data("milk\n".utf8))
    #expect(try await versions.versions(of: file)?.count == 3)
  }

  @Test("The example about the space that versions take")
  func sizes() async throws {
    let place = try Place()
    let versions = FileVersions(
      domain: CoordinationDomain(.init()), storage: .directory(place.url.appending(path: "store")))
    let documents = place.url
    try await versions.addVersion(of: place.file("a.txt", "text"))
    // snippet: versions-sizes
    for size in try await versions.historySizes(below: documents).prefix(10) {
      print(size.storedByteCount, size.versionCount, size.conflictCount, size.url.path)
    }
    // end
    #expect(try await versions.historySizes(below: documents).map(\.storedByteCount) == [4])
  }

  @Test("The examples about saving, directories and changes")
  func saving() async throws {
    let place = try Place()
    let domain = CoordinationDomain(.init())
    let versions = FileVersions(domain: domain, storage: .directory(place.url.appending(path: ".file-versions-test")))
    let file = try place.file("a.txt", "old")
    try await save(file, versions)
    #expect(try Data(contentsOf: file) == Data("newer".utf8))
    #expect(try await versions.versions(of: file)?.count == 2)
    let directory = file.deletingLastPathComponent()
    let tasks = [
      Task { try await keep(directory, versions) }, Task { try await follow(file, versions) },
    ]
    for task in tasks {
      task.cancel()
      try await task.value
    }
  }

  private func save(_ file: URL, _ versions: FileVersions) async throws {
    // snippet: versions-saving
    let coordinator = FileCoordinator()
    try await coordinator.replaceContents(of: file, with: Data("new".utf8), keepingVersion: versions)
    try await coordinator.update(file, keepingVersion: versions) { $0.append(contentsOf: "er".utf8) }
    // end
  }

  private func keep(_ directory: URL, _ versions: FileVersions) async throws {
    // snippet: versions-directory
    for try await event in try versions.keepVersions(below: directory) {
      if case .kept(let file, _) = event { print("kept", file.path) }
    }
    // end
  }

  private func follow(_ file: URL, _ versions: FileVersions) async throws {
    // snippet: versions-changes
    for try await update in try versions.changes(of: file) {
      switch update {
      case .versions(let all): print(all.count, "versions")
      case .gained(let version): print("kept", version.id)
      case .lost, .resolved, .moved: break
      }
    }
    // end
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
