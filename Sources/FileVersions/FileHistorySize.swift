internal import FileWatching
public import FoundationEssentials
internal import SystemInterface
internal import VersionStore

/// The space that the versions of a file take.
///
/// - Note: Rule PP-3.
public struct FileHistorySize: Hashable, Sendable {
  /// Where the file is, or was.
  public let url: URL
  /// When the file was missed first; `nil` if it's there, or its volume isn't mounted.
  public let absenceDate: Date?
  /// How many versions are kept.
  public let versionCount: Int
  /// The sizes of the versions that are kept, together: those that ``FileVersionRetention/byteCountMax`` limits.
  public let byteCount: Int64
  /// The bytes of all versions, also of the removed ones, each contents once: that much is in the store.
  ///
  /// Contents that versions of several files have are in the store once, too, but counted for each of these files. Where the file system
  /// shares blocks, those that a version has in common with the file take no space of their own.
  public let storedByteCount: Int64
  /// How many of the versions that are kept are conflicts that aren't resolved: no retention removes them.
  public let conflictCount: Int
  /// How many versions were removed and can be brought back: they take space until the window for that ends.
  public let removedCount: Int
  /// How many versions aren't counted, because their records are damaged; see ``FileVersions/FileVersions/damagedRecords(of:)``.
  public let damagedCount: Int
  /// When the oldest version was kept; `nil` if there are only removed ones.
  public let oldestDate: Date?

  init?(_ size: HistorySize, of history: HistoryPlace) {
    guard !size.isEmpty, let url = history.path.url else { return nil }
    self.url = url
    absenceDate = history.absenceTime.map { Date(nanosecondsSince1970: $0) }
    versionCount = size.versionCount
    byteCount = size.byteCount
    storedByteCount = size.storedByteCount
    conflictCount = size.conflictCount
    removedCount = size.removedCount
    damagedCount = size.damagedCount
    oldestDate = size.oldestTime.map { Date(nanosecondsSince1970: $0) }
  }
}

extension FileVersions {
  /// How much space the versions of each file at a URL and below it take, the largest first.
  ///
  /// ```swift
  /// for size in try await versions.historySizes(below: documents).prefix(10) {
  ///   print(size.storedByteCount, size.versionCount, size.url.path)
  /// }
  /// ```
  ///
  /// Files that are gone are among them as long as a version of theirs is kept, or can be brought back. A file that was moved by a program that
  /// doesn't coordinate is listed where it was, until somebody looks at its versions where it is. Nothing is changed: no file is
  /// noted as gone, and no removed version is forgotten. The call waits for no access, and none waits for it, so a version that's
  /// added or removed meanwhile may count or not. Conflict copies beside files aren't in the store, and don't count.
  ///
  /// Volumes that are mounted below the directory aren't searched: name a directory there.
  ///
  /// - Parameter url: A file, a directory, or a link to one; it needn't be there any more.
  /// - Returns: A value for each file that has versions, in the order of ``FileHistorySize/storedByteCount``, of equal ones in that of the paths.
  /// - Throws: ``FileVersionError``, with code `.coordination` when the task is cancelled.
  /// - Complexity: O(files below the directory that ever had versions), and O(versions): the record of each is read, and of a
  ///   package the list of its members. Of the versions, only the names and the hashes of one file's are in memory at once.
  /// - Note: Rule PP-3.
  public func historySizes(below url: URL) async throws(FileVersionError) -> [FileHistorySize] {
    try await perform { keeper in try keeper.historySizes(below: keeper.path(of: url)) }
  }
}

extension VersionKeeper {
  func historySizes(below path: SystemPath) throws -> [FileHistorySize] {
    // Where a link is by now a file may have been, whose versions are kept.
    let target = (try? HostFileSystem().canonicalPath(of: path, resolvingLastComponent: true)) ?? path
    let sizes = try (target == path ? [path] : [path, target]).flatMap(unsortedHistorySizes)
    // They come in the order of their paths.
    let order = sizes.indices.sorted { first, second in
      (sizes[second].storedByteCount, first) < (sizes[first].storedByteCount, second)
    }
    return order.map { sizes[$0] }
  }

  private func unsortedHistorySizes(below path: SystemPath) throws -> [FileHistorySize] {
    let root = try storage.directory(for: path, making: false)
    if !VersionStore.exists(at: root) { return [] }
    let store = try VersionStore(at: root, worker: Self.worker, isAlive: Self.isAlive, time: time)
    do {
      return try store.histories(below: path).compactMap { history in
        try checkCancellation()
        return try FileHistorySize(store.size(of: history.item), of: history)
      }
    } catch let error as VersionStoreError {
      throw store.diagnosed(error)
    }
  }
}
