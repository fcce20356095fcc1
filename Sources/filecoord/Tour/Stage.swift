import FileCoordination
import FoundationEssentials

/// The stage of a scene: a domain and a directory of its own, and a narrator.
struct Stage: Sendable {
  let domain: CoordinationDomain
  let directory: URL
  let narrator: Narrator

  init(_ directory: URL, _ narrator: Narrator) {
    var configuration = CoordinationDomain.Configuration()
    configuration.deadlines = .within(.seconds(5))
    domain = CoordinationDomain(configuration)
    self.directory = directory
    self.narrator = narrator
  }

  func coordinator(_ name: String, for presenter: (any FilePresenter)? = nil) -> FileCoordinator {
    FileCoordinator(label: name, presenter: presenter, domain: domain)
  }

  // MARK: Files, as programs see them that don't coordinate

  func makeFile(_ name: String, _ text: String) throws -> URL {
    let url = directory.appending(path: name)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try text.write(to: url, atomically: false, encoding: .utf8)
    return url
  }

  func text(_ url: URL) -> String? { try? String(contentsOf: url, encoding: .utf8) }

  func append(_ name: String, to url: URL) throws {
    let old = try String(contentsOf: url, encoding: .utf8)
    try (old.isEmpty ? name : old + ", " + name).write(to: url, atomically: false, encoding: .utf8)
  }

  func exists(_ url: URL) -> Bool { FileManager.default.fileExists(atPath: url.path) }

  // MARK: Narrating and checking

  func explain(_ text: String) { narrator.explain(text) }
  func tell(_ name: String, _ text: String) { narrator.tell(name, text) }
  func quote(_ text: String) { narrator.quote(text) }
  func claim(_ text: String, _ isSo: Bool) { narrator.claim(text, isSo) }

  // MARK: Waiting for states, never for time

  /// Waits until these hold their access, and no others do.
  ///
  /// - Returns: Whether that came true before the scene was given up.
  @discardableResult
  func untilHolding(_ names: [String]) async -> Bool {
    await isReached { state in
      state.accesses.filter(\.isGranted).map(\.party.label).sorted() == names.sorted()
    }
  }

  /// Waits until an actor waits for exactly these.
  ///
  /// - Returns: Whether that came true before the scene was given up.
  @discardableResult
  func untilWaiting(_ name: String, for others: [String]) async -> Bool {
    await isReached { $0.isWaiting(name, for: others) }
  }

  private func isReached(_ condition: @escaping @Sendable (CoordinationSnapshot) -> Bool) async -> Bool {
    (try? await domain.waitUntil(condition)) != nil
  }
}

extension CoordinationSnapshot {
  func isWaiting(_ name: String, for others: [String]) -> Bool {
    accesses.contains { access in
      access.party.label == name && !access.isGranted && access.blockers.map(\.label).sorted() == others.sorted()
    }
  }
}
