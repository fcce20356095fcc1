internal import FileWatching

/// Which directory is watched under which number.
struct WatchMap {
  private var watches: [FileNumber: WatchID] = [:]
  private var directories: [WatchID: FileNumber] = [:]

  var count: Int { watches.count }

  subscript(directory: FileNumber) -> WatchID? { watches[directory] }
  subscript(watch: WatchID) -> FileNumber? { directories[watch] }

  mutating func add(_ watch: WatchID, _ directory: FileNumber) {
    watches[directory] = watch
    directories[watch] = directory
  }

  /// The kernel has ended a watch.
  ///
  /// - Returns: The directory that isn't watched any more.
  mutating func end(_ watch: WatchID) -> FileNumber? {
    guard let directory = directories.removeValue(forKey: watch) else { return nil }
    watches[directory] = nil
    return directory
  }

  /// A directory is gone.
  ///
  /// - Returns: The watch to end, about which events may still come.
  mutating func remove(_ directory: FileNumber) -> WatchID? {
    guard let watch = watches.removeValue(forKey: directory) else { return nil }
    directories[watch] = nil
    return watch
  }
}
