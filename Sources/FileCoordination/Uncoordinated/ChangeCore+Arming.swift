internal import FileAccessArbiter
internal import FileWatching
internal import SystemInterface

// Watching what a presenter needs to have watched.

/// The directories on the way to an item, which are watched from the root on.
struct WayToItem: Hashable, Sendable {
  let presenter: PresenterID
  let path: ItemPath
  let directories: [ItemPath]
  /// How many of them are watched.
  var count = 0
  /// The next one wasn't there, and the names around it are watched since.
  var isAwaited = false

  init(_ presenter: PresenterID, to path: ItemPath) {
    self.presenter = presenter
    self.path = path
    directories = path.ancestors
  }

  var deepest: ItemPath { count == 0 ? .root : directories[count - 1] }
}

/// A directory and all directories inside, each of which is watched before it's read.
struct DirectorySearch: Hashable, Sendable {
  struct Directory: Hashable, Sendable {
    var path: ItemPath
    /// Whether names in it that weren't known are reported.
    var isReported: Bool
    /// It may be the one that is watched there: then its names stay known, and events say which of them are gone.
    var mayBeKnown = false
    /// Whether names are reported that were known, too: observers take the directory for another one.
    var reportsKnown = false
  }

  /// The directories that remain to be searched, the next one last.
  var rest: [Directory]

  /// - Parameters:
  ///   - top: The directory.
  ///   - isReporting: Whether everything is reported that wasn't known. Otherwise only what is in directories whose presenters
  ///     know already what is inside, and would miss it.
  ///   - mayBeKnown: Whether the directory may be the one that is watched there already.
  ///   - reportsKnown: Whether what was known is reported as well.
  init(_ top: ItemPath, isReporting: Bool, mayBeKnown: Bool = false, reportsKnown: Bool = false) {
    rest = [Directory(path: top, isReported: isReporting, mayBeKnown: mayBeKnown, reportsKnown: reportsKnown)]
  }
}

extension ChangeCore {
  private enum WatchResult { case watched, absent, failed }

  // MARK: The way to an item

  mutating func arm(_ id: PresenterID) {
    guard let path = presented[id]?.path else { return }
    forgetPlace(of: id)
    doNext([.goOn(WayToItem(id, to: path))])
  }

  /// Watches the next directory on the way to an item, or the item.
  mutating func goOn(_ way: WayToItem) {
    if way.count < way.directories.count {
      return watch(way.directories[way.count], .itself, isDirectory: true, .way(way))
    }
    doNext([
      .watch(way.deepest, [.names, .itself], isDirectory: true),
      // Before looking at what is there, so that what follows isn't missed.
      .watch(way.path, [.contents, .itself], isDirectory: false),
      .hold(way.presenter),
    ])
  }

  private mutating func take(_ result: WatchResult, _ former: WayToItem) {
    var way = former
    switch result {
    case .watched, .failed:
      way.count += 1
      way.isAwaited = false
      doNext([.goOn(way)])
    case .absent:
      if way.isAwaited {
        lookOut(for: way.presenter, at: way.directories[way.count])
        return findLost(way.presenter)
      }
      // It may be made before the names around it are watched.
      way.isAwaited = true
      doNext([.watch(way.deepest, [.names, .itself], isDirectory: true), .goOn(way)])
    }
  }

  mutating func hold(_ id: PresenterID) {
    guard let path = presented[id]?.path else { return }
    // It will follow what is held, and what is in that place is another item.
    if followers.contains(id) { return lookOut(for: id, at: path) }
    order(.hold(id, path), .item(id))
  }

  mutating func takeItem(_ item: HeldItem?, _ question: Question) {
    guard case .item(let id) = question, let path = presented[id]?.path else {
      preconditionFailure("an item is no answer to \(question)")
    }
    lookOut(for: id, at: path)
    guard let item else { return findLost(id) }
    presented[id]?.item = item
    if item.isDirectory, presented[id]?.observesInside == true {
      doNext([.search(DirectorySearch(path, isReporting: isNewToOthers(path)))])
    }
  }

  /// Whether a directory is inside an observed one and isn't reported to its presenters yet: they miss what this search finds.
  private func isNewToOthers(_ directory: ItemPath) -> Bool {
    func isDeep(_ path: ItemPath) -> Bool { places.place(at: path)?.isDeep == true }
    return !isDeep(directory) && directory.ancestors.contains(where: isDeep)
  }

  /// Nothing is at the place of an item: the item that's held for the presenter may have been moved without an event.
  private mutating func findLost(_ id: PresenterID) {
    if presented[id]?.item != nil { order(.find(id, orAt: nil), .lostItem(id)) }
  }

  mutating func takeLost(_ id: PresenterID, _ place: ItemPath?) {
    guard let path = presented[id]?.path, let place else { return release(id) }
    // It isn't watched where it is before the presenter follows it there.
    presented[id]?.hasChangedMeanwhile = true
    if place == path || reportedTarget(of: path) == place || moves[path] != nil { return }
    if path.withAncestors.contains(where: output.placesLeft.contains) { return }
    let move: ItemChange = .moved(from: path, to: place, replaced: false)
    guard isKnownName(path), let directory = path.parent else { return see(move) }
    // If the directory around it was moved, its own move isn't reported yet.
    order(.look(directory), .directory(of: move))
  }

  private mutating func lookOut(for id: PresenterID, at awaited: ItemPath) {
    presented[id]?.awaited = awaited
    for place in [presented[id]?.path, awaited].compactMap(\.self) { byPlace[place, default: []].insert(id) }
  }

  // MARK: Contents of directories

  mutating func goOn(_ former: DirectorySearch) {
    var search = former
    guard let directory = search.rest.popLast() else { return }
    watch(directory.path, Self.interestInside, isDirectory: true, .search(search, directory))
  }

  private static let interestInside: WatchInterest = [.names, .contents, .itself]

  private mutating func take(_ result: WatchResult, _ search: DirectorySearch, _ former: DirectorySearch.Directory) {
    guard result == .watched else { return doNext([.search(search)]) }
    var directory = former
    places.change(at: directory.path) {
      if $0.isDeep { directory.isReported = true }
      $0.isDeep = true
    }
    order(.list(directory.path), .listing(search, directory))
  }

  mutating func takeMembers(_ members: [ListedMember], _ question: Question) {
    guard case .listing(var search, let directory) = question else {
      preconditionFailure("members are no answer to \(question)")
    }
    for member in members {
      var isNew = false
      places.change(at: directory.path) { isNew = $0.insert(member.name) }
      let path = directory.path.appending(member.name)
      if isNew || directory.reportsKnown, directory.isReported { see(.appeared(path)) }
      if isNew { noteUnseenMember(member.name, of: directory.path) }
      if member.isDirectory {
        var inside = directory
        inside.path = path
        search.rest.append(inside)
      }
    }
    doNext([.search(search)])
  }

  /// Presenters that haven't followed a directory yet know it at the place that it was seen to leave.
  private mutating func noteUnseenMember(_ name: SystemPath, of directory: ItemPath) {
    guard let watch = places.watch(at: directory) else { return }
    for place in places[watch] where place.isLeft { noteUnseenChange(at: place.path.appending(name)) }
  }

  // MARK: Watches

  mutating func watch(_ path: ItemPath, _ interest: WatchInterest, isDirectory: Bool, _ question: Question) {
    if places.count >= Self.watchCountMax, places.place(at: path) == nil {
      note(.tooManyWatches(path.systemPath), at: path)
      return take(.failed, question)
    }
    order(.watch(path, interest, isDirectory: isDirectory), question)
  }

  mutating func takeWatch(_ outcome: Result<WatchID, SystemError>, _ question: Question) {
    let (path, interest) = place(of: question)
    if case .search(_, let directory) = question, directory.mayBeKnown {
      let isKnown = places.place(at: path)?.isDeep == true && (try? outcome.get()) == places.watch(at: path)
      if !isKnown { unwatchInside(path) }
    }
    switch outcome {
    case .success(let watch):
      if places.place(at: path)?.isLeft == true, places.watch(at: path) != watch { noteUnseenChange(at: path) }
      if let former = places.note(watch, at: path) { end(former) }
      problems[path] = nil
      take(.watched, question)
    case .failure(let error):
      // Directories that can't be listed may be moved, which is all that matters of those further up.
      if !error.isAbsence, interest != .itself { note(error, at: path) }
      take(error.isAbsence ? .absent : .failed, question)
    }
  }

  /// The place that an unanswered order was to watch.
  private func place(of question: Question) -> (ItemPath, WatchInterest) {
    switch question {
    case .watch(let path, let interest): (path, interest)
    case .way(let way): (way.directories[way.count], .itself)
    case .search(_, let directory): (directory.path, Self.interestInside)
    case .events, .listing, .item, .lostItem, .directory, .appearance, .revisited, .awaited, .departure, .departedName,
      .roll,
      .confirmation, .settledChange, .formerPlace, .target, .targetDirectory,
      .movedItem:
      preconditionFailure("a watch is no answer to \(question)")
    }
  }

  private mutating func take(_ result: WatchResult, _ question: Question) {
    switch question {
    case .way(let way): take(result, way)
    case .search(let search, let directory): take(result, search, directory)
    case .watch, .events, .listing, .item, .lostItem, .directory, .appearance, .revisited, .awaited, .departure,
      .departedName, .roll,
      .confirmation, .settledChange, .formerPlace,
      .target, .targetDirectory, .movedItem:
      break
    }
  }
}
