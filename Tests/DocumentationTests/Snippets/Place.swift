import FileCoordination
import Foundation
import Glibc

/// A directory for the files of one snippet, removed when the last reference to it goes.
final class Place: Sendable {
  let url: URL

  /// The snippets' accesses concern no other process on the machine.
  private static let isAlone: Bool = setenv("FILE_COORDINATION_DOMAIN", "process", 1) == 0

  init() throws {
    precondition(Self.isAlone, "the environment can't be changed")
    url = URL.temporaryDirectory.appending(path: "documentation-tests-\(UUID())")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
  }

  /// The contents of all files, sorted.
  func texts() throws -> [String] {
    try FileManager.default.contentsOfDirectory(at: url, includingPropertiesForKeys: nil)
      .map { try String(contentsOf: $0, encoding: .utf8) }.sorted()
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func file(_ name: String, _ text: String = "") throws -> URL {
    let url = url.appending(path: name)
    try text.write(to: url, atomically: false, encoding: .utf8)
    return url
  }
}

func text(_ url: URL) -> String? { try? String(contentsOf: url, encoding: .utf8) }

/// Holds an item for reading until `body` has returned, as another program would: `body` isn't nested in that access.
func whileReading(_ url: URL, as label: String, _ body: () async throws -> Void) async throws {
  let (passage, gate) = AsyncStream<Never>.makeStream()
  async let reader: Void = FileCoordinator(label: label).read(url) { _ in
    for await _ in passage {}
  }
  defer { gate.finish() }
  try await CoordinationDomain.standard.waitUntil { state in
    state.accesses.contains { $0.party.label == label && $0.isGranted }
  }
  try await body()
  gate.finish()
  try await reader
}
