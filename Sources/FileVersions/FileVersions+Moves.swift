internal import ContentHashing
internal import FileCoordination
public import FoundationEssentials
internal import SystemInterface
internal import VersionStore

// Reports of moves and deletions that a program makes itself. With extended attributes a history is found again without
// them.

extension FileVersions {
  /// Notes that a file or a directory has moved, with the histories of what is in it.
  ///
  /// Only needed on file systems without extended attributes, where nothing else says that it's the same file. To be called inside of the
  /// access in which it was moved. If the place has a history already, and what moved has none, that goes on: programs save so.
  ///
  /// - Parameters:
  ///   - old: Where it was.
  ///   - new: Where it is; may be on another volume.
  /// - Throws: ``FileVersionError``.
  /// - Complexity: O(files below it that have histories); on another volume O(bytes of their versions).
  public func itemDidMove(from old: URL, to new: URL) async throws(FileVersionError) {
    try await perform { keeper in try keeper.noteMove(from: keeper.path(of: old), to: keeper.path(of: new)) }
  }

  /// Notes that a file or a directory was deleted, so that a new file at its place begins a history of its own at once.
  ///
  /// Without this a file that's missed may come back for two seconds: many editors put the old file away before they write the new one.
  ///
  /// - Parameter url: Where it was.
  /// - Throws: ``FileVersionError``.
  /// - Complexity: O(files below it that had histories).
  public func itemWasDeleted(at url: URL) async throws(FileVersionError) {
    try await perform { keeper in
      let path = try keeper.path(of: url)
      try keeper.withStoreIfPresent(at: path, otherwise: ()) { store in
        if try store.files.statusIfPresent(of: path) == nil { try store.noteRemoval(of: path) }
      }
    }
  }

  /// The SHA-256 of a file's present contents, as 64 hexadecimal digits; of a package, of the list of its members.
  ///
  /// Presenters save first.
  ///
  /// - Parameter url: The file.
  /// - Returns: The hash, to be compared with ``FileVersion/contentHash``; `nil` when nothing is there.
  /// - Throws: ``FileVersionError``.
  /// - Complexity: O(bytes).
  /// - Note: Rule FV-1.
  public func contentHash(of url: URL) async throws(FileVersionError) -> String? {
    try await perform { keeper in
      try keeper.coordinator.blocking.read(url) { access in
        try keeper.store(for: access.canonicalPath).contents(ofItemAt: access.canonicalPath)?.hash.description
      }
    }
  }
}

extension VersionKeeper {
  func noteMove(from old: SystemPath, to new: SystemPath) throws {
    if try !storage.hasStore(for: old) { return }
    let directories = try (storage.directory(for: old, making: false), storage.directory(for: new))
    if !VersionStore.exists(at: directories.0) { return }
    if directories.0 == directories.1 {
      return try withStore(at: [old, new], making: false) { store in try store.noteMove(from: old, to: new) }
    }
    try withStore(at: [new]) { store in
      let former = try self.store(for: old, making: false)
      for (path, item) in try former.items(below: old) {
        let there = path == old ? new : SystemPath(bytes: new.bytes + path.bytes.dropFirst(old.bytes.count))
        let isKnown = try store.item(at: there, creating: false) == item
        if try isKnown || !store.adopt(item, at: there, from: former) { continue }
        try store.revive(GoneItem(item: item, path: there, time: time()), at: there)
      }
    }
  }
}
