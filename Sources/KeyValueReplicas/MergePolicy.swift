/// The decision between two values that two replicas have written without knowing of each other.
public enum MergePolicy: Sendable {
  /// The later write, by a hybrid clock that no wrong time of a machine confuses; the other value is given up. The default (KV-9).
  case lastWriter
  /// The larger value, of two numbers, dates or strings.
  case maximum
  /// The smaller value, of two numbers, dates or strings.
  case minimum
  /// Arrays as sets: elements that either has added are in it, and those that either has removed aren't.
  case union
  /// A number that both have added to: the sum of both changes.
  case counter
  /// A function of the common former value, of this replica's value and of the other one.
  ///
  /// It has to give equal results for equal arguments: a write is merged again when the journal is read after a crash. A program that hasn't
  /// stated the function of a key leaves uploads and downloads of the whole store to those that have.
  case custom(@Sendable (_ base: StoredValue?, _ mine: StoredValue?, _ theirs: StoredValue?) -> StoredValue?)

  /// A policy by its name, as a journal has it.
  package enum Kind: UInt8, Hashable, Sendable {
    case lastWriter, maximum, minimum, union, counter, custom

    /// Whether a value that's merged with one that was made of it counts once.
    var isIdempotent: Bool {
      switch self {
      case .lastWriter, .maximum, .minimum, .union: true
      case .counter, .custom: false
      }
    }
  }

  /// The policy of a kind; `nil` for a function of a program.
  init?(_ kind: Kind) {
    switch kind {
    case .lastWriter: self = .lastWriter
    case .maximum: self = .maximum
    case .minimum: self = .minimum
    case .union: self = .union
    case .counter: self = .counter
    case .custom: return nil
    }
  }

  package var kind: Kind {
    switch self {
    case .lastWriter: .lastWriter
    case .maximum: .maximum
    case .minimum: .minimum
    case .union: .union
    case .counter: .counter
    case .custom: .custom
    }
  }

  /// The result of merging.
  package enum Result: Hashable, Sendable {
    case mine, theirs
    case merged(StoredValue?)
  }

  /// Decides between two values.
  ///
  /// A policy that can't do anything with values of these kinds decides as ``lastWriter``, also if one of them was removed.
  ///
  /// - Parameters:
  ///   - base: The value that this replica knew when it wrote its own.
  ///   - mine: This replica's value.
  ///   - theirs: The value that the server has.
  ///   - isMineLater: Whether this replica's write is the later one.
  /// - Returns: The value that the key has from now on.
  package func merge(
    base: StoredValue?, mine: StoredValue?, theirs: StoredValue?, isMineLater: Bool
  ) -> Result {
    let lastWriter: Result = isMineLater ? .mine : .theirs
    if case .custom(let merge) = self { return Self.result(merge(base, mine, theirs), mine, theirs) }
    guard let mine, let theirs else { return lastWriter }
    switch self {
    case .lastWriter, .custom: return lastWriter
    case .maximum: return mine.precedes(theirs).map { $0 ? .theirs : .mine } ?? lastWriter
    case .minimum: return mine.precedes(theirs).map { $0 ? .mine : .theirs } ?? lastWriter
    case .union: return Self.union(base, mine, theirs).map { Self.result($0, mine, theirs) } ?? lastWriter
    case .counter: return Self.sum(base, mine, theirs).map { Self.result($0, mine, theirs) } ?? lastWriter
    }
  }

  private static func result(_ merged: StoredValue?, _ mine: StoredValue?, _ theirs: StoredValue?) -> Result {
    // Nothing has to be uploaded if the other one's value is the result already.
    if merged == theirs { return .theirs }
    return merged == mine ? .mine : .merged(merged)
  }

  private static func union(_ base: StoredValue?, _ mine: StoredValue, _ theirs: StoredValue) -> StoredValue? {
    guard case .array(let mine) = mine, case .array(let theirs) = theirs else { return nil }
    var former: Set<StoredValue> = []
    if case .array(let elements) = base { former = Set(elements) }
    let (own, others) = (Set(mine), Set(theirs))
    let kept = theirs.filter { !former.contains($0) || own.contains($0) }
    return .array(kept + mine.filter { !former.contains($0) && !others.contains($0) })
  }

  private static func sum(_ base: StoredValue?, _ mine: StoredValue, _ theirs: StoredValue) -> StoredValue? {
    switch (base ?? .integer(0), mine, theirs) {
    case (.integer(let base), .integer(let mine), .integer(let theirs)):
      let (change, isFar) = mine.subtractingReportingOverflow(base)
      let (sum, isOver) = theirs.addingReportingOverflow(change)
      return isFar || isOver ? nil : .integer(sum)
    case (let base, let mine, let theirs):
      guard let base = base.number, let mine = mine.number, let theirs = theirs.number else { return nil }
      return .real(theirs + (mine - base))
    }
  }
}

extension StoredValue {
  fileprivate var number: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .real(let value): value
    case .boolean, .string, .data, .date, .array, .dictionary: nil
    }
  }

  /// Whether it's smaller; `nil` if the two can't be compared.
  fileprivate func precedes(_ other: StoredValue) -> Bool? {
    switch (self, other) {
    case (.integer(let left), .integer(let right)): return left < right
    case (.date(let left), .date(let right)): return left < right
    case (.string(let left), .string(let right)): return left.utf8.lexicographicallyPrecedes(right.utf8)
    default:
      guard let left = number, let right = other.number, !left.isNaN, !right.isNaN else { return nil }
      return left < right
    }
  }
}
