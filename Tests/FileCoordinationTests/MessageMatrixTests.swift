import FileCoordination
import FileCoordinationTesting
import FoundationEssentials
import Testing

/// C-411 row by row: the questions to each presenter before an access of `o.pkg/x`, a directory with things inside.
@Suite("The message matrix", .timeLimit(.minutes(4)), .betweenProcesses)
struct MessageMatrixTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let act: Act
    /// Asked of presenters of the item.
    let item: [RecordedMessage.Callback]
    /// Asked of presenters of the package around it.
    let package: [RecordedMessage.Callback]
    /// Asked of presenters of the items inside it.
    let inside: [RecordedMessage.Callback]
    /// Asked of presenters of the plain directory around all.
    var directory: [RecordedMessage.Callback] { package.filter { $0 == .accommodateSubitemDeletion } }

    var testDescription: String { act.testDescription }
  }

  private static func row(
    _ act: Act, _ item: [RecordedMessage.Callback], _ package: [RecordedMessage.Callback],
    _ inside: [RecordedMessage.Callback] = []
  ) -> Row {
    Row(act: act, item: item, package: package, inside: inside)
  }

  private static let path = "d/o.pkg/x"
  private static let rows = [
    row(.read(path), [.relinquishToReader, .saveChanges], [.relinquishToReader, .saveChanges]),
    row(.read(path, .withoutChanges), [.relinquishToReader], [.relinquishToReader]),
    row(.write(path), [.relinquishToWriter], [.relinquishToWriter]),
    row(.write(path, .contentIndependentMetadataOnly), [.relinquishToWriter], [.relinquishToWriter]),
    row(.write(path, .forMerging), [.relinquishToWriter, .saveChanges], [.relinquishToWriter, .saveChanges]),
    row(.write(path, .forMoving), [.relinquishToWriter], [.relinquishToWriter], [.relinquishToWriter]),
    row(
      .write(path, .forDeleting), [.relinquishToWriter, .accommodateDeletion],
      [.relinquishToWriter, .accommodateSubitemDeletion], [.relinquishToWriter, .accommodateDeletion]),
    row(
      .write(path, .forReplacing), [.relinquishToWriter, .accommodateDeletion],
      [.relinquishToWriter, .accommodateSubitemDeletion], [.relinquishToWriter, .accommodateDeletion]),
  ]

  @Test("C-411: Each presenter is asked exactly what the table says", arguments: rows)
  func asked(row: Row) async throws {
    try await withSandbox { box in
      try box.write("\(Self.path)/y")
      let names = ["d", "d/o.pkg", Self.path, "\(Self.path)/y", "d/o.pkg/z"]
      let presenters = try names.map { try box.present($0, as: $0) }
      let access = try await box.hold(row.act, as: "access")
      #expect(presenters.map(\.callbacks) == [row.directory, row.package, row.item, row.inside, []])
      try await access.finish()
      try await box.quiesce()
    }
  }

  @Test(
    "C-412: The snapshot names presenters, claims and waiters, with what they do and since when",
    .withinOneProcess("its clock is the test's"))
  func snapshot() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let presenter = try box.present("d/f", as: "editor")
      let gate = presenter.hold(.relinquishToWriter)
      let asking = box.start(.write("d/f"), as: "writer")
      try await gate.waitForArrival()
      let waiting = try await box.queue(.read("d/f"), as: "reader")
      box.clock.advance(by: .seconds(12))
      let snapshot = try await box.domain.snapshot()
      #expect(snapshot.accesses.map(\.party.label) == ["writer", "reader"])
      #expect(snapshot.accesses.map(\.party.kind) == [.askingAccess, .waitingAccess])
      #expect(snapshot.accesses.map(\.age) == [.seconds(12), .seconds(12)])
      #expect(snapshot.accesses.map { $0.blockers.map(\.label) } == [["editor"], ["writer"]])
      #expect(snapshot.presenter("editor")?.running.map(\.callback) == ["relinquishPresentedItem(toWriter:)"])
      #expect(snapshot.nodes.map(\.path) == [url.path])
      for words in ["presented by 'editor'", "has run relinquishPresentedItem(toWriter:) for 12 s", "'reader'"] {
        #expect(snapshot.description.contains(words), "\(snapshot)")
      }
      gate.open()
      try await asking.finish()
      try await waiting.finish()
      #expect(try await box.domain.snapshot().accesses.isEmpty)
    }
  }
}
