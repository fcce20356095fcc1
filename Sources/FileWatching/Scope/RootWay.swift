internal import SystemInterface

/// The result of a search for the way to a root.
struct RootWay: Sendable {
  /// The watches that report another file on the way.
  var ties: [WatchID: Set<RootTies.Tie>] = [:]
  /// The reason why a directory that needs a watch can't be watched.
  var blindness: String?
  var isBehindLink = false
}

/// Watches the ways to roots.
///
/// Each directory is watched before its contents are inspected.
struct RootWayFinder: Sendable {
  let files: any FileSystem
  let watcher: any FileWatcher

  /// How often the way to a root is gone again that changes meanwhile, before that's left to the next event.
  private static let wayCountMax = 8

  /// Watches the way to a root.
  func way(to root: SystemPath, _ reach: RootReach) -> RootWay {
    var way = RootWay()
    for _ in 0..<Self.wayCountMax {
      way = RootWay()
      if go(to: root, reach, &way) { break }
    }
    return way
  }

  /// Watches the directories on the way, as far as there are any, and the root if it has no other watch.
  ///
  /// - Returns: Whether the way stayed the same meanwhile.
  private func go(to root: SystemPath, _ reach: RootReach, _ way: inout RootWay) -> Bool {
    var directory = SystemPath.root
    let names = root.bytes.split(separator: UInt8(ascii: "/")).map { SystemPath(bytes: $0) }
    for (depth, name) in names.enumerated() {
      let isLast = depth == names.count - 1
      guard let watch = watch(directory, .itself, &way) else { return false }
      if let watch { way.ties[watch, default: []].insert(.way) }
      let path = directory.appending(name)
      var kind = kind(of: path, &way)
      if kind != .directory || isLast && reach == .item {
        guard let watch = self.watch(directory, [.names, .itself], &way) else { return false }
        if let watch { way.ties[watch, default: []].insert(.name(name)) }
        kind = self.kind(of: path, &way)
      }
      guard let kind else { return true }
      if isLast { return watchRoot(root, reach, kind, name, in: directory, &way) }
      if kind == .symbolicLink {
        way.isBehindLink = true
        return true
      }
      directory = path
    }
    return names.isEmpty ? watchRoot(root, reach, .directory, SystemPath("/"), in: directory, &way) : true
  }

  private func watchRoot(
    _ root: SystemPath, _ reach: RootReach, _ kind: FileKind, _ name: SystemPath, in directory: SystemPath,
    _ way: inout RootWay
  ) -> Bool {
    if kind == .directory, reach != .item { return true }
    do throws(SystemError) {
      let interest: WatchInterest =
        kind == .directory ? [.names, .attributes, .itself] : [.contents, .itself]
      let watch = try watcher.watch(root, interest, isDirectory: kind == .directory)
      way.ties[watch, default: []].insert(.own)
      return true
    } catch {
      if error.isDisplacement { return false }
    }
    // Without permission to read it; its directory reports it as well, but with everything else in there.
    guard let watch = watch(directory, [.names, .contents, .itself], &way) else { return false }
    if let watch { way.ties[watch, default: []].insert(.name(name)) }
    return true
  }

  /// Watches a directory on the way.
  ///
  /// - Returns: The watch; no watch if the directory can't be watched, so that the root has to be polled; and `nil` if
  ///   it isn't there any more.
  private func watch(
    _ directory: SystemPath, _ interest: WatchInterest, _ way: inout RootWay
  ) -> WatchID?? {
    do throws(SystemError) {
      return .some(try watcher.watch(directory, interest, isDirectory: true))
    } catch {
      if error.isDisplacement { return nil }
      // Its own moves aren't reported then, or not the changes in it.
      way.blindness = error.advisingAboutWatches.description
      return .some(nil)
    }
  }

  /// The kind of file at a path; `nil` for none, or one that can't be inspected.
  private func kind(of path: SystemPath, _ way: inout RootWay) -> FileKind? {
    do throws(SystemError) {
      return try files.status(of: path, at: .workingDirectory, links: .noFollow).kind
    } catch {
      if !error.isDisplacement { way.blindness = error.description }
      return nil
    }
  }
}
