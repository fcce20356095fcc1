import FileCoordination
import FileCoordinationTesting
import Foundation
import SeededRandom
import SystemInterface
import Testing

@testable import FileVersions
@testable import VersionStore

/// A process is killed while it puts something in the place of a file, and another one calls about the file.
@Suite("The leftovers of killed restorations", .timeLimit(.minutes(8)))
struct LeftoversTests {
  /// The work of the process.
  enum Operation: String, CaseIterable, Sendable {
    case restore, resolve, restorePackage
  }

  /// The next call about the file.
  enum Next: CaseIterable, Sendable {
    case list, add, restore, resolve

    func perform(_ versions: FileVersions, _ file: URL) async throws {
      switch self {
      case .list: _ = try await versions.versions(of: file)
      case .add: try await versions.addVersion(of: file, isPackage: true)
      case .restore:
        let oldest = try #require(try await versions.versions(of: file)?.last)
        try await versions.restore(oldest, to: file)
      case .resolve: try await versions.resolve(at: file) { _ in .current }
      }
    }
  }

  /// Enough calls for a process that ends by itself.
  private static let callCountMax = 1_000
  private static let done: Int32 = 17

  @Test(
    "CV-37: A restoration or resolution that's killed at any call leaves nothing that the next call doesn't make a version of, or remove",
    arguments: Operation.allCases)
  func kills(operation: Operation) async throws {
    var leftCount = 0
    var isOver = false
    var number = 0
    while !isOver {
      let next = Next.allCases[number % Next.allCases.count]
      try await withFixture { fixture in
        let file = fixture.root.appending(path: "a")
        try await prepare(operation, fixture)
        let root = fixture.root.path
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
          [root = root as String, kind = operation.rawValue as String, number = number as Int] in
          let operation = try #require(Operation(rawValue: kind))
          try await Self.run(operation, in: URL(filePath: root), killedAtCall: number)
        }
        isOver = result?.exitStatus == .exitCode(Self.done)
        if !isOver { #expect(result?.exitStatus == .signal(9)) }
        let before = try rest(fixture)
        leftCount += before.isEmpty ? 0 : 1
        try await next.perform(fixture.versions, file)
        let comment: Comment = "\(operation), call \(number), then \(next), left \(before)"
        #expect(try rest(fixture) == [], comment)
        let texts = try await texts(fixture, file)
        // The text of the other program, and the texts from before.
        let mark = fixture.root.appending(path: "wrote")
        if FileManager.default.fileExists(atPath: mark.path) { #expect(texts.contains("theirs"), comment) }
        #expect(texts.isSuperset(of: ["old", "mine"]), comment)
      }
      number += Budget.isLong || number < 3 ? 1 : 5
      #expect(number < Self.callCountMax)
    }
    #expect(leftCount > 0)
  }

  @Test("CV-37: Presenters hear of the version that was made of what was left")
  func notifying() async throws {
    try await withFixture { fixture in
      try await prepare(.restore, fixture)
      let (file, root) = (fixture.root.appending(path: "a"), fixture.root.path)
      _ = await #expect(processExitsWith: .signal(9)) { [root = root as String] in
        try await Self.run(.restore, in: URL(filePath: root), killedAtCall: nil)
      }
      #expect(try rest(fixture) != [])
      let presenter = RecordingPresenter(file)
      let registration = try await fixture.domain.register(presenter)
      let versions = try #require(try await fixture.versions.versions(of: file))
      try await presenter.wait(for: .itemDidChangeVersion)
      let change = presenter.messages.compactMap(\.version).first
      #expect(change?.change == .gained && change?.version == versions.first?.id.description)
      #expect(try await fixture.versions.contents(of: #require(versions.first)) == Data("theirs".utf8))
      #expect(try rest(fixture) == [])
      registration.end()
    }
  }

  @Test("CV-37: If the file is deleted meanwhile, the version is among those of deleted files")
  func goneFile() async throws {
    try await withFixture { fixture in
      // This process has used the store before, so it doesn't look at all leftovers once more.
      try await prepare(.restore, fixture)
      let (file, root) = (fixture.root.appending(path: "a"), fixture.root.path)
      _ = await #expect(processExitsWith: .signal(9)) { [root = root as String] in
        try await Self.run(.restore, in: URL(filePath: root), killedAtCall: nil)
      }
      #expect(try rest(fixture) != [])
      try FileManager.default.removeItem(at: file)
      let deleted = try await fixture.versions.deletedFiles(below: fixture.root)
      #expect(deleted.map(\.url.lastPathComponent) == ["a"])
      let newest = try #require(deleted.first?.versions.first)
      #expect(try await fixture.versions.contents(of: newest) == Data("theirs".utf8))
      #expect(try rest(fixture) == [])
    }
  }

  private func prepare(_ operation: Operation, _ fixture: Fixture) async throws {
    let isPackage = operation == .restorePackage
    if isPackage {
      try FileManager.default.createDirectory(
        at: fixture.root.appending(path: "a"), withIntermediateDirectories: false)
    }
    let name = isPackage ? "a/member" : "a"
    try fixture.write(name, "old")
    let file = fixture.root.appending(path: "a")
    try await fixture.versions.addVersion(of: file, isPackage: true)
    try fixture.write(name, "mine")
  }

  /// In a process of its own: `nil` kills it right after the file was replaced.
  private static func run(_ operation: Operation, in root: URL, killedAtCall number: Int?) async throws {
    let path = SystemPath(root.appending(path: "a").path)
    let name = operation == .restorePackage ? "a/member" : "a"
    let isReplaced = Guarded(false)
    let door = ScriptedFileSystem { call in
      if number == nil, isReplaced.withLock({ $0 }) { return .killProcess }
      if number == call.number - 1 { return .killProcess }
      let steps = try? FileManager.default.contentsOfDirectory(atPath: root.path + "/store/steps")
      let isSaving = steps?.contains { $0.hasPrefix("saving-") } ?? false
      if isSaving, call.call == .rename, call.paths.last?.lastComponent == path.lastComponent,
        !isReplaced.withLock({ $0 })
      {
        try? Data("theirs".utf8).write(to: root.appending(path: name))
        try? Data().write(to: root.appending(path: "wrote"))
        isReplaced.withLock { $0 = true }
      }
      return .proceed
    }
    let store = try VersionStore(
      at: SystemPath(root.appending(path: "store").path), files: door, worker: VersionKeeper.worker, time: { 5_000 })
    let attributes = VersionAttributes(deviceName: "desk", deviceID: "d", author: "me")
    let item = try #require(try store.item(at: path, creating: true))
    let version = try #require(try store.versions(of: item).first)
    let state = try store.keepState(of: path, for: item, attributes).state
    let target = RestoringTarget.kept(state) { (other) throws(VersionStoreError) in
      _ = try store.add(contentsOf: other, to: item, named: path.lastComponent, attributes)
    }
    switch operation {
    case .restore, .restorePackage: try store.restore(version, to: path, over: target)
    case .resolve: try store.replaceContents(of: path, with: Array("merged".utf8), over: target)
    }
    exit(done)
  }

  /// The names beside the file that aren't the test's, and those of the steps of restorations: a version that was about to be made is
  /// removed by the next process.
  private func rest(_ fixture: Fixture) throws -> [String] {
    let manager = FileManager.default
    let steps = try manager.contentsOfDirectory(atPath: fixture.root.appending(path: "store/steps").path)
    return try manager.contentsOfDirectory(atPath: fixture.root.path).filter { $0.hasPrefix(".") }
      + steps.filter { $0.hasPrefix("saving-") || $0.hasPrefix("restoring-") }
  }

  private func texts(_ fixture: Fixture, _ file: URL) async throws -> Set<String> {
    var texts: Set<String> = []
    for url in try await (fixture.versions.versions(of: file) ?? []).map(\.url) + [file] {
      let member = url.appending(path: "member")
      texts.insert(try fixture.text(FileManager.default.fileExists(atPath: member.path) ? member : url))
    }
    return texts
  }
}
