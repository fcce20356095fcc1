import FileCoordination
import FileCoordinationTesting
import FoundationEssentials
import SystemInterface
import Testing

/// Presenters that save outside of their callbacks.
///
/// The clock of these tests stands still in one process, so there no deadline ends a wait.
///
/// ```
/// reader  r··· asks both ··················[read]
/// P       save [ w on another thread ···[write] ]
/// Q       save [ w on another thread ············[write] ]   // each is asked to let go while it saves
/// ```
@Suite("Presenters that save on other threads and tasks, or in turns", .timeLimit(.minutes(4)), .betweenProcesses)
struct SavingElsewhereTests {
  @Test(
    "A reader gets what two documents save on other threads or tasks before they answer",
    arguments: Document.Place.allCases, [true, false])
  private func documents(place: Document.Place, relinquishes: Bool) async throws {
    try await withSandbox { box in
      let url = try box.write("d/f", "")
      let meeting = TestGate()
      for label in ["P", "Q"] { try box.register(Document(label, url, place, relinquishes, box, meeting)) }
      async let seen = box.coordinator("reader").read(url) { access in try box.text(at: access.url) }
      try await meeting.waitForArrival(count: 2)
      meeting.open()
      #expect(try await seen.sorted() == ["P", "Q"])
      try await box.quiesce()
    }
  }

  @Test(
    "Editors whose saves take turns, and that read in did-change, never wait for each other")
  func turns() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f", "")
      let editors = ["P", "Q"].map { Editor($0, url, box) }
      for editor in editors { try box.register(editor) }
      try await withThrowingTaskGroup { group in
        for editor in editors {
          group.addTask { for _ in 0..<15 { try await editor.type() } }
        }
        group.addTask { for _ in 0..<15 { try await box.coordinator("reader").read(url) { _ in } } }
        try await group.waitForAll()
      }
      try await box.quiesce()
      for editor in editors { #expect(await editor.unsavedCount == 0) }
    }
  }
}

/// Saves at the place that it was given, and answers when the save is done.
private final class Document: FilePresenter {
  enum Place: CaseIterable { case thread, task, inheritingTask }

  let presenterLabel: String
  let presentedItemURL: URL?
  let presentedItemCallbacks: FilePresenterCallbacks
  private let place: Place
  private let coordinator: @Sendable (Document) -> FileCoordinator
  private let meeting: TestGate

  init(_ label: String, _ url: URL, _ place: Place, _ relinquishes: Bool, _ box: Sandbox, _ meeting: TestGate) {
    presenterLabel = label
    presentedItemURL = url
    presentedItemCallbacks =
      relinquishes ? [.relinquishToReader, .relinquishToWriter, .saveChanges] : [.saveChanges]
    self.place = place
    coordinator = { [weak box] in box?.coordinator(label, presenter: $0) ?? FileCoordinator(label: label) }
    self.meeting = meeting
  }

  func savePresentedItemChanges(origin: AccessOrigin) async throws {
    try await meeting.pass()
    guard let url = presentedItemURL else { return }
    try await FileAnswer<Void>.wait { answer in
      let finish = { @Sendable (result: Result<Void, any Error>) in
        do { answer.succeed(try result.get()) } catch { answer.fail(error) }
      }
      switch place {
      case .thread:
        HostThread.start(name: "save") { [self] in
          finish(Result { try coordinator(self).blocking.write(url) { access in try append(to: access.url) } })
        }
      case .task:
        Task.detached { [self] in
          do { finish(.success(try await save(url))) } catch { finish(.failure(error)) }
        }
      case .inheritingTask:
        Task { [self] in
          do { finish(.success(try await save(url))) } catch { finish(.failure(error)) }
        }
      }
    }
  }

  private func save(_ url: URL) async throws {
    try await coordinator(self).write(url) { access in try append(to: access.url) }
  }

  private func append(to url: URL) throws {
    try (String(contentsOf: url, encoding: .utf8) + presenterLabel).write(to: url, atomically: false, encoding: .utf8)
  }
}

/// Lets its saves take turns, because accesses of one presenter don't exclude each other.
private actor Editor: FilePresenter {
  nonisolated let presenterLabel: String
  nonisolated let presentedItemURL: URL?
  nonisolated let presentedItemCallbacks: FilePresenterCallbacks = [.saveChanges, .itemDidChange]
  private let url: URL
  private let coordinator: @Sendable (Editor) -> FileCoordinator
  private(set) var unsavedCount = 0
  private var isSaving = false
  private var nextSaves: [CheckedContinuation<Void, Never>] = []

  init(_ label: String, _ url: URL, _ box: Sandbox) {
    presenterLabel = label
    presentedItemURL = url
    self.url = url
    coordinator = { [weak box] in box?.coordinator(label, presenter: $0) ?? FileCoordinator(label: label) }
  }

  func type() async throws {
    unsavedCount += 1
    try await save()
  }

  private func save() async throws {
    if isSaving { await withCheckedContinuation { nextSaves.append($0) } }
    isSaving = true
    defer {
      isSaving = !nextSaves.isEmpty
      if isSaving { nextSaves.removeFirst().resume() }
    }
    let saving = unsavedCount
    if saving == 0 { return }
    try await coordinator(self).write(url) { access in
      try presenterLabel.write(to: access.url, atomically: false, encoding: .utf8)
    }
    unsavedCount -= saving
  }

  func savePresentedItemChanges(origin: AccessOrigin) async throws { try await save() }

  func presentedItemDidChange(origin: AccessOrigin) async {
    try? await coordinator(self).read(url) { _ in }
  }
}
