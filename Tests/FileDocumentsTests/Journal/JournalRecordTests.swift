import ContentHashing
import SystemInterface
import Testing

@testable import FileDocuments

@Suite("Records of crash journals")
struct JournalRecordTests {
  private static let record = JournalRecord(
    header: JournalRecord.Header(
      sequence: 7, time: 1_700_000_000_123_456_789, path: SystemPath("/home/ä/note.txt"),
      identity: FileIdentity(device: 3, inode: 1 << 40), base: ContentHash(of: Array("old".utf8))),
    contents: Array("What was typed".utf8))

  @Test("CD-62: A record is read as it was written, also without contents, file and base")
  func roundTrip() {
    #expect(JournalRecord(Self.record.bytes) == Self.record)
    #expect(JournalRecord.header(Self.record.bytes) == Self.record.header)
    var empty = Self.record
    empty.contents = []
    empty.header.identity = nil
    empty.header.base = nil
    #expect(JournalRecord(empty.bytes) == empty)
    var package = Self.record
    package.header.form = .package
    package.header.replaced = ["a", "1w2x3y4z5a6b7"]
    #expect(JournalRecord(package.bytes) == package)
    // A name fewer than there may be, all of them, and one more: the oldest is left out.
    for count in [
      JournalRecord.replacedCountMax - 1, JournalRecord.replacedCountMax, JournalRecord.replacedCountMax + 1,
    ] {
      package.header.replaced = (0..<count).map { "name\($0)" }
      let read = JournalRecord(package.bytes)?.header.replaced
      #expect(read == package.header.replaced.suffix(JournalRecord.replacedCountMax))
    }
  }

  @Test("CD-62: A record that was cut off anywhere isn't one, nor is one with any other bit, or one that's too long")
  func damaged() {
    let bytes = Self.record.bytes
    for count in bytes.indices { #expect(JournalRecord(Array(bytes[..<count])) == nil) }
    for index in bytes.indices {
      for bit in 0..<8 {
        var other = bytes
        other[index] ^= 1 << bit
        #expect(JournalRecord(other) == nil, "bit \(bit) of byte \(index)")
      }
    }
    #expect(JournalRecord(bytes + [0]) == nil)
  }

  @Test("CD-62: Lengths that don't fit aren't believed", arguments: [UInt32.max, 0, 135, 1 << 20])
  func lengths(length: UInt32) {
    var bytes = Self.record.bytes
    for index in 0..<4 { bytes[8 + index] = UInt8(truncatingIfNeeded: length >> (8 * UInt32(index))) }
    #expect(JournalRecord.header(bytes) == nil)
    bytes = Self.record.bytes
    for index in 44..<52 { bytes[index] = 0xFF }
    #expect(JournalRecord.header(bytes) == nil)
  }
}
