import FileCoordination
import FileCoordinationTesting
import Foundation
import SystemInterface
import Testing

@testable import FileDocuments

@Suite("Crash journals that are damaged, too many or too large", .timeLimit(.minutes(8)))
struct DamagedJournalTests {
  enum Damage: String, CaseIterable, Sendable {
    case bitOfTheContents, bitOfThePath, bitOfTheMark, lastByte, mostBytes, zeros, moreBytes

    func damage(_ bytes: Data, path: String) -> Data {
      var bytes = Array(bytes)
      switch self {
      case .bitOfTheContents: bytes[bytes.count - 70] ^= 1
      case .bitOfThePath: bytes[120 + path.utf8.count - 1] ^= 1
      case .bitOfTheMark: bytes[3] ^= 4
      case .lastByte: bytes.removeLast()
      case .mostBytes: bytes = Array(bytes.prefix(20))
      case .zeros: bytes = bytes.map { _ in 0 }
      case .moreBytes: bytes.append(0)
      }
      return Data(bytes)
    }
  }

  @Test(
    "CD-72: A damaged journal is reported once, by its name, and its file is kept aside", arguments: Damage.allCases)
  func reportedOnce(damage: Damage) async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      try fixture.leaveOrphan("typed")
      let name = try #require(try fixture.journalNames().first { $0.hasSuffix(".1") })
      let url = fixture.journals.appending(path: name)
      let damaged = damage.damage(try Data(contentsOf: url), path: fixture.file.path)
      try damaged.write(to: url)
      try fixture.leaveOrphan("whole")
      let document = fixture.document()
      try await document.open()
      #expect(await document.recoveries.map(\.contents) == ["whole"])
      let error = try #require(document.state.journalError)
      #expect(error.code == .journalDamaged && error.message.contains(url.path + "-damaged"), "\(error)")
      #expect(document.state.conditions == [.recoverable, .journalError])
      #expect(try Data(contentsOf: fixture.journals.appending(path: name + "-damaged")) == damaged)
      #expect(!fixture.exists(url))
      try await document.close()
      try await document.open()
      #expect(document.state.conditions == .recoverable)
      try await document.close()
      // It goes when it's too old, as all journals do for which nobody comes.
      let later = fixture.document(.now + 200 * 86_400_000_000_000)
      try await later.open()
      #expect(try fixture.journalNames().allSatisfy { !$0.hasSuffix("-damaged") })
      try await later.close()
    }
  }

  @Test("CD-72: If the newest record is damaged the one before is offered, and the damage is reported")
  func olderRecord() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      let url = try fixture.leaveTwoRecords("first", "second")
      var bytes = try Data(contentsOf: url)
      bytes[bytes.count - 1] ^= 1
      try bytes.write(to: url)
      let document = fixture.document()
      try await document.open()
      #expect(await document.recoveries.map(\.contents) == ["first"])
      #expect(document.state.journalError?.code == .journalDamaged)
      try await document.close()
    }
  }

  @Test("CD-62, CD-72: A record that was being written when the process was killed is no damage beside the one before")
  func cutOff() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      let url = try fixture.leaveTwoRecords("first", "second")
      for count in [0, 7, 119, 130, 250] {
        try (try Data(contentsOf: url)).prefix(count).write(to: url)
        let document = fixture.document()
        try await document.open()
        #expect(await document.recoveries.map(\.contents) == ["first"])
        #expect(document.state.conditions == .recoverable)
        try await document.close()
        _ = try fixture.rewriteSecond("second", to: url)
      }
    }
  }

  @Test("CD-72: A journal whose owner can't be read any more is reported to the next program that opens any file")
  func unknownOwner() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      try fixture.write("another", to: fixture.url("other.txt"))
      try fixture.leaveOrphan("typed")
      let name = try #require(try fixture.journalNames().first { $0.hasSuffix(".1") })
      let url = fixture.journals.appending(path: name)
      try Damage.bitOfThePath.damage(try Data(contentsOf: url), path: fixture.file.path).write(to: url)
      let other = FileDocument(fixture.url("other.txt"), as: .text, options: fixture.journaled(), in: nil)
      try await other.open()
      #expect(other.state.journalError?.code == .journalDamaged)
      try await other.close()
    }
  }

  @Test("CD-63, CD-72: The first record that a living process is writing isn't damage")
  func living() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      let directory = SystemPath(fixture.journals.path)
      try RuntimeDirectory.makePrivate(directory, owners: [HostUser.effectiveUserID])
      let held = try HeldJournal.make(in: directory)
      try fixture.write("filej", to: URL(filePath: held.path(ofSlot: 1).description))
      let names = try fixture.journalNames()
      let document = fixture.document()
      try await document.open()
      #expect(document.state.conditions == .normal)
      #expect(try fixture.journalNames() == names)
      try await document.close()
      held.lock?.release()
      try await document.open()
      #expect(document.state.journalError?.code == .journalDamaged)
      try await document.close()
    }
  }

  @Test("CD-73: Of too many journals the newest are offered, and the others when those are decided about")
  func tooMany() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      let countMax = JournalDirectory.orphanCountMax
      for number in 0...countMax { try fixture.leaveOrphan("text \(number)", time: 1_700_000_000 + Int64(number)) }
      let document = fixture.document()
      try await document.open()
      let recoveries = await document.recoveries
      #expect(recoveries.map(\.contents) == (1...countMax).map { "text \($0)" })
      for recovery in recoveries { try await document.resolve(recovery, by: .discarding) }
      try await document.close()
      try await document.open()
      #expect(await document.recoveries.map(\.contents) == ["text 0"])
      try await document.close()
    }
  }

  @Test(
    "CD-73: Contents that are larger than a journal may be aren't written, which is in the state; the record before stays"
  )
  func tooLarge() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      var options = fixture.journaled()
      options.crashJournal?.byteCountMax = 100
      let document = FileDocument(fixture.file, as: .text, options: options, in: nil)
      try await document.open()
      try await document.edit { $0 = String(repeating: "x", count: 100) }
      try await document.writeJournal()
      try await document.edit { $0 += "y" }
      let error = await #expect(throws: DocumentError.self) { try await document.writeJournal() }
      #expect(error?.code == .journalNotWritten && error?.message.contains("100 bytes") == true)
      #expect(document.state.conditions == .journalError)
      #expect(try fixture.journalNames().count == 2)
      try await document.edit { $0.removeLast(2) }
      try await document.writeJournal()
      #expect(document.state.conditions == .normal)
      try await document.close(discardingChanges: true)
    }
  }

  @Test(
    "CD-73: A killed process's journal that's larger than that stays where it is, and is offered to one that allows it")
  func largeOrphan() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      try fixture.leaveOrphan(String(repeating: "x", count: 200_000))
      var options = fixture.journaled()
      options.crashJournal?.byteCountMax = 100
      let document = FileDocument(fixture.file, as: .text, options: options, in: nil)
      try await document.open()
      #expect(await document.recoveries.isEmpty)
      #expect(document.state.journalError?.code == .journalNotRead)
      try await document.close()
      let other = fixture.document()
      try await other.open()
      #expect(await other.recoveries.map(\.bytes.count) == [200_000])
      try await other.close()
    }
  }
}

extension Fixture {
  /// Leaves the journal of a killed process with two whole records.
  ///
  /// - Returns: The file with the second one.
  fileprivate func leaveTwoRecords(_ first: String, _ second: String) throws -> URL {
    try leaveOrphan(first)
    let name = try #require(try journalNames().first { $0.hasSuffix(".1") })
    return try rewriteSecond(second, to: journals.appending(path: name.dropLast(1) + "0"))
  }

  fileprivate func rewriteSecond(_ text: String, to url: URL) throws -> URL {
    let first = url.deletingLastPathComponent().appending(path: url.lastPathComponent.dropLast(1) + "1")
    var record = try #require(JournalRecord(Array(try Data(contentsOf: first))))
    record.header.sequence += 1
    record.contents = Array(text.utf8)
    try Data(record.bytes).write(to: url)
    return url
  }
}
