import FileCoordination
import FileCoordinationTesting
import FilePackages
import Foundation
import SystemInterface
import Testing

@testable import FileDocuments

/// Notes which grants were taken and ended, in their order.
private final class GrantLog: Sendable {
  private let log = Guarded<[String]>([])
  private let waiting = Guarded<[(line: String, count: Int, answer: FileAnswer<Void>)]>([])
  let refusals = Counter()

  var lines: [String] { log.withLock { $0 } }

  private func note(_ line: String) {
    let count = log.withLock { log in
      log.append(line)
      return log.filter { $0 == line }.count
    }
    let ready = waiting.withLock { waiting in
      defer { waiting.removeAll { $0.line == line && $0.count <= count } }
      return waiting.filter { $0.line == line && $0.count <= count }
    }
    for entry in ready { entry.answer.succeed() }
  }

  func wait(for line: String, count: Int = 1) async throws {
    try await FileAnswer<Void>.wait { answer in
      waiting.withLock { $0.append((line, count, answer)) }
      if log.withLock({ $0.filter { $0 == line }.count >= count }) { answer.succeed() }
    }
  }

  /// The places whose grants haven't ended.
  var held: [String] {
    var held: [String] = []
    for line in lines {
      let name = String(line.dropFirst())
      if line.first == "+" {
        held.append(name)
      } else if let place = held.firstIndex(of: name) {
        held.remove(at: place)
      }
    }
    return held
  }

  struct Refusal: Error {}

  var grant: DocumentOptions<String>.Grant {
    { url in
      if self.refusals.value > 0 { throw Refusal() }
      let name = url.lastPathComponent
      self.note("+\(name)")
      return DocumentGrant { self.note("-\(name)") }
    }
  }
}

@Suite("Grants for the places of documents", .timeLimit(.minutes(8)))
struct GrantTests {
  private func document(_ fixture: Fixture, _ log: GrantLog) throws -> FileDocument<String> {
    try fixture.write("old")
    var options = fixture.options()
    options.grant = log.grant
    return FileDocument(fixture.file, as: .text, options: options)
  }

  @Test("UD-24: A grant is taken before the file is read, and ends once, when the document is closed")
  func opening() async throws {
    try await withFixture { fixture in
      let log = GrantLog()
      let document = try document(fixture, log)
      #expect(log.lines.isEmpty)
      try await document.open()
      try await document.open()
      try await document.edit { $0 = "new" }
      try await document.save()
      try await document.close()
      #expect(log.lines == ["+note.txt"])
      try await document.close()
      try await log.wait(for: "-note.txt")
      try await document.open()
      #expect(log.lines == ["+note.txt", "-note.txt", "+note.txt"])
      try await document.close()
      try await log.wait(for: "-note.txt", count: 2)
      #expect(log.lines.count == 4)
    }
  }

  @Test("UD-24: Without a grant nothing is read, and the next open asks again")
  func refusing() async throws {
    try await withFixture { fixture in
      let log = GrantLog()
      let document = try document(fixture, log)
      log.refusals.add(1)
      await #expect { try await document.open() } throws: { error in
        let error = error as? DocumentError
        return error?.code == .notGranted && error?.underlyingError is GrantLog.Refusal
      }
      #expect(document.state.openingError?.code == .notGranted && log.lines.isEmpty)
      log.refusals.add(-1)
      try await document.open()
      try await document.close()
      try await log.wait(for: "-note.txt")
    }
  }

  @Test("UD-24: The grant ends when the document can't be opened")
  func failing() async throws {
    try await withFixture { fixture in
      let log = GrantLog()
      let document = try document(fixture, log)
      try FileManager.default.removeItem(at: fixture.file)
      await #expect(throws: DocumentError.self) { try await document.open() }
      try await log.wait(for: "-note.txt")
      #expect(log.held.isEmpty)
    }
  }

  @Test("UD-24: A grant that comes after its deadline ends at once")
  func tooLate() async throws {
    try await withFixture { fixture in
      let (gate, log) = (TestGate(), GrantLog())
      try fixture.write("old")
      var options = fixture.options()
      options.deadline = .seconds(5)
      let grant = log.grant
      options.grant = { url in
        // Its task is cancelled at the deadline, which this program doesn't heed.
        try? await gate.pass()
        return try await grant(url)
      }
      let document = FileDocument(fixture.file, as: .text, options: options)
      let opening = Task { try await document.open() }
      try await gate.waitForArrival()
      fixture.clock.advance(by: .seconds(5))
      await #expect(throws: DocumentError.self) { try await opening.value }
      gate.open()
      try await log.wait(for: "-note.txt")
      #expect(log.held.isEmpty && document.state.conditions == .closed)
    }
  }

  @Test("UD-24: A new place needs a new grant, and that of the former place ends after it", arguments: [true, false])
  func moving(isMove: Bool) async throws {
    try await withFixture { fixture in
      let log = GrantLog()
      let document = try document(fixture, log)
      try await document.open()
      if isMove { try await document.rename(to: "b.txt") } else { try await document.save(as: fixture.url("b.txt")) }
      try await log.wait(for: "-note.txt")
      #expect(log.lines == ["+note.txt", "+b.txt", "-note.txt"])
      // One that isn't reached leaves all as it was.
      try fixture.write("taken", to: fixture.url("c.txt"))
      await #expect(throws: DocumentError.self) { try await document.rename(to: "c.txt") }
      try await log.wait(for: "-c.txt")
      #expect(log.held == ["b.txt"])
      try await document.delete()
      try await log.wait(for: "-b.txt")
      #expect(log.held.isEmpty)
    }
  }

  @Test("UD-24: A document that stays where it is has one grant: the end of a second one would end access to its place")
  func samePlace() async throws {
    try await withFixture { fixture in
      let log = GrantLog()
      let document = try document(fixture, log)
      try await document.open()
      await #expect(throws: DocumentError.self) { try await document.rename(to: "note.txt") }
      await #expect(throws: DocumentError.self) { try await document.save(as: fixture.file, replacing: true) }
      try await document.move(to: fixture.file, replacing: true)
      #expect(log.lines == ["+note.txt"])
      try await document.edit { $0 = "new" }
      try await document.close()
      try await log.wait(for: "-note.txt")
      #expect(try log.lines == ["+note.txt", "-note.txt"] && fixture.text() == "new")
    }
  }

  @Test("UD-24: A file that another program moves needs another grant, and one that it deletes needs none")
  func others() async throws {
    try await withFixture { fixture in
      let log = GrantLog()
      let document = try document(fixture, log)
      try await document.open()
      try await fixture.other.move(fixture.file, to: fixture.url("b.txt"))
      try await log.wait(for: "-note.txt")
      #expect(log.held == ["b.txt"])
      try await document.edit { $0 = "new" }
      try await document.save()
      #expect(try fixture.text(of: fixture.url("b.txt")) == "new")
      try await fixture.other.delete(fixture.url("b.txt"))
      try await log.wait(for: "-b.txt")
      #expect(log.held.isEmpty)
      try await document.save(as: fixture.url("d.txt"))
      #expect(log.held == ["d.txt"])
      try await document.close()
      try await log.wait(for: "-d.txt")
    }
  }

  @Test("UD-24: A file that was moved to a place without a grant isn't written there, and the next save asks again")
  func refusedPlace() async throws {
    try await withFixture { fixture in
      let log = GrantLog()
      let document = try document(fixture, log)
      try await document.open()
      log.refusals.add(1)
      try await fixture.other.move(fixture.file, to: fixture.url("b.txt"))
      try await document.waitUntil { $0.state.readingError?.code == .notGranted }
      try await document.edit { $0 = "new" }
      await #expect { try await document.save() } throws: { ($0 as? DocumentError)?.code == .notGranted }
      #expect(log.held == ["note.txt"] && document.hasUnsavedChanges)
      log.refusals.add(-1)
      try await document.close()
      #expect(try fixture.text(of: fixture.url("b.txt")) == "new")
      try await log.wait(for: "-b.txt")
      #expect(log.lines == ["+note.txt", "+b.txt", "-note.txt", "-b.txt"])
    }
  }

  @Test("UD-24: The grant of a document that nobody uses any more ends")
  func dropped() async throws {
    try await withFixture { fixture in
      let log = GrantLog()
      try await openAndForget(fixture, log)
      try await log.wait(for: "-note.txt")
      #expect(log.lines == ["+note.txt", "-note.txt"])
    }
  }

  private func openAndForget(_ fixture: Fixture, _ log: GrantLog) async throws {
    try await document(fixture, log).open()
  }

  @Test("UD-24: Packages have grants as well")
  func packages() async throws {
    try await withFixture { fixture in
      let log = GrantLog()
      var options = DocumentOptions<PackageTree>(domain: fixture.domain, versions: fixture.versions)
      options.autosave = .never
      options.grant = log.grant
      let album = FileDocument(fixture.url("album"), as: .package, options: options)
      try await album.open(creatingWith: PackageTree())
      #expect(log.held == ["album"])
      try await album.save(as: fixture.url("other"))
      try await log.wait(for: "-album")
      try await album.close()
      try await log.wait(for: "-other")
      #expect(log.lines == ["+album", "+other", "-album", "-other"])
    }
  }
}
