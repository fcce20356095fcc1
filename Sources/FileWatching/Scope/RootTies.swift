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

  private var ties: [WatchID: [Int: Set<Tie>]] = [:]
  private var watches: [Int: Set<WatchID>] = [:]

  /// Whether any root needs it.
  func contains(_ watch: WatchID) -> Bool { ties[watch] != nil }

  /// Ties a root to other watches than before.
  ///
  /// - Returns: The watches that aren't needed any more.
  mutating func set(_ new: [WatchID: Set<Tie>], for place: Int) -> [WatchID] {
    let old = watches[place] ?? []
    for watch in old { ties[watch]?[place] = nil }
    for (watch, meanings) in new { ties[watch, default: [:]][place] = meanings }
    watches[place] = Set(new.keys)
    let unwanted = old.filter { ties[$0]?.isEmpty == true }
    for watch in unwanted { ties[watch] = nil }
    return unwanted.sorted { $0.rawValue < $1.rawValue }
  }

  /// The kernel has ended a watch.
  mutating func end(_ watch: WatchID) {
    for place in ties[watch, default: [:]].keys { watches[place]?.remove(watch) }
    ties[watch] = nil
  }

  /// Which roots an event is about.
  ///
  /// - Returns: Those that may be somewhere else now, and those that may only have altered.
  func roots(of event: WatchEvent) -> (displaced: [Int], altered: [Int]) {
    switch event {
    case .name(let watch, let name, _, isDirectory: _):
      let met = ties[watch] ?? [:]
      return (
        met.filter { $0.value.contains(.name(name)) }.map(\.key), met.filter { $0.value.contains(.own) }.map(\.key)
      )
    case .itemChanged(let watch):
      let met = ties[watch] ?? [:]
      return (met.filter { !$0.value.contains(.own) }.map(\.key), met.filter { $0.value.contains(.own) }.map(\.key))
    case .itemMoved(let watch), .ended(let watch): return (Array((ties[watch] ?? [:]).keys), [])
    case .overflow, .mountsChanged: return ([], [])
    }
  }
}
