package import SystemInterface

// Roots: where they are, and what tells that something else is there.
//
// A root that's searched and there has a watch like all directories, which tells when it's moved or gone. That it's moved because a
// directory around it is, or that it's there at last, only the directories on the way can tell: these are watched themselves, which says
// nothing of what's in them, but for the last one there is, whose names are told. A root that isn't searched has a watch of
// its own, and the names in its directory are told, since it may be replaced.
//
// Watch first, look then: so nothing is missed that happens between the two.

extension ScopeIndexer {
  /// How often the way to a root is gone again that changes meanwhile, before that's left to the next event.
  private static let wayCountMax = 8

  /// Adds what is at a path, be it there or not; read by ``work(directoryCountMax:)``.
  ///
  /// - Parameters:
  ///   - path: An absolute path without symbolic links, that's neither inside another root that's searched nor around one.
  ///   - reach: What of it may be a result.
  package func addRoot(_ path: SystemPath, reach: RootReach = .contents) {
    roots.append(Root(path: path, reach: reach))
    checkRoot(roots.count - 1)
    uncertainRoots.insert(roots.count - 1)
  }

  /// Takes note of what an event means for roots.
  func noteRoots(_ event: WatchEvent) {
    let (displaced, altered) = ties.roots(of: event)
    uncertainRoots.formUnion(displaced)
    alteredRoots.formUnion(altered)
    if case .ended(let watch) = event { ties.end(watch) }
    if case .overflow = event { uncertainRoots.formUnion(roots.indices) }
  }

  /// Looks at the roots that something has happened to, or on the way to them.
  func settleRoots() {
    let places = uncertainRoots
    uncertainRoots = []
    for place in places where !roots[place].isAbandoned { secure(place) }
    // Where links lead may be elsewhere.
    if places.contains(where: { roots[$0].isFollowed }) { noteAllLinks() }
    let others = alteredRoots.subtracting(places)
    alteredRoots = []
    for place in others { checkRoot(place) }
  }

  /// Watches the way to a root, and looks what is there.
  private func secure(_ place: Int) {
    var way = Way()
    for _ in 0..<Self.wayCountMax {
      way = Way()
      if go(to: place, &way) { break }
    }
    if let reason = way.blindness {
      if polled.isEmpty, blindRoots.isEmpty { pollingReason = reason }
      blindRoots.insert(place)
    } else {
      blindRoots.remove(place)
    }
    roots[place].isBehindLink = way.isBehindLink
    for watch in ties.set(way.ties, for: place) where watches[watch] == nil { watcher.unwatch(watch) }
    checkRoot(place)
  }

  /// What is found on the way to a root.
  private struct Way {
    var ties: [WatchID: Set<RootTies.Tie>] = [:]
    /// Why something can't be watched that has to be.
    var blindness: String?
    var isBehindLink = false
  }

  /// Watches the directories on the way, as far as there are any, and the root if nobody else does.
  ///
  /// - Returns: Whether the way stayed the same meanwhile.
  private func go(to place: Int, _ way: inout Way) -> Bool {
    let root = roots[place]
    var directory = SystemPath.root
    let names = root.path.bytes.split(separator: UInt8(ascii: "/")).map { SystemPath(bytes: $0) }
    for (depth, name) in names.enumerated() {
      let isLast = depth == names.count - 1
      guard let watch = watch(directory, .itself, &way) else { return false }
      if let watch { way.ties[watch, default: []].insert(.way) }
      let path = directory.appending(name)
      var kind = kind(of: path, &way)
      if kind != .directory || isLast && root.reach == .item {
        guard let watch = self.watch(directory, [.names, .itself], &way) else { return false }
        if let watch { way.ties[watch, default: []].insert(.name(name)) }
        kind = self.kind(of: path, &way)
      }
      guard let kind else { return true }
      if isLast { return watchRoot(root, kind, name, in: directory, &way) }
      if kind == .symbolicLink {
        way.isBehindLink = true
        return true
      }
      directory = path
    }
    return names.isEmpty ? watchRoot(root, .directory, SystemPath("/"), in: directory, &way) : true
  }

  private func watchRoot(
    _ root: Root, _ kind: FileKind, _ name: SystemPath, in directory: SystemPath, _ way: inout Way
  ) -> Bool {
    if kind == .directory, root.reach != .item { return true }
    do throws(SystemError) {
      let interest: WatchInterest =
        kind == .directory ? [.names, .attributes, .itself] : [.contents, .itself]
      let watch = try watcher.watch(root.path, interest, isDirectory: kind == .directory)
      way.ties[watch, default: []].insert(.own)
      return true
    } catch {
      if error.isDisplacement { return false }
    }
    // Without permission to read it; its directory tells as well, but of all that's in there.
    guard let watch = watch(directory, [.names, .contents, .itself], &way) else { return false }
    if let watch { way.ties[watch, default: []].insert(.name(name)) }
    return true
  }

  /// Watches a directory on the way.
  ///
  /// - Returns: The watch; no watch if the directory can't be watched, so that the root has to be looked at from time to time; and `nil` if
  ///   it isn't there any more.
  private func watch(
    _ directory: SystemPath, _ interest: WatchInterest, _ way: inout Way
  ) -> WatchID?? {
    do throws(SystemError) {
      return .some(try watcher.watch(directory, interest, isDirectory: true))
    } catch {
      if error.isDisplacement { return nil }
      // Its own moves aren't told then, or not what happens in it.
      way.blindness = error.description
      return .some(nil)
    }
  }

  /// What is at a path; `nil` for nothing, or what can't be looked at.
  private func kind(of path: SystemPath, _ way: inout Way) -> FileKind? {
    do throws(SystemError) {
      return try files.status(of: path, at: .workingDirectory, links: .noFollow).kind
    } catch {
      if !error.isDisplacement { way.blindness = error.description }
      return nil
    }
  }
}
