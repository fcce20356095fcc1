extension RegularExpressionParser {
  /// Reads the construct that a backslash begins.
  mutating func escape() throws(MetadataPredicateError) -> RegularExpression.Node {
    let place = position
    if take("\\Q") { return try quoted(place) }
    position += 1
    guard let letter = current else {
      throw error(
        "the backslash at the end has nothing to escape", at: place, suggestion: "A backslash itself is '\\\\'.")
    }
    switch letter {
    case "b", "B", "A", "Z", "z":
      position += 1
      return .assertion(Self.assertions[letter] ?? .textEnd)
    case "R":
      position += 1
      return Self.lineBreak
    case "1"..."9", "k": throw refused("a back reference", at: place)
    case "G", "X", "N":
      throw error("'\\\(letter)' isn't offered", at: place)
    default: break
    }
    position = place
    var set = try escapedSet()
    set.finish(isNegated: false, ignoresCase: flags.ignoresCase)
    return .set(set)
  }

  private static let assertions: [Unicode.Scalar: RegularExpression.Assertion] = [
    "b": .wordBoundary, "B": .noWordBoundary, "A": .textStart, "Z": .textEndOrLastBreak, "z": .textEnd,
  ]

  /// `\R`: any line break, CR and LF together as one.
  private static let lineBreak: RegularExpression.Node = {
    func set(_ ranges: ClosedRange<UInt32>...) -> RegularExpression.Node {
      var set = ScalarSet()
      for range in ranges { set.insert(range) }
      set.finish(isNegated: false, ignoresCase: false)
      return .set(set)
    }
    return .alternatives([
      .sequence([set(0xD...0xD), set(0xA...0xA)]), set(0xA...0xD, 0x85...0x85, 0x2028...0x2029),
    ])
  }()

  /// `\Q…\E`.
  private mutating func quoted(_ place: Int) throws(MetadataPredicateError) -> RegularExpression.Node {
    var members: [RegularExpression.Node] = []
    while !take("\\E") {
      guard let scalar = current else { throw error("'\\Q' has no '\\E'", at: place) }
      members.append(literal(scalar))
      position += 1
    }
    return .sequence(members)
  }

  // MARK: Sets

  /// `[…]` behind its bracket.
  mutating func bracketSet() throws(MetadataPredicateError) -> ScalarSet {
    let place = position - 1
    let isNegated = take("^")
    var set = ScalarSet()
    if startsWith("]") {
      throw error("a set must not be empty", at: place, suggestion: "A bracket itself is '\\]'.")
    }
    while !take("]") {
      guard let scalar = current else {
        throw error("this '[' has no ']'", at: place, suggestion: "A bracket itself is '\\['.")
      }
      try refuseSetOperators()
      try member(scalar, into: &set)
    }
    set.finish(isNegated: isNegated, ignoresCase: flags.ignoresCase)
    return set
  }

  private func refuseSetOperators() throws(MetadataPredicateError) {
    for sign in ["&&", "--"] where startsWith(sign) {
      throw error(
        "'\(sign)' between sets isn't offered", suggestion: "List the members, or join two conditions with AND.")
    }
  }

  private mutating func member(_ first: Unicode.Scalar, into set: inout ScalarSet) throws(MetadataPredicateError) {
    if take("[:") { return try posixClass(into: &set) }
    if first == "[" {
      let place = position
      position += 1
      let inner = try nestedSet()
      if inner.isNegatedProperty { throw error("a negated set with properties can't be part of a set", at: place) }
      return set.insert(inner)
    }
    guard let low = try setScalar(into: &set) else { return }
    guard startsWith("-"), position + 1 < scalars.count, scalars[position + 1] != "]", !startsWith("--") else {
      return set.insert(low...low)
    }
    position += 1
    let place = position
    guard let high = try setScalar(into: &set), high >= low else {
      throw error("the range ends before it begins", at: place, suggestion: "A hyphen itself is '\\-'.")
    }
    set.insert(low...high)
  }

  /// One level only: deeper sets express nothing that fewer levels couldn't.
  private mutating func nestedSet() throws(MetadataPredicateError) -> ScalarSet {
    let isNegated = take("^")
    var inner = ScalarSet()
    while !take("]") {
      guard let scalar = current, scalar != "[" else { throw error("this set inside a set can't be read") }
      try refuseSetOperators()
      try member(scalar, into: &inner)
    }
    inner.finish(isNegated: isNegated, ignoresCase: false)
    return inner
  }

  /// A single scalar; `nil` when it was a property, which is in the set then.
  private mutating func setScalar(into set: inout ScalarSet) throws(MetadataPredicateError) -> UInt32? {
    guard let scalar = current else { return nil }
    if scalar != "\\" {
      position += 1
      return scalar.value
    }
    if startsWith("\\b") || startsWith("\\B") { throw error("'\\b' has no meaning in a set") }
    return try readEscape(into: &set)
  }

  private mutating func escapedSet() throws(MetadataPredicateError) -> ScalarSet {
    var set = ScalarSet()
    if let value = try readEscape(into: &set) { set.insert(value...value) }
    return set
  }

  private static let properties: [Unicode.Scalar: (ScalarSet.Property, isNegated: Bool)] = [
    "d": (.digit, false), "D": (.digit, true), "w": (.word, false), "W": (.word, true), "s": (.space, false),
    "S": (.space, true), "h": (.horizontalSpace, false), "H": (.horizontalSpace, true),
  ]
  private static let controls: [Unicode.Scalar: UInt32] = ["t": 9, "n": 10, "r": 13, "f": 12, "a": 7, "e": 27]

  /// Reads an escape that stands for scalars; a property goes into the set.
  private mutating func readEscape(into set: inout ScalarSet) throws(MetadataPredicateError) -> UInt32? {
    let place = position
    position += 1
    guard let letter = current else { throw error("the backslash at the end has nothing to escape", at: place) }
    position += 1
    if let (property, isNegated) = Self.properties[letter] {
      set.insert(property, isNegated: isNegated)
      return nil
    }
    if let control = Self.controls[letter] { return control }
    switch letter {
    case "x":
      if take("{") { return try code(digits: 1...6, end: "}", from: place) }
      return try code(digits: 2...2, from: place)
    case "u": return try code(digits: 4...4, from: place)
    case "U": return try code(digits: 8...8, from: place)
    case "0": return try code(digits: 1...3, radix: 8, from: place)
    case "p", "P":
      set.insert(try namedProperty(place), isNegated: letter == "P")
      return nil
    default: break
    }
    if letter.isASCII, letter.continuesIdentifier { throw error("'\\\(letter)' isn't offered", at: place) }
    return letter.value
  }

  private mutating func code(
    digits count: ClosedRange<Int>, radix: Int = 16, end: String = "", from place: Int
  ) throws(MetadataPredicateError) -> UInt32 {
    let digits = scalars[position...].prefix(count.upperBound).prefix {
      Character($0).hexDigitValue.map { $0 < radix } ?? false
    }
    position += digits.count
    guard digits.count >= count.lowerBound, take(end),
      let value = UInt32(String(String.UnicodeScalarView(digits)), radix: radix), Unicode.Scalar(value) != nil
    else { throw error("this isn't the number of a character", at: place) }
    return value
  }
}
