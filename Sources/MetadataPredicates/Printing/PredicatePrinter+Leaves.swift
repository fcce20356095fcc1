extension PredicatePrinter {
  mutating func print(_ value: MetadataValue) {
    switch value {
    case .null: append("nil")
    case .bool(let flag): append(flag ? "1" : "0")
    case .integer(let number): append(String(number))
    case .real(let number): append(Self.spelling(of: number))
    case .string(let string): append(string.quotedForPredicate)
    case .date(let date): append("CAST(\(Self.spelling(of: date.secondsSince2001)), \"NSDate\")")
    case .data(let bytes): append("CAST(\(CastType.hexadecimal(bytes).quotedForPredicate), \"NSData\")")
    case .array(let elements): print(elements, "NSArray")
    // In one order, so that equal sets have one text.
    case .set(let elements): print(Self.sorted(elements), "NSSet")
    case .dictionary(let entries):
      let names = entries.keys.sorted()
      print(names.flatMap { [.string($0), entries[$0] ?? .null] }, "NSDictionary")
    }
  }

  private mutating func print(_ elements: [MetadataValue], _ type: String) {
    append("CAST({")
    for (index, element) in elements.enumerated() {
      if index > 0 { append(", ") }
      print(element)
    }
    append("}, \"\(type)\")")
  }

  private static func sorted(_ elements: Set<MetadataValue>) -> [MetadataValue] {
    elements.map { element in
      var printer = PredicatePrinter()
      printer.print(element)
      return (element, printer.text)
    }.sorted { $0.1 < $1.1 }.map(\.0)
  }

  /// A number that isn't finite can't be written; the least harm is a value that's at the end of the range, or none.
  private static func spelling(of number: Double) -> String {
    if number.isNaN { return "nil" }
    if number.isInfinite { return number < 0 ? "-1.7976931348623157e+308" : "1.7976931348623157e+308" }
    return number.description
  }

  // MARK: Key paths

  mutating func print(_ base: MetadataExpression, _ steps: [MetadataExpression.PathStep]) {
    var isFirst = true
    if base != .itself || steps.isEmpty {
      printBase(base)
      isFirst = false
    }
    for step in steps {
      if !isFirst { append(".") }
      isFirst = false
      switch step {
      case .collection(let known): append("@" + known.rawValue)
      case .key(let name): append(Self.spelling(ofKey: name))
      }
    }
  }

  mutating func print(_ base: MetadataExpression, _ index: MetadataExpression.ElementIndex) {
    // A path before brackets stands as it is; before a dot it would go on.
    if case .path(let root, let steps) = base { print(root, steps) } else { printBase(base) }
    append("[")
    switch index {
    case .first: append("FIRST")
    case .last: append("LAST")
    case .size: append("SIZE")
    case .at(let place):
      let isNamed = place.soleKey.map { Parser.namedIndices[$0.uppercased()] != nil } ?? false
      append(isNamed ? "(" : "")
      printOperand(place)
      append(isNamed ? ")" : "")
    }
    append("]")
  }

  /// A key that isn't an identifier, or is a keyword, is marked.
  private static func spelling(ofKey name: String) -> String {
    let scalars = name.unicodeScalars
    guard let first = scalars.first, first.beginsIdentifier, scalars.allSatisfy(\.continuesIdentifier) else {
      return "#" + name.quotedForPredicate
    }
    return Keyword(rawValue: name.uppercased()) == nil ? name : "#" + name
  }
}

extension MetadataExpression {
  /// The name of an attribute, if the expression is only that.
  fileprivate var soleKey: String? {
    guard case .path(.itself, let steps) = self, steps.count == 1, case .key(let name) = steps[0] else { return nil }
    return name
  }
}

extension String {
  /// In double quotes, with escapes where the text could end or be misread.
  var quotedForPredicate: String {
    var quoted = "\""
    for scalar in unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case "\r": quoted += "\\r"
      case "\t": quoted += "\\t"
      default:
        if scalar.value < 0x20 || scalar.value == 0x7F {
          quoted += "\\x" + CastType.hexadecimal([UInt8(scalar.value)])
        } else {
          quoted.unicodeScalars.append(scalar)
        }
      }
    }
    return quoted + "\""
  }
}
