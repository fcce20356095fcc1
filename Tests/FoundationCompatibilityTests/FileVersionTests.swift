import FileCoordination
import FileVersions
import Foundation
import TestSupport
import Testing

@testable import FoundationCompatibility

@Suite("NSFileVersion", .blocking, .timeLimit(.minutes(4)))
struct FileVersionTests {
  private let native = FileVersions(domain: Sandbox.domain, storage: .directory(Sandbox.versionStore))

  @Test("CV-01…CV-05: A path without a file has no versions; others are listed, newest first, without the current one")
  func listing() throws {
    try withSandbox { box in
      let none = box.url("none")
      #expect(NSFileVersion.currentVersionOfItem(at: none) == nil)
      #expect(NSFileVersion.otherVersionsOfItem(at: none) == nil)
      #expect(NSFileVersion.unresolvedConflictVersionsOfItem(at: none) == nil)
      let file = try box.write("a.txt", "1")
      let current = try #require(NSFileVersion.currentVersionOfItem(at: file))
      #expect(current.url == file && current.localizedName == "a.txt" && current.hasLocalContents)
      #expect(NSFileVersion.otherVersionsOfItem(at: file) == [])
      let first = try NSFileVersion.addOfItem(at: file, withContentsOf: file)
      let second = try NSFileVersion.addOfItem(at: file, withContentsOf: file)
      let listed = try #require(NSFileVersion.otherVersionsOfItem(at: file))
      #expect(listed == [second, first] && listed[0] !== second && listed[0].hash == second.hash)
      #expect(first != second && !listed.contains(current) && current == NSFileVersion.currentVersionOfItem(at: file))
      #expect(!first.isConflict && first.isResolved && !first.isDiscardable && !first.hasThumbnail)
      #expect(first.originatorNameComponents == nil && first.localizedNameOfSavingComputer != nil)
      #expect(first.modificationDate == current.modificationDate)
    }
  }

  @Test("CV-22: A version names the person who saved it, unless that's this user or isn't known")
  func originators() async throws {
    try await withSandbox { box in
      let file = try box.write("a.txt", "1")
      for author in [nil, "Anna Example", NSUserName()] {
        let versions = FileVersions(domain: Sandbox.domain, storage: .directory(Sandbox.versionStore), author: author)
        try await versions.addVersion(of: file)
      }
      // The name of this conflict copy says who wrote it; this engine's versions are in the store when they were resolved.
      _ = try box.write("a (Ben Writer's conflicted copy 2026-01-02).txt", "2")
      let engines = FileVersions(
        domain: Sandbox.domain, storage: .directory(Sandbox.versionStore), conflictCopies: [.dropbox])
      let copy = try #require(try await engines.unresolvedConflicts(of: file)?.first)
      try await engines.markResolved(copy, of: file)
      let listed = try #require(NSFileVersion.otherVersionsOfItem(at: file))
      let names = Dictionary(grouping: listed.map(\.originatorNameComponents)) { $0?.familyName ?? "" }
      #expect(listed.count == 4 && names[""]?.count == 2 && names["Example"]?.first??.givenName == "Anna")
      #expect(names["Writer"]?.first??.givenName == "Ben", "\(names)")
      #expect(listed.first { $0.isConflict }?.originatorNameComponents?.givenName == "Ben")
    }
  }

  @Test(
    "CV-22: The parts of a person's name",
    arguments: [
      ("anna", ["anna", nil, nil]), ("Anna Example", ["Anna", nil, "Example"]),
      ("Anna Maria Example", ["Anna", "Maria", "Example"]), ("Example, Anna Maria", ["Anna", "Maria", "Example"]),
      (" Ludwig van  Beethoven ", ["Ludwig", nil, "van Beethoven"]), ("Example,", ["Example,", nil, nil]),
      ("", nil), (" ", nil), (NSFullUserName(), nil),
    ] as [(String, [String?]?)])
  func names(text: String, parts: [String?]?) {
    let name = PersonNameComponents(author: text)
    #expect(name.map { [$0.givenName, $0.middleName, $0.familyName] } == parts)
  }

  @Test("CV-06: The persistent identifier finds the version again, until it's removed")
  func identifiers() throws {
    try withSandbox { box in
      let file = try box.write("a", "1")
      let version = try NSFileVersion.addOfItem(at: file, withContentsOf: file)
      let data = try JSONEncoder().encode([#require(version.persistentIdentifier as? String)])
      let identifier = try JSONDecoder().decode([String].self, from: data)[0]
      #expect(NSFileVersion.version(itemAt: file, forPersistentIdentifier: identifier) == version)
      let current = try #require(NSFileVersion.currentVersionOfItem(at: file))
      #expect(NSFileVersion.version(itemAt: file, forPersistentIdentifier: current.persistentIdentifier) == current)
      #expect(NSFileVersion.version(itemAt: file, forPersistentIdentifier: 1) == nil)
      try version.remove()
      #expect(NSFileVersion.version(itemAt: file, forPersistentIdentifier: identifier) == nil)
    }
  }

  @Test("CV-07…CV-09: Contents are kept as they were; those that are handed over are gone from where they were")
  func adding() throws {
    try withSandbox { box in
      let file = try box.write("a", "1")
      let kept = try NSFileVersion.addOfItem(at: file, withContentsOf: file)
      _ = try box.write("a", "2")
      #expect(try box.text(kept.url) == "1" && box.text(file) == "2")
      let directory = NSFileVersion.temporaryDirectoryURLForNewVersionOfItem(at: file)
      #expect(directory != NSFileVersion.temporaryDirectoryURLForNewVersionOfItem(at: file))
      let draft = directory.appending(path: "draft")
      try Data("3".utf8).write(to: draft)
      let moved = try NSFileVersion.addOfItem(at: file, withContentsOf: draft, options: .byMoving)
      #expect(try box.text(moved.url) == "3" && !FileManager.default.fileExists(atPath: draft.path))
      try FileManager.default.removeItem(at: directory)
      #expect(throws: CocoaError.self) { try NSFileVersion.addOfItem(at: file, withContentsOf: box.url("none")) }
    }
  }

  @Test("CV-17…CV-20, CV-23: A version takes the place of a file, which keeps its name but not its extension")
  func replacing() throws {
    try withSandbox { box in
      let file = try box.write("a.txt", "1")
      let version = try NSFileVersion.addOfItem(at: file, withContentsOf: file)
      _ = try box.write("a.txt", "2")
      #expect(try version.replaceItem(at: file) == file)
      #expect(try box.text(file) == "1")
      // The contents that it has overwritten became a version.
      #expect(try NSFileVersion.otherVersionsOfItem(at: file)?.map { try box.text($0.url) } == ["2", "1"])
      #expect(try box.text(version.replaceItem(at: box.url("new.txt"))) == "1")
      let other = try box.write("b.md", "3")
      let replaced = try version.replaceItem(at: other, options: .byMoving)
      #expect(replaced == box.url("b.txt") && version.localizedName == nil && !version.hasLocalContents)
      #expect(try box.text(replaced) == "1" && !FileManager.default.fileExists(atPath: other.path))
      #expect(try NSFileVersion.otherVersionsOfItem(at: replaced)?.map { try box.text($0.url) } == ["3"])
      #expect(NSFileVersion.otherVersionsOfItem(at: file)?.contains(version) == false)
      #expect(throws: CocoaError.self) { try version.replaceItem(at: file) }
      #expect(try box.text(file) == "1")
    }
  }

  @Test("CV-11…CV-14, CV-22: Marks can be set, and not taken back; a mark that can't be set is reported")
  func marks() async throws {
    try await withSandbox { box in
      let file = try box.write("a", "1")
      let conflict = try await native.addVersion(of: file, isConflict: true)
      let listed = try #require(NSFileVersion.unresolvedConflictVersionsOfItem(at: file)?.first)
      #expect(listed.persistentIdentifier as? String == conflict.id.description)
      #expect(listed.isConflict && !listed.isResolved && listed.localizedNameOfSavingComputer != nil)
      let before = Sandbox.misuse.count(of: file)
      listed.isResolved = false
      listed.isDiscardable = false
      #expect(!listed.isResolved && Sandbox.misuse.count(of: file) == before + 2)
      listed.isResolved = true
      #expect(listed.isResolved && NSFileVersion.unresolvedConflictVersionsOfItem(at: file) == [])
      listed.isDiscardable = true
      #expect(listed.isDiscardable && NSFileVersion.otherVersionsOfItem(at: file)?.first?.isDiscardable == true)
      #expect(try box.text(listed.url) == "1")
      let current = try #require(NSFileVersion.currentVersionOfItem(at: file))
      current.isResolved = true
      current.isDiscardable = true
      #expect(!current.isDiscardable && Sandbox.misuse.count(of: file) == before + 4)
    }
  }

  @Test("CV-15, CV-16, CV-23: A version is removed, with its name, or all are; the current one can't be")
  func removing() throws {
    try withSandbox { box in
      let file = try box.write("a", "1")
      let current = try #require(NSFileVersion.currentVersionOfItem(at: file))
      #expect(throws: CocoaError.self) { try current.remove() }
      let versions = try (0..<3).map { _ in try NSFileVersion.addOfItem(at: file, withContentsOf: file) }
      let same = try #require(NSFileVersion.otherVersionsOfItem(at: file)?[1])
      #expect(same == versions[1] && same.localizedName == "a" && same.hasLocalContents)
      try versions[1].remove()
      // Also of another object, as after a removal by another program.
      for gone in [versions[1], same] { #expect(gone.localizedName == nil && !gone.hasLocalContents) }
      #expect(versions[0].localizedName == "a" && current.localizedName == "a" && current.hasLocalContents)
      #expect(!FileManager.default.fileExists(atPath: versions[1].url.path))
      #expect(NSFileVersion.otherVersionsOfItem(at: file) == [versions[2], versions[0]])
      try NSFileVersion.removeOtherVersionsOfItem(at: file)
      #expect(NSFileVersion.otherVersionsOfItem(at: file) == [])
      #expect(NSFileVersion.currentVersionOfItem(at: file) == current)
      #expect(try box.text(file) == "1")
    }
  }

  @Test("CV-10: Presenters of the file and of its folder get the version itself")
  func presenters() async throws {
    try await withSandbox { box in
      let file = try box.write("d/a", "1")
      let (own, around) = (VersionPresenter(file), VersionPresenter(box.url("d")))
      for presenter in [own, around] { NSFileCoordinator.addFilePresenter(presenter) }
      var version: NSFileVersion?
      NSFileCoordinator().coordinate(writingItemAt: file, error: nil) { url in
        version = try? NSFileVersion.addOfItem(at: url, withContentsOf: url)
      }
      let added = try #require(version)
      var received = [await own.received.next(), await around.received.next()]
      #expect(received.map { $0?.event } == ["gained", "gained in"])
      #expect(received.allSatisfy { $0?.version == added && $0?.version.localizedName == "a" })
      try added.remove()
      received = [await own.received.next(), await around.received.next()]
      #expect(received.map { $0?.event } == ["lost", "lost in"])
      #expect(received.allSatisfy { $0?.version.localizedName == nil && $0?.version.hasLocalContents == false })
      #expect(received[0]?.version.persistentIdentifier as? String == added.persistentIdentifier as? String)
      for presenter in [own, around] { NSFileCoordinator.removeFilePresenter(presenter) }
    }
  }

  @Test("CV-10, CV-12: Presenters get the conflict that was resolved as it's kept, by either side")
  func resolvedConflicts() async throws {
    try await withSandbox { box in
      let file = try box.write("d/a", "1")
      let conflicts = [
        try await native.addVersion(of: file, isConflict: true),
        try await native.addVersion(of: file, isConflict: true),
      ]
      let (own, around) = (VersionPresenter(file), VersionPresenter(box.url("d")))
      for presenter in [own, around] { NSFileCoordinator.addFilePresenter(presenter) }
      let listed = try #require(NSFileVersion.unresolvedConflictVersionsOfItem(at: file))
      for (conflict, isOwn) in zip(conflicts, [true, false]) {
        let version = try #require(listed.first { $0.persistentIdentifier as? String == conflict.id.description })
        if isOwn { version.isResolved = true } else { _ = try await native.markResolved(conflict, of: file) }
        let received = [await own.received.next(), await around.received.next()]
        #expect(received.map { $0?.event } == ["resolved", "resolved in"])
        for message in received {
          let found = try #require(message?.version)
          #expect(found == version && found.isConflict && found.isResolved && found.hasLocalContents)
          #expect(try box.text(found.url) == "1")
        }
      }
      for presenter in [own, around] { NSFileCoordinator.removeFilePresenter(presenter) }
    }
  }

  @Test("There are no versions on other machines")
  func nonlocal() async throws {
    try await withSandbox { box in
      let file = try box.write("a", "1")
      #expect(try await NSFileVersion.nonlocalVersionsOfItem(at: file) == [])
      await #expect(throws: CocoaError.self) { try await NSFileVersion.nonlocalVersionsOfItem(at: box.url("none")) }
      let count = await withCheckedContinuation { answer in
        NSFileVersion.getNonlocalVersionsOfItem(at: file) { versions, _ in answer.resume(returning: versions?.count) }
      }
      #expect(count == 0)
    }
  }
}

extension Journal {
  /// How many mistakes with a file were reported.
  fileprivate func count(of file: URL) -> Int { entries.count { $0.contains(file.path) } }
}

/// Passes on the versions that it's notified of.
private final class VersionPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  struct Message: Sendable {
    let event: String
    let version: NSFileVersion
  }

  /// The messages, one after the other.
  actor Received {
    private var iterator: AsyncStream<Message>.Iterator
    init(_ stream: AsyncStream<Message>) { iterator = stream.makeAsyncIterator() }
    func next() async -> Message? {
      var copy = iterator
      defer { iterator = copy }
      return await copy.next(isolation: #isolation)
    }
  }

  let received: Received
  private let messages: AsyncStream<Message>.Continuation

  init(_ url: URL) {
    let (stream, messages) = AsyncStream.makeStream(of: Message.self)
    received = Received(stream)
    self.messages = messages
    super.init(url)
  }

  private func pass(_ event: String, _ version: NSFileVersion) {
    messages.yield(Message(event: event, version: version))
  }

  func presentedItemDidGain(_ version: NSFileVersion) { pass("gained", version) }
  func presentedItemDidLose(_ version: NSFileVersion) { pass("lost", version) }
  func presentedItemDidResolveConflict(_ version: NSFileVersion) { pass("resolved", version) }
  func presentedSubitem(at url: URL, didGain version: NSFileVersion) { pass("gained in", version) }
  func presentedSubitem(at url: URL, didLose version: NSFileVersion) { pass("lost in", version) }
  func presentedSubitem(at url: URL, didResolve version: NSFileVersion) { pass("resolved in", version) }
}
