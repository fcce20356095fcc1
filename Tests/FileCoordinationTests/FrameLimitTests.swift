import CoordinationService
import FileAccessArbiter
import FoundationEssentials
import Testing

@testable import FileCoordination

@Suite("A request that doesn't fit into a message between processes is an error of the call", .timeLimit(.minutes(4)))
struct FrameLimitTests {
  /// A domain of several processes, of which only this one takes part.
  private func withMeetingPlace(
    _ configuration: CoordinationDomain.Configuration = .init(), _ body: (CoordinationDomain, Sandbox) throws -> Void
  ) async throws {
    try await withSandbox { box in
      try body(CoordinationDomain.socket(box.url("s").path, configuration), box)
    }
  }

  private func expectTooLong(_ body: () throws -> Void) {
    let error = #expect(throws: FileCoordinationError.self, performing: body)
    #expect(error?.code == .messageTooLong)
  }

  @Test("A request whose paths are too long is refused, and the next one is granted")
  func requests() async throws {
    try await withMeetingPlace { domain, box in
      let coordinator = FileCoordinator(label: "many", domain: domain)
      let long = Array(repeating: String(repeating: "n", count: 250), count: 14).joined(separator: "/")
      let intents = (0..<2_600).map { FileAccessIntent.writing(box.url("\(long)/\($0)")) }
      expectTooLong { try coordinator.blocking.coordinate(intents) { _ in } }
      try coordinator.blocking.coordinate(Array(intents.prefix(1_200))) { _ in }
      #expect(try domain.snapshot().accesses.isEmpty)
    }
  }

  @Test("Attributes that are too many or too long are refused when they're announced and when they're observed")
  func attributes() async throws {
    try await withMeetingPlace { domain, box in
      let coordinator = FileCoordinator(label: "attributes", domain: domain)
      let long: Set = [String(repeating: "a", count: 70_000)]
      let many = Set((0..<20).map { String(repeating: "a", count: 60_000) + "\($0)" })
      for attributes in [long, many] {
        expectTooLong { try coordinator.item(at: box.url("f"), didChangeUbiquityAttributes: attributes) }
        let presenter = ObservingPresenter(box.url("f"), attributes, label: "")
        expectTooLong { _ = try domain.register(presenter) }
      }
      try coordinator.item(at: box.url("f"), didChangeUbiquityAttributes: ["a"])
    }
  }

  @Test("Long labels and versions are told as far as they fit")
  func labels() async throws {
    try await withMeetingPlace { domain, box in
      let label = String(repeating: "l", count: 100_000)
      let presenter = ObservingPresenter(box.url("f"), nil, label: label)
      let registration = try domain.register(presenter)
      let coordinator = FileCoordinator(label: label, domain: domain)
      try coordinator.blocking.write(box.url("f")) { access in
        access.didChangeVersion(.gained, version: label)
        let labels = try domain.snapshot().accesses.map(\.party.label)
        #expect(labels.map(\.utf8.count) == [WireFormat.textByteCountMax])
      }
      #expect(try domain.snapshot().presenters.map(\.label.utf8.count) == [WireFormat.textByteCountMax])
      registration.end()
    }
  }

  /// The claim is made under a delegation and reported only at a question: its label has to fit then as well.
  ///
  /// In a process of its own: threads beyond the first 64 of a process have no place in the tier, and other tests have threads
  /// as well.
  @Test(
    "A claim of the fast tier with a long label becomes known with as much of it as fits",
    arguments: [65_535, 65_536, 100_000])
  func labelOfAdoptedClaim(byteCount: Int) async throws {
    await #expect(processExitsWith: .success) { [byteCount] in
      try await FrameLimitTests().expectAdoptedLabel(byteCount: byteCount)
    }
  }

  private func expectAdoptedLabel(byteCount: Int) async throws {
    try await withMeetingPlace { domain, box in
      let coordinator = FileCoordinator(label: String(repeating: "l", count: byteCount), domain: domain)
      var isFast = false
      // The delegation may come after a few of them.
      for _ in 0..<1_000 where !isFast {
        // Everything that the service sent before this answer has arrived: a delegation too.
        _ = try domain.snapshot()
        let known = domain.knownAccessCount
        try coordinator.blocking.write(box.url("f")) { _ in
          isFast = domain.knownAccessCount == known
          // A delegation is shown as an access as well.
          let labels = try domain.snapshot().accesses.map(\.party.label).filter { $0 != "delegation" }
          #expect(labels.map(\.utf8.count) == [WireFormat.textByteCountMax])
        }
      }
      #expect(isFast)
    }
  }

  @Test("Names of purposes and packages are as long as others can be told")
  func names() async throws {
    try await withMeetingPlace { domain, _ in
      let coordinator = FileCoordinator(label: "purpose", domain: domain)
      let error = #expect(throws: FileCoordinationError.self) {
        try coordinator.setPurposeIdentifier(String(repeating: "p", count: 70_000))
      }
      #expect(error?.code == .invalidPurposeIdentifier)
    }
    var configuration = CoordinationDomain.Configuration()
    configuration.packageExtensions = Set((0..<4_000).map { "extension\($0)" })
    try await withMeetingPlace(configuration) { domain, box in
      let error = #expect(throws: FileCoordinationError.self) {
        try FileCoordinator(label: "packages", domain: domain).blocking.write(box.url("f")) { _ in }
      }
      #expect(error?.code == .domainUnreachable && error?.message.contains("4000 package extensions") == true)
    }
  }

  @Test("Numbers of connections come again after the largest, but none that's in use")
  func clientNumbers() {
    var numbers = ClientNumbers(after: ServiceCore.clientNumberEnd - 2)
    let used: Set = [ClientID(1), ClientID(2)]
    #expect(numbers.next(isUsed: used.contains) == ClientID(ServiceCore.clientNumberEnd - 1))
    #expect(numbers.next(isUsed: used.contains) == ClientID(3))
    #expect(numbers.next(isUsed: used.contains) == ClientID(4))
  }

  private final class ObservingPresenter: FilePresenter {
    let presentedItemURL: URL?
    let presentedItemCallbacks: FilePresenterCallbacks = [.itemDidChangeUbiquityAttributes, .itemVersions]
    let observedPresentedItemUbiquityAttributes: Set<String>?
    let presenterLabel: String

    init(_ url: URL, _ attributes: Set<String>?, label: String) {
      presentedItemURL = url
      observedPresentedItemUbiquityAttributes = attributes
      presenterLabel = label
    }
  }
}
