internal import CompactContainers

// One byte for the kind, and then the value. Equal values have equal bytes: dictionaries are in order of their keys.
extension StoredValue {
  /// The deepest nesting that is read, so that no bytes exhaust the stack.
  static let depthMax = 256

  func write(to bytes: inout [UInt8]) {
    switch self {
    case .boolean(let value): bytes.append(value ? 1 : 0)
    case .integer(let value):
      bytes.append(2)
      bytes.append(littleEndian: value)
    case .real(let value):
      bytes.append(3)
      bytes.append(littleEndian: value.bitPattern)
    case .string(let value):
      bytes.append(4)
      bytes.append(data: Array(value.utf8))
    case .data(let value):
      bytes.append(5)
      bytes.append(data: value)
    case .date(let value):
      bytes.append(6)
      bytes.append(littleEndian: value.bitPattern)
    case .array(let values):
      bytes.append(7)
      bytes.append(all: values) { $0.write(to: &$1) }
    case .dictionary(let members):
      bytes.append(8)
      let ordered = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
      bytes.append(all: ordered) { member, bytes in
        bytes.append(data: Array(member.key.utf8))
        member.value.write(to: &bytes)
      }
    }
  }

  init(from reader: inout ByteReader) throws(DamagedBytes) { try self.init(from: &reader, depth: 0) }

  private init(from reader: inout ByteReader, depth: Int) throws(DamagedBytes) {
    if depth > Self.depthMax { throw DamagedBytes() }
    switch try reader.integer(UInt8.self) {
    case 0: self = .boolean(false)
    case 1: self = .boolean(true)
    case 2: self = .integer(try reader.integer())
    case 3: self = .real(Double(bitPattern: try reader.integer()))
    case 4: self = .string(try reader.string())
    case 5: self = .data(try reader.data())
    case 6: self = .date(Double(bitPattern: try reader.integer()))
    case 7:
      var values: [StoredValue] = []
      for _ in 0..<(try reader.count()) { values.append(try StoredValue(from: &reader, depth: depth + 1)) }
      self = .array(values)
    case 8:
      var members: [String: StoredValue] = [:]
      for _ in 0..<(try reader.count()) {
        let key = try reader.string()
        let value = try StoredValue(from: &reader, depth: depth + 1)
        if members.updateValue(value, forKey: key) != nil { throw DamagedBytes() }
      }
      self = .dictionary(members)
    default: throw DamagedBytes()
    }
  }
}

extension StoredValue {
  /// The value as bytes that ``init(bytes:)`` reads.
  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    write(to: &bytes)
    return bytes
  }

  /// The value that some bytes stand for; `nil` if they're none.
  package init?(bytes: [UInt8]) {
    var reader = ByteReader(bytes[...])
    do throws(DamagedBytes) { self = try StoredValue(from: &reader) } catch { return nil }
    if !reader.isAtEnd { return nil }
  }
}
