import FileCoordination
import FileVersions
import Foundation
import SystemInterface
import Testing

@Suite("The code about conflict copies", .serialized, .timeLimit(.minutes(4)))
struct ConflictSnippets {
  @Test("Conflicts are listed live")
  func listing() async throws {
    let place = try Place()
    let versions = FileVersions(
      domain: CoordinationDomain(.init()), storage: .directory(place.url.appending(path: "store")),
      conflictCopies: [.rclone])
    _ = try place.file("a.txt", "mine")
    _ = try place.file("a.txt.conflict1", "theirs")
    let (shown, showing) = AsyncStream.makeStream(of: [ConflictCopyEngine].self)
    let folder = place.url
    let task = Task {
      try await live(versions, folder) { _, engines in
        showing.yield(engines)
      }
    }
    for await engines in shown {
      #expect(engines == [.rclone])
      break
    }
    task.cancel()
    try await task.value
  }

  private func live(
    _ versions: FileVersions, _ folder: URL, _ show: (SystemPath, [ConflictCopyEngine]) -> Void
  ) async throws {
    // snippet: conflicts-live
    for try await update in versions.conflicts(in: folder) {
      for file in update.conflicts { show(file.path, file.copies.map(\.engine)) }
    }
    // end
  }
}
