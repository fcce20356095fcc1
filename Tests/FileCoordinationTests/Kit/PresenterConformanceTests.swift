import FileCoordination
import FoundationEssentials
import Synchronization
import Testing

@testable import FileCoordinationTesting

@Suite("Presenter conformance harness", .timeLimit(.minutes(4)))
struct PresenterConformanceTests {
  /// The mistake of the editor below.
  enum Fault: CaseIterable {
    case forgetsToAnswer, dropsHandler, refusesReaders, savesAsStranger, savesNothing, savesHalf, stuckInDidChange
    case stuckReacquirer, ignoresMoves, savesAfterDeletion, saysOtherURL, changesItsMind

    /// The findings that the harness must report; after those, the ones that may follow from them.
    var kinds: [ConformanceFinding.Kind] {
      switch self {
      case .forgetsToAnswer: [.neverAnswered, .didNotFinish]
      case .dropsHandler: [.answerDropped]
      case .refusesReaders: [.refused]
      case .savesAsStranger: [.neverAnswered, .didNotFinish]
      case .savesNothing: [.changesNotSaved]
      case .savesHalf: [.savedItemIsUnreadable, .changesNotSaved]
      case .stuckInDidChange, .stuckReacquirer: [.neverAnswered, .didNotFinish]
      case .ignoresMoves: [.lostAfterMove, .changesNotSaved]
      case .savesAfterDeletion: [.resurrectedItem]
      case .saysOtherURL: [.wrongLocation, .lostAfterMove, .changesNotSaved]
      case .changesItsMind: [.unstableDeclaration]
      }
    }
  }

  @Test("Findings are equal if kind, step and message are, and are printed as one sentence")
  func comparedFindings() {
    let finding = ConformanceFinding(.refused, during: "read", "it threw. Return instead.")
    #expect(finding.description == "refused during 'read': it threw. Return instead.")
    #expect(finding == ConformanceFinding(.refused, during: "read", "it threw. Return instead."))
    let others = [
      ConformanceFinding(.deadlock, during: "read", finding.message),
      ConformanceFinding(.refused, during: "move", finding.message), ConformanceFinding(.refused, during: "read", ""),
    ]
    #expect(Set([finding, finding] + others).count == 4 && !others.contains(finding))
    #expect(Set(ConformanceFinding.Kind.allCases).count == ConformanceFinding.Kind.allCases.count)
  }

  struct State {
    var url: URL
    var unsaved: Data?
    var isClosed = false
    var declarationCount = 0
  }

  /// A small editor, as a user of the library would write it.
  final class Editor: FilePresenter {
    let domain: CoordinationDomain
    let fault: Fault?
    let state: Mutex<State>
    let forever = TestGate()

    init(_ url: URL, _ domain: CoordinationDomain, _ fault: Fault?) {
      self.domain = domain
      self.fault = fault
      state = Mutex(State(url: url))
    }

    var presentedItemURL: URL? {
      let url = state.withLock { $0.url }
      return fault == .saysOtherURL ? url.deletingLastPathComponent().appending(path: "other.txt") : url
    }
    var presentedItemCallbacks: FilePresenterCallbacks {
      let count = state.withLock { state -> Int in
        state.declarationCount += 1
        return state.declarationCount
      }
      return fault == .changesItsMind && count.isMultiple(of: 2) ? .observing : .all
    }

    func edit() -> Data {
      let edit = Data("edit \(UUID().uuidString)".utf8)
      state.withLock { $0.unsaved = edit }
      return edit
    }

    func relinquishPresentedItem(toReader origin: AccessOrigin) async throws -> FileReacquirer? {
      if fault == .refusesReaders { throw TestFailure() }
      return { if self.fault == .stuckReacquirer { try? await self.forever.pass() } }
    }

    func savePresentedItemChanges(origin: AccessOrigin) async throws {
      if fault == .forgetsToAnswer { try await forever.pass() }
      if fault == .dropsHandler { try await FileAnswer<Void>.wait { _ in } }
      try await save()
    }

    func save() async throws {
      let (url, unsaved) = state.withLock { ($0.url, $0.unsaved) }
      guard let unsaved, fault != .savesNothing else { return }
      let isStranger = fault == .savesAsStranger
      let coordinator = FileCoordinator(label: "editor", presenter: isStranger ? nil : self, domain: domain)
      let write = { @Sendable in
        try await coordinator.write(url) { access in
          try (self.fault == .savesHalf ? Data() : unsaved).write(to: access.url)
        }
      }
      // A detached task loses the callback's context: nothing shows that this write belongs to the save.
      if isStranger { try await Task.detached { try await write() }.value } else { try await write() }
      state.withLock { $0.unsaved = nil }
    }

    func relinquishPresentedItem(toWriter origin: AccessOrigin) async throws -> FileReacquirer? {
      return { if self.fault == .savesAfterDeletion, self.state.withLock({ $0.isClosed }) { await self.saveAgain() } }
    }

    private func saveAgain() async {
      _ = edit()
      try? await save()
    }

    func accommodatePresentedItemDeletion(origin: AccessOrigin) async throws {
      state.withLock { $0.isClosed = true }
    }

    func presentedItemDidMove(to url: URL, origin: AccessOrigin) async {
      if fault != .ignoresMoves { state.withLock { $0.url = url } }
    }

    func presentedItemDidChange(origin: AccessOrigin) async {
      if fault == .stuckInDidChange { try? await forever.pass() }
      if state.withLock({ $0.isClosed }) { return }
      try? await FileCoordinator(label: "editor", presenter: self, domain: domain).read(state.withLock { $0.url }) {
        _ = try Data(contentsOf: $0.url)
      }
    }
  }

  private func findings(of fault: Fault?, deadline: Duration) async -> [ConformanceFinding] {
    let editors = Mutex<[Editor]>([])
    let harness = PresenterConformance(
      answerDeadline: deadline,
      edit: { presenter in (presenter as? Editor)?.edit() ?? Data() },
      makePresenter: { url, domain in
        let editor = Editor(url, domain, fault)
        editors.withLock { $0.append(editor) }
        return editor
      })
    let findings = await harness.run()
    for editor in editors.withLock({ $0 }) { editor.forever.open() }
    return findings
  }

  @Test("An editor without fault has no findings")
  func goodEditor() async {
    #expect(await findings(of: nil, deadline: .seconds(30)) == [])
  }

  @Test("A presenter that declares nothing has no findings")
  func silentPresenter() async {
    let harness = PresenterConformance { url, _ in RecordingPresenter(url, callbacks: .itemDidMove) }
    #expect(await harness.run() == [])
  }

  @Test("Each fault is found, and nothing that isn't there", arguments: Fault.allCases)
  func faults(fault: Fault) async {
    // Where an answer never comes, its deadline is all there is to wait for.
    let found = await findings(
      of: fault, deadline: fault.kinds.contains(.neverAnswered) ? .milliseconds(50) : .seconds(30))
    #expect(found.contains { $0.kind == fault.kinds[0] }, "\(found)")
    #expect(found.allSatisfy { fault.kinds.contains($0.kind) }, "\(found)")
    #expect(found.allSatisfy { $0.message.count > 20 })
  }
}
