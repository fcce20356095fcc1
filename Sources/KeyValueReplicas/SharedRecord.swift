internal import CompactContainers

/// The bytes of a key's value, or of its removal, at a place that stores keys by themselves.
///
/// The first byte is the number of the form. A reader refuses a greater number, and so doesn't take what a newer version of this package has
/// written for damage.
package enum SharedRecord {
  /// The number of the form that's written.
  package static let version: UInt8 = 1

  /// The reason why bytes aren't a record.
  package enum Flaw: Error, Hashable, Sendable {
    case damaged
    case newerFormat
  }

  /// The bytes of a value, or of a removal.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` for a key that was removed.
  ///   - time: The instant of the write.
  /// - Returns: The bytes.
  package static func bytes(_ value: StoredValue?, at time: HybridTime) -> [UInt8] {
    var bytes = [version]
    time.write(to: &bytes)
    bytes.append(value) { $0.write(to: &$1) }
    return bytes
  }

  /// The key that a record belongs to.
  ///
  /// - Parameters:
  ///   - bytes: The record.
  ///   - key: The key.
  ///   - revision: The server's number of the change.
  /// - Returns: The key with its value.
  /// - Throws: ``Flaw`` if it's no record that this version can read.
  package static func item(_ bytes: [UInt8], key: String, revision: Int64) throws(Flaw) -> SharedItem {
    try read(bytes) { (reader) throws(DamagedBytes) in
      let time = try HybridTime(from: &reader)
      let value = try reader.optional { (reader) throws(DamagedBytes) in try StoredValue(from: &reader) }
      return SharedItem(key: key, value: value, time: time, revision: revision)
    }
  }

  /// The bytes of numbers.
  package static func bytes(_ numbers: [Int64]) -> [UInt8] {
    var bytes = [version]
    for number in numbers { bytes.append(littleEndian: number) }
    return bytes
  }

  /// Numbers from their bytes.
  ///
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - count: How many there are.
  /// - Returns: The numbers.
  /// - Throws: ``Flaw`` if they're no numbers that this version can read.
  package static func numbers(_ bytes: [UInt8], count: Int) throws(Flaw) -> [Int64] {
    try read(bytes) { (reader) throws(DamagedBytes) in
      var numbers: [Int64] = []
      for _ in 0..<count { numbers.append(try reader.integer()) }
      return numbers
    }
  }

  private static func read<Value>(
    _ bytes: [UInt8], _ body: (inout ByteReader) throws(DamagedBytes) -> Value
  ) throws(Flaw) -> Value {
    guard let first = bytes.first, first > 0 else { throw .damaged }
    if first > version { throw .newerFormat }
    var reader = ByteReader(bytes.dropFirst())
    guard let value = try? body(&reader), reader.isAtEnd else { throw .damaged }
    return value
  }
}
