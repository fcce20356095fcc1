/// The expected state of a store, kept in the plainest way, and by what was done alone: the store under test is never asked.
struct HistoriesReference {
  struct Version: Hashable {
    var text: String
    var isConflict = false
    var isResolved = false

    /// As the store's versions are described as well.
    var description: String { text + (isConflict ? isResolved ? "+" : "!" : "") }
  }

  /// A history: its versions, oldest first, and those that can be brought back.
  struct History {
    /// Each with its number: one that's brought back has its place again.
    var versions: [(number: Int, version: Version)] = []
    var removed: [(number: Int, version: Version)] = []

    var isEmpty: Bool { versions.isEmpty && removed.isEmpty }
    var description: String {
      "\(versions.map(\.version.description)) and \(removed.map(\.version.description).sorted())"
    }
  }

  var texts: [String: String] = [:]
  /// Which history a file has.
  var histories: [String: Int] = [:]
  var versions: [Int: History] = [:]
  /// The histories whose files are gone, by where they were.
  var gone: [(name: String, history: Int)] = []
  /// Those of files that were missed a moment ago: a new file there goes on with one.
  var missed: [String: Int] = [:]
  private var lastHistory = 0
  private var lastNumber = 0

  mutating func history(of name: String) -> Int {
    if let history = histories[name] { return history }
    lastHistory += 1
    histories[name] = lastHistory
    versions[lastHistory] = History()
    return lastHistory
  }

  mutating func add(_ version: Version, to history: Int) {
    lastNumber += 1
    versions[history]?.versions.append((lastNumber, version))
  }

  mutating func remove(_ index: Int, from history: Int, canComeBack: Bool) {
    guard let removed = versions[history]?.versions.remove(at: index), canComeBack else { return }
    versions[history]?.removed.append(removed)
  }

  mutating func bringBack(_ index: Int, in history: Int) {
    guard let back = versions[history]?.removed.remove(at: index) else { return }
    versions[history]?.versions.append(back)
    versions[history]?.versions.sort { $0.number < $1.number }
  }

  /// The file of a history is gone.
  mutating func leave(_ name: String, isMissed: Bool) {
    guard let history = histories.removeValue(forKey: name) else { return }
    gone.append((name, history))
    if isMissed { missed[name] = history }
  }

  /// A new file goes on with the history of one that was missed a moment ago.
  mutating func goOn(at name: String) {
    guard let history = missed.removeValue(forKey: name) else { return }
    gone.removeAll { $0.history == history }
    histories[name] = history
  }

  mutating func move(_ old: String, to new: String) {
    texts[new] = texts.removeValue(forKey: old)
    if histories[old] != nil {
      leave(new, isMissed: false)
      histories[new] = histories.removeValue(forKey: old)
      missed[new] = nil
    } else if histories[new] == nil {
      // It has none, like a new file.
      goOn(at: new)
    }
  }

  /// The histories whose files are gone, with what is left of them.
  var goneHistories: [String] {
    gone.compactMap { gone in
      guard let history = versions[gone.history], !history.isEmpty else { return nil }
      return "\(gone.name): \(history.description)"
    }.sorted()
  }

  /// The texts of all versions but for those that only removed ones have of some.
  func texts(exceptFor unshared: Set<String>) -> Set<String> {
    let listed = Set(versions.values.flatMap { $0.versions.map(\.version.text) })
    return listed.union(textsOfRemoved.subtracting(unshared))
  }

  var textsOfRemoved: Set<String> { Set(versions.values.flatMap { $0.removed.map(\.version.text) }) }
}
