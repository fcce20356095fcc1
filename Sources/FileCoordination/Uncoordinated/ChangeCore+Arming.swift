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
  var directories: [ItemPath]
  /// Whether what is found and wasn't known is told.
  let isTelling: Bool
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
        release(way.presenter)
        return lookOut(for: way.presenter, at: way.directories[way.count])
      }
      // It may be made before the names around it are watched.
      way.isAwaited = true
      doNext([.watch(way.deepest, [.names, .itself], isDirectory: true), .goOn(way)])
    }
  }

  mutating func takeItem(_ item: HeldItem?, _ question: Question) {
    guard case .item(let id) = question, let path = presented[id]?.path else {
      preconditionFailure("an item is no answer to \(question)")
    }
    presented[id]?.item = item
    lookOut(for: id, at: path)
    if item?.isDirectory == true, presented[id]?.observesInside == true {
      doNext([.search(DirectorySearch(directories: [path], isTelling: false))])
    }
  }

  private mutating func lookOut(for id: PresenterID, at awaited: ItemPath) {
    presented[id]?.awaited = awaited
    for place in [presented[id]?.path, awaited].compactMap(\.self) { byPlace[place, default: []].insert(id) }
  }

  // MARK: What is inside

  mutating func goOn(_ former: DirectorySearch) {
    var search = former
    guard let directory = search.directories.popLast() else { return }
    watch(directory, Self.interestInside, isDirectory: true, .search(search, directory))
  }

  private static let interestInside: WatchInterest = [.names, .contents, .itself]

  private mutating func take(_ result: WatchResult, _ search: DirectorySearch, _ directory: ItemPath) {
    guard result == .watched else { return doNext([.search(search)]) }
    places.change(at: directory) { $0.isDeep = true }
    order(.list(directory), .listing(search, directory))
  }

  mutating func takeMembers(_ members: [ListedMember], _ question: Question) {
    guard case .listing(var search, let directory) = question else {
      preconditionFailure("members are no answer to \(question)")
    }
    for member in members {
      var isNew = false
      places.change(at: directory) { isNew = $0.insert(member.name) }
      let path = directory.appending(member.name)
      if isNew, search.isTelling { output.see(.appeared(path)) }
      if member.isDirectory { search.directories.append(path) }
    }
    doNext([.search(search)])
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
    switch outcome {
    case .success(let watch):
      if let former = places.note(watch, at: path) { agenda.append(.unwatch(former)) }
      problems[path] = nil
      take(.watched, question)
    case .failure(let error):
      // Directories that can't be listed may be moved, which is all that's wanted of those further up.
      if !error.isAbsence, interest != .itself { note(error, at: path) }
      take(error.isAbsence ? .absent : .failed, question)
    }
  }

  /// What was to be watched.
  private func place(of question: Question) -> (ItemPath, WatchInterest) {
    switch question {
    case .watch(let path, let interest): (path, interest)
    case .way(let way): (way.directories[way.count], .itself)
    case .search(_, let directory): (directory, Self.interestInside)
    case .events, .listing, .item, .appearance, .awaited, .departure, .roll, .confirmation, .formerPlace, .target,
      .movedItem:
      preconditionFailure("a watch is no answer to \(question)")
    }
  }

  private mutating func take(_ result: WatchResult, _ question: Question) {
    switch question {
    case .way(let way): take(result, way)
    case .search(let search, let directory): take(result, search, directory)
    case .watch, .events, .listing, .item, .appearance, .awaited, .departure, .roll, .confirmation, .formerPlace,
      .target, .movedItem:
      break
    }
  }
}
