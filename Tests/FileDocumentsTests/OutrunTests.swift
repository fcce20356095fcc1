import FileCoordination
import FileCoordinationTesting
import FilePackages
import Foundation
import SystemInterface
import Testing

@testable import FileDocuments
@testable import FileVersions

/// Does something once, when a file's place is resolved for an access: the operation has chosen that place then, and has requested nothing.
private final class Outrunner: Sendable {
  private let deed = Guarded<(place: String, skipped: Int, act: @Sendable () throws -> Void)?>(nil)
  private let failure = Guarded<(any Error)?>(nil)
  private let hasActed = TestGate()

  var files: ScriptedFileSystem {
    ScriptedFileSystem { [self] made in
      let act = deed.withLock { deed -> (@Sendable () throws -> Void)? in
        guard let (place, skipped, act) = deed, made.paths.map(\.description).contains(place) else { return nil }
        deed = skipped == 0 ? nil : (place, skipped - 1, act)
        return skipped == 0 ? act : nil
      }
      guard let act else { return .proceed }
      do { try act() } catch { failure.withLock { $0 = error } }
      hasActed.open()
      return .proceed
    }
  }

  /// - Parameters:
  ///   - place: Any call that names it counts.
  ///   - skipped: How many calls go by before.
  ///   - act: Done before the next one.
  func next(at place: URL, after skipped: Int = 0, _ act: @escaping @Sendable () throws -> Void) {
    deed.withLock { $0 = (place.path, skipped, act) }
  }

  /// Whether it's still to be done; it isn't done any more then.
  func cancel() -> Bool { deed.withLock { $0.take() } != nil }

  /// Waits until it's done: otherwise the test shows nothing.
  func finish() async throws {
    try await hasActed.pass()
    if let error = failure.withLock({ $0 }) { throw error }
  }
}

@Suite("Documents whose file is moved in the middle of an operation", .timeLimit(.minutes(8)))
struct OutrunTests {
  enum Operation: String, CaseIterable, Sendable {
    case save, check, keep, load, conflicts, move, duplicate, delete
  }

  /// The item at the former place by then.
  enum Former: String, CaseIterable, Sendable {
    case nothing, another
  }

  /// The places and texts of a scene; a package has the text in a member.
  private struct Scene: Sendable {
    let fixture: Fixture
    let isPackage: Bool
    let (a, b, c): (URL, URL, URL)

    init(_ fixture: Fixture, isPackage: Bool) {
      self.fixture = fixture
      self.isPackage = isPackage
      (a, b, c) = (fixture.url("a.note"), fixture.url("b.note"), fixture.url("c.note"))
    }

    private func file(_ url: URL) -> URL { isPackage ? url.appending(path: "text") : url }
    func text(_ url: URL) throws -> String { try fixture.text(of: file(url)) }

    func text<Contents>(of document: FileDocument<Contents>) async throws -> String? {
      let contents = await document.contents
      if let text = contents as? String { return text }
      return try (contents as? PackageTree).map {
        String(decoding: try $0.contents(of: SystemPath("text")), as: UTF8.self)
      }
    }

    func write(_ text: String, _ url: URL) throws {
      if isPackage { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
      try fixture.write(text, to: file(url))
    }
  }

  @Test(
    "CD-21: News of a move that comes after an operation has chosen the place, and before it requests the access, is followed by the operation; another file at the former place isn't touched",
    arguments: Operation.allCases, Former.allCases)
  func file(operation: Operation, former: Former) async throws {
    let outrunner = Outrunner()
    try await withFixture(outrunner.files) { fixture in
      let scene = Scene(fixture, isPackage: false)
      try scene.write("old", scene.a)
      let document = FileDocument(scene.a, as: .text, options: fixture.options(), in: nil)
      try await document.open()
      try await run(operation, former, scene, document, outrunner) { $0 = $1 }
    }
  }

  @Test("CD-21: The same for packages", arguments: Operation.allCases, Former.allCases)
  func package(operation: Operation, former: Former) async throws {
    let outrunner = Outrunner()
    try await withFixture(outrunner.files) { fixture in
      let scene = Scene(fixture, isPackage: true)
      try scene.write("old", scene.a)
      var options = DocumentOptions<PackageTree>(domain: fixture.domain, versions: fixture.versions)
      options.autosave = .never
      options.clock = fixture.clock
      options.observesUncoordinatedChanges = false
      let document = FileDocument(scene.a, as: .package, options: options, in: nil)
      try await document.open()
      try await run(operation, former, scene, document, outrunner) { tree, text in
        do { try tree.update(SystemPath("text"), Array(text.utf8)) } catch { Issue.record(error) }
      }
    }
  }

  private func run<Contents>(
    _ operation: Operation, _ former: Former, _ scene: Scene, _ document: FileDocument<Contents>,
    _ outrunner: Outrunner, _ edit: @escaping @Sendable (inout Contents, String) -> Void
  ) async throws {
    let (fixture, isTaken) = (scene.fixture, former == .another)
    if [.save, .keep].contains(operation) { try await document.edit { edit(&$0, "mine") } }
    if operation == .check { try scene.write("theirs", scene.a) }
    outrunner.next(at: scene.a) {
      try Self.move(scene, document)
      if isTaken { try scene.write("another", scene.a) }
      if isTaken, operation == .conflicts { try fixture.versions.blocking.addVersion(of: scene.a, isConflict: true) }
    }
    switch operation {
    case .save: try await document.save()
    case .check: await document.receive(.itemChanged)
    case .keep, .load: try await document.revert()
    case .conflicts: await document.receive(.versionsChanged)
    case .move: try await document.move(to: scene.c)
    case .duplicate: try await document.duplicate(to: scene.c)
    case .delete: try await document.delete()
    }
    try await outrunner.finish()
    while let operation = await document.operation { await operation.value }
    // Nothing of it is left to be done, but the check after the mover's access.
    let conditions: DocumentState.Conditions = operation == .delete ? .closed : .normal
    if operation == .conflicts { #expect(!document.state.conditions.contains(.inConflict)) }
    try await document.waitUntil { $0.state.conditions == conditions }
    try await expectOutcome(operation, scene, document)
    try await document.close(discardingChanges: true)
    var names = [operation == .move ? "c.note" : "b.note"]
    if operation == .delete { names = [] }
    if operation == .duplicate { names.append("c.note") }
    if isTaken { names.insert("a.note", at: 0) }
    #expect(try fixture.names() == names)
    if isTaken {
      #expect(try scene.text(scene.a) == "another")
      let versions = try await fixture.versions.versions(of: scene.a) ?? []
      #expect(versions.count == (operation == .conflicts ? 1 : 0))
    }
  }

  @Test(
    "CD-19: A program moves the file without coordination at any call of an operation that keeps what is unsaved: it's a version there"
  )
  func uncoordinated() async throws {
    var number = 0
    while try await keep(movedAfter: number) { number += 1 }
    #expect(number > 4)
  }

  /// - Returns: Whether the operation had as many calls.
  private func keep(movedAfter count: Int) async throws -> Bool {
    let outrunner = Outrunner()
    var isReached = true
    try await withFixture(outrunner.files) { fixture in
      let scene = Scene(fixture, isPackage: false)
      try scene.write("old", scene.a)
      var options = fixture.options()
      options.observesUncoordinatedChanges = true
      options.reportMax = .milliseconds(20)
      let document = FileDocument(scene.a, as: .text, options: options, in: nil)
      try await document.open()
      try await document.edit { $0 = "mine" }
      outrunner.next(at: scene.a, after: count) { try FileManager.default.moveItem(at: scene.a, to: scene.b) }
      try await document.revert()
      isReached = !outrunner.cancel()
      if !isReached {
        try await document.close()
        return
      }
      try await outrunner.finish()
      try await document.waitUntil { $0.url == scene.b && $0.state.conditions == .normal }
      #expect(await document.contents == "old", "\(count) calls before")
      #expect(try await fixture.versionTexts(of: scene.b).contains("mine"), "\(count) calls before")
      try await document.close()
    }
    return isReached
  }

  @Test(
    "CD-21: An operation that runs before the document can have the news of a move follows the file, as its accesses are led there",
    arguments: [Operation.load, .keep])
  func newsThatWaits(operation: Operation) async throws {
    try await withFixture { fixture in
      let (scene, queue) = (Scene(fixture, isPackage: false), ControllablePresenterQueue())
      try scene.write("old", scene.a)
      var options = fixture.options()
      options.observesUncoordinatedChanges = true
      options.reportMax = .milliseconds(1)
      options.presenterExecutor = queue
      let document = FileDocument(scene.a, as: .text, options: options, in: nil)
      try await document.open()
      if operation == .keep { try await document.edit { $0 = "mine" } }
      async let move: Void = fixture.other.move(scene.a, to: scene.b)
      // The questions are answered; the news, and the end of the mover's access, wait.
      while true {
        try await queue.waitForJob()
        if !fixture.exists(scene.a) { break }
        queue.runNext()
      }
      try await move
      #expect(document.url == scene.a)
      try scene.write("theirs", scene.b)
      try await document.revert()
      #expect(await document.contents == "theirs")
      queue.open()
      try await document.waitUntil { $0.url == scene.b && $0.state.conditions == .normal }
      try await document.close()
      #expect(try fixture.names() == ["b.note"] && scene.text(scene.b) == "theirs")
    }
  }

  private func expectOutcome<Contents>(
    _ operation: Operation, _ scene: Scene, _ document: FileDocument<Contents>
  ) async throws {
    switch operation {
    case .save: #expect(try scene.text(scene.b) == "mine")
    case .check: #expect(try await scene.text(of: document) == "theirs")
    case .load: #expect(try await scene.text(of: document) == "old")
    case .keep:
      #expect(try await scene.text(of: document) == "old")
      #expect(try await scene.fixture.versions.versions(of: scene.b)?.count == 1)
    case .conflicts: #expect(document.url == scene.b)
    case .move: #expect(try document.url == scene.c && scene.text(scene.c) == "old")
    case .duplicate:
      #expect(try document.url == scene.b && scene.text(scene.b) == "old" && scene.text(scene.c) == "old")
    case .delete: #expect(document.state.conditions == .closed)
    }
  }

  /// Moves the file as another program, and waits until the document has answered the news.
  private static func move<Contents>(_ scene: Scene, _ document: FileDocument<Contents>) throws {
    try scene.fixture.other.blocking.move(scene.a, to: scene.b)
    let answered = TestGate()
    Task {
      do { try await document.waitUntil { $0.url == scene.b } } catch { Issue.record(error) }
      answered.open()
    }
    answered.passBlocking()
  }
}
