import FilePackages
import Foundation
import SystemInterface
import Testing

@testable import FileDocuments

/// A program that writes members of a package without a pause: before each call to the system that the document makes, or on a thread of
/// its own.
private final class ConstantWriter: Sendable {
  enum Way: String, CaseIterable, Sendable {
    case inPlace, replacing, adding, removing
  }

  private struct State: Sendable {
    var album: URL?
    var count = 0
    /// Its last text that has reached the package, unless it has removed that.
    var last: String?
  }

  private let way: Way
  private let state = Guarded(State())

  init(_ way: Way) { self.way = way }

  /// Writes between any two calls.
  var files: ScriptedFileSystem {
    ScriptedFileSystem { [self] _ in
      write()
      return .proceed
    }
  }

  func begin(_ album: URL) { state.withLock { $0.album = album } }

  /// - Returns: Its last text, and how many there were.
  func end() -> (last: String?, count: Int) {
    state.withLock { state in
      state.album = nil
      return (state.last, state.count)
    }
  }

  /// - Returns: Whether it goes on.
  @discardableResult
  func write() -> Bool {
    state.withLock { state in
      guard let album = state.album else { return false }
      state.count += 1
      let text = "theirs \(state.count)"
      // The package may be away for a moment, since it's exchanged.
      guard (try? write(text, album, state.count)) != nil else { return true }
      state.last = way == .removing && state.count.isMultiple(of: 2) ? nil : text
      return true
    }
  }

  private func write(_ text: String, _ album: URL, _ number: Int) throws {
    let (member, data) = (album.appending(path: "b.txt"), Data(text.utf8))
    switch way {
    case .inPlace:
      let file = try FileHandle(forWritingTo: member)
      defer { try? file.close() }
      try file.truncate(atOffset: 0)
      try file.write(contentsOf: data)
    case .replacing: try data.write(to: member, options: .atomic)
    case .adding: try data.write(to: album.appending(path: "new \(number % 8).txt"))
    case .removing where number.isMultiple(of: 2): try FileManager.default.removeItem(at: member)
    case .removing: try data.write(to: member)
    }
  }
}

@Suite("Packages whose members another program writes without a pause", .timeLimit(.minutes(8)))
struct PackageConstantWriterTests {
  /// An overtaken save keeps the package of the other program each time, and what it finds at the exchange.
  private static let versionCountMax = 3 * (DocumentCore.overtakenCountMax + 1)

  @Test(
    "CD-76: A save beside a program that never stops ends, with an error or without, keeps a limited number of versions, and loses nothing",
    arguments: ConstantWriter.Way.allCases, [1, 2])
  private func betweenCalls(way: ConstantWriter.Way, alteredCount: Int) async throws {
    let writer = ConstantWriter(way)
    try await withFixture(writer.files) { fixture in
      try await check(writer, alteredCount, fixture)
    }
  }

  @Test("CD-76: So does one beside a thread that never stops", arguments: ConstantWriter.Way.allCases)
  private func onThread(way: ConstantWriter.Way) async throws {
    let writer = ConstantWriter(way)
    try await withFixture { fixture in
      let (writes, wrote) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
      try await check(writer, 2, fixture) {
        Thread { while writer.write() { wrote.yield() } }.start()
        for await _ in writes { break }
      }
    }
  }

  private func check(
    _ writer: ConstantWriter, _ alteredCount: Int, _ fixture: Fixture, start: () async -> Void = {}
  ) async throws {
    try fixture.makeAlbum()
    let document = try await fixture.openAlbum()
    try await document.edit { tree in
      tree.set("a.txt", "mine")
      if alteredCount > 1 { tree.set("c.txt", "mine, too") }
    }
    writer.begin(fixture.album)
    await start()
    var failure: DocumentError?
    do { try await document.save() } catch { failure = error }
    let (last, count) = writer.end()
    #expect(count > 0)
    // Overtaken, or the other program's package was altered while it became a version.
    let codes: [DocumentError.Code?] = [nil, .coordination, .versionNotKept]
    #expect(codes.contains(failure?.code), "\(failure.map { "\($0)" } ?? "")")
    if let failure { #expect(failure.message.contains("save(as:)") && failure.message.contains("top that program")) }
    let versions = try await fixture.albumVersions()
    #expect(versions.count <= Self.versionCountMax, "\(versions.count) versions")
    // Nobody writes any more: everything that was the last to be written is there.
    let found = try [fixture.members()] + versions
    if let last {
      #expect(found.contains { $0.values.contains(last) }, "\(last): \(found.count) packages, \(found[0])")
    }
    #expect(try await document.text("a.txt") == "mine")
    try await document.save()
    #expect(try fixture.members()["a.txt"] == "mine")
    if alteredCount > 1 { #expect(try fixture.members()["c.txt"] == "mine, too") }
    try await document.close()
    #expect(try fixture.names() == ["album"])
  }

  @Test(
    "CD-38: If a version can't be kept because another program alters the item, the error says what to do; other reasons say it themselves"
  )
  func advice() {
    let altered: [any Error] = [
      PackageError(.memberChanged, SystemPath("b.txt")), PackageError(.notFound, SystemPath("b.txt")),
      PackageError(SystemError(.open, paths: [SystemPath("b.txt")], errno: 2), SystemPath("b.txt")),
      SystemError(.open, paths: [SystemPath("b.txt")], errno: 2),
    ]
    for reason in altered {
      let message = DocumentError.versionNotKept("None", reason).message
      #expect(message.hasPrefix("None: ") && message.contains("Stop that program"), "\(message)")
    }
    let full = SystemError(.write, errno: 28)
    for reason in [full as any Error, PackageError(full, SystemPath("b.txt"))] {
      let message = DocumentError.versionNotKept("None", reason).message
      #expect(!message.contains("that program"), "\(message)")
    }
  }
}
