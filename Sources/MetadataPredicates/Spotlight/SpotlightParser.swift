/// Reads Spotlight's query language, that of `mdfind` and `MDQueryCreate`, into the same tree as the format language.
///
/// A test of an attribute with several values holds if it does for one of them: hence the `ANY` in the result.
struct SpotlightParser {
  var cursor: SpotlightCursor
  private let limits: PredicateLimits
  private var depth = 0
  private var nodeCount = 0

  init(_ text: String, _ limits: PredicateLimits) throws(MetadataPredicateError) {
    if text.utf8.count > limits.textLengthMax {
      throw MetadataPredicateError(
        .limit, "the query has \(text.utf8.count) bytes; at most \(limits.textLengthMax) are allowed")
    }
    cursor = SpotlightCursor(text)
    self.limits = limits
  }

  mutating func parse() throws(MetadataPredicateError) -> MetadataPredicate {
    cursor.skipSpace()
    if cursor.isAtEnd {
      throw cursor.error("the query is empty", suggestion: "A test is like kMDItemFSName == \"*.txt\"c.")
    }
    let predicate = try alternatives()
    if !cursor.isAtEnd { throw cursor.unexpected("'&&', '||' or the end") }
    return predicate
  }

  private mutating func alternatives() throws(MetadataPredicateError) -> MetadataPredicate {
    var members = [try conditions()]
    while cursor.take("||") { members.append(try conditions()) }
    return members.count == 1 ? members[0] : .or(members)
  }

  private mutating func conditions() throws(MetadataPredicateError) -> MetadataPredicate {
    var members = [try condition()]
    while cursor.take("&&") { members.append(try condition()) }
    return members.count == 1 ? members[0] : .and(members)
  }

  private mutating func condition() throws(MetadataPredicateError) -> MetadataPredicate {
    nodeCount += 1
    if nodeCount > limits.nodeCountMax {
      throw cursor.error("there are more than \(limits.nodeCountMax) parts", .limit)
    }
    depth += 1
    defer { depth -= 1 }
    if depth > limits.nestingDepthMax {
      throw cursor.error("this is nested more than \(limits.nestingDepthMax) levels deep", .limit)
    }
    if !cursor.startsWith("!="), cursor.take("!") { return .not(try condition()) }
    if cursor.take("(") {
      if let value = cursor.takeTruth() { return .constant(value) }
      let inner = try alternatives()
      try cursor.expect(")")
      return inner
    }
    if cursor.takeWord("InRange") { return try range() }
    return try test()
  }

  // MARK: Tests

  /// `InRange(attribute, least, greatest)`; both bounds belong to it.
  private mutating func range() throws(MetadataPredicateError) -> MetadataPredicate {
    try cursor.expect("(")
    let attribute = try attribute()
    try cursor.expect(",")
    let least = try value()
    try cursor.expect(",")
    let greatest = try value()
    try cursor.expect(")")
    func range(_ bounds: [MetadataExpression]) -> MetadataPredicate {
      .comparison(PredicateComparison(attribute, .between, .aggregate(bounds), quantifier: .any))
    }
    let asText = range([least.expression, greatest.expression])
    guard least.isText || greatest.isText else { return asText }
    let others = [least.unquoted ?? least.expression, greatest.unquoted ?? greatest.expression]
    return others == [least.expression, greatest.expression] ? asText : .or([asText, range(others)])
  }

  private mutating func attribute() throws(MetadataPredicateError) -> MetadataExpression {
    let place = cursor.position
    // Two stars are the form of the file browser for any attribute, the text of a document too.
    if cursor.take("**") || cursor.take("*") {
      if !limits.features.contains(.anyKey) { throw cursor.error("'*' isn't allowed here", .limit, at: place) }
      return .anyKey
    }
    guard let name = cursor.identifier() else { throw cursor.unexpected("an attribute, '!' or '('") }
    if let refusal = limits.refusal(ofAttribute: name) {
      throw cursor.error(refusal.message, .limit, at: place, suggestion: refusal.suggestion)
    }
    return .path(.itself, [.key(name)])
  }

  private static let comparators: [(String, PredicateComparator)] = [
    ("==", .equal), ("!=", .notEqual), ("<=", .lessOrEqual), (">=", .greaterOrEqual), ("=", .equal), ("<", .less),
    (">", .greater),
  ]

  private mutating func test() throws(MetadataPredicateError) -> MetadataPredicate {
    let attribute = try attribute()
    for (wrong, right) in [("=<", "<="), ("=>", ">="), ("<>", "!=")] where cursor.startsWith(wrong) {
      throw cursor.unexpected("a value", after: 1, suggestion: "Write '\(right)'.")
    }
    guard let (spelling, comparator) = Self.comparators.first(where: { cursor.startsWith($0.0) }) else {
      throw cursor.unexpected("an operator such as '=='")
    }
    _ = cursor.take(spelling)
    var options: PredicateComparison.Options = []
    if cursor.take("[") {
      options = try modifiers(atEndOf: cursor.letters())
      try cursor.expect("]")
    }
    let value = try value()
    return predicate(attribute, comparator, value, options.union(value.options))
  }

  private func modifiers(atEndOf letters: String) throws(MetadataPredicateError) -> PredicateComparison.Options {
    var options: PredicateComparison.Options = []
    for letter in letters.lowercased() {
      switch letter {
      case "c": options.insert(.caseInsensitive)
      case "d": options.insert(.diacriticInsensitive)
      case "w": options.insert(.wordBased)
      // How the file browser's own index is to be searched: it makes no difference here.
      case "s", "t": break
      default:
        throw cursor.error(
          "there is no modifier '\(letter)'", suggestion: "Modifiers are the letters c, d, w, s and t.")
      }
    }
    return options
  }

  private func predicate(
    _ attribute: MetadataExpression, _ comparator: PredicateComparator, _ value: SpotlightValue,
    _ options: PredicateComparison.Options
  ) -> MetadataPredicate {
    let isUnequal = comparator == .notEqual
    let isEquality = isUnequal || comparator == .equal
    if isEquality, value.isOnlyStar {
      return .comparison(PredicateComparison(attribute, isUnequal ? .equal : .notEqual, .constant(.null)))
    }
    func comparison(_ comparator: PredicateComparator, _ right: MetadataExpression, isText: Bool) -> MetadataPredicate {
      .comparison(PredicateComparison(attribute, comparator, right, options: isText ? options : [], quantifier: .any))
    }
    let asText: MetadataPredicate
    if isEquality {
      // Several words with `w` are found wherever each of them is.
      let parts = value.isText && options.contains(.wordBased) ? value.words : [value]
      let tests = parts.map { part in
        comparison(
          part.hasWildcards ? .like : .equal, part.hasWildcards ? part.pattern : part.expression, isText: part.isText)
      }
      asText = tests.count == 1 ? tests[0] : .and(tests)
    } else {
      asText = comparison(comparator, value.expression, isText: value.isText)
    }
    // The kind of value that the attribute has shows when it's read: a text fits one of the two, and any other value
    // the other.
    var positive = asText
    if let unquoted = value.unquoted {
      positive = .or([asText, comparison(isEquality ? .equal : comparator, unquoted, isText: false)])
    }
    return isUnequal ? .not(positive) : positive
  }

  // MARK: Values

  private mutating func value() throws(MetadataPredicateError) -> SpotlightValue {
    if cursor.isAt("\"") || cursor.isAt("'") {
      var value = try cursor.quoted()
      // Directly behind the quote, without space.
      value.options = try modifiers(atEndOf: cursor.letters())
      cursor.skipSpace()
      if !value.hasWildcards {
        value.unquoted = value.number.map(MetadataExpression.constant) ?? moment(in: value.text)
      }
      return value
    }
    if cursor.startsWith("$") { return SpotlightValue(try time()) }
    guard let word = cursor.bareWord() else { throw cursor.unexpected("a value") }
    if let number = word.number { return SpotlightValue(.constant(number)) }
    return word
  }

  /// The moment that a text in quotes spells, if it's only that.
  private func moment(in text: String) -> MetadataExpression? {
    guard text.hasPrefix("$time."), var inner = try? SpotlightParser(text, limits),
      let moment = try? inner.time(), inner.cursor.isAtEnd
    else { return nil }
    return moment
  }

  private static let moments: [String: PredefinedFunction] = [
    "now": .now, "today": .today, "yesterday": .yesterday, "this_week": .thisWeek, "this_month": .thisMonth,
    "this_year": .thisYear,
  ]

  /// `$time.today(-1)` and the like.
  private mutating func time() throws(MetadataPredicateError) -> MetadataExpression {
    let place = cursor.position
    guard cursor.take("$time.") else {
      throw cursor.error(
        "there is no variable but '$time'", suggestion: "Write $time.now, $time.today(-1) or $time.iso(2018-10-01).")
    }
    let name = cursor.identifier() ?? ""
    if name == "iso" { return try isoTime() }
    guard let function = Self.moments[name] else {
      let names = Self.moments.keys.sorted() + ["iso"]
      throw cursor.error(
        "there is no '$time.\(name)'", at: place,
        suggestion: Spelling.suggestion(for: name, among: names).map { "Did you mean '$time.\($0)'?" }
          ?? "There are " + names.map { "$time." + $0 }.joined(separator: ", ") + ".")
    }
    guard cursor.take("(") else { return .function(function.rawValue, []) }
    if cursor.take(")") { return .function(function.rawValue, []) }
    let offset = try offset()
    try cursor.expect(")")
    return .function(function.rawValue, [.constant(offset)])
  }

  private mutating func offset() throws(MetadataPredicateError) -> MetadataValue {
    let place = cursor.position
    let isQuoted = cursor.isAt("\"") || cursor.isAt("'")
    let text = isQuoted ? try cursor.quoted().text : cursor.bareWord()?.text ?? ""
    cursor.skipSpace()
    let value = Int64(text).map(MetadataValue.integer) ?? .string(text)
    if TimeOffset(value) == nil {
      throw cursor.error(
        "'\(text)' isn't a distance in time", at: place,
        suggestion: "Write a whole number such as -1, or \"-2w\" with one of the units d, w, m, y.")
    }
    return value
  }

  private mutating func isoTime() throws(MetadataPredicateError) -> MetadataExpression {
    try cursor.expect("(")
    let place = cursor.position
    let text = cursor.text(upTo: ")")
    guard let date = CivilTime.date(iso8601: text) else {
      throw cursor.error("'\(text)' isn't a date", at: place, suggestion: "Write it like 2018-10-01T10:00:00Z.")
    }
    try cursor.expect(")")
    return .constant(.date(date))
  }
}

extension MetadataPredicate {
  /// Reads a query in Spotlight's language, such as `kMDItemFSName == "*.txt"c && kMDItemFSSize > 1000`.
  ///
  /// Modifiers may stand behind the closing quote or in brackets behind the operator. `*` and `?` in quotes are wild cards, `*` as an
  /// attribute means any. `$time` is evaluated with ``PredicateEnvironment/now`` and its calendar each time.
  ///
  /// - Parameters:
  ///   - query: The text.
  ///   - limits: The costs and features that are allowed to the text.
  /// - Throws: ``MetadataPredicateError`` with the place of the first token that can't stand there.
  /// - Complexity: O(*n*) in the length of the text.
  /// - Note: Rules S1 to S12.
  public init(query: String, limits: PredicateLimits = .standard) throws(MetadataPredicateError) {
    var parser = try SpotlightParser(query, limits)
    self = try parser.parse()
  }
}
