import FileWatching
import Foundation
import SystemInterface
import Testing

@Suite("The code about watching", .serialized)
struct WatchingSnippets {
  private func forget(_ path: SystemPath) {}
  private func look(at path: SystemPath) {}
  private func log(_ text: String) {}

  /// Compiled and not run: it's for ever, and about a place that's there on servers only.
  func follow() async throws {
    // snippet: watch-follow
    let watcher = try TreeWatcher([URL(filePath: "/srv/site")])
    for await update in watcher.updates {
      for old in update.changes.compactMap(\.vacatedPath) { forget(old) }
      for new in update.changes.compactMap(\.currentPath) { look(at: new) }
    }
    // end
    // snippet: watch-health
    for await health in watcher.healthUpdates where !health.isComplete {
      log("\(health.polledDirectoryCount) directories are polled: \(health.pollingReason ?? "")")
    }
    // end
  }

  @Test("The examples of the README and the guide")
  func ask() async throws {
    let place = try Place()
    let folder = SystemPath(place.url.resolvingSymlinksInPath().path)
    let file = try place.file("a", "text")
    // snippet: readme-watch
    let watcher = try TreeWatcher([folder])
    try await watcher.waitUntilCurrent()
    try Data("more text".utf8).write(to: file)
    let changed = await watcher.catchUp()?.changes.map(\.path)
    // end
    #expect(changed == [folder.appending("a")])
    #expect(try await again(folder, watcher) == [])
  }

  private func again(_ folder: SystemPath, _ other: TreeWatcher) async throws -> [SystemPath] {
    // snippet: watch-test
    let kernel = ManualFileWatcher(try InotifyWatcher())
    let watcher = try TreeWatcher([folder], backend: kernel)
    kernel.loseEvents()
    let update = await watcher.catchUp()
    // end
    #expect(update?.changes == [])
    return try await changes(other)
  }

  private func changes(_ watcher: TreeWatcher) async throws -> [SystemPath] {
    // snippet: watch-ask
    let changed = await watcher.catchUp()?.changes.map(\.path) ?? []
    // end
    return changed
  }
}
