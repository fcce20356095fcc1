package import ContentHashing
internal import FileCoordination
package import FoundationEssentials
package import SystemInterface
internal import VersionStore

/// The calls of ``FileVersions`` without an access of their own: the caller has one, or does without.
///
/// Each may be one step of a larger write. Presenters are notified of versions that are gained, lost or resolved.
package struct VersionsWithinAccess: Sendable {
  private let keeper: VersionKeeper
  private let coordinator: FileCoordinator

  package init(_ versions: FileVersions) { self.init(versions.keeper) }

  init(_ keeper: VersionKeeper) {
    self.keeper = keeper
    coordinator = keeper.coordinator
  }

  /// See ``FileVersions/addVersion(of:contentsOf:byMoving:isConflict:parents:isPackage:)``.
  package func add(
    to url: URL, contentsOf source: URL, byMoving: Bool, isConflict: Bool = false
  ) throws(FileVersionError) -> FileVersion {
    try keeper.throwing { keeper in
      let addition = Addition(isConflict: isConflict, byMoving: byMoving)
      let version = try keeper.add(at: keeper.path(of: url), from: keeper.path(of: source), addition)
      announce(.gained, version.id, at: url)
      return version
    }
  }

  /// See ``FileVersions/itemDidMove(from:to:)``.
  package func noteMove(from old: URL, to new: URL) throws(FileVersionError) {
    try keeper.throwing { keeper in try keeper.noteMove(from: keeper.path(of: old), to: keeper.path(of: new)) }
  }

  /// Whether a file may have versions, as far as that's known without a look into any store.
  ///
  /// - Parameter path: The file, as a canonical path.
  /// - Returns: `false` if there's no store, and no engine's copies count.
  package func mayHaveVersions(at path: SystemPath) -> Bool { keeper.mayHaveVersions(at: path) }

  /// Keeps what a killed save has left beside a file or package as a version, unless the item or a version has it.
  ///
  /// If the file is gone, the version is one of the file that was there last, see ``FileVersions/deletedFiles(below:)``, or of the file that
  /// has moved from there.
  ///
  /// - Parameters:
  ///   - leftover: The file or package that was left, as a canonical path.
  ///   - url: The file, which nobody saves meanwhile.
  /// - Returns: Whether the text is kept; `false` if it couldn't be.
  package func keepLeftover(_ leftover: SystemPath, of url: URL) -> Bool {
    do {
      return try keeper.throwing { keeper in
        if let kept = try keeper.keepLeftover(leftover, at: keeper.path(of: url)) {
          keeper.announce(kept.id, takenAt: kept.path)
        }
        return true
      }
    } catch { return false }
  }

  /// Whether one of a package's versions has a member with some contents.
  package func hasMember(
    _ member: SystemPath, _ hash: ContentHash, inVersionOf url: URL
  ) throws(FileVersionError) -> Bool {
    try keeper.throwing { keeper in try keeper.hasMember(member, hash, inVersionOf: keeper.path(of: url)) }
  }

  /// Keeps bytes that are in no file as a version of a file.
  package func add(to url: URL, contents: [UInt8], isConflict: Bool) throws(FileVersionError) -> FileVersion {
    try keeper.throwing { _ in
      try add(to: url, isConflict: isConflict) { source in
        try HostFileSystem().replaceContents(of: source, with: contents, permission: .required)
      }
    }
  }

  /// Keeps an item that's made for that purpose as a version of a file.
  ///
  /// - Parameters:
  ///   - url: The file.
  ///   - isConflict: Whether the version is one of a conflict.
  ///   - make: Makes the item at the path that it gets.
  /// - Returns: The version.
  /// - Throws: ``FileVersionError``, or the error of `make`.
  package func add(
    to url: URL, isConflict: Bool = false, making make: (SystemPath) throws -> Void
  ) throws -> FileVersion {
    let path = try keeper.path(of: url)
    let directory = try keeper.makeTemporaryDirectory(for: path)
    defer { try? keeper.removeTemporaryDirectory(directory) }
    let source = try keeper.path(of: directory).appending(path.lastComponent)
    try make(source)
    return try keeper.throwing { keeper in
      let version = try keeper.add(at: path, from: source, Addition(isConflict: isConflict, byMoving: true))
      announce(.gained, version.id, at: url)
      return version
    }
  }

  /// See ``FileVersions/restore(_:to:)``.
  ///
  /// - Parameters:
  ///   - version: A version that's kept.
  ///   - url: The file; it doesn't have to exist.
  ///   - byMoving: Whether the version goes. If it can't be removed when the file has its contents, it stays.
  /// - Returns: Where the contents are.
  /// - Throws: ``FileVersionError``; the file is as it was then.
  package func restore(_ version: FileVersion, to url: URL, byMoving: Bool) throws(FileVersionError) -> URL {
    try keeper.throwing { keeper in
      guard let stored = version.stored else { throw VersionKeeper.currentVersionError(version) }
      let target = VersionKeeper.url(url, withTypeOf: stored)
      let (old, path) = (try keeper.path(of: url), try keeper.path(of: target))
      func announce(_ change: VersionChange) { self.announce(change.change, change.id, at: target) }
      if byMoving {
        try keeper.restoreByMoving(stored, inPlaceOf: old, to: path, announce)
      } else {
        try keeper.restore(stored, inPlaceOf: old, to: path, announce)
      }
      return target
    }
  }

  /// See ``FileVersions/remove(_:of:)``.
  package func remove(_ version: FileVersion, of url: URL) throws(FileVersionError) {
    try keeper.throwing { keeper in
      guard let stored = version.stored else { throw VersionKeeper.currentVersionError(version) }
      try keeper.withHistory(of: stored, at: keeper.path(of: url)) { store in
        try keeper.remove(stored, from: store)
      }
      announce(.lost, version.id, at: url)
    }
  }

  /// Removes many versions of a file; others have to wait for the history for a part of them at a time.
  ///
  /// - Complexity: O(versions).
  package func remove(_ versions: [FileVersion], of url: URL) throws(FileVersionError) {
    try keeper.throwing { keeper in
      let path = try keeper.path(of: url)
      var rest = versions[...]
      while let first = rest.first {
        guard let any = first.stored else { throw VersionKeeper.currentVersionError(first) }
        var removed: [FileVersion.ID] = []
        defer { for id in removed { announce(.lost, id, at: url) } }
        try keeper.withHistory(of: any, at: path) { store in
          for version in rest.prefix(VersionKeeper.removalBatchCount) {
            guard let stored = version.stored else { throw VersionKeeper.currentVersionError(version) }
            try keeper.remove(stored, from: store, forgetting: false)
            removed.append(version.id)
          }
          rest = rest.dropFirst(removed.count)
          if rest.isEmpty, keeper.removalWindow > .zero { try keeper.forgetRemovals(in: store, of: any.item) }
        }
      }
    }
  }

  /// See ``FileVersions/markResolved(_:of:)``.
  package func markResolved(_ version: FileVersion, of url: URL) throws(FileVersionError) -> FileVersion {
    try keeper.throwing { keeper in
      guard let stored = version.stored else { throw VersionKeeper.currentVersionError(version) }
      let changed = try keeper.markResolved(stored, at: keeper.path(of: url))
      announce(.resolved, version.id, at: url)
      return changed
    }
  }

  /// A version that was announced for a file; `nil` if it isn't kept any more, or is none of this library's.
  package func version(named name: String, near url: URL) -> FileVersion? {
    guard let id = FileVersion.ID(name), let version = id.version else { return nil }
    return try? keeper.throwing { keeper in
      let path = try keeper.path(of: url)
      return try keeper.withStoreIfPresent(at: path, otherwise: nil) { store in
        // Without a look at the file, which may be about to come back.
        if try store.place(of: id.item) == store.place(of: path) { _ = try? store.unfold(of: id.item) }
        return try store.versionIfPresent(version, of: id.item).map { FileVersion($0, in: store) }
      }
    }
  }

  /// No version is lost if nobody can be notified of it.
  private func announce(_ change: FileVersionChange, _ id: FileVersion.ID, at url: URL) {
    try? coordinator.announceVersion(change, named: id.description, at: url)
  }
}
