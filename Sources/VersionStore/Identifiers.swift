/// Names the history of one item: 32 hexadecimal digits, drawn at random.
package struct ItemID: Hashable, Sendable, LosslessStringConvertible {
  package let description: String

  package init?(_ description: String) {
    guard description.utf8.count == 32, description.utf8.allSatisfy(isLowerHexadecimal) else { return nil }
    self.description = description
  }

  /// Draws another one.
  package static func drawn() -> ItemID {
    ItemID(unchecked: hexadecimal(.random(in: .min ... .max)) + hexadecimal(.random(in: .min ... .max)))
  }

  private init(unchecked description: String) { self.description = description }
}

/// Names a version: its time, as 16 hexadecimal digits, a hyphen, and 16 that are drawn at random.
///
/// Their order is that of the times. The time of a version is later than those of the versions that were there, also if the clock
/// of the machine is behind: so it's no date for people.
package struct VersionID: Hashable, Comparable, Sendable, LosslessStringConvertible {
  package let description: String

  package init?(_ description: String) {
    guard description.utf8.count == 33 else { return nil }
    var position = 0
    for byte in description.utf8 {
      guard position == 16 ? byte == UInt8(ascii: "-") : isLowerHexadecimal(byte) else { return nil }
      position += 1
    }
    self.description = description
  }

  /// Draws one.
  ///
  /// - Parameters:
  ///   - time: Nanoseconds since 1970.
  ///   - last: The newest version that's there, if any.
  init(at time: UInt64, after last: VersionID?) {
    let time = max(time, last.map { $0.time &+ 1 } ?? 0)
    description = "\(hexadecimal(time))-\(hexadecimal(.random(in: .min ... .max)))"
  }

  /// Nanoseconds since 1970.
  package var time: UInt64 { UInt64(description.prefix(16), radix: 16) ?? 0 }

  package static func < (first: Self, second: Self) -> Bool { first.description < second.description }
}

private func isLowerHexadecimal(_ byte: UInt8) -> Bool {
  UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte
}

private func hexadecimal(_ number: UInt64) -> String {
  let digits = String(number, radix: 16)
  return String(repeating: "0", count: 16 - digits.count) + digits
}
