internal import FileCoordination
internal import FileWatching
public import FoundationEssentials
internal import SystemInterface
internal import VersionStore

/// A file that's gone, and whose versions are kept.
///
/// They are kept until somebody removes them: nothing is forgotten by itself.
public struct DeletedFile: Hashable, Sendable {
  /// Where it was.
  public let url: URL
  /// When it was missed first: the file is gone at least since then.
  public let absenceDate: Date
  /// Its versions, newest first; at least one.
  public let versions: [FileVersion]

  let gone: GoneItem
}

extension FileVersions {
  /// The files below a directory that are gone, and whose versions are kept.
  ///
  /// A file that was moved by a program that doesn't coordinate is listed as well, until somebody looks at its versions where it is.
  ///
  /// If a restoration, a resolution or a save was killed, and its file is gone, the contents that it has left beside the file are among the
  /// versions (rules CV-37, CV-39); for a save without a version that's so if the file had versions, otherwise see ``keepLeftovers(of:)``.
  ///
  /// Volumes that are mounted below the directory aren't searched: name a directory there.
  ///
  /// - Parameter directory: The directory; it needn't be there any more.
  /// - Returns: The files, in the order of their paths, of several at one path the one that was missed last first.
  /// - Throws: ``FileVersionError``.
  /// - Complexity: O(files below the directory that ever had versions), and O(names in the directories of those that are gone).
  /// - Note: Rule CV-29.
  public func deletedFiles(below directory: URL) async throws(FileVersionError) -> [DeletedFile] {
    try await perform { keeper in try keeper.deletedFiles(below: keeper.path(of: directory)) }
  }

  /// The file that was at a URL last, and whose versions are kept.
  ///
  /// - Parameter url: Where it was.
  /// - Returns: The file; `nil` if there's none.
  /// - Throws: ``FileVersionError``.
  public func deletedFile(at url: URL) async throws(FileVersionError) -> DeletedFile? {
    try await deletedFiles(at: url).first
  }

  /// The files that were at a URL one after the other, and whose versions are kept, the one that was missed last first.
  ///
  /// - Parameter url: Where they were.
  /// - Returns: The files.
  /// - Throws: ``FileVersionError``.
  public func deletedFiles(at url: URL) async throws(FileVersionError) -> [DeletedFile] {
    try await perform { keeper in
      let path = try keeper.path(of: url)
      return try keeper.deletedFiles(below: path).filter { $0.gone.path == path }
    }
  }

  /// Brings a file that's gone back to where it was, with its history; directories around it are made if they are gone too.
  ///
  /// - Parameters:
  ///   - file: The file.
  ///   - version: The version that it gets; the newest unless stated.
  /// - Throws: ``FileVersionError`` with code `.fileExists` if another file is there, which has a history of its own.
  public func recover(_ file: DeletedFile, _ version: FileVersion? = nil) async throws(FileVersionError) {
    try await perform { keeper in try keeper.recover(file, version ?? file.versions[0]) }
  }

  /// Removes the versions of a file that's gone, unless it's there again; there's no way back.
  ///
  /// Presenters of the directories around it are notified of each version that's lost.
  ///
  /// - Parameter file: The file.
  /// - Throws: ``FileVersionError``.
  public func removeVersions(of file: DeletedFile) async throws(FileVersionError) {
    try await perform { keeper in
      let lost: [FileVersion.ID] = try keeper.withStoreIfPresent(at: file.gone.path, otherwise: []) { store in
        try store.noteAbsence(of: file.gone)
        let versions = (try? store.versions(of: file.gone.item)) ?? []
        return try store.forget(file.gone) ? versions.map { FileVersion.ID($0.item, $0.id) } : []
      }
      // No version is kept if nobody can be notified of it.
      for id in lost { try? keeper.coordinator.announceVersion(.lost, named: id.description, at: file.url) }
    }
  }
}

extension VersionKeeper {
  func deletedFiles(below path: SystemPath) throws -> [DeletedFile] {
    takeLeftovers(below: path)
    let (paths, unnoted) = try goneFiles(below: path)
    keepLeftovers(ofGoneFiles: paths)
    return try withStoreIfPresent(at: path, otherwise: []) { store in
      let gone = try (store.goneItems(below: path) + unnoted).sorted { ($0.path, $1.time) < ($1.path, $0.time) }
      return try gone.compactMap { item in
        let versions = try store.versions(of: item.item).reversed().map { FileVersion($0, in: store) }
        guard let url = item.path.url, !versions.isEmpty else { return nil }
        return DeletedFile(
          url: url, absenceDate: Date(nanosecondsSince1970: item.time), versions: versions, gone: item)
      }
    }
  }

  /// Notes which files are gone, and completes what killed saves with versions have left of them.
  ///
  /// - Returns: Their paths, and the histories of which that couldn't be noted, on a volume that can't be written.
  private func goneFiles(below path: SystemPath) throws -> (paths: Set<SystemPath>, unnoted: [GoneItem]) {
    try withStoreIfPresent(at: path, otherwise: ([], [])) { store in
      let unnoted = try store.noteAbsences(below: path)
      let gone = try store.goneItems(below: path)
      // A leftover that can't be kept, on a full disk for example, stays where it is.
      for item in gone { try? store.completeMoves(of: item.item) }
      return (Set(gone.map(\.path)), unnoted)
    }
  }

  func recover(_ file: DeletedFile, _ version: FileVersion) throws {
    guard let stored = version.stored, stored.item == file.gone.item else {
      throw FileVersionError(.versionIsGone, "The version \(version.id) isn't one of '\(file.url.path)'.")
    }
    try coordinator.blocking.write(file.url, options: .forReplacing) { access in
      let path = access.canonicalPath
      try FileManager.default.createDirectory(
        at: Self.url(of: path.parent), withIntermediateDirectories: true)
      try withStore(at: [path], making: false) { store in
        try store.noteAbsence(of: file.gone)
        guard try store.isGone(file.gone) else {
          throw FileVersionError(
            .fileExists,
            "The file that was at '\(path)' isn't gone any more, or its versions are. List the deleted files again.")
        }
        // One with the same contents is what a crash has left in the middle of this.
        if let there = try store.contents(ofItemAt: path) {
          if try there.hash != store.hashed(stored).hash {
            throw FileVersionError(
              .fileExists, "Another file is at '\(path)'. Move it away, or restore the version to another path.")
          }
        } else {
          // If the process is killed before the next step, the next look at the file finds its history by the tag.
          try store.restore(stored, to: path, over: .nothing, taggedAs: file.gone.item)
        }
        try store.revive(file.gone, at: path)
      }
    }
  }
}
