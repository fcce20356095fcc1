internal import FileAccessArbiter
internal import FileWatching
internal import SystemInterface

/// Turns events in the file system into changes of presented items, and keeps watching them.
///
/// A value that decides: it inspects files, and changes the set of watches, but has no thread, clock or lock.
///
/// | watched | for |
/// | --- | --- |
/// | the item itself | its contents and attributes, through any hard link |
/// | the deepest directory on the way to it that exists | names: that it's replaced, removed, moved, or appears |
/// | the directories above | that they're moved themselves |
/// | all directories inside, if the presenter observes subitems | names, contents and attributes |
struct ChangeReader: Sendable {
  /// An item of a presenter that observes strangers.
  struct Presented: Sendable {
    /// Its place in the arbiter; absent while the item has never been saved.
    var path: ItemPath?
    /// Whether the presenter observes the inside, if the item is a directory.
    let observesInside: Bool
    /// Absent while nothing is there.
    var handle: ItemHandle?
    /// The first component on the way that doesn't exist, or the item itself: the name to watch for.
    var awaited: ItemPath?
    /// A move has been reported to the arbiter, which hasn't yet said that the presenter is to follow it.
    var isFollowing = false
    /// A change was reported meanwhile at the former place, where the arbiter has no presenter any more.
    var hasChangedMeanwhile = false
  }

  /// A move that no coordinated write accounts for, until it's clear whether something takes the place of the item.
  struct UnsettledMove: Sendable {
    var target: ItemPath
    let replaced: Bool
    /// Something took its place, and that was reported.
    var isRefuted = false
  }

  /// A change that no coordinated write accounts for, until its item has been left alone for a moment.
  struct UnsettledChange: Sendable {
    var change: ItemChange
    /// Another change has come since the last check.
    var isRenewed = false
    var lookCount = 0
  }

  /// The reports to the arbiter, and the times to wait for.
  struct Output: Sendable {
    private(set) var seen: [ItemChange] = []
    private var known: Set<ItemChange> = []
    var confirmed: [ItemChange] = []
    var unsettled: [ItemPath] = []
    var unsettledChanges: [ItemPath] = []

    var isEmpty: Bool { seen.isEmpty && confirmed.isEmpty && unsettled.isEmpty && unsettledChanges.isEmpty }

    /// Equal changes of one batch are one.
    mutating func see(_ change: ItemChange) {
      if known.insert(change).inserted { seen.append(change) }
    }
  }

  let watcher: any FileWatcher
  let files: any FileSystem
  var presented: [PresenterID: Presented] = [:]
  /// Presenters by the place of their item, and by the name that they await.
  var byPlace: [ItemPath: Set<PresenterID>] = [:]
  var places = WatchedPlaces()
  var moves: [ItemPath: UnsettledMove] = [:]
  var changes: [ItemPath: UnsettledChange] = [:]
  /// Why something isn't watched, by place.
  var problems: [ItemPath: SystemError] = [:]
  var output = Output()
  private var removalCount = 0

  /// How many items are watched at most; beyond that it's as if the system's limit were reached.
  static let watchCountMax = 262_144
  static let moveCountMax = 1024
  static let changeCountMax = 1024
  /// How many checks of an item that's written all the time precede its report.
  static let lookCountMax = 10
  static let problemCountMax = 64

  init(_ watcher: any FileWatcher, in files: any FileSystem) {
    self.watcher = watcher
    self.files = files
  }

  mutating func takeOutput() -> Output {
    let result = output
    output = Output()
    return result
  }

  func isPresent(_ path: ItemPath) -> Bool { ((try? files.statusIfPresent(of: path.systemPath)) ?? nil) != nil }

  /// The presenters of this very item.
  func presenters(of path: ItemPath) -> [PresenterID] {
    byPlace[path, default: []].filter { presented[$0]?.path == path }.sorted()
  }

  func isPresentedInside(_ path: ItemPath) -> Bool {
    presented.values.contains { $0.path.map(path.isSameOrContains) ?? false }
  }
}

// MARK: - Presenters come, follow and go

extension ChangeReader {
  /// - Parameters:
  ///   - id: The presenter.
  ///   - path: Its item; `nil` while that has never been saved.
  ///   - observesInside: Whether it observes the inside of a directory.
  mutating func add(_ id: PresenterID, at path: ItemPath?, observesInside: Bool) {
    presented[id] = Presented(path: path, observesInside: observesInside)
    arm(id)
  }

  /// The item has got its first place, or another one.
  mutating func follow(_ id: PresenterID, to path: ItemPath) {
    guard let former = presented[id], former.path != path else { return }
    forgetPlace(of: id)
    presented[id]?.path = path
    presented[id]?.isFollowing = false
    presented[id]?.hasChangedMeanwhile = false
    if let old = former.path { places.move(from: old, to: path) }
    arm(id)
    if former.hasChangedMeanwhile {
      output.see(former.handle?.kind == .directory ? .unknown(path) : .changed(path))
    }
    notePruning()
  }

  mutating func remove(_ id: PresenterID) {
    forgetPlace(of: id)
    presented[id] = nil
    notePruning()
  }

  private mutating func forgetPlace(of id: PresenterID) {
    for place in [presented[id]?.path, presented[id]?.awaited].compactMap(\.self) {
      byPlace[place]?.remove(id)
      if byPlace[place]?.isEmpty == true { byPlace[place] = nil }
    }
  }

  /// Watches everything again that a presenter needs to have watched.
  mutating func arm(_ id: PresenterID) {
    guard let item = presented[id], let path = item.path else { return }
    forgetPlace(of: id)
    let missing = watchWay(to: path)
    var handle: ItemHandle?
    if missing == nil {
      // Before inspecting the item, so that later changes aren't missed.
      watch(path, [.contents, .itself], isDirectory: false)
      handle = ItemHandle(path, in: files)
      if handle?.kind == .directory, item.observesInside { watchInside(path, telling: false) }
    }
    presented[id]?.handle = handle
    presented[id]?.awaited = missing ?? path
    for place in [path, missing ?? path] { byPlace[place, default: []].insert(id) }
  }

  /// Watches the directories on the way to an item.
  ///
  /// - Returns: The first that doesn't exist; it's awaited.
  private mutating func watchWay(to path: ItemPath) -> ItemPath? {
    var deepest = ItemPath.root
    for directory in path.ancestors {
      if watch(directory, .itself, isDirectory: true) == .absent {
        watch(deepest, [.names, .itself], isDirectory: true)
        if isPresent(directory), watch(directory, .itself, isDirectory: true) != .absent {
          deepest = directory
          continue
        }
        return directory
      }
      deepest = directory
    }
    watch(deepest, [.names, .itself], isDirectory: true)
    return nil
  }
}

// MARK: - Watching

extension ChangeReader {
  enum WatchResult { case watched, absent, failed }

  @discardableResult
  mutating func watch(_ path: ItemPath, _ interest: WatchInterest, isDirectory: Bool) -> WatchResult {
    if places.count >= Self.watchCountMax, places.place(at: path) == nil {
      note(.tooManyWatches(path.systemPath), at: path)
      return .failed
    }
    do throws(SystemError) {
      let watch = try watcher.watch(path.systemPath, interest, isDirectory: isDirectory)
      if let former = places.note(watch, at: path) { watcher.unwatch(former) }
      problems[path] = nil
      return .watched
    } catch {
      if error.isAbsence { return .absent }
      // Directories that can't be listed may be moved, and only that matters for those further up.
      if interest != .itself { note(error, at: path) }
      return .failed
    }
  }

  private mutating func note(_ error: SystemError, at path: ItemPath) {
    if problems.count < Self.problemCountMax || problems[path] != nil {
      if problems.updateValue(error, forKey: path) == nil { output.see(.unknown(path)) }
    }
  }

  /// Watches a directory and all directories inside, each before it's read.
  ///
  /// - Parameters:
  ///   - top: The directory.
  ///   - isTelling: Whether entries that weren't recorded are reported.
  mutating func watchInside(_ top: ItemPath, telling isTelling: Bool) {
    var directories = [top]
    while let directory = directories.popLast() {
      guard watch(directory, [.names, .contents, .itself], isDirectory: true) == .watched else { continue }
      places.change(at: directory) { $0.isDeep = true }
      for entry in entries(of: directory) {
        var isNew = false
        places.change(at: directory) { isNew = $0.insert(entry.name) }
        let path = directory.appending(entry.name)
        if isNew, isTelling { output.see(.appeared(path)) }
        if isDirectory(entry, at: path) { directories.append(path) }
      }
    }
  }

  private func isDirectory(_ entry: DirectoryEntry, at path: ItemPath) -> Bool {
    if let kind = entry.kind { return kind == .directory }
    return ((try? files.statusIfPresent(of: path.systemPath)) ?? nil)?.kind == .directory
  }

  private func entries(of directory: ItemPath) -> [DirectoryEntry] {
    guard
      let opened = try? files.open(
        directory.systemPath, at: .workingDirectory, flags: [.directory, .noFollow], mode: 0)
    else { return [] }
    defer { try? files.close(opened) }
    var result: [DirectoryEntry] = []
    while let batch = (try? files.readDirectory(opened)) ?? nil { result += batch }
    return result
  }

  mutating func unwatchInside(_ path: ItemPath) {
    for place in places.pathsInside(path) { unwatch(place) }
  }

  mutating func unwatch(_ path: ItemPath) {
    if let watch = places.remove(path) { watcher.unwatch(watch) }
  }

  /// Unneeded watches are ended when there are about as many as needed ones.
  private mutating func notePruning() {
    removalCount += 1
    if removalCount <= presented.count / 2 { return }
    removalCount = 0
    var needed: Set<ItemPath> = [.root]
    var roots: Set<ItemPath> = []
    for item in presented.values {
      guard let path = item.path else { continue }
      needed.formUnion(path.ancestors + [path])
      if item.observesInside { roots.insert(path) }
    }
    for path in Array(places.paths) where !needed.contains(path) {
      if !path.ancestors.contains(where: roots.contains) { unwatch(path) }
    }
    problems = problems.filter { problem in
      roots.contains { $0.isSameOrContains(problem.key) } || needed.contains(problem.key)
    }
  }
}
