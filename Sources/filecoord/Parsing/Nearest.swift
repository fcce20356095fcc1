/// Finds the word that was probably meant.
enum Nearest {
  /// A sentence that names the most similar word, if one is similar enough.
  static func hint(for word: String, among words: [String]) -> String {
    let candidates = words.map { (word: $0, distance: distance(from: word, to: $0)) }
    guard let best = candidates.min(by: { $0.distance < $1.distance }),
      best.distance <= max(1, min(3, best.word.count / 3))
    else { return "" }
    return "; did you mean '\(best.word)'?"
  }

  /// How many letters have to be inserted, removed, replaced or swapped with their neighbour.
  static func distance(from first: String, to second: String) -> Int {
    let (first, second) = (Array(first.prefix(64)), Array(second.prefix(64)))
    var beforeLast: [Int] = []
    var last = Array(0...second.count)
    for (row, letter) in first.enumerated() {
      var current = [row + 1]
      for (column, other) in second.enumerated() {
        var cost = min(last[column] + (letter == other ? 0 : 1), last[column + 1] + 1, current[column] + 1)
        if row > 0, column > 0, letter == second[column - 1], first[row - 1] == other {
          cost = min(cost, beforeLast[column - 1] + 1)
        }
        current.append(cost)
      }
      (beforeLast, last) = (last, current)
    }
    return last[second.count]
  }
}
