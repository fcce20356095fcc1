internal import FileCoordination
internal import FileWatching
public import FoundationEssentials
internal import SystemInterface

extension FileVersions {
  /// The conflicts in a directory and everything below it that aren't resolved.
  ///
  /// ```swift
  /// for try await update in versions.conflicts(in: directory) {
  ///   for conflict in update.conflicts { print(conflict.path, conflict.copies.count) }
  /// }
  /// ```
  ///
  /// Those are conflict copies, if this value was made with `conflictCopies`, and conflicts in the store.
  ///
  /// - Parameters:
  ///   - directory: The directory; it doesn't have to be there yet.
  ///   - unenteredNames: Names and patterns of directories below it that aren't entered, such as `.git`. `.stversions`, where Syncthing
  ///     keeps old files, and stores of versions are never entered. Conflicts in the store are listed wherever their files are.
  /// - Returns: The conflicts, now and live.
  /// - Note: Rule CV-35.
  public func conflicts(in directory: URL, unenteredNames: [String] = []) -> FileConflicts {
    FileConflicts(versions: self, directory: directory, unenteredNames: unenteredNames)
  }
}

/// The conflicts in a directory: those there are now, and each change of them.
///
/// The first update has everything there is, be it nothing. Each later one follows a change, by any program: a copy or a file came, went
/// or moved, or a conflict in the store came or was resolved. A slow reader gets fewer and larger updates, and misses nothing.
///
/// The *contents* of a copy may change without an update. A stored conflict of a file that has moved since is listed when a program lists
/// the versions of that file.
///
/// Each iteration is one of its own: it takes a `TreeWatcher` of the directory, and registers a presenter that no access waits for. Both
/// end with the iterator. The sequence ends when its task is cancelled.
public struct FileConflicts: AsyncSequence, Sendable {
  /// The conflicts after a change.
  public typealias Element = FileConflictUpdate
  /// The directory can't be watched, or the store can't be read.
  public typealias Failure = FileVersionError

  let versions: FileVersions
  let directory: URL
  let unenteredNames: [String]

  static let alwaysUnentered = [".stversions", ".file-versions-*"]

  /// The conflicts now.
  ///
  /// - Returns: The files that have conflicts, in the order of their paths.
  /// - Throws: ``FileVersionError``.
  /// - Complexity: O(names below the directory), and O(versions of the files there).
  public func snapshot() async throws(FileVersionError) -> [ConflictedFile] {
    var iterator = makeAsyncIterator()
    return try await iterator.next(isolation: nil)?.conflicts ?? []
  }

  /// Begins to read.
  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// Reads updates, for one task.
  public struct Iterator: AsyncIteratorProtocol {
    /// The directory can't be watched, or the store can't be read.
    public typealias Failure = FileVersionError

    private let conflicts: FileConflicts
    private var watch: ConflictWatch?
    private var map: ConflictMap
    private var isAtEnd = false

    init(_ conflicts: FileConflicts) {
      self.conflicts = conflicts
      map = ConflictMap(conflicts.versions.keeper.conflictCopies)
    }

    /// Waits for the next update.
    ///
    /// - Parameter actor: Where it's called.
    /// - Returns: The update; `nil` at the end.
    /// - Throws: ``FileVersionError``, once; then it's over.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(FileVersionError) -> FileConflictUpdate? {
      do throws(FileVersionError) {
        if !isAtEnd, let update = try await update() { return update }
      } catch {
        watch = nil
        isAtEnd = true
        // Its wait was ended by that.
        if Task.isCancelled { return nil }
        throw error
      }
      watch = nil
      isAtEnd = true
      return nil
    }

    private mutating func update(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(FileVersionError) -> FileConflictUpdate? {
      guard let watch else {
        let watch = try await conflicts.makeWatch()
        self.watch = watch
        guard let existing = await watch.watcher.catchUp(), !Task.isCancelled else { return nil }
        let changes = try await takeIn(existing.expandedChanges, dirty: [], all: true)
        return FileConflictUpdate(conflicts: map.sorted, changes: changes)
      }
      while let news = await watch.next(), !Task.isCancelled {
        let changes = try await takeIn(news.changes, dirty: news.paths, all: news.isIncomplete)
        if !changes.isEmpty { return FileConflictUpdate(conflicts: map.sorted, changes: changes) }
      }
      if let error = watch.watcher.error {
        throw FileVersionError(.fileSystem, error.description, underlyingError: error)
      }
      return nil
    }

    /// Takes in changes; if `all`, any stored conflict may have changed.
    private mutating func takeIn(
      _ changes: [TreeChange], dirty: Set<SystemPath>, all: Bool, isolation actor: isolated (any Actor)? = #isolation
    ) async throws(FileVersionError) -> [FileConflictUpdate.Change] {
      let (map, directory) = (map, conflicts.directory)
      let (updated, differences) = try await conflicts.versions.perform { keeper in
        var (map, dirty) = (map, dirty)
        if all {
          let top = try keeper.path(ofDirectory: directory)
          dirty.formUnion(try keeper.filesWithStoredConflicts(below: top))
          dirty.formUnion(map.conflicts.values.filter { $0.storedConflictCount > 0 }.map(\.path))
        }
        let differences = try map.update(changes, dirty: dirty) { try keeper.storedConflictCount(at: $0) }
        return (map, differences)
      }
      self.map = updated
      return differences
    }
  }
}
