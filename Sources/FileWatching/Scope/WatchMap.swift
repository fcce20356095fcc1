/// Which directory is watched under which number.
///
/// Whether the kernel still watches is in doubt after events were lost, until it has been asked again for this
/// directory.
struct WatchMap {
  private var watches: [FileNumber: WatchID] = [:]
  private var directories: [WatchID: FileNumber] = [:]
  private var doubtful: Set<FileNumber> = []

  var count: Int { watches.count }

  subscript(directory: FileNumber) -> WatchID? { watches[directory] }
  subscript(watch: WatchID) -> FileNumber? { directories[watch] }

  /// Whether the kernel is known to watch a directory.
  func isSure(_ directory: FileNumber) -> Bool { watches[directory] != nil && !doubtful.contains(directory) }

  /// The kernel may have ended any watch without a word.
  mutating func doubtAll() { doubtful = Set(watches.keys) }

  /// The kernel has said that it watches a directory.
  mutating func add(_ watch: WatchID, _ directory: FileNumber) {
    watches[directory] = watch
    directories[watch] = directory
    doubtful.remove(directory)
  }

  /// The kernel has ended a watch.
  ///
  /// - Returns: The directory that isn't watched any more.
  mutating func end(_ watch: WatchID) -> FileNumber? {
    guard let directory = directories.removeValue(forKey: watch) else { return nil }
    watches[directory] = nil
    doubtful.remove(directory)
    return directory
  }

  /// A directory is gone.
  ///
  /// - Returns: The watch to end, about which events may still come.
  mutating func remove(_ directory: FileNumber) -> WatchID? {
    guard let watch = watches.removeValue(forKey: directory) else { return nil }
    directories[watch] = nil
    doubtful.remove(directory)
    return watch
  }
}
