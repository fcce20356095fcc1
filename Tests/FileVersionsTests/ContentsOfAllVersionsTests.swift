import FileCoordination
import Foundation
import SystemInterface
import Testing

@testable import FileVersions
@testable import VersionStore

private let copyName = "a.sync-conflict-20260102-030405-ABCDEFG.txt"

/// Conflict copies and the present contents are versions like those in the store, for all calls that read contents.
@Suite("The contents of every kind of version", .timeLimit(.minutes(4)))
struct ContentsOfAllVersionsTests {
  private func pieces(_ bytes: FileVersionBytes) async throws -> [String] {
    var pieces: [String] = []
    for try await piece in bytes { pieces.append(String(decoding: piece, as: UTF8.self)) }
    return pieces
  }

  private func code(_ body: () async throws -> Void) async -> FileVersionError.Code? {
    do { try await body() } catch { return (error as? FileVersionError)?.code }
    return nil
  }

  @Test("CV-42: A conflict copy is compared and read by the same calls as a version in the store")
  func copies() async throws {
    try await withConflictCopies { sandbox in
      let file = try sandbox.write("a.txt", "mine")
      try sandbox.write(copyName, "theirs")
      let copy = try #require(try await sandbox.versions.versions(of: file)?.first)
      try await sandbox.versions.verify(copy)
      #expect(try await pieces(sandbox.versions.bytes(of: copy, pieceSize: 4)) == ["thei", "rs"])
      #expect(try await sandbox.versions.contents(of: copy) == Data("theirs".utf8))
      try sandbox.write(copyName, "THEIRS")
      #expect(await code { try await sandbox.versions.verify(copy) } == .versionIsGone)
      #expect(await code { _ = try await pieces(sandbox.versions.bytes(of: copy)) } == .versionIsGone)
      try sandbox.remove(copyName)
      #expect(await code { try await sandbox.versions.verify(copy) } == .versionIsGone)
      #expect(await code { _ = try await pieces(sandbox.versions.bytes(of: copy)) } == .versionIsGone)
    }
  }

  @Test("CV-42: A copy of a package is compared with all of its members, and has no bytes of its own")
  func packages() async throws {
    try await withConflictCopies { sandbox in
      try sandbox.write("p.rtfd/TXT.rtf", "mine")
      let member = "p (Jane's conflicted copy 2026-01-02).rtfd/TXT.rtf"
      try sandbox.write(member, "hers")
      let copy = try #require(try await sandbox.versions.versions(of: sandbox.url("p.rtfd"))?.first)
      try await sandbox.versions.verify(copy)
      #expect(await code { _ = try await pieces(sandbox.versions.bytes(of: copy)) } == .notAFile)
      try sandbox.write(member, "HERS")
      #expect(await code { try await sandbox.versions.verify(copy) } == .versionIsGone)
    }
  }

  @Test("CV-42: The present contents come piece by piece, also if a save replaces the file meanwhile")
  func current() async throws {
    try await withConflictCopies { sandbox in
      let file = try sandbox.write("a.txt", "0123456789")
      let current = try #require(try await sandbox.versions.currentVersion(of: file))
      var iterator = sandbox.versions.bytes(of: current, pieceSize: 4).makeAsyncIterator()
      #expect(try await iterator.next() == Data("0123".utf8))
      try Data("another".utf8).write(to: file, options: .atomic)
      #expect(try await iterator.next() == Data("4567".utf8))
      #expect(try await iterator.next() == Data("89".utf8))
      #expect(try await iterator.next() == nil)
      // There's nothing to compare them with.
      #expect(await code { try await sandbox.versions.verify(current) } == .isCurrent)
    }
  }

  @Test("CV-42: Pieces of a file that was written to in place meanwhile are no version", arguments: [true, false])
  func writtenMeanwhile(isCopy: Bool) async throws {
    try await withConflictCopies { sandbox in
      let file = try sandbox.write("a.txt", "0123456789")
      if isCopy { try sandbox.write(copyName, "abcdefghij") }
      let kept = try await sandbox.versions.versions(of: file)?.first
      let current = try await sandbox.versions.currentVersion(of: file)
      let version = try #require(isCopy ? kept : current)
      var iterator = sandbox.versions.bytes(of: version, pieceSize: 4).makeAsyncIterator()
      _ = try await iterator.next()
      try sandbox.write(isCopy ? copyName : "a.txt", "XXXXXXXXXX")
      _ = try await iterator.next()
      _ = try await iterator.next()
      await #expect { try await iterator.next() } throws: { ($0 as? FileVersionError)?.code == .versionIsGone }
    }
  }
}

@Suite("Versions one after the other", .timeLimit(.minutes(4)))
struct FileVersionSequenceTests {
  private func texts(_ sequence: FileVersionSequence, _ versions: FileVersions) async throws -> [FileVersion] {
    var all: [FileVersion] = []
    for try await version in sequence { all.append(version) }
    return all
  }

  @Test("CV-43: All versions come in their order, whole batches or not", arguments: [0, 1, 63, 64, 65])
  func all(count: Int) async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "0")
      for number in 0..<count {
        try fixture.write("a", "\(number)")
        try await fixture.versions.addVersion(of: file)
      }
      let all = try await texts(fixture.versions.eachVersion(of: file), fixture.versions)
      #expect(all == (try await fixture.versions.versions(of: file)) && all.count == count)
    }
  }

  @Test("CV-43: A version that's removed before its turn is left out, one that's added isn't among them")
  func meanwhile() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "0")
      for _ in 0..<130 { try await fixture.versions.addVersion(of: file) }
      let before = try #require(try await fixture.versions.versions(of: file))
      var iterator = fixture.versions.eachVersion(of: file).makeAsyncIterator()
      #expect(try await iterator.next() == before[0])
      try await fixture.versions.addVersion(of: file)
      for version in before[64..<129] { try await fixture.versions.remove(version, of: file) }
      var rest: [FileVersion] = []
      while let version = try await iterator.next() { rest.append(version) }
      #expect(rest == Array(before[1..<64]) + [before[129]])
    }
  }

  @Test("CV-43: Where nothing is, the first one throws; conflict copies come first")
  func edges() async throws {
    try await withConflictCopies { sandbox in
      var none = sandbox.versions.eachVersion(of: sandbox.url("none")).makeAsyncIterator()
      await #expect { try await none.next() } throws: { ($0 as? FileVersionError)?.code == .noSuchFile }
      let file = try sandbox.write("a.txt", "mine")
      try await sandbox.versions.addVersion(of: file)
      try sandbox.write(copyName, "theirs")
      let all = try await texts(sandbox.versions.eachVersion(of: file), sandbox.versions)
      #expect(all.map(\.isConflict) == [true, false])
    }
  }
}
