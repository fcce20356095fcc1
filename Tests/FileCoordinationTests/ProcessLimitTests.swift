import CoordinationService
import FileCoordinationTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import FileCoordination

/// Domains of several processes, of which only this one takes part.
@Suite(
  "How much a process may have is decided before anything is told, and is an error of the call", .timeLimit(.minutes(5))
)
struct ProcessLimitTests {
  private func withMeetingPlace(
    _ limits: ProcessLimits = .standard, _ body: (CoordinationDomain, Sandbox) async throws -> Void
  ) async throws {
    try await withSandbox { box in
      let domain = CoordinationDomain.socket(box.url("s").path)
      domain.host.withState { $0.decider.limits = limits }
      // A refused request harms nothing else that the process has.
      try await FileCoordinator(label: "held", domain: domain).write(box.url("held")) { access in
        try await body(domain, box)
        try access.commit {}
      }
    }
  }

  /// The state of a domain's processes: accesses by label and phase, presenters by path.
  private func use(of domain: CoordinationDomain) async throws -> [String] {
    let snapshot = try await domain.snapshot()
    return (snapshot.accesses.map { "\($0.party.label) \($0.isGranted)" } + snapshot.presenters.map { $0.path ?? "" })
      .sorted()
  }

  /// The call fails and says what the limit is; nothing that's in use is more or less than before.
  private func expectExcess(
    beyond limit: Int, in domain: CoordinationDomain, _ body: () async throws -> Void
  ) async throws {
    let before = try await use(of: domain)
    let error = await #expect(throws: FileCoordinationError.self) { try await body() }
    #expect(error?.code == .limitExceeded)
    #expect(error?.message.contains("\(limit)") == true, "\(String(describing: error))")
    #expect(try await use(of: domain) == before)
  }

  @Test("Chosen purposes are limited while they're used, and forgotten afterwards")
  func purposes() async throws {
    var limits = ProcessLimits.standard
    limits.purposeCountMax = 100
    try await withMeetingPlace(limits) { domain, box in
      var coordinators: [FileCoordinator] = []
      for number in 0..<100 {
        let coordinator = FileCoordinator(label: "p", domain: domain)
        try coordinator.setPurposeIdentifier("purpose \(number)")
        coordinators.append(coordinator)
      }
      let other = FileCoordinator(label: "p", domain: domain)
      try await expectExcess(beyond: 100, in: domain) { try other.setPurposeIdentifier("purpose 100") }
      let same = FileCoordinator(label: "p", domain: domain)
      try same.setPurposeIdentifier("purpose 99")
      #expect(same.purposeIdentifier == "purpose 99")
      coordinators.removeLast()
      try await expectExcess(beyond: 100, in: domain) { try other.setPurposeIdentifier("purpose 100") }
      coordinators.removeLast()
      try other.setPurposeIdentifier("purpose 100")
      try await other.write(box.url("f")) { _ in #expect(other.purposeIdentifier == "purpose 100") }
    }
  }

  @Test("More purposes than a process may have at a time can be used one after the other")
  func passingPurposes() async throws {
    try await withMeetingPlace { domain, box in
      for number in 0..<ProcessLimits.standard.purposeCountMax + 10 {
        let coordinator = FileCoordinator(label: "p", domain: domain)
        try coordinator.setPurposeIdentifier("purpose \(number)")
        if number % 10_000 == 0 { try await coordinator.write(box.url("f")) { _ in } }
      }
      #expect(domain.host.withState { $0.purposes.count } < 1_000)
      #expect(try domain.processes().count == 1)
    }
  }

  @Test("Accesses and presenters are counted together")
  func parties() async throws {
    var limits = ProcessLimits.standard
    limits.partyCountMax = 4
    try await withMeetingPlace(limits) { domain, box in
      let coordinator = FileCoordinator(label: "p", domain: domain)
      var registrations: [(RecordingPresenter, FilePresenterRegistration)] = []
      for number in 0..<3 {
        let presenter = RecordingPresenter(box.url("f\(number)"))
        registrations.append((presenter, try await domain.register(presenter)))
      }
      let presenter = RecordingPresenter(box.url("f3"))
      try await expectExcess(beyond: 4, in: domain) { _ = try domain.register(presenter) }
      try await expectExcess(beyond: 4, in: domain) { try await coordinator.write(box.url("g")) { _ in } }
      #expect(try await use(of: domain).count == 4)
      registrations.removeLast().1.end()
      // Waits until the service has forgotten it.
      while domain.host.withState({ $0.presenters.count }) > 2 { _ = try domain.processes() }
      try await coordinator.write(box.url("g")) { _ in }
      registrations.append((presenter, try await domain.register(presenter)))
      for registration in registrations { registration.1.end() }
    }
  }

  /// Accesses inside of each other, each of another item, so that none is granted by the fast tier twice.
  private func nest(_ coordinator: FileCoordinator, _ box: Sandbox, _ depth: Int, _ body: () async throws -> Void)
    async throws
  {
    if depth == 0 { return try await body() }
    try await coordinator.read(box.url("d\(depth % 7)/f\(depth)")) { _ in
      try await nest(coordinator, box, depth - 1, body)
    }
  }

  @Test("Accesses are nested so deep and no deeper")
  func nesting() async throws {
    try await withMeetingPlace { domain, box in
      let coordinator = FileCoordinator(label: "nested", domain: domain)
      // One more is around all of them.
      try await nest(coordinator, box, ProcessLimits.standard.nestingDepthMax - 1) {
        try await coordinator.write(box.url("in"), options: .forMoving) { _ in
          try await expectExcess(beyond: ProcessLimits.standard.nestingDepthMax, in: domain) {
            try await coordinator.write(box.url("too deep"), options: .forMoving) { _ in }
          }
        }
        try await coordinator.write(box.url("in"), options: .forMoving) { _ in }
      }
    }
  }
}
