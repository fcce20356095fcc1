import FileMetadata
import Foundation
import TestSupport
import Testing

@testable import FoundationCompatibility

@Suite("Where Apple's metadata queries search", .serialized, .blocking, .timeLimit(.minutes(4)))
struct MetadataQueryScopeTests {
  @Test("Q25, Q30: URLs and paths, beside and inside each other, find each file once")
  func mixedScopes() throws {
    try withSandbox { box in
      for name in ["a/one", "a/b/two", "c/three", "d/four"] { _ = try box.write(name) }
      let watcher = QueryWatcher(box, "kMDItemContentType != 'public.folder'")
      watcher.query.searchScopes = [box.url("a"), box.url("a/b").path, box.url("c") as NSURL]
      watcher.gather()
      #expect(watcher.names == ["one", "three", "two"])
    }
  }

  @Test("Q26: a tilde is taken literally; a missing scope is found when it appears")
  func missingScopes() throws {
    try withSandbox { box in
      for name in ["a", "~/b"] { _ = try box.write(name) }
      let watcher = QueryWatcher(box, "kMDItemContentType != 'public.folder'")
      watcher.query.searchScopes = ["~", box.url("~").path, box.url("later/still"), 7]
      watcher.gather()
      #expect(watcher.names == ["b"])
      #expect(Sandbox.misuse.entries.contains { $0.contains("'7' isn't searched") })
      _ = try box.write("later/still/c", "")
      #expect(watcher.journal.wait { lines in lines.contains { $0.contains("+c") } })
      #expect(watcher.names == ["b", "c"])
    }
  }

  @Test("Q23, Q27: ubiquitous scopes are empty, and beside others they're reported")
  func ubiquitousScopes() throws {
    try withSandbox { box in
      _ = try box.write("a")
      let watcher = QueryWatcher(box)
      watcher.query.searchScopes = [NSMetadataQueryUbiquitousDocumentsScope, NSMetadataQueryUbiquitousDataScope]
      watcher.gather()
      #expect(watcher.query.isStarted && watcher.query.resultCount == 0)
      #expect(watcher.journal.entries == ["began", "finished"])
      watcher.query.stop()
      watcher.query.searchScopes = [
        NSMetadataQueryUbiquitousDocumentsScope, NSMetadataQueryNetworkScope, box.root,
      ]
      #expect(Sandbox.misuse.entries.contains { $0.contains("ubiquitous scopes beside others") })
    }
  }

  @Test("Q24: no scope, and that of the computer, search what the program has said")
  func computer() throws {
    try withSandbox { box in
      _ = try box.write("a")
      NSMetadataQuery.localComputerDirectories = [box.root]
      let watcher = QueryWatcher(box)
      watcher.query.searchScopes = []
      watcher.gather()
      #expect(watcher.names == ["a"])
      #expect(
        SearchPlaces(scopes: [NSMetadataQueryLocalComputerScope], items: nil, computer: [box.root]).scopes
          == ([box.root] + MetadataScope.home.directories).map(MetadataScope.directory))
    }
  }

  @Test("Q28, Q29: search items come back as they were set, and limit the results")
  func searchItems() throws {
    try withSandbox { box in
      for name in ["a", "b", "c", "d/inside"] { _ = try box.write(name) }
      let watcher = QueryWatcher(box)
      let item = try #require(NSMetadataItem(url: box.url("c")))
      watcher.query.searchItems = [box.url("a"), box.url("d").path, item, box.url("none")]
      let items = try #require(watcher.query.searchItems)
      #expect(items.count == 4 && items[0] as? URL == box.url("a") && items[2] as? NSMetadataItem === item)
      watcher.gather()
      #expect(watcher.names == ["a", "c", "d"])
      _ = try box.write("none")
      #expect(watcher.journal.wait { lines in lines.contains { $0.contains("+none") } })
      _ = try box.write("not an item")
      try FileManager.default.removeItem(at: box.url("a"))
      #expect(watcher.journal.wait(for: "updated -a"))
      #expect(watcher.names == ["c", "d", "none"])
      watcher.query.stop()
      watcher.query.searchScopes = [box.url("d")]
      watcher.gather()
      #expect(watcher.names == ["d"])
      watcher.query.stop()
      watcher.query.searchItems = []
      watcher.gather()
      #expect(watcher.names.isEmpty)
    }
  }
}
