internal import CompactContainers

/// A hash of a name that differs from process to process, so that nobody can choose names that collide.
///
/// Multiplies eight bytes at a time and folds the product, as wyhash does: a tenth of the time that `Hasher` takes for a name.
struct NameHash {
  private static let key = UInt64.random(in: 0 ... .max) | 1
  private static let multiplier = UInt64.random(in: 0 ... .max) | 1

  private let value: UInt64

  init(_ name: Span<UInt8>) {
    value = unsafe name.withUnsafeBytes { bytes in
      var value = Self.key &+ UInt64(bytes.count)
      var place = 0
      while place + 8 <= bytes.count {
        value = unsafe Self.fold(value ^ bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
        place += 8
      }
      var rest: UInt64 = 0
      while place < bytes.count {
        rest = unsafe rest << 8 | UInt64(bytes[place])
        place += 1
      }
      return Self.fold(value ^ rest)
    }
  }

  private static func fold(_ value: UInt64) -> UInt64 { Mixing.fold(value, multiplier) }

  /// The place in a table of a power of two.
  func place(in count: Int) -> Int { Int(truncatingIfNeeded: value) & (count - 1) }

  /// The part of the hash that ``place(in:)`` leaves out; never 0.
  var tag: UInt32 { UInt32(truncatingIfNeeded: value >> 32) | 1 }

  /// A hash of the name in a directory.
  func combined(with parent: FileNumber) -> UInt32 {
    UInt32(truncatingIfNeeded: Self.fold(value ^ UInt64(parent.rawValue) &* Mixing.goldenFactor) >> 32)
  }
}
