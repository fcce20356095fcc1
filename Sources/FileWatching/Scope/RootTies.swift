internal import SystemInterface

/// The watches whose events mean that another file may be where a root is, or was, or shall be.
///
/// Those of the directories on the way to it, as far as there are any, and for a root that isn't searched its own.
struct RootTies {
  /// The meaning of a watch for a root.
  enum Tie: Hashable {
    /// A directory on the way to it: only events of the directory itself matter.
    case way
    /// The last directory on the way, in which a name matters.
    case name(SystemPath)
    /// The root itself.
    case own
  }

  /// The roots of one watch, by what it means for them: an event of a name concerns few of many.
  private struct TiedRoots {
    var way: Set<Int> = []
    var names: [SystemPath: Set<Int>] = [:]
    var own: Set<Int> = []

    var isEmpty: Bool { way.isEmpty && names.isEmpty && own.isEmpty }
    var all: Set<Int> { names.values.reduce(into: way.union(own)) { $0.formUnion($1) } }

    mutating func insert(_ place: Int, _ tie: Tie) {
      switch tie {
      case .way: way.insert(place)
      case .name(let name): names[name, default: []].insert(place)
      case .own: own.insert(place)
      }
    }

    mutating func remove(_ place: Int, _ tie: Tie) {
      switch tie {
      case .way: way.remove(place)
      case .name(let name):
        names[name]?.remove(place)
        if names[name]?.isEmpty == true { names[name] = nil }
      case .own: own.remove(place)
      }
    }
  }

  private var ties: [WatchID: TiedRoots] = [:]
  private var watches: [Int: [WatchID: Set<Tie>]] = [:]

  /// Whether any root needs it.
  func contains(_ watch: WatchID) -> Bool { ties[watch] != nil }

  /// Ties a root to other watches than before.
  ///
  /// - Returns: The watches that aren't needed any more.
  /// - Complexity: O(*n*) in the number of its watches, however many roots there are.
  mutating func set(_ new: [WatchID: Set<Tie>], for place: Int) -> [WatchID] {
    let old = watches[place] ?? [:]
    for (watch, meanings) in old { for tie in meanings { ties[watch]?.remove(place, tie) } }
    for (watch, meanings) in new { for tie in meanings { ties[watch, default: TiedRoots()].insert(place, tie) } }
    watches[place] = new
    let unwanted = old.keys.filter { ties[$0]?.isEmpty == true }
    for watch in unwanted { ties[watch] = nil }
    return unwanted.sorted { $0.rawValue < $1.rawValue }
  }

  /// The kernel has ended a watch.
  mutating func end(_ watch: WatchID) {
    for place in ties.removeValue(forKey: watch)?.all ?? [] { watches[place]?[watch] = nil }
  }

  /// Which roots an event is about.
  ///
  /// - Returns: Those that may be somewhere else now, and those that may only have altered.
  /// - Complexity: O(*n*) in the number of these roots for an event of a name, of which there are many.
  func roots(of event: WatchEvent) -> (displaced: Set<Int>, altered: Set<Int>) {
    switch event {
    case .name(let watch, let name, _, isDirectory: _):
      let met = ties[watch]
      return (met?.names[name] ?? [], met?.own ?? [])
    case .itemChanged(let watch):
      let met = ties[watch] ?? TiedRoots()
      return (met.all.subtracting(met.own), met.own)
    case .itemMoved(let watch), .ended(let watch): return (ties[watch]?.all ?? [], [])
    case .overflow, .mountsChanged: return ([], [])
    }
  }
}
