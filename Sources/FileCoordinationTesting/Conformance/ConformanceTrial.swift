internal import FileCoordination
internal import FoundationEssentials
internal import SystemInterface

/// One check of a presenter: its file, its domain, and the findings so far.
final class ConformanceTrial: Sendable {
  let harness: PresenterConformance
  let url: URL
  let domain: CoordinationDomain
  let presenter: any FilePresenter
  let findings: FindingList

  init(
    _ harness: PresenterConformance, _ url: URL, _ domain: CoordinationDomain, _ presenter: any FilePresenter,
    _ findings: FindingList
  ) {
    self.harness = harness
    self.url = url
    self.domain = domain
    self.presenter = presenter
    self.findings = findings
  }

  var coordinator: FileCoordinator { FileCoordinator(label: "conformance check", domain: domain) }

  /// Another place in the directory of the file, with the same extension.
  var otherURL: URL {
    let directory = url.deletingLastPathComponent()
    return URL(filePath: directory.path + "/moved " + url.lastPathComponent, directoryHint: .notDirectory)
  }

  /// Makes an access, and turns its failure into a finding.
  ///
  /// - Returns: The result of the access, or `nil` if it failed.
  @discardableResult
  func attempt<Result>(mayBeRefused: Bool = false, _ access: () async throws -> Result) async -> Result? {
    do {
      return try await access()
    } catch let error as FileCoordinationError {
      note(error, mayBeRefused)
    } catch {
      findings.add(.unexpectedError, "\(error)")
    }
    return nil
  }

  private func note(_ error: FileCoordinationError, _ mayBeRefused: Bool) {
    switch error.code {
    case .presenterUnresponsive:
      findings.add(
        .neverAnswered, "\(error) Return from, or call the handler of, every callback on every path through it.")
    case .deadlock:
      findings.add(.deadlock, "\(error) Inside a callback, access the item with a coordinator of this presenter.")
    case .answerDropped: findings.add(.answerDropped, "\(error)")
    case .presenterFailed, .evictionRefused: if !mayBeRefused { findings.add(.refused, "\(error)") }
    default: findings.add(.unexpectedError, "\(error)")
    }
  }

  /// Suspends until the presenter has handled everything, but not longer than the deadline.
  func awaitIdleness() async {
    if await isReached(\.arePresentersIdle) { return }
    guard let snapshot = await attempt({ try await domain.snapshot() }) else { return }
    for presenter in snapshot.presenters {
      for callback in presenter.running {
        findings.add(
          .didNotFinish, "\(callback); messages are handled one at a time, so everything behind it waits.")
      }
    }
    if snapshot.arePresentersIdle { return }
    if snapshot.presenters.allSatisfy(\.running.isEmpty) {
      findings.add(.didNotFinish, "messages wait, and no callback runs: does its executor run jobs?")
    }
  }

  /// Suspends until the domain is in a state, but not longer than the deadline, nor after a cancellation.
  ///
  /// - Returns: Whether it got there.
  func isReached(_ condition: @escaping @Sendable (CoordinationSnapshot) -> Bool) async -> Bool {
    let wait = Task { [domain] in try await domain.waitUntil(condition) }
    let clock = domain.configuration.clock
    let timer = clock.schedule(at: clock.now.advanced(by: harness.answerDeadline)) { wait.cancel() }
    defer { timer.cancel() }
    return await withTaskCancellationHandler {
      await (try? wait.value) != nil
    } onCancel: {
      wait.cancel()
    }
  }

  /// Checks the contents inside an access.
  func expectReadable(_ url: URL, containing edit: Data?) {
    guard let contents = try? Data(contentsOf: url) else {
      return findings.add(
        .savedItemIsUnreadable, "after the save '\(url.path)' can't be read. Replace its contents in one step.")
    }
    if contents.isEmpty, !harness.contents.isEmpty {
      findings.add(.savedItemIsUnreadable, "after the save '\(url.path)' is empty. Replace its contents in one step.")
    }
    if let edit, !edit.isEmpty, contents.firstRange(of: edit) == nil {
      findings.add(
        .changesNotSaved,
        "the reader sees \(contents.count) bytes without the edit. Declare '.saveChanges', and return when it's saved.")
    }
  }
}

/// Findings of one step, collected on any thread.
final class FindingList: Sendable {
  private let step: String
  private let collected = Guarded<[ConformanceFinding]>([])

  init(_ step: String) { self.step = step }

  var values: [ConformanceFinding] { collected.withLock { $0 } }

  func add(_ kind: ConformanceFinding.Kind, _ message: String) {
    let finding = ConformanceFinding(kind, during: step, message)
    collected.withLock { $0.append(finding) }
  }
}
