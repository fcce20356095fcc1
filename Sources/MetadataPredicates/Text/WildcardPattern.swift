/// A pattern of `LIKE`: `*` stands for any number of characters, `?` for one, and a backslash takes their meaning away.
struct WildcardPattern: Sendable {
  /// `nil` stands for any one character.
  typealias Segment<Unit> = [Unit?]

  /// The simpler forms that a pattern may have.
  enum Shape: Equatable {
    case equal(String)
    case prefix(String)
    case suffix(String)
    case contains(String)
    case general
  }

  /// The texts between the stars; each `nil` is a question mark.
  private let segments: [[Unicode.Scalar?]]

  init(_ pattern: String) {
    var segments: [[Unicode.Scalar?]] = [[]]
    var scalars = pattern.unicodeScalars[...]
    while let scalar = scalars.popFirst() {
      switch scalar {
      case "*": segments.append([])
      case "?": segments[segments.count - 1].append(nil)
      // A backslash at the end stands for itself.
      case "\\": segments[segments.count - 1].append(scalars.popFirst() ?? "\\")
      default: segments[segments.count - 1].append(scalar)
      }
    }
    self.segments = segments
  }

  var shape: Shape {
    let texts = segments.map(Self.text(of:))
    if texts.contains(nil) { return .general }
    let literal = texts.compactMap(\.self)
    switch literal.count {
    case 1: return .equal(literal[0])
    case 2 where literal[0].isEmpty && !literal[1].isEmpty: return .suffix(literal[1])
    case 2 where literal[1].isEmpty && !literal[0].isEmpty: return .prefix(literal[0])
    case 3 where literal[0].isEmpty && literal[2].isEmpty && !literal[1].isEmpty: return .contains(literal[1])
    default: return .general
    }
  }

  private static func text(of segment: [Unicode.Scalar?]) -> String? {
    let scalars = segment.compactMap(\.self)
    return scalars.count == segment.count ? String(String.UnicodeScalarView(scalars)) : nil
  }

  /// The segments in folded characters.
  func characters(_ folding: Folding) -> [Segment<FoldedCharacter>] {
    segments.map { segment in
      var characters: Segment<FoldedCharacter> = []
      for part in segment.split(separator: nil, omittingEmptySubsequences: false) {
        let text = String(String.UnicodeScalarView(part.compactMap(\.self)))
        characters += FoldedCharacter.characters(of: folding.folded(text)).map(Optional.some)
        characters.append(nil)
      }
      // One separator fewer than parts.
      characters.removeLast()
      return characters
    }
  }

  /// The segments in bytes, for texts whose bytes alone count.
  var bytes: [Segment<UInt8>] {
    segments.map { segment in
      segment.flatMap { scalar -> [UInt8?] in scalar.map { Array(UTF8.encode($0) ?? UTF8.EncodedScalar()) } ?? [nil] }
    }
  }

  /// Whether a text fits: the first and the last segment stand at its ends, the others anywhere between, in order.
  ///
  /// - Complexity: O(*n* × *m*) for a text of *n* units and a pattern of *m*.
  @inline(__always)
  static func matches<Unit: Equatable>(
    _ segments: [Segment<Unit>], count: Int, unit: (Int) -> Unit
  ) -> Bool {
    func fits(_ segment: Segment<Unit>, at start: Int) -> Bool {
      for offset in segment.indices {
        if let expected = segment[offset], expected != unit(start + offset) { return false }
      }
      return true
    }
    let head = segments[0]
    if segments.count == 1 { return head.count == count && fits(head, at: 0) }
    let tail = segments[segments.count - 1]
    if head.count + tail.count > count || !fits(head, at: 0) || !fits(tail, at: count - tail.count) { return false }
    var position = head.count
    let end = count - tail.count
    for index in 1..<segments.count - 1 {
      let segment = segments[index]
      while position + segment.count <= end, !fits(segment, at: position) { position += 1 }
      if position + segment.count > end { return false }
      position += segment.count
    }
    return true
  }
}
