internal import FileCoordination
internal import FileWatching
internal import FoundationEssentials
internal import SystemInterface
internal import VersionStore

// A version becomes a file, and is no version any more.

extension VersionKeeper {
  /// The same as ``restore(_:inPlaceOf:to:_:)``, and removes the version.
  ///
  /// The version may be another file's, and in the store of another volume. So its history is claimed together with the places of the file, and
  /// the version is searched for before the file changes: of several processes that want it, one gets it, and the files of the others stay as
  /// they are.
  ///
  /// An error of the removal would be one of a file that was replaced. Nothing is lost with a version too many, so it stays then.
  func restoreByMoving(
    _ version: StoredVersion, inPlaceOf old: SystemPath, to path: SystemPath, _ announce: (VersionChange) -> Void
  ) throws {
    for _ in 0..<Self.placeMoveCountMax {
      let store = try store(for: path)
      let home = try storeOfVersion(version, insteadOf: store)
      let place = try home.place(of: version.item)
      let places = Set([store.place(of: old), store.place(of: path), place].compactMap(\.self))
      let intents = places.sorted().map { FileAccessIntent.writing(Self.url(of: $0), options: .forMerging) }
      let isDone = try coordinator.blocking.coordinate(intents) { _ in
        if try home.place(of: version.item) != place { return false }
        guard try home.versionIfPresent(version.id, of: version.item) != nil else {
          throw VersionStoreError.versionIsGone(version.id)
        }
        try restore(version, inPlaceOf: old, to: path, announce)
        // The history may have been taken over from the other volume meanwhile.
        if (try? storeOfVersion(version, insteadOf: store).remove(version.id, of: version.item)) != nil {
          announce(VersionChange(.lost, FileVersion.ID(version.item, version.id)))
        }
        return true
      }
      if isDone { return }
    }
    throw FileVersionError(
      .coordination,
      "The file of the version \(version.id) was moved again and again while the version was to be taken. '\(path)' is as it was; try again."
    )
  }

  /// How often a history may move while its place is claimed.
  private static let placeMoveCountMax = 8
}
