/// Names of which each is a pattern.
package struct NamePatterns: Sendable {
  private var names: Set<String> = []
  private var globs: [Glob] = []

  package init(_ patterns: [String]) {
    for pattern in patterns {
      if pattern.contains(where: Glob.isSpecial) { globs.append(Glob(pattern)) } else { names.insert(pattern) }
    }
  }

  package var isEmpty: Bool { names.isEmpty && globs.isEmpty }

  package func match(_ name: String) -> Bool { names.contains(name) || globs.contains { $0.matches(name) } }
}

/// A pattern with `*`, `?` and sets in brackets, as in glob(7).
package struct Glob: Sendable {
  private enum Part: Sendable {
    case one(Character)
    case any
    case many
    case set([ClosedRange<Character>], isInverted: Bool)

    func matches(_ character: Character) -> Bool {
      switch self {
      case .one(let wanted): wanted == character
      case .any: true
      case .many: false
      case .set(let ranges, let isInverted): ranges.contains { $0.contains(character) } != isInverted
      }
    }

    var isMany: Bool {
      if case .many = self { return true }
      return false
    }
  }

  private var parts: [Part] = []
  /// How many characters the pattern has.
  package let length: Int

  package static func isSpecial(_ character: Character) -> Bool { "*?[".contains(character) }

  package init(_ pattern: String) {
    length = pattern.count
    var rest = Substring(pattern)
    while let character = rest.popFirst() {
      switch character {
      case "*": parts.append(.many)
      case "?": parts.append(.any)
      case "[":
        if let set = Self.takeSet(&rest) { parts.append(set) } else { parts.append(.one("[")) }
      default: parts.append(.one(character))
      }
    }
  }

  /// Takes the rest behind an opening bracket; `nil`, and takes nothing, if it isn't closed.
  private static func takeSet(_ rest: inout Substring) -> Part? {
    var tail = rest
    let isInverted = tail.first == "!" || tail.first == "^"
    if isInverted { tail.removeFirst() }
    var ranges: [ClosedRange<Character>] = []
    while let first = tail.popFirst() {
      if first == "]", !ranges.isEmpty {
        rest = tail
        return .set(ranges, isInverted: isInverted)
      }
      if tail.first == "-", let last = tail.dropFirst().first, last != "]", first <= last {
        tail.removeFirst(2)
        ranges.append(first...last)
      } else {
        ranges.append(first...first)
      }
    }
    return nil
  }

  /// Whether a whole text is as the pattern says.
  ///
  /// - Complexity: O(*n* × *m*): only the last asterisk is tried again.
  package func matches(_ text: String) -> Bool {
    let characters = Array(text)
    var (part, place) = (0, 0)
    var retry: (part: Int, place: Int)?
    while place < characters.count {
      if part < parts.count, parts[part].matches(characters[place]) {
        (part, place) = (part + 1, place + 1)
      } else if part < parts.count, parts[part].isMany {
        retry = (part, place)
        part += 1
      } else if let last = retry {
        retry = (last.part, last.place + 1)
        (part, place) = (last.part + 1, last.place + 1)
      } else {
        return false
      }
    }
    return parts[part...].allSatisfy(\.isMany)
  }
}
