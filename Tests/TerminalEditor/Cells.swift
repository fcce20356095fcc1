/// How much room characters take in a terminal: one cell, two, or none.
///
/// Terminals differ about sequences of emoji; the common ones are right.
enum Cells {
  /// Those of Unicode's East Asian Width "wide" and "fullwidth", and of emoji.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
    0xFE30...0xFE6F,
    0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x1FA70...0x1FAFF,
    0x20000...0x3FFFD,
  ]

  /// The room of a character: that of its first scalar, since the others are put onto it.
  static func count(_ character: Character) -> Int {
    guard let scalar = character.unicodeScalars.first else { return 0 }
    if scalar.isASCII { return 1 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: return wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }
  }

  static func count(_ text: Substring) -> Int { text.reduce(0) { $0 + count($1) } }

  /// The characters of a line that are in these cells; a blank takes the place of one that's cut.
  static func part(of line: Substring, _ cells: Range<Int>) -> Substring {
    var (cell, part) = (0, "")
    for character in line {
      if cell >= cells.upperBound { break }
      let end = cell + count(character)
      if cell >= cells.lowerBound && end <= cells.upperBound {
        part.append(character)
      } else if end > cells.lowerBound {
        part.append(" ")
      }
      cell = end
    }
    return part[...]
  }
}
