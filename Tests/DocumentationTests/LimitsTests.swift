import FileCoordination
import Foundation
import Synchronization
import Testing

/// The README and its guides state the limits of the package.
///
/// When one of these fails, they need a change.
@Suite("The limits that the README and the guides state")
struct LimitsTests {
  private let place: Place
  private let url: URL
  private let domain = CoordinationDomain()

  init() throws {
    place = try Place()
    url = try place.file("file.txt", "text")
  }

  @Test("A symbolic link is refused by the verbs that save, and its target is as it was")
  func symbolicLinks() async throws {
    let link = place.url.appending(path: "link.txt")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: url)
    let coordinator = FileCoordinator(domain: domain)
    let replacing = await #expect(throws: FileCoordinationError.self) {
      try await coordinator.replaceContents(of: link, with: Data())
    }
    #expect(replacing?.code == .fileSystem)
    let updating = await #expect(throws: FileCoordinationError.self) {
      try await coordinator.update(link) { $0.append(1) }
    }
    #expect(updating?.code == .fileSystem)
    #expect(text(url) == "text")
  }

  @Test("The domain of everything that names none is configured before its first use, and not later")
  func standardConfiguration() async {
    await #expect(processExitsWith: .success) {
      setenv("FILE_COORDINATION_DOMAIN", "process", 1)
      var configuration = CoordinationDomain.Configuration()
      configuration.packageExtensions = ["pages"]
      configuration.waitReporter = { _ in }
      #expect(CoordinationDomain.configureStandard(configuration))
      #expect(CoordinationDomain.standard.configuration.packageExtensions == ["pages"])
      #expect(CoordinationDomain.standard.configuration.waitReporter != nil)
      configuration.packageExtensions = []
      #expect(!CoordinationDomain.configureStandard(configuration))
      #expect(CoordinationDomain.standard.configuration.packageExtensions == ["pages"])
    }
  }

  @Test("Two hard links to one file are two items")
  func hardLinks() async throws {
    let other = place.url.appending(path: "other.txt")
    try FileManager.default.linkItem(at: url, to: other)
    let deadlines = AccessDeadlines.within(.seconds(5))
    try await FileCoordinator(domain: domain, deadlines: deadlines).write(url) { _ in
      let writer = Task.detached { [domain] in
        try await FileCoordinator(domain: domain, deadlines: deadlines).write(other) { _ in }
      }
      try await writer.value
    }
  }

  @Test("A directory that is read doesn't keep others from writing inside")
  func directories() async throws {
    let inside = url
    try await FileCoordinator(domain: domain).read(place.url) { [domain] _ in
      try await Task.detached { try await FileCoordinator(domain: domain).write(inside) { _ in } }.value
    }
  }

  @Test("Accesses of one coordinator don't exclude each other")
  func onePurpose() async throws {
    let coordinator = FileCoordinator(domain: domain)
    let url = url
    try await coordinator.write(url) { _ in
      try await Task.detached { try await coordinator.write(url) { _ in } }.value
    }
  }

  @Test("A task started inside an accessor doesn't wait for it; a detached one does")
  func tasksInsideAccessors() async throws {
    let (domain, url) = (domain, url)
    try await FileCoordinator(domain: domain).write(url) { _ in
      let inheriting = Task { try await FileCoordinator(domain: domain).write(url) { _ in true } }
      let hasEntered = try await inheriting.value
      #expect(hasEntered)
      let detached = Task.detached {
        try await FileCoordinator(domain: domain, deadlines: .within(.milliseconds(20))).write(url) { _ in }
      }
      let error = await #expect(throws: FileCoordinationError.self) { try await detached.value }
      #expect(error?.code == .timedOut)
    }
  }

  @Test("Two actors that block in their callbacks deadlock: found, not resolved")
  func blockingActors() async throws {
    let viewers = [BlockingViewer(url, domain), BlockingViewer(url, domain)]
    let registrations = try viewers.map { try domain.register($0) }
    try await FileCoordinator(domain: domain).write(url) { _ in }
    try await domain.waitUntil { $0.presenters.allSatisfy { $0.running.isEmpty && $0.pendingMessageCount == 0 } }
    var codes: [FileCoordinationError.Code?] = []
    for viewer in viewers { codes.append(await viewer.code) }
    #expect(codes.filter { $0 == .deadlock }.count == 1)
    #expect(codes.filter { $0 == nil }.count == 1)
    for registration in registrations { registration.end() }
  }
}

/// Reads its file with a verb that blocks, from inside the callback that says it has changed.
private actor BlockingViewer: FilePresenter {
  nonisolated let presentedItemURL: URL?
  nonisolated let presentedItemCallbacks: FilePresenterCallbacks = [.relinquishToReader, .itemDidChange]
  private let domain: CoordinationDomain
  private(set) var code: FileCoordinationError.Code?

  init(_ url: URL, _ domain: CoordinationDomain) {
    presentedItemURL = url
    self.domain = domain
  }

  func presentedItemDidChange(origin: AccessOrigin) async {
    try? await domain.waitUntil { state in state.presenters.allSatisfy { !$0.running.isEmpty } }
    code = read()
  }

  private func read() -> FileCoordinationError.Code? {
    guard let url = presentedItemURL else { return nil }
    do {
      let coordinator = FileCoordinator(presenter: self, domain: domain, deadlines: .within(.seconds(20)))
      _ = try coordinator.blocking.contents(of: url)
      return nil
    } catch {
      return (error as? FileCoordinationError)?.code
    }
  }
}
