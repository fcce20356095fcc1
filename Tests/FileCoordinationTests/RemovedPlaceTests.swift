import FileCoordination
import Foundation
import TestSupport
import Testing

/// As a tool that cleans up temporary directories does it.
@Suite("A meeting place that somebody removes while its processes run", .timeLimit(.minutes(2)))
struct RemovedPlaceTests {
  @Test("Nobody is granted what others hold, also if no file of their sessions is left", arguments: 0..<12, [1, 8])
  func stillHeld(round: Int, removalCount: Int) async throws {
    try await withTemporaryDirectory { root in
      let place = root.appending(path: "place", directoryHint: .isDirectory)
      try FileManager.default.createDirectory(
        at: place, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
      let socket = place.appending(path: "s").path
      let file = root.appending(path: "file")
      // Each domain is a process to the others; the first one to ask serves.
      let server = FileCoordinator(label: "server", domain: .socket(socket))
      try await server.read(root.appending(path: "other")) { _ in }
      let holder = FileCoordinator(label: "holder", domain: .socket(socket))
      try await holder.write(file) { access in
        for _ in 0..<removalCount {
          // The service removes its socket itself when it notices, and makes new files at any moment.
          for name in (try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? [] {
            try? FileManager.default.removeItem(at: place.appending(path: name))
          }
        }
        await withTaskGroup(of: FileCoordinationError.Code?.self) { group in
          // A process that was served before, and one that comes now.
          for domain in [server.domain, .socket(socket)] {
            group.addTask {
              do {
                try await FileCoordinator(label: "stranger", domain: domain).write(
                  file, deadlines: .within(.milliseconds(100))
                ) { _ in }
                return nil
              } catch { return (error as? FileCoordinationError)?.code }
            }
          }
          for await code in group { #expect(code == .timedOut, "round \(round)") }
        }
        // Fails if it was lost.
        try access.commit {}
      }
    }
  }
}
