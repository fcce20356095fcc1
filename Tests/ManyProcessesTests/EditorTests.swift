import CoordinationWorker
import FileCoordination
import Foundation
import SeededRandom
import Synchronization
import TestSupport
import Testing

/// The editor that the guide to presenters shows, four of it on one file.
@Suite("The editor of the guide to presenters, between processes", .serialized, .blocking, .timeLimit(.minutes(10)))
struct EditorTests {
  /// Counts how often an editor asks for access to save, and follows the file.
  private final class SaveCounter: FilePresenter {
    let presentedItemURL: URL?
    let presenterLabel = "counter"
    let presentedItemCallbacks: FilePresenterCallbacks = [.relinquishToWriter]
    let count = Atomic<Int>(0)

    init(_ file: URL) { presentedItemURL = file }

    func relinquishPresentedItem(toWriter origin: AccessOrigin) async throws -> FileReacquirer? {
      if origin.label == "editor" { count.wrappingAdd(1, ordering: .relaxed) }
      return nil
    }
  }

  private static let stepCount = Budget.isLong ? 400 : 60

  @Test(
    """
    Four editors in two processes, typed into and saved at random, beside strangers that read, move and want to delete: \
    every typed word is in a file at last, everybody gets through, and nobody saves more often than that was asked for
    """,
    arguments: Budget.seed.map { [$0] } ?? (Budget.isLong ? Array(1...20) : [1, 2]))
  func randomEditing(seed: UInt64) throws {
    let root = URL(filePath: "/tmp/editors-\(UUID().uuidString.prefix(8))", directoryHint: .isDirectory)
    let notes = root.appending(path: "notes")
    try FileManager.default.createDirectory(at: notes, withIntermediateDirectories: true)
    defer { removeSurely(root.path) }
    let file = notes.appending(path: "note.txt")
    try Data("Dear".utf8).write(to: file)
    let domain = CoordinationDomain.socket(root.appending(path: "s").path)
    let counter = SaveCounter(file)
    let registration = try domain.register(counter)
    let seeds = [seed &* 2, seed &* 2 &+ 1]
    let workers = try seeds.map {
      try HelperProcess(["edit", root.appending(path: "s").path, file.path, "\($0)", "\(Self.stepCount)"])
    }
    for worker in workers { #expect(try worker.line() == "open") }
    for worker in workers { try worker.tell("type") }
    for worker in workers {
      let line = try worker.line()
      #expect(line == "typed", "seed \(seed): \(Result { try domain.snapshot() })")
    }
    for worker in workers { try worker.tell("save") }
    var wishCount = 0
    for worker in workers {
      let words = try worker.line()?.split(separator: " ") ?? []
      #expect(words.first == "saved", "seed \(seed): \(words)")
      let counts = words.dropFirst().compactMap { Int($0) }
      // Each read lets each of the four save.
      if counts.count == 2 { wishCount += counts[0] + 4 * counts[1] }
    }
    for worker in workers {
      worker.finish()
      #expect(worker.status == 0)
    }
    registration.end()
    let saveCount = counter.count.load(ordering: .relaxed)
    #expect(saveCount > 0 && saveCount <= wishCount, "seed \(seed): \(saveCount) attempts for \(wishCount) wishes")
    let texts = try FileManager.default.contentsOfDirectory(at: notes, includingPropertiesForKeys: nil)
      .map { try String(contentsOf: $0, encoding: .utf8) }
    let lost = seeds.flatMap { typedWords(seed: $0, stepCount: Self.stepCount) }
      .filter { word in !texts.contains { $0.contains(word) } }
    #expect(lost == [], "seed \(seed)")
    print("editors: seed \(seed), \(saveCount) attempts for \(wishCount) wishes, \(texts.count) files")
  }
}
