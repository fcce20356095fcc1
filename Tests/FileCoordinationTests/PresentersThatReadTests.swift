import FileCoordination
import FileCoordinationTesting
import FoundationEssentials
import Testing

/// The classic hang: two presenters of one file each coordinate a read inside did-change (C-185).
///
/// ```
/// P  did-change [ r·············[read] ]      // waits for Q's relinquish, behind Q's did-change
/// Q  did-change [   r···········[read] ]      // waits for P's relinquish, behind P's did-change
/// ```
@Suite("Presenters that read inside did-change", .timeLimit(.minutes(4)), .betweenProcesses)
struct PresentersThatReadTests {
  /// Reads the item as part of its did-change, when both presenters are there.
  typealias ReadInCallback = @Sendable (_ coordinator: FileCoordinator, _ url: URL) async throws -> Void

  static let suspending: ReadInCallback = { coordinator, url in try await coordinator.read(url) { _ in } }
  static let blocking: ReadInCallback = { coordinator, url in try blockingRead(coordinator, url) }

  private static func blockingRead(_ coordinator: FileCoordinator, _ url: URL) throws {
    try coordinator.blocking.read(url) { _ in }
  }

  /// Lets two recording presenters read inside did-change at the same time, and returns the errors of their reads.
  private func readInBoth(
    serves: Bool, isOnBehalf: Bool = true, _ read: @escaping ReadInCallback
  ) async throws -> [FileCoordinationError] {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let meeting = TestGate()
      let errors = ErrorList()
      let presenters = try ["P", "Q"].map { try box.present("d/f", as: $0, reacquires: true, serves: serves) }
      for presenter in presenters {
        presenter.answer(.itemDidChange) { [weak presenter] _ in
          try await meeting.pass()
          let label = "C(\(presenter?.presenterLabel ?? ""))"
          do {
            try await read(box.coordinator(label, presenter: isOnBehalf ? presenter : nil, beside: presenter), url)
            box.timeline.note("\(label) has read")
          } catch {
            errors.append(error)
          }
        }
      }
      try await box.access(.write("d/f"), as: "writer")
      try await meeting.waitForArrival(count: 2)
      meeting.open()
      try await box.quiesce()
      #expect(box.events.count { $0.hasSuffix("has read") } + errors.errors.count == 2)
      #expect(try await box.domain.snapshot().accesses.isEmpty)
      return errors.errors
    }
  }

  @Test("C-185: Two class presenters that read inside did-change both complete", arguments: [true, false])
  func suspendingReads(isOnBehalf: Bool) async throws {
    #expect(try await readInBoth(serves: true, isOnBehalf: isOnBehalf, Self.suspending).isEmpty)
  }

  @Test("C-185: They complete in the blocking form, too", arguments: [true, false])
  func blockingReads(isOnBehalf: Bool) async throws {
    #expect(try await readInBoth(serves: true, isOnBehalf: isOnBehalf, Self.blocking).isEmpty)
  }

  @Test("C-185: With servesWhileWaiting off, exactly one fails with .deadlock, naming both", arguments: [true, false])
  func deadlock(isBlocking: Bool) async throws {
    let errors = try await readInBoth(serves: false, isBlocking ? Self.blocking : Self.suspending)
    #expect(errors.map(\.code) == [.deadlock])
    let members = errors.first?.deadlock?.members.map(\.label) ?? []
    #expect(Set(members) == ["P", "Q", "C(P)", "C(Q)"])
    #expect(errors.first?.description.contains("presentedItemDidChange") == true)
  }

  /// A presenter that is an actor, so that its callbacks run on it.
  actor ActorPresenter: FilePresenter {
    nonisolated let presentedItemURL: URL?
    nonisolated let presenterLabel: String
    nonisolated let servesWhileWaiting: Bool
    nonisolated let presentedItemCallbacks: FilePresenterCallbacks = .all
    private let didChange: @Sendable (ActorPresenter) async -> Void
    private(set) var callbackCount = 0

    init(_ url: URL, _ label: String, serves: Bool, didChange: @escaping @Sendable (ActorPresenter) async -> Void) {
      presentedItemURL = url
      presenterLabel = label
      servesWhileWaiting = serves
      self.didChange = didChange
    }

    func relinquishPresentedItem(toReader origin: AccessOrigin) async throws -> FileReacquirer? {
      callbackCount += 1
      return nil
    }

    func presentedItemDidChange(origin: AccessOrigin) async {
      callbackCount += 1
      await didChange(self)
    }
  }

  @Test("C-185: Two actor presenters: both complete, or one fails when serving is off", arguments: [true, false])
  func actorPresenters(serves: Bool) async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let meeting = TestGate()
      let errors = ErrorList()
      for label in ["P", "Q"] {
        try box.register(
          ActorPresenter(url, label, serves: serves) { presenter in
            do {
              try await meeting.pass()
              try await box.coordinator("C(\(label))", presenter: presenter).read(url) { _ in }
            } catch {
              errors.append(error)
            }
          })
      }
      try await box.access(.write("d/f"), as: "writer")
      try await meeting.waitForArrival(count: 2)
      meeting.open()
      try await box.quiesce()
      #expect(errors.errors.map(\.code) == (serves ? [] : [.deadlock]))
    }
  }

  @Test("C-185: A presenter that is asked while its callback waits is told so, and its grant comes after that callback")
  func reentrantOrigin() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let presenter = try box.present("d/f")
      let relinquish = presenter.hold(.relinquishToReader)
      presenter.answer(.itemDidChange) { [weak presenter] _ in
        try await box.coordinator("stranger to P", beside: presenter).read(url, options: .withoutChanges) { _ in
          box.timeline.note("stranger reads")
        }
        box.timeline.note("did-change ends")
      }
      try await box.access(.write("d/f"), as: "writer")
      try await relinquish.waitForArrival()
      #expect(presenter.messages.last?.origin.isReentrant == true)
      relinquish.open()
      try await box.timeline.wait(for: "did-change ends")
      #expect(box.events.suffix(3) == ["P.relinquishToReader", "stranger reads", "did-change ends"])
    }
  }
}
