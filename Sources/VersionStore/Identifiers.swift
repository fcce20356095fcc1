package import SystemInterface

/// Names the history of one item: 32 hexadecimal digits, drawn at random.
package struct ItemID: Hashable, Sendable, LosslessStringConvertible {
  private let high: UInt64
  private let low: UInt64

  package init?(_ description: String) { self.init(Array(description.utf8)[...]) }

  init?(_ digits: ArraySlice<UInt8>) {
    guard digits.count == 32, let high = hexadecimalNumber(digits.prefix(16)),
      let low = hexadecimalNumber(digits.suffix(16))
    else { return nil }
    (self.high, self.low) = (high, low)
  }

  private init(_ high: UInt64, _ low: UInt64) { (self.high, self.low) = (high, low) }

  package var description: String { hexadecimal(high) + hexadecimal(low) }

  /// Names a file as long as it's that file, whether it has a history or not.
  ///
  /// - Parameter identity: The file.
  package init(standingFor identity: FileIdentity) { self.init(UInt64(identity.device), UInt64(identity.inode)) }

  /// Draws another one.
  package static func drawn() -> ItemID { ItemID(.random(in: .min ... .max), .random(in: .min ... .max)) }
}

/// Names a version: its time, as 16 hexadecimal digits, a hyphen, and 16 that are drawn at random.
///
/// Their order is that of the times. The time of a version is later than those of the versions that were there, also if the clock
/// of the machine is behind: so it's no date for people.
package struct VersionID: Hashable, Comparable, Sendable, LosslessStringConvertible {
  /// Nanoseconds since 1970.
  package let time: UInt64
  private let random: UInt64

  package init?(_ description: String) { self.init(Array(description.utf8)[...]) }

  init?(_ digits: ArraySlice<UInt8>) {
    guard digits.count == 33, digits[digits.startIndex + 16] == UInt8(ascii: "-"),
      let time = hexadecimalNumber(digits.prefix(16)), let random = hexadecimalNumber(digits.suffix(16))
    else { return nil }
    (self.time, self.random) = (time, random)
  }

  /// Reads the name of a version's directory; other names are `nil`.
  init?(_ name: SystemPath) { self.init(name.bytes[...]) }

  /// Draws one.
  ///
  /// - Parameters:
  ///   - time: Nanoseconds since 1970.
  ///   - last: The newest version that's there, if any.
  init(at time: UInt64, after last: VersionID?) {
    self.time = max(time, last.map { $0.time &+ 1 } ?? 0)
    random = .random(in: .min ... .max)
  }

  package var description: String { "\(hexadecimal(time))-\(hexadecimal(random))" }

  package static func < (first: Self, second: Self) -> Bool {
    (first.time, first.random) < (second.time, second.random)
  }
}

/// The number that lower-case hexadecimal digits stand for, at most sixteen of them.
func hexadecimalNumber(_ digits: ArraySlice<UInt8>) -> UInt64? {
  var number: UInt64 = 0
  for byte in digits {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(byte - UInt8(ascii: "a") + 10)
    default: return nil
    }
  }
  return number
}

func hexadecimal(_ number: UInt64) -> String {
  unsafe String(unsafeUninitializedCapacity: 16) { text in
    for index in 0..<16 {
      let digit = UInt8(truncatingIfNeeded: number >> (60 - 4 * UInt64(index)) & 15)
      unsafe text[index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
    }
    return 16
  }
}
