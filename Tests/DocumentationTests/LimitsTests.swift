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
    #expect(replacing?.code == .fileSystem && replacing?.systemError?.errno == EINVAL)
    #expect(replacing?.message.contains("It is a symbolic link; pass the path of its target.") == true)
    let updating = await #expect(throws: FileCoordinationError.self) {
      try await coordinator.update(link) { $0.append(1) }
    }
    #expect(updating?.code == .fileSystem && updating?.systemError?.errno == EINVAL)
    #expect(text(url) == "text")
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == url.path)
    try await expectHolders()
    // The target's own path is what the error asks for.
    try await coordinator.update(url) { $0.append(contentsOf: "!".utf8) }
    #expect(text(link) == "text!")
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

  /// A coordinator whose accesses are granted at once or fail.
  private func impatient(_ label: String) -> FileCoordinator {
    FileCoordinator(label: label, domain: domain, deadlines: .within(.zero))
  }

  /// These hold an access right now, and nobody waits for one.
  private func expectHolders(_ labels: String...) async throws {
    let accesses = try await domain.snapshot().accesses
    #expect(accesses.filter { !$0.isGranted } == [])
    #expect(accesses.map(\.party.label).sorted() == labels)
  }

  /// A stranger that doesn't wait is refused a file, and the error names who holds it.
  private func expectRefusal(of url: URL, heldBy label: String) async {
    let stranger = impatient("stranger")
    let error = await #expect(throws: FileCoordinationError.self) {
      try await Task.detached { try await stranger.write(url) { _ in } }.value
    }
    #expect(error?.code == .timedOut && error?.blockers.map(\.label) == [label], "\(String(describing: error))")
  }

  // one    [-----------]
  // other    [-------]       the same file by another name
  // a stranger  x            one of the names
  @Test("Two hard links to one file are two items: both are written at once, and each excludes others of its own name")
  func hardLinks() async throws {
    let other = place.url.appending(path: "other.txt")
    try FileManager.default.linkItem(at: url, to: other)
    try await impatient("one").write(url) { _ in
      let writer = impatient("other")
      try await Task.detached {
        try await writer.write(other) { _ in
          try await expectHolders("one", "other")
          await expectRefusal(of: url, heldBy: "one")
          await expectRefusal(of: other, heldBy: "other")
        }
      }.value
    }
    try await expectHolders()
    try await impatient("next").write(url) { _ in }
  }

  // reader of the directory  [---------]
  // writer inside              [-----]
  @Test("A directory that is read doesn't keep others from writing inside, only from writing itself")
  func directories() async throws {
    let (inside, directory) = (url, place.url)
    try await impatient("reader").read(directory) { _ in
      let writer = impatient("writer")
      try await Task.detached {
        try await writer.write(inside) { _ in
          try await expectHolders("reader", "writer")
          await expectRefusal(of: inside, heldBy: "writer")
        }
      }.value
      await expectRefusal(of: directory, heldBy: "reader")
    }
    try await expectHolders()
    try await impatient("next").write(directory, options: .forMoving) { _ in }
  }

  @Test("Accesses of one coordinator don't exclude each other, and exclude those of others")
  func onePurpose() async throws {
    let coordinator = impatient("one")
    let url = url
    try await coordinator.write(url) { _ in
      let granted = try await Task.detached {
        try await coordinator.write(url) { _ in try await domain.snapshot().accesses.count { $0.isGranted } }
      }.value
      #expect(granted == 2)
      await expectRefusal(of: url, heldBy: "one")
    }
    try await expectHolders()
    try await impatient("next").write(url) { _ in }
  }

  @Test("A task started inside an accessor doesn't wait for it; a detached one does")
  func tasksInsideAccessors() async throws {
    let url = url
    try await impatient("outer").write(url) { _ in
      let inner = impatient("inner")
      let inheriting = Task { try await inner.write(url) { _ in try await expectHolders("inner", "outer") } }
      try await inheriting.value
      await expectRefusal(of: url, heldBy: "outer")
    }
    try await expectHolders()
    try await impatient("next").write(url) { _ in }
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
    try await expectHolders()
    // Both presenters go on: they are asked, and answer.
    try await FileCoordinator(label: "next", domain: domain).read(url) { _ in
      try await expectHolders("next")
    }
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
