// Public for the other targets of this package alone, which get specialized code for it; no product offers it.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// The 32-bit checksum of zip archives (ISO 3309, polynomial 0xEDB88320), fed piece by piece.
public struct CyclicRedundancyCheck {
  private var register = UInt32.max

  public init() {}

  /// The checksum of all bytes so far.
  public var value: UInt32 { ~register }

  /// The checksum of some bytes.
  public static func value(of bytes: ArraySlice<UInt8>) -> UInt32 {
    var check = CyclicRedundancyCheck()
    check.update(bytes)
    return check.value
  }

  /// Adds bytes, eight per step with one table for each of their positions ("slicing by eight").
  public mutating func update(_ bytes: ArraySlice<UInt8>) {
    unsafe bytes.withUnsafeBytes { bytes in
      var crc = register
      var index = 0
      while index + 8 <= bytes.count {
        let word = unsafe bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self).littleEndian ^ UInt64(crc)
        crc = 0
        for lane in 0..<8 {
          crc ^= Self.tables[(7 - lane) << 8 | Int(truncatingIfNeeded: word >> (8 * UInt64(lane)) & 0xFF)]
        }
        index += 8
      }
      while index < bytes.count {
        crc = crc >> 8 ^ Self.tables[Int((crc ^ UInt32(unsafe bytes[index])) & 0xFF)]
        index += 1
      }
      register = crc
    }
  }

  /// Table *k* at `k * 256`: the effect of a byte on the checksum when *k* more bytes follow.
  private static let tables: [UInt32] = {
    var tables = (0..<256).map { byte in
      (0..<8).reduce(UInt32(byte)) { crc, _ in crc >> 1 ^ (crc & 1 == 0 ? 0 : 0xEDB8_8320) }
    }
    for index in 256..<2048 {
      let previous = tables[index - 256]
      tables.append(previous >> 8 ^ tables[Int(previous & 0xFF)])
    }
    return tables
  }()
}
