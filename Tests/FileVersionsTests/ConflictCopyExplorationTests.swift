import Foundation
import SeededRandom
import SystemInterface
import Testing

@testable import FileVersions
@testable import VersionStore

/// The process ends at each call of a resolution, or one of its calls fails: no text is lost, and it can be resolved again.
@Suite("Conflict copies after a crash", .timeLimit(.minutes(4)))
struct ConflictCopyExplorationTests {
  enum Kind: CaseIterable, Sendable {
    case merging, choosing, leaving, keepingAll

    func resolution(_ conflict: FileConflict) -> FileResolution {
      switch self {
      case .merging: .merged(Data("mine+theirs+hers".utf8))
      case .choosing: .version(conflict.others[0])
      case .leaving: .current
      case .keepingAll: .all
      }
    }
  }

  private static let copies = ["a.sync-conflict-20260102-030405-ABCDEFG.txt", "a.txt.conflict1"]
  private static let theirs = ["hers", "theirs"]
  /// In a long run each call, otherwise some.
  private static let step = Budget.isLong ? 1 : 19

  private func prepare(_ sandbox: ConflictCopySandbox) async throws -> FileConflict {
    let file = try sandbox.write("a.txt", "base")
    try await sandbox.versions.addVersion(of: file)
    try sandbox.write("a.txt", "mine")
    for (name, text) in zip(Self.copies, Self.theirs) { try sandbox.write(name, text) }
    return try #require(
      try sandbox.versions.keeper.conflict(
        at: sandbox.path("a.txt"), sandbox.versions, copies: Set(Self.copies.map { sandbox.path($0) })))
  }

  /// The name of a process that has ended: of this one's number, and begun at another time.
  private static let endedWorker: String = {
    var parts = VersionKeeper.worker.split(separator: "-").map(String.init)
    if parts.count == 3 { parts[1] = "1" }
    return parts.joined(separator: "-")
  }()

  private func resolve(_ kind: Kind, _ conflict: FileConflict, _ sandbox: ConflictCopySandbox, _ door: any FileSystem)
    throws
  {
    let store = try VersionStore(
      at: sandbox.root.appending("store"), files: door, worker: Self.endedWorker, time: { 5_000 })
    _ = try sandbox.versions.keeper.carryOut(
      kind.resolution(conflict), of: conflict, at: sandbox.path("a.txt"),
      copies: Set(Self.copies.map { sandbox.path($0) }),
      keepsOthers: false, in: store)
  }

  /// Every text that's anywhere: in files, and in versions.
  private func texts(_ sandbox: ConflictCopySandbox) async throws -> Set<String> {
    var texts = Set(try sandbox.names().map { try sandbox.text($0) })
    for version in try await sandbox.versions.versions(of: sandbox.url("a.txt")) ?? [] {
      texts.insert(String(decoding: try await sandbox.versions.contents(of: version), as: UTF8.self))
    }
    return texts
  }

  private func check(_ kind: Kind, _ sandbox: ConflictCopySandbox, _ comment: Comment) async throws {
    let store = try VersionStore(at: sandbox.root.appending("store"), worker: "1-3", time: { 6_000 })
    try store.recover()
    let texts = try await texts(sandbox)
    let isMerged = texts.contains("mine+theirs+hers")
    #expect(isMerged || texts.isSuperset(of: ["mine", "theirs", "hers"]), comment)
    let conflicts = try await sandbox.conflictTexts().sorted()
    // Each is listed once, be it beside the file, in the store, or both.
    #expect(Set(conflicts).count == conflicts.count && Set(conflicts).isSubset(of: Self.theirs), comment)
    if kind == .merging, !isMerged { #expect(conflicts == Self.theirs, comment) }
    try await sandbox.versions.resolve(at: sandbox.url("a.txt")) { _ in
      kind == .merging ? .merged(Data("end".utf8)) : .current
    }
    #expect(try await sandbox.conflictTexts() == [], comment)
    let copies = try sandbox.names().filter { Self.copies.contains($0) }
    #expect(copies == [], comment)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: store.root.appending("steps").description) == [], comment)
  }

  private func callCount(_ kind: Kind) async throws -> Int {
    try await withConflictCopies { sandbox in
      let conflict = try await prepare(sandbox)
      let door = ScriptedFileSystem { _ in .proceed }
      try resolve(kind, conflict, sandbox, door)
      return door.log.count
    }
  }

  @Test(
    "CV-34: If the process ends at any call, nothing is lost, and the conflict can be resolved",
    arguments: Kind.allCases)
  func deaths(kind: Kind) async throws {
    let count = try await callCount(kind)
    #expect(count > 20)
    for number in stride(from: 1, through: count, by: Self.step) {
      try await withConflictCopies { sandbox in
        let conflict = try await prepare(sandbox)
        let door = ScriptedFileSystem { $0.number >= number && $0.call != .close ? .fail(5) : .proceed }
        try? resolve(kind, conflict, sandbox, door)
        try await check(kind, sandbox, "\(kind), call \(number)")
      }
    }
  }

  @Test(
    "CV-34: A text that another program writes before any call of a resolution isn't lost", arguments: Kind.allCases,
    ["a.txt", copies[0]])
  func lastInstant(kind: Kind, name: String) async throws {
    for number in stride(from: 1, through: try await callCount(kind), by: Budget.isComplete ? 1 : Budget.isLong ? 3 : 9)
    {
      try await withConflictCopies { sandbox in
        let conflict = try await prepare(sandbox)
        let (failures, isReached) = (Guarded(0), Guarded(false))
        let door = ScriptedFileSystem { call in
          if call.number != number { return .proceed }
          isReached.withLock { $0 = true }
          do {
            try sandbox.write("draft", "foreign")
            try HostFileSystem().rename(
              sandbox.path("draft"), at: .workingDirectory, to: sandbox.path(name), at: .workingDirectory, .replacing)
          } catch { failures.withLock { $0 += 1 } }
          return .proceed
        }
        // A copy that isn't what it was can't be chosen.
        try? resolve(kind, conflict, sandbox, door)
        let texts = try await texts(sandbox)
        #expect(failures.withLock { $0 } == 0)
        // Some runs need a call less than the one that was counted.
        let callCount = door.log.count
        #expect(isReached.withLock { $0 } || number > callCount)
        let isKept = texts.contains("foreign") || number > callCount
        #expect(isKept, "\(kind), \(name), call \(number) of \(callCount): \(texts)")
      }
    }
  }

  @Test("CV-34: If any call fails, nothing is lost, and the conflict can be resolved", arguments: Kind.allCases)
  func errors(kind: Kind) async throws {
    for number in stride(from: 4, through: try await callCount(kind), by: Self.step) {
      try await withConflictCopies { sandbox in
        let conflict = try await prepare(sandbox)
        let door = ScriptedFileSystem { $0.number == number ? .fail(28) : .proceed }
        try? resolve(kind, conflict, sandbox, door)
        try await check(kind, sandbox, "\(kind), call \(number)")
      }
    }
  }
}
