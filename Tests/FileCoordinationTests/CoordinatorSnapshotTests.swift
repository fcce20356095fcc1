import CoordinationService
import FileAccessArbiter
import FileCoordinationTesting
import FoundationEssentials
import Testing

@testable import FileCoordination

@Suite("States and tokens that coordinators return", .timeLimit(.minutes(4)), .betweenProcesses)
struct CoordinatorSnapshotTests {
  @Test("A coordinator reports the accesses and presenters of its domain, suspending or blocking")
  func snapshots() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      try box.present("d/f", as: "P")
      let observer = box.coordinator("observer")
      try await box.coordinator("writer").write(url) { _ in
        let snapshot = try await observer.snapshot()
        let blocking = try await onThread { try observer.snapshot() }
        for snapshot in [snapshot, blocking] {
          #expect(snapshot.accesses.map(\.party.label) == ["writer"])
          #expect(snapshot.accesses.flatMap(\.party.items).map(\.path) == [url.path])
          #expect(snapshot.presenters.map(\.label) == ["P"])
        }
      }
      try await box.quiesce()
      #expect(try await observer.snapshot().accesses.isEmpty)
      #expect(try await onThread { try observer.snapshot() }.accesses.isEmpty)
    }
  }

  @Test("C-205: Attributes are announced by the form that blocks, too, and a URL that names no file is refused")
  func blockingAnnouncement() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let presenter = try box.present("d/f", as: "P")
      let coordinator = box.coordinator("provider")
      try await onThread { try coordinator.item(at: url, didChangeUbiquityAttributes: ["isUploaded"]) }
      let message = try await presenter.wait(for: .itemDidChangeUbiquityAttributes)
      #expect(message.attributes == ["isUploaded"] && message.origin.label == "provider")
      let web = try #require(URL(string: "https://example.org/f"))
      let error = await #expect(throws: FileCoordinationError.self) {
        try await onThread { try coordinator.item(at: web, didChangeUbiquityAttributes: ["isUploaded"]) }
      }
      #expect(error?.code == .notAFileURL)
    }
  }

  @Test("Tokens grow with each grant, and print their epoch and their number")
  func tokens() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      var tokens: [FileFencingToken] = []
      for number in 0..<4 {
        let token = try await box.coordinator("writer \(number)").write(url) { $0.fencingToken }
        #expect(token.description == "\(token.epoch).\(token.sequence)")
        tokens.append(token)
      }
      #expect(tokens == tokens.reversed().sorted() && Set(tokens).count == tokens.count)
    }
  }
}

@Suite("The order of fencing tokens")
struct FencingTokenOrderTests {
  private func token(_ epoch: UInt64, _ sequence: UInt64) -> FileFencingToken {
    FileFencingToken(FencingToken(epoch: epoch, sequence: sequence), AccessID(0))
  }

  @Test("A grant of a later epoch is later, whatever the numbers of the earlier one")
  func epochs() {
    let tokens = [token(1, 1), token(1, 2), token(2, 1), token(2, .max), token(1 << 40, 0)]
    #expect(tokens.reversed().sorted() == tokens)
    #expect(!(token(2, 1) < token(2, 1)) && token(2, 1) == token(2, 1))
    #expect(tokens.map(\.description) == ["1.1", "1.2", "2.1", "2.\(UInt64.max)", "1099511627776.0"])
  }

  @Test("In a domain of one process the number is that of the access, and the epoch zero")
  func oneProcess() {
    let token = FileFencingToken(nil, AccessID(7))
    #expect(token.epoch == 0 && token.sequence == 7 && token.description == "0.7")
  }
}
