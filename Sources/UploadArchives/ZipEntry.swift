internal import SystemInterface
internal import CompactContainers

/// A member of a zip archive, as its two headers describe it.
struct ZipEntry {
  /// The path inside the archive, with `/` at the end of a directory.
  var name: [UInt8]
  /// Kind, permissions and time of the member.
  var status: FileStatus
  /// Where its local header starts.
  var offset: UInt64
  var size: UInt64 = 0
  var checksum: UInt32 = 0
  /// Whether the local header has room for 64-bit sizes.
  var hasLongHeader = false
}

// The layout of the records is that of PKWARE's APPNOTE.TXT; the sections are named at each record.
extension ZipEntry {
  /// 4.3.7; the checksum and sizes are filled in when the contents have been written, see `ZipArchiveWriter`.
  var localHeader: [UInt8] {
    var header: [UInt8] = []
    header.append(littleEndian: UInt32(0x0403_4B50))
    header.append(littleEndian: UInt16(hasLongHeader ? 45 : 20))
    appendCommonFields(to: &header, size32: hasLongHeader ? .max : UInt32(size))
    var extra = timestampField
    if hasLongHeader {
      extra.append(littleEndian: UInt16(0x0001))
      extra.append(littleEndian: UInt16(16))
      extra.append(littleEndian: size)
      extra.append(littleEndian: size)
    }
    header.append(littleEndian: UInt16(name.count))
    header.append(littleEndian: UInt16(extra.count))
    return header + name + extra
  }

  /// 4.3.12, with the values that don't fit below `limit` in a 64-bit field (4.5.3).
  func centralHeader(limit: UInt64) -> [UInt8] {
    let (longSize, longOffset) = (hasLongHeader || size >= limit, offset >= limit)
    var header: [UInt8] = []
    header.append(littleEndian: UInt32(0x0201_4B50))
    header.append(littleEndian: UInt16(3 << 8 | 45))  // Made on Unix: the upper attributes are a mode.
    header.append(littleEndian: UInt16(longSize || longOffset ? 45 : 20))
    appendCommonFields(to: &header, size32: longSize ? .max : UInt32(size))
    let extra = timestampField + longField(size: longSize, offset: longOffset)
    header.append(littleEndian: UInt16(name.count))
    header.append(littleEndian: UInt16(extra.count))
    header.append(littleEndian: UInt16(0))  // Comment length.
    header.append(littleEndian: UInt32(0))  // Disk, internal attributes.
    let directoryBit: UInt32 = status.kind == .directory ? 0x10 : 0
    header.append(littleEndian: (status.kind.modeBits | status.mode) << 16 | directoryBit)
    header.append(littleEndian: longOffset ? .max : UInt32(offset))
    return header + name + extra
  }

  /// The part of both headers after the version: flags, method, time, checksum, sizes.
  private func appendCommonFields(to header: inout [UInt8], size32: UInt32) {
    // Bit 11 says that the name is UTF-8; other names are left to the reader's locale.
    header.append(littleEndian: UInt16(String(validating: name, as: UTF8.self) == nil ? 0 : 1 << 11))
    header.append(littleEndian: UInt16(0))  // Stored.
    let (date, time) = dosDateAndTime
    header.append(littleEndian: time)
    header.append(littleEndian: date)
    header.append(littleEndian: checksum)
    header.append(littleEndian: size32)
    header.append(littleEndian: size32)
  }

  private func longField(size isLongSize: Bool, offset isLongOffset: Bool) -> [UInt8] {
    if !isLongSize && !isLongOffset { return [] }
    var field: [UInt8] = []
    field.append(littleEndian: UInt16(0x0001))
    field.append(littleEndian: UInt16((isLongSize ? 16 : 0) + (isLongOffset ? 8 : 0)))
    if isLongSize {
      field.append(littleEndian: size)
      field.append(littleEndian: size)
    }
    if isLongOffset { field.append(littleEndian: offset) }
    return field
  }
}

// MARK: - Time

extension ZipEntry {
  private var seconds: Int64 {
    let (quotient, remainder) = status.modificationTime.quotientAndRemainder(dividingBy: 1_000_000_000)
    return remainder < 0 ? quotient - 1 : quotient
  }

  /// The "UT" field of Info-ZIP with the modification time in UTC; empty for times that don't fit.
  private var timestampField: [UInt8] {
    guard let seconds = Int32(exactly: seconds) else { return [] }
    var field: [UInt8] = []
    field.append(littleEndian: UInt16(0x5455))
    field.append(littleEndian: UInt16(5))
    field.append(1)
    field.append(littleEndian: seconds)
    return field
  }

  /// 4.4.6, in UTC, clamped to the years 1980 to 2107 that it can express.
  private var dosDateAndTime: (date: UInt16, time: UInt16) {
    let clamped = min(max(seconds, 315_532_800), 4_354_819_199)
    let day = CivilDate(secondsSince1970: clamped)
    let second = clamped % 86_400
    let date = (day.year - 1980) << 9 | day.month << 5 | day.day
    let time = (second / 3_600) << 11 | (second / 60 % 60) << 5 | (second % 60) / 2
    return (UInt16(date), UInt16(time))
  }
}
