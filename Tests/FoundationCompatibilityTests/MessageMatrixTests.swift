import Foundation
import FoundationCompatibility
import TestSupport
import Testing

/// One row of the table of messages before an access (C-411), for a file in a package in a plain directory.
struct MatrixRow: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let access: @Sendable (NSFileCoordinator, URL, () -> Void) -> Void
  /// The messages to presenters of the item.
  let item: [String]
  /// The messages to presenters of the package around it.
  let package: [String]

  static let reader = "relinquish to reader"
  static let writer = "relinquish to writer"

  static func reading(
    _ name: String, _ options: NSFileCoordinator.ReadingOptions, _ item: [String], _ package: [String]
  ) -> Self {
    Self(
      testDescription: name,
      access: { $0.coordinate(readingItemAt: $1, options: options, error: nil) { [accessor = $2] _ in accessor() } },
      item: item, package: package)
  }

  static func writing(
    _ name: String, _ options: NSFileCoordinator.WritingOptions, _ item: [String], _ package: [String]
  ) -> Self {
    Self(
      testDescription: name,
      access: { $0.coordinate(writingItemAt: $1, options: options, error: nil) { [accessor = $2] _ in accessor() } },
      item: item, package: package)
  }

  static let all: [MatrixRow] = [
    .reading("read", [], [reader, "save"], [reader, "save"]),
    .reading("read, metadata", .immediatelyAvailableMetadataOnly, [reader, "save"], [reader, "save"]),
    .reading("read, without changes", .withoutChanges, [reader], [reader]),
    .writing("write", [], [writer], [writer]),
    .writing("write, metadata", .contentIndependentMetadataOnly, [writer], [writer]),
    .writing("merge", .forMerging, [writer, "save"], [writer, "save"]),
    .writing("move", .forMoving, [writer], [writer]),
    .writing("delete", .forDeleting, [writer, "deletion"], [writer, "deletion of f"]),
    .writing("replace", .forReplacing, [writer, "deletion"], [writer, "deletion of f"]),
  ]
}

@Suite("Messages before an access, under Apple's names", .blocking, .timeLimit(.minutes(4)))
struct FoundationMessageMatrixTests {
  @Test(
    "C-030 to C-076, C-110: Presenters receive messages before the accessor runs, as the table says",
    arguments: MatrixRow.all)
  func row(_ row: MatrixRow) throws {
    try withSandbox { box in
      let url = try box.write("d/k.pkg/f")
      let item = HandlerPresenter(url)
      let package = HandlerPresenter(box.url("d/k.pkg"))
      let directory = HandlerPresenter(box.url("d"))
      let own = HandlerPresenter(url)
      let presenters = [item, package, directory, own]
      for presenter in presenters { NSFileCoordinator.addFilePresenter(presenter) }
      defer { for presenter in presenters { NSFileCoordinator.removeFilePresenter(presenter) } }
      var heard: [[String]] = []
      row.access(NSFileCoordinator(filePresenter: own), url) { heard = presenters.map(\.journal.entries) }
      #expect(heard == [row.item, row.package, row.package.filter { $0 == "deletion of f" }, []])
    }
  }

  @Test(
    "C-035, C-071: The presenter of an item inside receives messages when its directory is accessed",
    arguments: [
      (nil, []), (NSFileCoordinator.WritingOptions(), []), (.forMerging, []), (.contentIndependentMetadataOnly, []),
      (.forMoving, [MatrixRow.writer]), (.forDeleting, [MatrixRow.writer, "deletion"]),
      (.forReplacing, [MatrixRow.writer, "deletion"]),
    ] as [(NSFileCoordinator.WritingOptions?, [String])])
  func inside(options: NSFileCoordinator.WritingOptions?, expected: [String]) throws {
    try withSandbox { box in
      let presenter = HandlerPresenter(try box.write("d/e/f"))
      NSFileCoordinator.addFilePresenter(presenter)
      defer { NSFileCoordinator.removeFilePresenter(presenter) }
      var heard: [String]?
      let directory = box.url("d")
      if let options {
        NSFileCoordinator().coordinate(writingItemAt: directory, options: options, error: nil) { _ in
          heard = presenter.journal.entries
        }
      } else {
        NSFileCoordinator().coordinate(readingItemAt: directory, error: nil) { _ in heard = presenter.journal.entries }
      }
      #expect(heard == expected)
    }
  }
}
