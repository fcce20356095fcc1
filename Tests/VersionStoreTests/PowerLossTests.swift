import SystemInterface
import Testing

@testable import VersionStore

@Suite("A replacement in the middle of which the power failed", .timeLimit(.minutes(4)))
struct PowerLossTests {
  private let item = ItemID.drawn()

  /// The files that weren't on the disk: they're empty then.
  enum Lost: CaseIterable, Sendable {
    case step, stepAndRecord

    var names: [String] { self == .step ? [StoreLayout.step] : [StoreLayout.step, StoreLayout.record] }
  }

  private func lose(_ lost: Lost, of version: StoredVersion, _ sandbox: StoreSandbox, _ store: VersionStore) throws {
    for name in lost.names {
      let path = store.layout.directory(of: version.id, of: item).appending(SystemPath(name))
      try sandbox.files.withDescriptor(path, flags: [.truncate, .writeOnly]) { _ throws(SystemError) in }
    }
  }

  @Test(
    "A file that wasn't replaced stays as it is; a version whose record is there has a file of its own, another one is gone",
    arguments: Lost.allCases, [VersionStoreLimits(), hashingLater])
  func before(lost: Lost, limits: VersionStoreLimits) async throws {
    try await withStore(limits) { sandbox in
      let store = try sandbox.store()
      let file = try sandbox.write("a", "text", mode: 0o640)
      let version = try store.add(contentsOf: file, to: item, StoreSandbox.attributes, taking: .linking)
      try lose(lost, of: version, sandbox, store)
      try sandbox.settle(item)
      #expect(try sandbox.tree("files") == ["a 640 1 text"])
      #expect(try sandbox.texts(item) == (lost == .step ? ["text"] : []))
      let contents = try sandbox.tree("store/contents").count { $0.contains("/") }
      #expect(contents == (lost == .step ? 1 : 0))
      // And it can be kept again.
      _ = try store.keep(file, of: item, StoreSandbox.attributes) { try sandbox.write("a", "newer") }
      #expect(try store.versions(of: item).count == (lost == .step ? 2 : 1))
    }
  }

  @Test("A file that was replaced is kept, whatever else is lost", arguments: Lost.allCases)
  func after(lost: Lost) async throws {
    try await withStore { sandbox in
      let store = try sandbox.store()
      let file = try sandbox.write("a", "text")
      let version = try store.add(contentsOf: file, to: item, StoreSandbox.attributes, taking: .linking)
      try sandbox.files.unlink(file, at: .workingDirectory, .file)
      try sandbox.write("a", "newer")
      try lose(lost, of: version, sandbox, store)
      if lost == .step {
        try sandbox.settle(item)
        #expect(try sandbox.texts(item) == ["text"])
        #expect(try sandbox.files.statusIfPresent(of: store.path(of: version))?.mode == 0o444)
      } else {
        let record = store.recordPath(of: version.id, of: item)
        try store.completeMoves(of: item)
        #expect(try store.listing(of: item).damaged == [record])
      }
      #expect(try sandbox.text(store.path(of: version)) == "text")
    }
  }
}
