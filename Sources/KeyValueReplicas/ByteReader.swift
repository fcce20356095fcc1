internal import CompactContainers

/// Bytes that aren't what was written.
struct DamagedBytes: Error, Hashable {}

/// Reads values from bytes, one after the other.
///
/// It reads nothing beyond their end, and takes no more memory than they have bytes, also if they're made up.
struct ByteReader {
  private let bytes: ArraySlice<UInt8>
  private var index: Int

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    index = bytes.startIndex
  }

  var isAtEnd: Bool { index == bytes.endIndex }

  mutating func integer<Number: FixedWidthInteger & BitwiseCopyable>(
    _ type: Number.Type = Number.self
  ) throws(DamagedBytes) -> Number {
    let size = Number.bitWidth / 8
    guard bytes.endIndex - index >= size else { throw DamagedBytes() }
    let number = unsafe bytes.span.bytes.integer(littleEndianAt: index - bytes.startIndex, as: Number.self)
    index += size
    return number
  }

  mutating func boolean() throws(DamagedBytes) -> Bool {
    switch try integer(UInt8.self) {
    case 0: false
    case 1: true
    default: throw DamagedBytes()
    }
  }

  /// A count of things that take one byte each at least.
  mutating func count() throws(DamagedBytes) -> Int {
    let count = Int(try integer(UInt32.self))
    guard count <= bytes.endIndex - index else { throw DamagedBytes() }
    return count
  }

  mutating func data() throws(DamagedBytes) -> [UInt8] {
    let count = try count()
    defer { index += count }
    return Array(bytes[index..<(index + count)])
  }

  mutating func string() throws(DamagedBytes) -> String {
    guard let text = String(validating: try data(), as: UTF8.self) else { throw DamagedBytes() }
    return text
  }

  mutating func optional<Value>(
    _ read: (inout ByteReader) throws(DamagedBytes) -> Value
  ) throws(DamagedBytes) -> Value? {
    try boolean() ? try read(&self) : nil
  }

  mutating func array<Value>(
    _ read: (inout ByteReader) throws(DamagedBytes) -> Value
  ) throws(DamagedBytes) -> [Value] {
    var values: [Value] = []
    for _ in 0..<(try count()) { values.append(try read(&self)) }
    return values
  }
}

extension [UInt8] {
  mutating func append(_ value: Bool) { append(value ? 1 : 0) }

  mutating func append(count: Int) { append(littleEndian: UInt32(count)) }

  mutating func append(data: some Collection<UInt8>) {
    append(count: data.count)
    append(contentsOf: data)
  }

  mutating func append<Value>(_ value: Value?, _ write: (Value, inout [UInt8]) -> Void) {
    append(value != nil)
    if let value { write(value, &self) }
  }

  mutating func append<Value>(all values: [Value], _ write: (Value, inout [UInt8]) -> Void) {
    append(count: values.count)
    for value in values { write(value, &self) }
  }
}
