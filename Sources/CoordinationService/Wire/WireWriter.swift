/// Turns values into the bytes of one frame.
package struct WireWriter {
  /// The written bytes, and zeros behind them: to overwrite zeros is several times as fast as to append.
  private var bytes: [UInt8] = []
  /// Where in `bytes` the zeros begin.
  private var end: Int
  /// Where in `bytes` the frame begins.
  private let start: Int
  /// The first value that can't be sent.
  ///
  /// Everything written after it is of no use.
  private var failure: WireError?

  private static let room = [UInt8](repeating: 0, count: 256)

  /// Begins a frame behind bytes that are kept, and leaves the caller none: two owners would mean a copy.
  init(takingOver bytes: inout [UInt8]) {
    start = bytes.count
    end = bytes.count
    swap(&self.bytes, &bytes)
  }

  mutating func takeBytes() -> [UInt8] {
    var result: [UInt8] = []
    swap(&result, &bytes)
    result.removeLast(result.count - end)
    return result
  }

  /// Puts the length of the payload in front of it; returns why the frame can't be sent.
  mutating func finishFrame() -> WireError? {
    let payload = end - start - WireFormat.headerByteCount
    if payload > WireFormat.frameByteCountMax {
      refuse(.frameTooLong, "the frame has \(payload) bytes, and \(WireFormat.frameByteCountMax) is the limit")
    }
    if let failure { return failure }
    for index in 0..<WireFormat.headerByteCount {
      bytes[start + index] = UInt8(truncatingIfNeeded: payload >> (8 * index))
    }
    return nil
  }

  /// Remembers that something can't be sent.
  @inline(never)
  mutating func refuse(_ code: WireError.Code, _ explanation: String) {
    failure = failure ?? WireError(code, at: end - start, explanation)
  }

  // MARK: - Parts of values

  @inline(__always)
  mutating func append<Value: FixedWidthInteger & BitwiseCopyable>(integer value: Value) {
    let byteCount = MemoryLayout<Value>.size
    if bytes.count - end < byteCount { makeRoom(for: byteCount) }
    unsafe bytes.withUnsafeMutableBytes {
      unsafe $0.storeBytes(of: value.littleEndian, toByteOffset: end, as: Value.self)
    }
    end += byteCount
  }

  mutating func append(tag: some WireTag) { append(integer: tag.rawValue) }

  mutating func append(text: String) {
    var text = text
    // Makes the count cheap, and copies the bytes at once.
    text.makeContiguousUTF8()
    let count = text.utf8.count
    guard count <= WireFormat.textByteCountMax else {
      return refuse(.textTooLong, "a text has \(count) bytes, and \(WireFormat.textByteCountMax) is the limit")
    }
    append(integer: UInt32(count))
    unsafe text.utf8.withContiguousStorageIfAvailable { unsafe append(contentsOf: UnsafeRawBufferPointer($0)) }
  }

  mutating func append(path: [UInt8]) {
    guard path.count <= WireFormat.pathByteCountMax else {
      return refuse(
        .invalidPath, "a path has \(path.count) bytes, and \(WireFormat.pathByteCountMax) is the limit")
    }
    append(integer: UInt16(path.count))
    unsafe path.withUnsafeBytes { unsafe append(contentsOf: $0) }
  }

  /// The count of a list; its elements follow.
  mutating func append(listCount count: Int) {
    guard count <= WireFormat.listCountMax else {
      return refuse(.listTooLong, "a list has \(count) elements, and \(WireFormat.listCountMax) is the limit")
    }
    append(integer: UInt32(count))
  }

  mutating func append(count: Int) {
    guard let count = UInt64(exactly: count) else { return refuse(.numberOutOfRange, "there can't be \(count)") }
    append(integer: count)
  }

  /// A number that a process gave to something of its own.
  mutating func append(ownNumber number: UInt64) {
    guard number < WireFormat.ownNumberLimit else {
      return refuse(.numberOutOfRange, "\(number) is no number that a process gives to something of its own")
    }
    append(integer: number)
  }

  @inline(__always)
  mutating func append(_ first: some WireValue) { first.encode(into: &self) }

  /// Appends the fields of a value one after the other.
  @inline(__always)
  mutating func append<First: WireValue, each Value: WireValue>(_ first: First, _ value: repeat each Value) {
    first.encode(into: &self)
    repeat (each value).encode(into: &self)
  }

  // MARK: - Memory

  private mutating func append(contentsOf other: UnsafeRawBufferPointer) {
    if bytes.count - end < other.count { makeRoom(for: other.count) }
    unsafe bytes.withUnsafeMutableBytes { unsafe $0[end...].copyBytes(from: other) }
    end += other.count
  }

  @inline(never)
  private mutating func makeRoom(for byteCount: Int) {
    bytes.append(contentsOf: WireWriter.room)
    let missing = byteCount - (bytes.count - end)
    if missing > 0 { bytes.append(contentsOf: [UInt8](repeating: 0, count: missing)) }
  }
}
