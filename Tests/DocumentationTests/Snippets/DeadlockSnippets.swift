import FileCoordination
import Foundation
import Synchronization
import Testing

@Suite("The code of the article about deadlocks and deadlines")
struct DeadlockSnippets {
  private let place: Place
  private let first: URL
  private let second: URL

  init() throws {
    place = try Place()
    first = try place.file("first.txt")
    second = try place.file("second.txt")
  }

  @Test("The error of a deadlock names the members of the cycle")
  func explanation() async throws {
    let first = first
    let second = second
    async let other: Void = FileCoordinator(label: "other").write(second) { _ in
      try await CoordinationDomain.standard.waitUntil {
        $0.accesses.contains { $0.party.label == "mine" && $0.isGranted }
      }
      try await FileCoordinator(label: "other").write(first) { _ in }
    }
    try await CoordinationDomain.standard.waitUntil {
      $0.accesses.contains { $0.party.label == "other" && $0.isGranted }
    }
    var members: [CoordinationParty] = []
    try await FileCoordinator(label: "mine").write(first) { _ in
      try await CoordinationDomain.standard.waitUntil {
        $0.accesses.contains { $0.party.label == "other" && !$0.isGranted }
      }
      // snippet: deadlock-error
      do {
        try await FileCoordinator(label: "mine").write(second) { _ in }
      } catch let error as FileCoordinationError where error.code == .deadlock {
        members = error.deadlock?.members ?? []
      }
      // end
    }
    try await other
    #expect(members.map(\.label) == ["mine", "other", "other", "mine"])
  }

  @Test("Items claimed together can't deadlock")
  func together() async throws {
    let coordinator = FileCoordinator()
    // snippet: deadlock-together
    try await coordinator.write(first, and: second) { first, second in
      try FileManager.default.removeItem(at: first.url)
      try FileManager.default.removeItem(at: second.url)
    }
    // end
  }

  @Test("Deadlines of one access")
  func deadlines() async throws {
    let presenter = SilentPresenter(first)
    let registration = try await CoordinationDomain.standard.register(presenter)
    let url = first
    // snippet: deadline-access
    let deadlines = AccessDeadlines(
      waitingForAccesses: .seconds(2), waitingForAnswers: .milliseconds(50), lateAnswers: .proceed)
    let missing = try await FileCoordinator(label: "backup", deadlines: deadlines).read(url) { access in
      // The file lacks the unsaved changes of these presenters.
      access.unansweredPresenters
    }
    // end
    #expect(missing.count == 1)
    presenter.mayAnswer.finish()
    registration.end()
  }

  @Test("A wait that lasts is reported")
  func reporter() async throws {
    let (notices, log) = AsyncStream<WaitNotice>.makeStream()
    // snippet: deadline-reporter
    var configuration = CoordinationDomain.Configuration()
    configuration.waitReportInterval = .milliseconds(20)
    configuration.waitReporter = { notice in log.yield(notice) }
    let domain = CoordinationDomain(configuration)
    // end
    let url = first
    async let holder: Void = FileCoordinator(label: "holder", domain: domain).read(url) { _ in
      var iterator = notices.makeAsyncIterator()
      let notice = await iterator.next()
      #expect(notice?.waiter.label == "waiter")
      #expect(notice?.blockers.map(\.label) == ["holder"])
    }
    try await domain.waitUntil { $0.accesses.contains(where: \.isGranted) }
    try await FileCoordinator(label: "waiter", domain: domain).write(url) { _ in }
    try await holder
  }

  @Test("A test waits for a state instead of sleeping")
  func state() async throws {
    let domain = CoordinationDomain()
    let url = first
    async let reader: Void = FileCoordinator(label: "reader", domain: domain).read(url) { _ in
      // snippet: deadline-state
      try await domain.waitUntil { state in
        state.accesses.contains { $0.party.label == "writer" && !$0.isGranted }
      }
      // end
    }
    try await domain.waitUntil { $0.accesses.contains(where: \.isGranted) }
    try await FileCoordinator(label: "writer", domain: domain).write(url) { _ in }
    try await reader
  }
}

/// Doesn't answer until it may.
private final class SilentPresenter: FilePresenter {
  let presentedItemURL: URL?
  let presentedItemCallbacks: FilePresenterCallbacks = [.saveChanges]
  let mayAnswer: AsyncStream<Never>.Continuation
  private let passage: AsyncStream<Never>

  init(_ url: URL) {
    presentedItemURL = url
    (passage, mayAnswer) = AsyncStream.makeStream()
  }

  func savePresentedItemChanges(origin: AccessOrigin) async throws {
    for await _ in passage {}
  }
}
