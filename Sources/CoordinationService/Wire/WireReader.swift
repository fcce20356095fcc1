internal import CompactContainers

/// Reads values from the payload of one frame.
///
/// For any bytes it returns a value or throws, and its memory grows at most in proportion to the bytes.
package struct WireReader {
  private let bytes: [UInt8]
  /// Where in `bytes` the frame begins, with its length.
  private let start: Int
  private let end: Int
  private var position: Int

  /// Reads the payload that follows a frame's length.
  ///
  /// - Parameters:
  ///   - bytes: Bytes that contain the frame.
  ///   - start: Where the frame begins.
  ///   - end: Where it ends, in `bytes`.
  init(_ bytes: [UInt8], frameFrom start: Int, to end: Int) {
    precondition(start >= 0 && end <= bytes.count && end - start >= WireFormat.headerByteCount, "no frame there")
    self.bytes = bytes
    self.start = start
    self.end = end
    position = start + WireFormat.headerByteCount
  }

  /// How many bytes have not been read.
  var remainingByteCount: Int { end - position }

  /// Throws unless everything has been read.
  func finish() throws(WireError) {
    if remainingByteCount > 0 {
      throw error(.trailingBytes, "\(remainingByteCount) bytes are left behind the last value")
    }
  }

  /// Nothing more of another version is understood.
  mutating func skipRest() { position = end }

  /// An error about the next byte, or about a value that began so many bytes ago.
  @inline(never)
  func error(_ code: WireError.Code, _ explanation: String, back byteCount: Int = 0) -> WireError {
    WireError(code, at: position - byteCount - start, explanation)
  }

  // MARK: - Parts of values

  @inline(__always)
  mutating func read<Value: WireValue>(_ type: Value.Type = Value.self) throws(WireError) -> Value {
    try Value(from: &self)
  }

  @inline(__always)
  mutating func integer<Value: FixedWidthInteger & BitwiseCopyable>(
    _ type: Value.Type = Value.self
  ) throws(WireError) -> Value {
    let byteCount = MemoryLayout<Value>.size
    let place = try advance(byteCount)
    return unsafe bytes.span.bytes.integer(littleEndianAt: place)
  }

  mutating func tag<Tag: WireTag>(of type: Tag.Type = Tag.self) throws(WireError) -> Tag {
    let number: UInt8 = try integer()
    guard let tag = Tag(rawValue: number) else {
      throw error(.unknownTag, "\(number) stands for no case", back: 1)
    }
    return tag
  }

  @inline(__always)
  mutating func flag() throws(WireError) -> Bool {
    switch try integer(UInt8.self) {
    case 0: return false
    case 1: return true
    case let other: throw error(.invalidFlag, "a flag is 0 or 1, not \(other)", back: 1)
    }
  }

  mutating func text() throws(WireError) -> String {
    let byteCount = Int(try integer(UInt32.self))
    guard byteCount <= WireFormat.textByteCountMax else {
      throw error(
        .textTooLong, "a text has \(byteCount) bytes, and \(WireFormat.textByteCountMax) is the limit", back: 4)
    }
    let place = try advance(byteCount)
    do {
      // Several times as fast as the initializers of `String` that take a collection.
      return String(copying: try UTF8Span(validating: bytes.span.extracting(place..<position)))
    } catch _ {
      throw self.error(.invalidText, "a text of \(byteCount) bytes is no UTF-8", back: byteCount)
    }
  }

  /// The bytes of a path, which has still to be checked.
  mutating func pathBytes() throws(WireError) -> [UInt8] {
    let place = try advance(Int(try integer(UInt16.self)))
    return Array(bytes[place..<position])
  }

  /// The count of a list whose elements take at least a byte each.
  mutating func listCount() throws(WireError) -> Int {
    let count = Int(try integer(UInt32.self))
    guard count <= WireFormat.listCountMax else {
      throw error(.listTooLong, "a list has \(count) elements, and \(WireFormat.listCountMax) is the limit", back: 4)
    }
    guard count <= remainingByteCount else {
      throw error(.truncated, "a list has \(count) elements, but only \(remainingByteCount) bytes are left", back: 4)
    }
    return count
  }

  mutating func count() throws(WireError) -> Int {
    let number: UInt64 = try integer()
    guard let count = Int(exactly: number) else {
      throw error(.numberOutOfRange, "\(number) is too many", back: 8)
    }
    return count
  }

  mutating func optionBits() throws(WireError) -> UInt {
    let bits: UInt64 = try integer()
    guard let bits = UInt(exactly: bits) else {
      throw error(.numberOutOfRange, "\(bits) are too many options", back: 8)
    }
    return bits
  }

  mutating func ownNumber() throws(WireError) -> UInt64 {
    let number: UInt64 = try integer()
    guard number < WireFormat.ownNumberLimit else {
      throw error(
        .numberOutOfRange, "\(number) is no number that a process gives to something of its own", back: 8)
    }
    return number
  }

  /// Goes beyond a value; returns where it begins.
  @inline(__always)
  private mutating func advance(_ byteCount: Int) throws(WireError) -> Int {
    guard byteCount <= remainingByteCount else {
      throw error(.truncated, "a value has \(byteCount) bytes, but only \(remainingByteCount) are left")
    }
    defer { position += byteCount }
    return position
  }
}
