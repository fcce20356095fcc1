import FileCoordination
import Foundation
import TestSupport
import Testing

@testable import FoundationCompatibility

@Suite("Conformance under Apple's names: versions, attributes and strangers", .blocking, .timeLimit(.minutes(4)))
struct AttributeConformanceTests {
  @Test("C-112: Messages about versions reach a presenter even for its own coordinator's access")
  func ownVersions() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let (own, other) = (HandlerPresenter(url), HandlerPresenter(url))
      try box.presenting(own, other) {
        // Apple's class has no call for it.
        try NSFileCoordinator(filePresenter: own).native.blocking.write(url) { access in
          access.didChangeVersion(.gained, version: "one")
          access.didChangeVersion(.lost, version: "two")
          access.didChangeVersion(.resolved, version: "three")
        }
      }
      let versions = ["gained one", "lost two", "resolved three"]
      #expect(own.journal.entries == versions)
      #expect(other.journal.entries.filter(versions.contains) == versions)
    }
  }

  @Test("C-205, C-206: A presenter hears of attributes that it observes; all of them, unless it says which")
  func observedAttributes() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let all = HandlerPresenter(url)
      let some = ObservingPresenter(url) { _, _ in [.ubiquitousItemIsUploadedKey] }
      let none = ObservingPresenter(url) { _, _ in [.ubiquitousItemHasUnresolvedConflictsKey] }
      box.presenting(all, some, none) {
        NSFileCoordinator().item(
          at: url, didChangeUbiquityAttributes: [.ubiquitousItemIsUploadedKey, .ubiquitousItemIsUploadingKey])
      }
      #expect(all.journal.entries == ["attributes 2"])
      #expect(some.journal.entries == [URLResourceKey.ubiquitousItemIsUploadedKey.rawValue])
      #expect(none.journal.entries.isEmpty)
    }
  }

  @Test("C-207: The observed attributes are those of the registration, and not of a later time")
  func sampledAtRegistration() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let presenter = ObservingPresenter(url) { count, _ in
        count == 1 ? [.ubiquitousItemIsUploadedKey] : [.ubiquitousItemIsUploadingKey]
      }
      box.presenting(presenter) {
        for _ in 1...2 {
          NSFileCoordinator().item(
            at: url, didChangeUbiquityAttributes: [.ubiquitousItemIsUploadedKey, .ubiquitousItemIsUploadingKey])
        }
      }
      let key = URLResourceKey.ubiquitousItemIsUploadedKey.rawValue
      #expect(presenter.journal.entries == [key, key])
    }
  }

  @Test("C-207: The observed attributes of a presenter without a URL are those of the moment when it gets one")
  func sampledWhenLocated() throws {
    try withSandbox { box in
      let url = box.url("untitled")
      let presenter = ObservingPresenter(nil) { _, url in
        url == nil ? [.ubiquitousItemIsDownloadingKey] : [.ubiquitousItemIsUploadedKey]
      }
      box.presenting(presenter) {
        Access.write(.forReplacing).run(by: NSFileCoordinator(filePresenter: presenter), url) { url in
          _ = try? Data().write(to: url)
          presenter.presentedItemURL = url
        }
        NSFileCoordinator().item(
          at: url, didChangeUbiquityAttributes: [.ubiquitousItemIsDownloadingKey, .ubiquitousItemIsUploadedKey])
      }
      #expect(presenter.journal.entries == [URLResourceKey.ubiquitousItemIsUploadedKey.rawValue])
    }
  }

  @Test("A presenter's primary item is nothing that it's asked about or told of, and unless written there's none")
  func primaryItem() throws {
    try withSandbox { box in
      let (primary, secondary) = (try box.write("movie"), try box.write("movie.subtitles"))
      let presenter = SecondaryPresenter(secondary, primary: primary)
      #expect((presenter as any NSFilePresenter).primaryPresentedItemURL == primary)
      #expect((HandlerPresenter(primary) as any NSFilePresenter).primaryPresentedItemURL == nil)
      box.presenting(presenter) {
        #expect(Access.write.run(primary) == nil)
        box.quiesce()
        #expect(presenter.journal.entries.isEmpty)
        #expect(Access.write.run(secondary) == nil)
      }
      #expect(presenter.journal.entries == ["changed"])
    }
  }

  @Test("C-200, C-201: A stranger's write is told to those who want that, without letting go, and to nobody else")
  func strangers() throws {
    try withSandbox { box in
      let url = try box.write("d/f")
      let (watching, around) = (WatchingPresenter(url), WatchingPresenter(box.url("d")))
      let (item, directory) = (HandlerPresenter(url), HandlerPresenter(box.url("d")))
      try box.presenting(watching, around, item, directory) {
        let file = try FileHandle(forWritingTo: url)
        try file.write(contentsOf: Data("more".utf8))
        try file.close()
        Sandbox.domain.readUncoordinatedChanges()
        #expect(watching.journal.wait(for: "changed"))
        #expect(around.journal.wait(for: "f changed"))
      }
      #expect(Set(watching.journal.entries) == ["changed"] && Set(around.journal.entries) == ["f changed"])
      #expect(item.journal.entries.isEmpty && directory.journal.entries.isEmpty)
    }
  }

  @Test("C-200: A presenter that asks for changes by strangers is notified of accesses once, as others are")
  func coordinatedOnce() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let presenter = WatchingPresenter(url)
      box.presenting(presenter) {
        // Opens nothing: a process that another test starts at this moment would keep the file open, and close it when
        // the write has ended.
        Access.write.run(url) {
          try? FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: $0.path)
        }
        Sandbox.domain.readUncoordinatedChanges()
      }
      #expect(presenter.journal.entries == ["to writer", "changed"])
    }
  }
}

/// Returns its observed attributes by the number of the calls and the place of its item.
private final class ObservingPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  private let choice: (Int, URL?) -> Set<URLResourceKey>
  private let lock = NSLock()
  private var readCount = 0

  init(_ url: URL?, _ choice: @escaping (Int, URL?) -> Set<URLResourceKey>) {
    self.choice = choice
    super.init(url)
  }

  var observedPresentedItemUbiquityAttributes: Set<URLResourceKey> {
    let count = lock.withLock {
      readCount += 1
      return readCount
    }
    return choice(count, presentedItemURL)
  }

  func presentedItemDidChangeUbiquityAttributes(_ attributes: Set<URLResourceKey>) {
    note(attributes.map(\.rawValue).sorted().joined(separator: " "))
  }
}

private final class SecondaryPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  let primaryPresentedItemURL: URL?

  init(_ url: URL, primary: URL) {
    primaryPresentedItemURL = primary
    super.init(url)
  }

  func presentedItemDidChange() { note("changed") }
}

private final class WatchingPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  let observesUncoordinatedChanges = true

  func relinquishPresentedItem(toWriter writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
    note("to writer")
    writer(nil)
  }

  func presentedItemDidChange() { note("changed") }
  func presentedSubitemDidChange(at url: URL) { note("\(url.lastPathComponent) changed") }
}
