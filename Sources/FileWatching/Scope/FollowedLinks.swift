internal import SystemInterface

/// The symbolic links in a scope that are followed, and where they lead.
struct FollowedLinks {
  /// Where each link leads, as a canonical path; nothing for one that leads nowhere or mustn't be followed.
  private(set) var targets: [FileNumber: SystemPath] = [:]
  /// Links to be resolved.
  private(set) var changed: Set<FileNumber> = []
  /// Links that lead through others, of whose changes there are no events.
  private(set) var indirect: Set<FileNumber> = []
  /// All that have been resolved.
  private var known: Set<FileNumber> = []
  /// Whether links are gone since the searched targets were last determined.
  private var hasLost = false

  var hasWork: Bool { hasLost || !changed.isEmpty }

  mutating func note(_ link: FileNumber) { changed.insert(link) }
  mutating func noteAll() { changed.formUnion(known) }
  mutating func noteIndirect() { changed.formUnion(indirect) }

  mutating func set(_ target: SystemPath?, isIndirect: Bool, for link: FileNumber) {
    known.insert(link)
    targets[link] = target
    if isIndirect { indirect.insert(link) } else { indirect.remove(link) }
  }

  mutating func forget(_ link: FileNumber) {
    changed.remove(link)
    indirect.remove(link)
    known.remove(link)
    if targets.removeValue(forKey: link) != nil { hasLost = true }
  }

  mutating func takeChanged() -> Set<FileNumber> {
    defer { changed = [] }
    hasLost = false
    return changed
  }
}

// Following symbolic links: the target of a link is searched as a further root, under its own path.
//
// So each file is found once, however many links lead to it, and loops end by themselves. The searched targets follow
// from the links that can be reached from the places that were asked for: they're determined anew after links have
// changed, or the way to a target.

extension ScopeCore {
  /// A link is new, another one, or in another place.
  mutating func noteLink(_ number: FileNumber) {
    if options.followsSymbolicLinks { links.note(number) }
  }

  /// Links may lead elsewhere, because directories have other names.
  mutating func noteAllLinks() {
    if options.followsSymbolicLinks { links.noteAll() }
  }

  /// The order that finds where a link leads; `nil` if there's no link any more.
  mutating func resolveOrder(_ number: FileNumber) -> ScopeOrder? {
    guard index.table.contains(number), index.table.facts(of: number).kind == .symbolicLink else {
      links.forget(number)
      return nil
    }
    return .resolve(number, index.table.path(of: number))
  }

  /// Where a link leads that was at a path.
  mutating func takeLink(_ number: FileNumber, _ path: SystemPath, _ outcome: Result<LinkTarget, SystemError>) {
    // It has changed meanwhile, which events report.
    guard index.table.contains(number), index.table.facts(of: number).kind == .symbolicLink else {
      return links.forget(number)
    }
    switch outcome {
    case .success(let target):
      let isAllowed = ![path, target.path].contains { unentered.match($0.lastComponent.description) }
      links.set(isAllowed ? target.path : nil, isIndirect: target.isIndirect, for: number)
    case .failure:
      // A loop, or somewhere on the way that can't be entered: perhaps not for long.
      links.set(nil, isIndirect: true, for: number)
    }
  }

  /// Searches where links lead, and no more where none leads.
  mutating func followLinks() {
    let wanted = wantedTargets()
    for place in roots.indices where roots[place].isFollowed && !wanted.contains(roots[place].path) { abandon(place) }
    let searched = Set(roots.filter { !$0.isAbandoned }.map(\.path))
    for path in wanted.subtracting(searched).sorted() { follow(path) }
  }

  /// The targets to be searched besides the places that were asked for: those of links in these places, and in the
  /// targets themselves.
  private func wantedTargets() -> Set<SystemPath> {
    let asked = roots.filter { !$0.isFollowed && !$0.isAbandoned && $0.reach != .item }.map(\.path)
    var covered = Set(asked)
    var wanted: Set<SystemPath> = []
    var waiting = links.targets.map { (link: index.table.path(of: $0.key), target: $0.value) }
    while true {
      let start = waiting.partition { $0.link.isIn(covered) }
      if start == waiting.endIndex { break }
      let reached = waiting[start...]
      waiting.removeSubrange(start...)
      // A link to a directory around a place that's searched leads back to that.
      for (_, target) in reached where !asked.contains(where: { $0.isInside(target) }) {
        if !target.isIn(covered) { wanted.insert(target) }
        covered.insert(target)
      }
    }
    return wanted.filter { target in target == .root || !target.parent.isIn(wanted) }
  }

  private mutating func follow(_ path: SystemPath) {
    let root = Root(path: path, reach: .itemAndContents, isFollowed: true)
    let place = roots.firstIndex(where: \.isAbandoned) ?? roots.count
    if place == roots.count { roots.append(root) } else { roots[place] = root }
    checkRoot(place)
    uncertainRoots.insert(place)
  }

  /// No link leads there any more.
  private mutating func abandon(_ place: Int) {
    if roots[place].isAbandoned { return }
    roots[place].isAbandoned = true
    if let number = roots[place].number { remove(number) }
    for watch in ties.set([:], for: place) where watches[watch] == nil { agenda.append(.unwatch(watch)) }
    uncertainRoots.remove(place)
    alteredRoots.remove(place)
    blindRoots.remove(place)
  }
}

extension SystemPath {
  /// Whether one of some places is this one or around it.
  fileprivate func isIn(_ places: Set<SystemPath>) -> Bool {
    var path = self
    while !places.contains(path) {
      if path == .root { return false }
      path = path.parent
    }
    return true
  }
}
