import Synchronization

/// The last patterns that a comparison computed, prepared for matching.
///
/// A pattern that stands in an attribute is usually the same for many items, or for many members of one, and preparing it takes
/// much longer than matching.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `entries`, `oldest` | `isTaken` | any number of threads evaluate a predicate at the same time |
///
/// No thread waits: one that finds the cache taken does without it.
final class PatternCache: @unchecked Sendable {
  typealias Pattern = Result<StringMatcher, MetadataPredicateError>

  static let countMax = 4
  private let isTaken = Atomic(false)
  private var entries: [(text: String, pattern: Pattern)] = []
  private var oldest = 0

  /// The pattern of a text.
  ///
  /// - Parameters:
  ///   - text: The computed text.
  ///   - prepare: Makes a pattern of it; called outside of the lock if there's none yet.
  /// - Returns: The pattern, or the reason why it can't be used.
  func pattern(
    _ text: String, _ prepare: (String) throws(MetadataPredicateError) -> StringMatcher
  ) -> Pattern {
    if let known = exclusively({ entries.first { Self.isSame($0.text, text) }?.pattern }), let known { return known }
    let pattern = Pattern { () throws(MetadataPredicateError) in try prepare(text) }
    _ = exclusively { insert(text, pattern) }
    return pattern
  }

  /// Texts that are canonically equal may be different patterns.
  private static func isSame(_ one: String, _ other: String) -> Bool {
    one == other && one.utf8.elementsEqual(other.utf8)
  }

  private func insert(_ text: String, _ pattern: Pattern) {
    if entries.count < Self.countMax {
      entries.append((text, pattern))
    } else {
      entries[oldest] = (text, pattern)
      oldest = (oldest + 1) % Self.countMax
    }
  }

  /// Runs something that no other thread runs at the same time; `nil` if one does.
  private func exclusively<Value>(_ body: () -> Value) -> Value? {
    if isTaken.exchange(true, ordering: .acquiring) { return nil }
    defer { isTaken.store(false, ordering: .releasing) }
    return body()
  }
}
