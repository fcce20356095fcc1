import FileCoordination
import FileCoordinationTesting
import FoundationEssentials
import Testing

/// The place where a URL leads is remembered.
///
/// A link or directory that was swapped must never let two accesses of one file run side by side: the later request
/// uses the state of the file system at its time.
@Suite("C-305: Ways that were swapped under a remembered URL", .timeLimit(.minutes(4)))
struct SwappedWaysTests {
  /// A change that makes `way/f` lead to the file `target/f`, where it led elsewhere before.
  enum Swap: String, CaseIterable, Sendable {
    /// `way` was a link elsewhere.
    case retargetedLink
    /// `way` was a directory.
    case directoryBecomesLink
    /// `way` is a link to `middle`, which was a link elsewhere.
    case linkInTheMiddle
    /// `way` was missing.
    case gapBecomesLink
  }

  @Test("The request after the swap waits for an access of the file by its own name", arguments: Swap.allCases)
  func waits(swap: Swap) async throws {
    try await withSandbox { box in
      try prepare(swap, box)
      // Remembered: the URL is used before and after, by a thread and by a task, for reading and writing.
      let coordinator = box.coordinator("by the way")
      try await coordinator.write(box.url("way/f")) { _ in }
      try await onThread { try coordinator.blocking.read(box.url("way/f")) { _ in } }
      try perform(swap, box)
      let holder = try await box.hold(.write("target/f"), as: "holder")
      let byTheWay = try await box.queue(.write("way/f"), as: "by the way")
      try await holder.finish()
      try await byTheWay.finish()
      #expect(box.events == ["holder+", "holder-", "by the way+", "by the way-"])
    }
  }

  @Test("An access by the file's own name waits for the request after the swap", arguments: Swap.allCases)
  func isWaitedFor(swap: Swap) async throws {
    try await withSandbox { box in
      try prepare(swap, box)
      let coordinator = box.coordinator("by the way")
      try await onThread { try coordinator.blocking.write(box.url("way/f")) { _ in } }
      try perform(swap, box)
      let stranger = try await coordinator.write(box.url("way/f")) { _ in
        try await box.queue(.write("target/f"), as: "stranger")
      }
      try await stranger.finish()
      #expect(box.events == ["stranger+", "stranger-"])
    }
  }

  @Test("A directory moved by the library is followed at once by URLs and by handles that were made before")
  func movedByLibrary() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let handle = try box.domain.resolve(box.url("d/f"))
      let coordinator = box.coordinator("mover")
      try await coordinator.move(box.url("d"), to: box.url("target"))
      try FileManager.default.createSymbolicLink(atPath: box.url("d").path, withDestinationPath: box.url("target").path)
      let holder = try await box.hold(.write("target/f"), as: "holder")
      let byURL = try await box.queue(.write("d/f"), as: "by URL")
      let byHandle = Task.detached { try await box.coordinator("by handle").write(handle) { _ in } }
      try await box.domain.waitUntil { $0.isWaiting("by handle") }
      try await holder.finish()
      try await byURL.finish()
      try await byHandle.value
    }
  }

  private func prepare(_ swap: Swap, _ box: Sandbox) throws {
    try box.write("target/f")
    try box.write("elsewhere/f")
    switch swap {
    case .retargetedLink: try link("way", to: "elsewhere", box)
    case .directoryBecomesLink: try box.write("way/f")
    case .linkInTheMiddle:
      try link("middle", to: "elsewhere", box)
      try link("way", to: "middle", box)
    case .gapBecomesLink: break
    }
  }

  private func perform(_ swap: Swap, _ box: Sandbox) throws {
    switch swap {
    case .retargetedLink: try replaceLink("way", box)
    case .directoryBecomesLink:
      try box.rename("way", to: "former")
      try link("way", to: "target", box)
    case .linkInTheMiddle: try replaceLink("middle", box)
    case .gapBecomesLink: try link("way", to: "target", box)
    }
  }

  private func link(_ name: String, to target: String, _ box: Sandbox) throws {
    try FileManager.default.createSymbolicLink(
      atPath: box.url(name).path, withDestinationPath: box.url(target).path)
  }

  private func replaceLink(_ name: String, _ box: Sandbox) throws {
    try FileManager.default.removeItem(atPath: box.url(name).path)
    try link(name, to: "target", box)
  }
}
