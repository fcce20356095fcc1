internal import CompactContainers
internal import SystemInterface

/// Writes a zip archive of stored (uncompressed) members to an empty file, with 64-bit records where needed.
///
/// Uncompressed, because it is made to be sent once and thrown away: copying costs less time than deflating, and no
/// library is needed.
struct ZipArchiveWriter<Files: FileSystem> {
  /// The smallest value that doesn't fit a 32-bit field; tests lower it to get 64-bit records from small files.
  private let limit: UInt64
  private let files: Files
  private let output: FileDescriptor
  /// The path of the archive, for errors.
  private let path: SystemPath
  private var buffer: [UInt8] = []
  /// Where the buffer starts in the file.
  private var flushed: UInt64 = 0
  private var entries: [ZipEntry] = []

  private var bufferMax: Int { 1 << 18 }
  /// Checksum and sizes start here in a local header (4.3.7).
  private var checksumOffset: UInt64 { 14 }

  init(files: Files, output: FileDescriptor, path: SystemPath, limit: UInt64 = 0xFFFF_FFFF) {
    self.files = files
    self.path = path
    self.output = output
    self.limit = limit
  }

  private var position: UInt64 { flushed + UInt64(buffer.count) }

  /// Adds a member whose contents are at hand: a directory (none) or a symbolic link (its target).
  mutating func add(_ name: [UInt8], _ status: FileStatus, contents: [UInt8] = []) throws(SystemError) {
    var entry = try makeEntry(name, status, expecting: UInt64(contents.count))
    var check = CyclicRedundancyCheck()
    check.update(contents[...])
    entry.checksum = check.value
    entry.size = UInt64(contents.count)
    try append(entry.localHeader)
    try append(contents)
    entries.append(entry)
  }

  /// Adds a file, up to the size its status names: bytes that are appended meanwhile are left out.
  mutating func add(
    _ name: [UInt8], _ status: FileStatus, contentsOf input: FileDescriptor
  ) throws(SystemError) {
    var entry = try makeEntry(name, status, expecting: UInt64(status.size))
    try append(entry.localHeader)
    var check = CyclicRedundancyCheck()
    var chunk = [UInt8](repeating: 0, count: min(Int(status.size), bufferMax))
    while entry.size < UInt64(status.size) {
      let count = min(try files.read(input, into: &chunk), Int(UInt64(status.size) - entry.size))
      if count == 0 { break }
      check.update(chunk[..<count])
      try append(chunk[..<count])
      entry.size += UInt64(count)
    }
    entry.checksum = check.value
    try complete(entry)
    entries.append(entry)
  }

  /// Writes the directory of the archive.
  mutating func finish() throws(SystemError) {
    let start = position
    for entry in entries { try append(entry.centralHeader(limit: limit)) }
    try append(endRecords(start: start, size: position - start))
    try flush()
  }

  private func makeEntry(
    _ name: [UInt8], _ status: FileStatus, expecting size: UInt64
  ) throws(SystemError) -> ZipEntry {
    if name.count > Int(UInt16.max) {
      throw SystemError(
        call: "zip", errno: SystemError.Number.fileNameTooLong.rawValue,
        advice: "A zip archive takes paths up to 65535 bytes.")
    }
    return ZipEntry(name: name, status: status, offset: position, hasLongHeader: size >= limit)
  }
}

// MARK: - Records

extension ZipArchiveWriter {
  /// Fills checksum and sizes into the local header, now that they are known.
  private mutating func complete(_ entry: ZipEntry) throws(SystemError) {
    let header = entry.localHeader
    if entry.offset >= flushed {
      let start = Int(entry.offset - flushed)
      buffer.replaceSubrange(start..<(start + header.count), with: header)
      return
    }
    try flush()
    try locatingErrors(at: path) { () throws(SystemError) in
      _ = try files.seek(output, to: Int64(entry.offset + checksumOffset), .start)
      try files.writeAll(Array(header[Int(checksumOffset)...]), to: output)
      _ = try files.seek(output, to: Int64(flushed), .start)
    }
  }

  /// 4.3.16, after 4.3.14 and 4.3.15 when a number doesn't fit.
  private func endRecords(start: UInt64, size: UInt64) -> [UInt8] {
    let count = UInt64(entries.count)
    let isLong = count >= min(limit, 0xFFFF) || start >= limit || size >= limit
    var records: [UInt8] = []
    if isLong {
      records.append(littleEndian: UInt32(0x0606_4B50))
      records.append(littleEndian: UInt64(44))
      records.append(littleEndian: UInt16(3 << 8 | 45))
      records.append(littleEndian: UInt16(45))
      records.append(littleEndian: UInt64(0))  // Disks.
      for number in [count, count, size, start] { records.append(littleEndian: number) }
      records.append(littleEndian: UInt32(0x0706_4B50))
      records.append(littleEndian: UInt32(0))
      records.append(littleEndian: start + size)
      records.append(littleEndian: UInt32(1))
    }
    records.append(littleEndian: UInt32(0x0605_4B50))
    records.append(littleEndian: UInt32(0))  // Disks.
    let count16 = isLong ? UInt16.max : UInt16(count)
    for number in [count16, count16] { records.append(littleEndian: number) }
    for number in [size, start] { records.append(littleEndian: isLong ? UInt32.max : UInt32(number)) }
    records.append(littleEndian: UInt16(0))  // Comment length.
    return records
  }
}

// MARK: - Buffer

extension ZipArchiveWriter {
  private mutating func append(_ bytes: some Collection<UInt8>) throws(SystemError) {
    buffer.append(contentsOf: bytes)
    if buffer.count >= bufferMax { try flush() }
  }

  private mutating func flush() throws(SystemError) {
    try locatingErrors(at: path) { () throws(SystemError) in try files.writeAll(buffer, to: output) }
    flushed += UInt64(buffer.count)
    buffer.removeAll(keepingCapacity: true)
  }
}
