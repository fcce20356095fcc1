/// Finds a sequence in another one in time proportional to their lengths (the algorithm of Knuth, Morris and Pratt).
struct SubstringSearch<Unit: Hashable & Sendable>: Sendable {
  let pattern: [Unit]
  /// For each prefix of the pattern, how long the longest one is that's also its proper suffix.
  private let borders: [Int]

  init(_ pattern: [Unit]) {
    self.pattern = pattern
    var borders = Array(repeating: 0, count: pattern.count)
    var length = 0
    for index in pattern.indices.dropFirst() {
      while length > 0, pattern[index] != pattern[length] { length = borders[length - 1] }
      if pattern[index] == pattern[length] { length += 1 }
      borders[index] = length
    }
    self.borders = borders
  }

  /// Whether it's there.
  ///
  /// - Parameters:
  ///   - count: The length of the sequence to search.
  ///   - unit: Its elements.
  ///   - accepts: Whether an occurrence at a range counts.
  /// - Returns: Whether there's one that counts; never for an empty pattern.
  @inline(__always)
  func occurs(count: Int, unit: (Int) -> Unit, accepts: (Range<Int>) -> Bool) -> Bool {
    let length = pattern.count
    if length == 0 || length > count { return false }
    let first = pattern[0]
    var matched = 0
    var index = 0
    while index < count {
      let current = unit(index)
      if matched == 0 {
        index += 1
        if current != first { continue }
        matched = 1
      } else if current == pattern[matched] {
        index += 1
        matched += 1
      } else {
        matched = borders[matched - 1]
        continue
      }
      if matched == length {
        if accepts(index - length..<index) { return true }
        matched = borders[length - 1]
      }
    }
    return false
  }
}
