/// Finds the word that was probably meant.
enum Spelling {
  /// The nearest of some words, if it's near.
  ///
  /// - Parameters:
  ///   - word: The word as it was written.
  ///   - candidates: The words that could have been meant.
  /// - Returns: A word that differs in case, or in at most a third of its letters.
  static func suggestion(for word: String, among candidates: [String]) -> String? {
    let written = Array(word.lowercased().unicodeScalars.prefix(lengthMax))
    let nearest = candidates.map { ($0, distance(written, Array($0.lowercased().unicodeScalars))) }
      .min { $0.1 < $1.1 }
    guard let (candidate, distance) = nearest, distance * 3 <= max(candidate.unicodeScalars.count, 3) else {
      return nil
    }
    return candidate
  }

  /// Only so much of longer words is compared.
  private static let lengthMax = 64

  /// How many insertions, deletions, changes and swaps of neighbours lead from one word to another.
  private static func distance(_ first: [Unicode.Scalar], _ second: [Unicode.Scalar]) -> Int {
    var older: [Int] = []
    var row = Array(0...second.count)
    for i in first.indices {
      var next = [i + 1]
      for j in second.indices {
        let change = row[j] + (first[i] == second[j] ? 0 : 1)
        var best = Swift.min(change, row[j + 1] + 1, next[j] + 1)
        if i > 0, j > 0, first[i] == second[j - 1], first[i - 1] == second[j] {
          best = Swift.min(best, older[j - 1] + 1)
        }
        next.append(best)
      }
      older = row
      row = next
    }
    return row[second.count]
  }
}
