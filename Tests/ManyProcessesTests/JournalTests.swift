import FileCoordination
import FileDocuments
import FileVersions
import Foundation
import SeededRandom
import TestSupport
import Testing

/// Documents with crash journals in processes that are killed while somebody types.
@Suite("Crash journals, between processes that are killed", .serialized, .blocking, .timeLimit(.minutes(10)))
struct JournalTests {
  private static let roundCount = Budget.isLong ? 60 : 12

  @Test(
    "CD-60: Each word that two killed processes have acknowledged is in the file, in a version, or in a journal",
    arguments: Budget.seed.map { [$0] } ?? (Budget.isLong ? Array(1...10) : [1]))
  func nothingIsLost(seed: UInt64) async throws {
    let root = URL(filePath: "/tmp/journals-\(UUID().uuidString.prefix(8))", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    defer { removeSurely(root.path) }
    let (file, store, journals) = (
      root.appending(path: "note.txt"), root.appending(path: "store"), root.appending(path: "journals")
    )
    try Data("Dear".utf8).write(to: file)
    let domain = CoordinationDomain.socket(root.appending(path: "s").path)
    // Serves the others, so that none of those that are killed does.
    let registration = try await domain.register(Bystander(file))
    defer { registration.end() }
    var random = SplitMix(seed: seed)
    var lastSeed = seed &* 10_000
    func start() throws -> HelperProcess {
      lastSeed += 1
      return try HelperProcess([
        "journal", root.appending(path: "s").path, file.path, store.path, journals.path, "\(lastSeed)",
      ])
    }
    var acknowledged: [String] = []
    func note(_ line: String?) {
      guard let line, line.hasPrefix("acknowledged ") else {
        if line != "open" { Issue.record("seed \(seed): \(line ?? "ended by itself")") }
        return
      }
      acknowledged.append(String(line.dropFirst("acknowledged ".count)))
    }
    var workers = [try start(), try start()]
    for _ in 0..<Self.roundCount {
      let victim = Int(random.below(2))
      for _ in 0...random.below(20) { note(try workers[victim].line()) }
      workers[victim].send(SIGKILL)
      // Its reports are still in the pipe.
      for line in try workers[victim].lines() where line.hasSuffix(">") || line == "open" { note(line) }
      workers[victim] = try start()
    }
    for worker in workers {
      worker.send(SIGKILL)
      for line in try worker.lines() where line.hasSuffix(">") || line == "open" { note(line) }
    }
    let texts = try await Self.texts(file, store, journals, domain)
    let lost = acknowledged.filter { word in !texts.contains { $0.contains(word) } }
    #expect(lost == [], "seed \(seed)")
    #expect(acknowledged.count > Self.roundCount)
    print("journals: seed \(seed), \(acknowledged.count) words, \(texts.count) texts")
  }

  /// The texts that a person would find: the file, its versions, and the recoveries that are offered.
  private static func texts(
    _ file: URL, _ store: URL, _ journals: URL, _ domain: CoordinationDomain
  ) async throws -> [String] {
    let versions = FileVersions(domain: domain, storage: .directory(store))
    var options = DocumentOptions<String>(domain: domain, versions: versions)
    options.crashJournal = .directory(journals)
    let document = FileDocument(file, as: .text, options: options)
    try await document.open()
    var texts = [await document.contents ?? ""] + (await document.recoveries).compactMap(\.contents)
    for version in try await versions.versions(of: file) ?? [] {
      texts.append(String(decoding: try await versions.contents(of: version), as: UTF8.self))
    }
    try await document.close()
    return texts
  }

  private final class Bystander: FilePresenter {
    let presentedItemURL: URL?
    let presentedItemCallbacks: FilePresenterCallbacks = []

    init(_ file: URL) { presentedItemURL = file }
  }
}
