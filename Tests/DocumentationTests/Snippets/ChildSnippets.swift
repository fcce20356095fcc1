import FileCoordination
import Foundation
import Testing

@Suite("The code of the article about commands inside commands")
struct ChildSnippets {
  private let place: Place
  private let document: URL
  private let coordinator: FileCoordinator

  init() throws {
    place = try Place()
    coordinator = FileCoordinator(label: "guide")
    document = try place.file("document.txt")
  }

  @Test("A hook after saving")
  func hook() async throws {
    let (text, hook) = ("text", "cp \(document.path) \(document.path).copy")
    // snippet: child-environment
    try await coordinator.write(document) { access in
      try Data(text.utf8).write(to: access.url)
      var environment = ProcessInfo.processInfo.environment
      environment.merge(try await access.environment()) { _, new in new }
      try await run("/bin/sh", ["-c", hook], environment)
    }
    // end
    #expect(try place.texts() == ["text", "text"])
  }

  private func run(_ program: String, _ arguments: [String], _ environment: [String: String]) async throws {
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.environment = environment
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { _ in continuation.resume() }
      do { try process.run() } catch { continuation.resume(throwing: error) }
    }
  }
}
