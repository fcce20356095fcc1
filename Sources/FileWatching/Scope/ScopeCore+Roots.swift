internal import SystemInterface

// Roots: where they are, and what tells that something else is there.
//
// A root that's searched and there has a watch like all directories, which tells when it's moved or gone. That it's moved because a
// directory around it is, or that it's there at last, only the directories on the way can tell: these are watched themselves, which says
// nothing of what's in them, but for the last one there is, whose names are told. A root that isn't searched has a watch of
// its own, and the names in its directory are told, since it may be replaced.
//
// Watch first, look then: so nothing is missed that happens between the two.

extension ScopeCore {
  /// Adds what is at a path, be it there or not; read later.
  ///
  /// - Parameters:
  ///   - path: An absolute path without symbolic links, that's neither inside another root that's searched nor around one.
  ///   - reach: What of it may be a result.
  mutating func addRoot(_ path: SystemPath, reach: RootReach = .contents) {
    roots.append(Root(path: path, reach: reach))
    checkRoot(roots.count - 1)
    uncertainRoots.insert(roots.count - 1)
  }

  /// Takes note of what an event means for roots.
  mutating func noteRoots(_ event: WatchEvent) {
    let (displaced, altered) = ties.roots(of: event)
    uncertainRoots.formUnion(displaced)
    alteredRoots.formUnion(altered)
    if case .ended(let watch) = event { ties.end(watch) }
    if case .overflow = event { uncertainRoots.formUnion(roots.indices) }
  }

  /// Has the ways to those roots watched that something has happened to, or to their ways.
  ///
  /// - Returns: Which ones.
  mutating func secureRoots() -> Set<Int> {
    let places = uncertainRoots
    uncertainRoots = []
    for place in places where !roots[place].isAbandoned {
      agenda.append(.secure(place, roots[place].path, roots[place].reach))
    }
    return places
  }

  /// Looks at the other roots that may have altered.
  mutating func checkAlteredRoots(but secured: Set<Int>) {
    // Where links lead may be elsewhere.
    if secured.contains(where: { roots[$0].isFollowed }) { noteAllLinks() }
    let others = alteredRoots.subtracting(secured)
    alteredRoots = []
    for place in others { checkRoot(place) }
  }

  /// The way to a root is watched, as far as it can be: now it's looked at what is there.
  mutating func takeWay(_ place: Int, _ path: SystemPath, _ way: RootWay) {
    // Another one may have taken its place.
    if roots[place].path != path || roots[place].isAbandoned {
      for watch in way.ties.keys where watches[watch] == nil && !ties.contains(watch) { agenda.append(.unwatch(watch)) }
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
