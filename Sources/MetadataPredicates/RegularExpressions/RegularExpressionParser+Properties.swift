extension RegularExpressionParser {
  /// `\pL`, `\p{Lu}`; `\p{^Lu}` isn't offered, nor are scripts and blocks.
  mutating func namedProperty(_ place: Int) throws(MetadataPredicateError) -> ScalarSet.Property {
    var name = ""
    if take("{") {
      while let scalar = current, scalar != "}" {
        name.unicodeScalars.append(scalar)
        position += 1
      }
      if !take("}") { throw error("the name of the property has no '}'", at: place) }
    } else if let scalar = current {
      name.unicodeScalars.append(scalar)
      position += 1
    }
    let key = name.lowercased().filter { $0 != "_" && $0 != " " && $0 != "-" }
    if let property = Self.namedProperties[key] { return property }
    if let categories = Self.categories[key] { return .categories(categories) }
    throw error(
      "the property '\(name)' isn't known", at: place,
      suggestion:
        "General categories such as L, Lu or Nd are, and Alphabetic, Uppercase, Lowercase, White_Space, ASCII, Any.")
  }

  /// `[:name:]` behind its colon.
  mutating func posixClass(into set: inout ScalarSet) throws(MetadataPredicateError) {
    let place = position - 2
    let isNegated = take("^")
    var name = ""
    while let scalar = current, scalar.continuesIdentifier {
      name.unicodeScalars.append(scalar)
      position += 1
    }
    guard take(":]"), let properties = Self.posixClasses[name.lowercased()] else {
      throw error(
        "there is no class '[:\(name):]'", at: place,
        suggestion: "There are " + Self.posixClasses.keys.sorted().map { "[:\($0):]" }.joined(separator: ", ") + ".")
    }
    if isNegated, properties.count > 1 { throw error("'[:^\(name):]' isn't offered", at: place) }
    for property in properties { set.insert(property, isNegated: isNegated) }
  }

  private static let namedProperties: [String: ScalarSet.Property] = [
    "alphabetic": .alphabetic, "alpha": .alphabetic, "uppercase": .uppercase, "upper": .uppercase,
    "lowercase": .lowercase, "lower": .lowercase, "whitespace": .space, "space": .space, "digit": .digit,
    "ascii": .ascii,
    "any": .any, "assigned": .assigned, "word": .word, "blank": .horizontalSpace,
  ]

  private static let posixClasses: [String: [ScalarSet.Property]] = [
    "alpha": [.alphabetic], "digit": [.digit], "alnum": [.alphabetic, .digit], "upper": [.uppercase],
    "lower": [.lowercase], "space": [.space], "blank": [.horizontalSpace], "word": [.word], "ascii": [.ascii],
    "punct": [.categories(punctuation)], "cntrl": [.categories([.control])],
  ]

  private static let letters: Set<Unicode.GeneralCategory> = [
    .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
  ]
  private static let marks: Set<Unicode.GeneralCategory> = [.nonspacingMark, .spacingMark, .enclosingMark]
  private static let numbers: Set<Unicode.GeneralCategory> = [.decimalNumber, .letterNumber, .otherNumber]
  private static let punctuation: Set<Unicode.GeneralCategory> = [
    .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation, .initialPunctuation,
    .finalPunctuation,
    .otherPunctuation,
  ]
  private static let symbols: Set<Unicode.GeneralCategory> = [
    .mathSymbol, .currencySymbol, .modifierSymbol, .otherSymbol,
  ]
  private static let separators: Set<Unicode.GeneralCategory> = [
    .spaceSeparator, .lineSeparator, .paragraphSeparator,
  ]
  private static let others: Set<Unicode.GeneralCategory> = [
    .control, .format, .surrogate, .privateUse, .unassigned,
  ]

  /// Short and long names, without case and underscores.
  private static let categories: [String: Set<Unicode.GeneralCategory>] = [
    "l": letters, "letter": letters, "m": marks, "mark": marks, "n": numbers, "number": numbers, "p": punctuation,
    "punctuation": punctuation, "s": symbols, "symbol": symbols, "z": separators, "separator": separators, "c": others,
    "other": others, "lu": [.uppercaseLetter], "uppercaseletter": [.uppercaseLetter], "ll": [.lowercaseLetter],
    "lowercaseletter": [.lowercaseLetter], "lt": [.titlecaseLetter], "lm": [.modifierLetter], "lo": [.otherLetter],
    "mn": [.nonspacingMark], "mc": [.spacingMark], "me": [.enclosingMark], "nd": [.decimalNumber],
    "decimalnumber": [.decimalNumber], "nl": [.letterNumber], "no": [.otherNumber], "pc": [.connectorPunctuation],
    "pd": [.dashPunctuation], "ps": [.openPunctuation], "pe": [.closePunctuation], "pi": [.initialPunctuation],
    "pf": [.finalPunctuation], "po": [.otherPunctuation], "sm": [.mathSymbol], "sc": [.currencySymbol],
    "sk": [.modifierSymbol], "so": [.otherSymbol], "zs": [.spaceSeparator], "zl": [.lineSeparator],
    "zp": [.paragraphSeparator], "cc": [.control], "cf": [.format], "co": [.privateUse], "cn": [.unassigned],
  ]
}
