/// Reads ICU's syntax of regular expressions, as far as an automaton can follow it.
///
/// Back references, look-around, atomic groups and possessive quantifiers are refused: each of them makes the time for a match
/// grow without a useful bound.
struct RegularExpressionParser {
  /// The settings that `(?i)` and its kin switch.
  struct Flags {
    var ignoresCase: Bool
    /// `s`: the dot takes line breaks too.
    var dotTakesBreaks = false
    /// `m`: `^` and `$` are at every line.
    var hasLines = false
    /// `x`: white space and comments are ignored.
    var isSpaced = false
  }

  private static let groupDepthMax = 50
  static let repetitionMax = 1_000

  let scalars: [Unicode.Scalar]
  var position = 0
  var flags: Flags
  private var depth = 0
  /// How many quantifiers are applied to what another one has made; each is a level deeper.
  private var stackedCount = 0

  init(_ pattern: String, ignoresCase: Bool) {
    scalars = Array(pattern.unicodeScalars)
    flags = Flags(ignoresCase: ignoresCase)
  }

  mutating func parse() throws(MetadataPredicateError) -> RegularExpression.Node {
    let node = try alternatives()
    if position < scalars.count {
      throw error("there is no '(' for this ')'", suggestion: "A parenthesis itself is '\\)'.")
    }
    return node
  }

  var current: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

  func startsWith(_ text: String) -> Bool { scalars[position...].starts(with: text.unicodeScalars) }

  mutating func take(_ text: String) -> Bool {
    guard startsWith(text) else { return false }
    position += text.unicodeScalars.count
    return true
  }

  func error(_ message: String, at place: Int? = nil, suggestion: String? = nil) -> MetadataPredicateError {
    let pattern = String(String.UnicodeScalarView(scalars.prefix(200)))
    return MetadataPredicateError(
      .regularExpression, "\(message), at character \((place ?? position) + 1) of the regular expression '\(pattern)'",
      suggestion: suggestion)
  }

  func refused(_ what: String, at place: Int? = nil) -> MetadataPredicateError {
    error(
      "\(what) can't be offered, because matching could take unlimited time", at: place,
      suggestion: "Say it with several conditions joined by AND, OR and NOT.")
  }

  // MARK: Structure

  private mutating func alternatives() throws(MetadataPredicateError) -> RegularExpression.Node {
    var members = [try sequence()]
    while take("|") { members.append(try sequence()) }
    return members.count == 1 ? members[0] : .alternatives(members)
  }

  private mutating func sequence() throws(MetadataPredicateError) -> RegularExpression.Node {
    var members: [RegularExpression.Node] = []
    while let scalar = current, scalar != "|", scalar != ")" {
      if skipSpace() { continue }
      guard let atom = try atom() else { continue }
      members.append(try quantified(atom))
    }
    return members.count == 1 ? members[0] : (members.isEmpty ? .empty : .sequence(members))
  }

  private mutating func skipSpace() -> Bool {
    guard flags.isSpaced, let scalar = current else { return false }
    if scalar == "#" {
      while let next = current, !next.isLineBreak { position += 1 }
      return true
    }
    if scalar.properties.isWhitespace {
      position += 1
      return true
    }
    return false
  }

  /// One step; `nil` for a construct that only changes how the rest is read.
  private mutating func atom() throws(MetadataPredicateError) -> RegularExpression.Node? {
    guard let scalar = current else { return nil }
    switch scalar {
    case "(": return try group()
    case "[":
      position += 1
      return .set(try bracketSet())
    case "\\": return try escape()
    case ".":
      position += 1
      return .set(dot)
    case "^":
      position += 1
      return .assertion(flags.hasLines ? .lineStart : .textStart)
    case "$":
      position += 1
      return .assertion(flags.hasLines ? .lineEnd : .textEndOrLastBreak)
    case "*", "+", "?", "{":
      throw error(
        "there is nothing that '\(scalar)' could repeat",
        suggestion: "The sign itself is '\\\(scalar)'. Any text is '.*'.")
    default:
      position += 1
      return literal(scalar)
    }
  }

  func literal(_ scalar: Unicode.Scalar) -> RegularExpression.Node {
    var set = ScalarSet()
    set.insert(scalar.value...scalar.value)
    set.finish(isNegated: false, ignoresCase: flags.ignoresCase)
    return .set(set)
  }

  private var dot: ScalarSet {
    var set = ScalarSet()
    if flags.dotTakesBreaks {
      set.insert(.any)
      set.finish(isNegated: false, ignoresCase: false)
    } else {
      for range: ClosedRange<UInt32> in [0xA...0xD, 0x85...0x85, 0x2028...0x2029] { set.insert(range) }
      set.finish(isNegated: true, ignoresCase: false)
    }
    return set
  }

  // MARK: Groups

  private mutating func group() throws(MetadataPredicateError) -> RegularExpression.Node? {
    let place = position
    position += 1
    let outer = flags
    if take("?") {
      if take("#") {
        while let scalar = current, scalar != ")" { position += 1 }
        return try closed(.empty, place)
      }
      if try !groupBegin(place) { return nil }
    }
    depth += 1
    if depth > Self.groupDepthMax { throw error("groups are more than \(Self.groupDepthMax) levels deep") }
    let content = try alternatives()
    depth -= 1
    flags = outer
    return try closed(content, place)
  }

  private mutating func closed(
    _ node: RegularExpression.Node, _ place: Int
  ) throws(MetadataPredicateError) -> RegularExpression.Node {
    if !take(")") { throw error("this '(' has no ')'", at: place, suggestion: "A parenthesis itself is '\\('.") }
    return node
  }

  /// Reads the characters behind `(?`.
  ///
  /// - Returns: Whether it's a group; otherwise flags for the rest of the group around it.
  private mutating func groupBegin(_ place: Int) throws(MetadataPredicateError) -> Bool {
    if take(":") { return true }
    for (sign, name) in [("=", "look-ahead"), ("!", "look-ahead"), ("<=", "look-behind"), ("<!", "look-behind")]
    where startsWith(sign) {
      throw refused(name, at: place)
    }
    if startsWith(">") { throw refused("an atomic group", at: place) }
    if take("<") {
      while let scalar = current, scalar.continuesIdentifier { position += 1 }
      if !take(">") { throw error("the name of the group has no '>'") }
      return true
    }
    var isOn = true
    while let letter = current {
      position += 1
      switch letter {
      case "-": isOn = false
      case "i": flags.ignoresCase = isOn
      case "s": flags.dotTakesBreaks = isOn
      case "m": flags.hasLines = isOn
      case "x": flags.isSpaced = isOn
      case ":": return true
      case ")": return false
      default: throw error("there is no flag '\(letter)'", at: position - 1, suggestion: "Flags are i, s, m and x.")
      }
    }
    throw error("this '(' has no ')'", at: place)
  }

  // MARK: Quantifiers

  private mutating func quantified(_ atom: RegularExpression.Node) throws(MetadataPredicateError)
    -> RegularExpression.Node
  {
    var node = atom
    var isQuantified = false
    while true {
      let place = position
      let bounds: (min: Int, max: Int?)
      if take("*") {
        bounds = (0, nil)
      } else if take("+") {
        bounds = (1, nil)
      } else if take("?") {
        bounds = (0, 1)
      } else if startsWith("{") {
        bounds = try counts()
      } else {
        return node
      }
      if take("+") { throw refused("a possessive quantifier", at: place) }
      _ = take("?")
      // The first one of each group is a level of the group.
      if isQuantified { stackedCount += 1 }
      if stackedCount > Self.groupDepthMax {
        throw error("more than \(Self.groupDepthMax) quantifiers follow other ones", at: place)
      }
      isQuantified = true
      node = .repeated(node, min: bounds.min, max: bounds.max)
    }
  }

  private mutating func counts() throws(MetadataPredicateError) -> (min: Int, max: Int?) {
    let place = position
    position += 1
    let least = takeNumber()
    var most = least
    if take(",") { most = takeNumber() }
    guard let least, take("}") else {
      throw error(
        "'{' must be followed by one or two numbers and '}'", at: place, suggestion: "A brace itself is '\\{'.")
    }
    if let most, most < least { throw error("the first number is greater than the second", at: place) }
    if max(least, most ?? 0) > Self.repetitionMax {
      throw error("more than \(Self.repetitionMax) repetitions are counted", at: place)
    }
    return (least, most)
  }

  private mutating func takeNumber() -> Int? {
    let start = position
    while let scalar = current, ("0"..."9").contains(scalar), position - start < 9 { position += 1 }
    return Int(String(String.UnicodeScalarView(scalars[start..<position])))
  }
}
