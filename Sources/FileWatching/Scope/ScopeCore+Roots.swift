internal import SystemInterface

// Roots: where they are, and the events that report another file there.
//
// A root that's searched and present has a watch like all directories, whose events report that it's moved or gone. A
// move of a directory around it, or the appearance of the root, is reported by the directories on the way alone. These
// are watched themselves, without their contents, except for the last one that exists, whose names are watched. A root
// that isn't searched has a watch of its own, and the names in its directory are watched, since it may be replaced.
//
// Watch first, check then: so nothing is missed that changes between the two.

extension ScopeCore {
  /// Adds a path, whether or not there's a file; read later.
  ///
  /// - Parameters:
  ///   - path: An absolute path without symbolic links; it's neither inside another searched root nor around one.
  ///   - reach: The possible results there.
  mutating func addRoot(_ path: SystemPath, reach: RootReach = .contents) {
    roots.append(Root(path: path, reach: reach))
    checkRoot(roots.count - 1)
    uncertainRoots.insert(roots.count - 1)
  }

  /// Takes note of the consequences of an event for roots.
  mutating func noteRoots(_ event: WatchEvent) {
    let (displaced, altered) = ties.roots(of: event)
    uncertainRoots.formUnion(displaced)
    alteredRoots.formUnion(altered)
    if case .ended(let watch) = event { ties.end(watch) }
    if case .overflow = event { uncertainRoots.formUnion(roots.indices) }
  }

  /// Watches the ways to those roots anew that have events, or whose ways have.
  ///
  /// - Returns: Which ones.
  mutating func secureRoots() -> Set<Int> {
    let places = uncertainRoots
    uncertainRoots = []
    for place in places.sorted() where !roots[place].isAbandoned {
      agenda.append(.secure(place, roots[place].path, roots[place].reach))
    }
    return places
  }

  /// Checks the other roots that may have altered.
  mutating func checkAlteredRoots(but secured: Set<Int>) {
    // The targets of links may be elsewhere.
    if secured.contains(where: { roots[$0].isFollowed }) { noteAllLinks() }
    let others = alteredRoots.subtracting(secured)
    alteredRoots = []
    for place in others.sorted() { checkRoot(place) }
  }

  /// The way to a root is watched, as far as it can be: now the place is checked.
  mutating func takeWay(_ place: Int, _ path: SystemPath, _ way: RootWay) {
    // Another one may have taken its place.
    if roots[place].path != path || roots[place].isAbandoned {
      let unused = way.ties.keys.filter { watches[$0] == nil && !ties.contains($0) }
      agenda += unused.sorted { $0.rawValue < $1.rawValue }.map { .unwatch($0) }
      return
    }
    if let reason = way.blindness {
      if polled.isEmpty, blindRoots.isEmpty { pollingReason = reason }
      blindRoots.insert(place)
    } else {
      blindRoots.remove(place)
    }
    roots[place].isBehindLink = way.isBehindLink
    for watch in ties.set(way.ties, for: place) where watches[watch] == nil { agenda.append(.unwatch(watch)) }
    checkRoot(place)
  }
}
