import FileCoordination
import Foundation
import FoundationCompatibility
import TestSupport
import Testing

/// A document whose file the built tool moves.
///
/// It's in a process of its own: the domain of Apple's names is that of all coordinators and documents of a process.
@Suite("UIDocument, beside the command-line tool", .blocking, .timeLimit(.minutes(8)))
struct MovedDocumentTests {
  @Test("CD-21: A document whose file another process moves follows on the main queue, retitled, and is saved there")
  func moved() async throws {
    await #expect(processExitsWith: .success) { try await Self.followsMove() }
  }

  @MainActor private static func followsMove() async throws {
    let bench = try Workbench()
    NSFileCoordinator.coordinationDomain = .socket(bench.scratch.url.appending(path: "domain/s").path)
    let document = MovedNote(fileURL: URL(filePath: try bench.makeFile("a.txt", "one")))
    #expect(await document.open())
    document.type(" two")
    let (former, target) = (bench.path("a.txt"), bench.path("b.txt"))
    let environment = bench.environment
    let result = try await offMain { try Tool.run(["move", former, target], environment: environment) }
    #expect(result.status == 0, "\(result.errors)")
    await document.untilMoved()
    #expect(document.moves == ["b.txt"])
    #expect(document.fileURL.path == target && document.localizedName == "b")
    document.type(" three")
    #expect(await document.close())
    #expect(bench.text("b.txt") == "one two three")
    #expect(bench.text("a.txt") == nil)
  }

  /// Runs a process while the main thread is free, on which documents answer.
  private static func offMain<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result
  {
    try await withCheckedThrowingContinuation { end in
      DispatchQueue.global().async { end.resume(with: Swift.Result { try body() }) }
    }
  }
}

@MainActor private final class MovedNote: UIDocument {
  private var text = ""
  private(set) var moves: [String] = []
  private var waiting: CheckedContinuation<Void, Never>?

  override func contents(forType typeName: String) throws -> Any { Data(text.utf8) }

  override func load(fromContents contents: Any, ofType typeName: String?) throws {
    text = String(decoding: contents as? Data ?? Data(), as: UTF8.self)
  }

  override func presentedItemDidMove(to newURL: URL) {
    super.presentedItemDidMove(to: newURL)
    // Traps on any other queue.
    dispatchPrecondition(condition: .onQueue(.main))
    MainActor.assumeIsolated {
      moves.append(newURL.lastPathComponent)
      waiting?.resume()
      waiting = nil
    }
  }

  func type(_ more: String) {
    text += more
    updateChangeCount(.done)
  }

  func untilMoved() async {
    if moves.isEmpty { await withCheckedContinuation { waiting = $0 } }
  }
}
