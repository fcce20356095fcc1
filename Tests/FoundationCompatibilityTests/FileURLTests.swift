import FileCoordination
import FileCoordinationTesting
import FileMetadata
import FileWatching
import Foundation
import MetadataPredicates
import SystemInterface
import Testing

@testable import FoundationCompatibility

@Suite("One file has one URL from every function that makes one", .serialized, .timeLimit(.minutes(4)))
struct FileURLTests {
  /// Names that mean something in a URL, or to Unicode, or that aren't text.
  private static let names: [[UInt8]] =
    [
      "a b", "100%", "%41", "#1", "why?", "a;b", "a+b", "a:b", "a&b=c,d", "[x]{y}", "back\\slash", "\"q\"", "a|b^c`<>",
      "line\nfeed", "tab\t\u{7F}", "e\u{301}", "\u{E9}", "\u{1F642}", "~", "…", "a@b!$'()*", ".hidden",
    ].map { Array($0.utf8) } + [[0xFF, 0xFE, 0x80], [0x61, 0xC3, 0x28], Array("x%\u{E4} ".utf8) + [0xE2, 0x82]]

  private struct Place {
    let path: SystemPath
    let url: URL

    init(_ name: [UInt8], in root: SystemPath) throws {
      path = root.appending(SystemPath(bytes: name))
      url = try URL(filePathBytes: path.bytes)
    }
  }

  @Test("A name of any bytes is kept, and text has the URL that Foundation makes of it")
  func bytes() throws {
    let every = (1...255).map { [UInt8(ascii: "x"), UInt8($0), UInt8(ascii: "y")] }
    for name in (every + Self.names).filter({ !$0.contains(UInt8(ascii: "/")) }) {
      let place = try Place(name, in: SystemPath("/d"))
      #expect(try place.url.filePathBytes() == place.path.bytes)
      #expect(SystemPath(place.url) == place.path && place.path.url == place.url)
      guard let text = String(validating: place.path.bytes, as: UTF8.self) else { continue }
      #expect(place.url == URL(filePath: text, directoryHint: .notDirectory))
      #expect(place.url == URL(fileURLWithPath: text, isDirectory: false))
    }
  }

  @Test("Slashes at the end are dropped, a relative path is placed, and what's no path is refused")
  func edges() throws {
    #expect(try URL(filePathBytes: "/a/b//".utf8).absoluteString == "file:///a/b")
    #expect(try URL(filePathBytes: "/".utf8).absoluteString == "file:///")
    #expect(try URL(filePathBytes: "/".utf8).filePathBytes() == [UInt8(ascii: "/")])
    let relative = try URL(filePathBytes: "a b".utf8)
    #expect(relative.path == FileManager.default.currentDirectoryPath + "/a b")
    for bytes in [[], [UInt8(ascii: "/"), 0]] as [[UInt8]] {
      let error = #expect(throws: FileCoordinationError.self) { try URL(filePathBytes: bytes) }
      #expect(error?.code == .invalidPath)
    }
    let foreign = try #require(URL(string: "https://example.org/a"))
    #expect(#expect(throws: FileCoordinationError.self) { try foreign.filePathBytes() }?.code == .notAFileURL)
  }

  @Test("Accesses, presenters, queries, tree watchers and Apple's names give the same URL of the same file")
  func producers() async throws {
    try await withSandbox { box in
      let root = SystemPath(box.root.path), files = HostFileSystem()
      let places = try Self.names.map { try Place($0, in: root) }
      let watcher = try TreeWatcher([box.root])
      let query = try MetadataQuery(.constant(true), in: [box.root])
      try query.start()
      defer { query.stop() }
      try await watcher.waitUntilCurrent()
      let domain = CoordinationDomain(), coordinator = FileCoordinator(domain: domain)
      let presenter = RecordingPresenter(box.root)
      let registration = try await domain.register(presenter)
      for place in places {
        let file = FilePresenterURLs(place.url)
        let own = try await domain.register(file)
        let seen = try await coordinator.write(place.url) { access in
          try await access.replaceContents(with: Data("x".utf8))
          return access.url
        }
        #expect(seen == place.url)
        #expect(MetadataItem(url: place.url)?.url == place.url)
        #expect(NSMetadataItem(url: place.url)?.value(forAttribute: NSMetadataItemURLKey) as? URL == place.url)
        let text = NSMetadataItem(url: place.url)?.value(forAttribute: "kMDItemURL") as? URL
        #expect(text?.absoluteString == place.url.absoluteString)
        try await domain.waitUntil { $0.arePresentersIdle }
        #expect(presenter.messages.last?.urls == [place.url])
        // There and back, by names that the library has to make.
        let other = try Place(place.path.lastComponent.bytes + Array(".2".utf8), in: root)
        try await coordinator.move(place.url, to: other.url)
        try await coordinator.move(other.url, to: place.url)
        try await domain.waitUntil { $0.arePresentersIdle }
        #expect(presenter.messages.suffix(2).map(\.urls) == [[place.url, other.url], [other.url, place.url]])
        #expect(file.moves == [other.url, place.url])
        _ = own
      }
      let found = try await query.waitUntilCurrent()
      #expect(Set(found.compactMap(\.url)) == Set(places.map(\.url)))
      let update = try #require(await watcher.catchUp())
      #expect(Set(update.changes.compactMap(\.url)) == Set(places.map(\.url)))
      for place in places { #expect(try files.contents(of: place.path) == Array("x".utf8)) }
      withExtendedLifetime(registration) {}
    }
  }

  @Test("Items whose names aren't UTF-8 are what Apple's names work on, and what they hand out")
  func foreignNames() throws {
    try withSandbox { box in
      let files = HostFileSystem(), root = SystemPath(box.root.path)
      let old = try Place([0xFF, 0xFE], in: root), new = try Place([0x61, 0xC3, 0x28], in: root)
      try files.replaceContents(of: old.path, with: Array("old".utf8))
      try files.replaceContents(of: new.path, with: Array("new".utf8))
      try FileManager.default.replaceItem(
        at: old.url, withItemAt: new.url, backupItemName: nil, resultingItemURL: nil)
      #expect(try files.contents(of: old.path) == Array("new".utf8))
      #expect(old.url.leadsSomewhere && !new.url.leadsSomewhere)
      #expect(old.url.systemPath == old.path && old.path.foundationURL == old.url)
      try files.makeDirectory(new.path, at: .workingDirectory, mode: 0o755)
      #expect(new.path.foundationURL.absoluteString == new.url.absoluteString + "/")
      #expect(new.path.foundationURL.systemPath == new.path)
    }
  }
}

/// Where a presenter has been moved to.
private final class FilePresenterURLs: FilePresenter, @unchecked Sendable {
  private let lock = NSLock()
  private var url: URL
  private var told: [URL] = []

  init(_ url: URL) { self.url = url }

  var moves: [URL] { lock.withLock { told } }
  var presentedItemURL: URL? { lock.withLock { url } }
  var presentedItemCallbacks: FilePresenterCallbacks { .itemDidMove }

  func presentedItemDidMove(to newURL: URL, origin: AccessOrigin) async {
    lock.withLock {
      url = newURL
      told.append(newURL)
    }
  }
}
