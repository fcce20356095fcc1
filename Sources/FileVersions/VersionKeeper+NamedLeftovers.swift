internal import FileCoordination
internal import FoundationEssentials
internal import SystemInterface
internal import VersionStore

// The leftovers of killed saves of which no store has a record, as those of documents: they are found by their names.

extension VersionKeeper {
  /// Makes versions of what killed saves of a file have left beside it: nobody else saves it meanwhile.
  ///
  /// - Returns: The versions that were added.
  func keepLeftovers(ofSavesOf path: SystemPath) throws -> [FileVersion.ID] {
    if Self.pathsWithLeftovers(among: [path]).isEmpty { return [] }
    var (added, failure): ([FileVersion.ID], (any Error)?) = ([], nil)
    try coordinator.blocking.read(Self.url(of: path), options: .withoutChanges) { access in
      let path = access.canonicalPath
      _ = try HostFileSystem().removeLeftovers(ofSavesOf: path) { leftover in
        do {
          if let kept = try keepLeftover(leftover, at: path) {
            announce(kept.id, takenAt: kept.path)
            added.append(kept.id)
          }
          return true
        } catch {
          failure = failure ?? error
          return false
        }
      }
    }
    if let failure { throw failure }
    return added
  }

  /// The same for files that are gone; a leftover that can't be kept stays where it is.
  func keepLeftovers(ofGoneFiles paths: Set<SystemPath>) {
    for path in Self.pathsWithLeftovers(among: paths) { _ = try? keepLeftovers(ofSavesOf: path) }
  }

  /// Those of some paths beside which there seem to be leftovers.
  ///
  /// - Complexity: O(names in the directories of the paths).
  private static func pathsWithLeftovers(among paths: Set<SystemPath>) -> [SystemPath] {
    Dictionary(grouping: paths, by: \.parent).flatMap { directory, paths in
      let names = (try? HostFileSystem().names(in: directory)) ?? []
      let left = Set(names.filter(\.isNameOfLeftover).compactMap(\.nameOfTemporary))
      return paths.filter { left.contains($0.lastComponent) }
    }.sorted()
  }

  /// See ``FileVersions/leftovers(below:)``.
  func leftovers(below top: SystemPath) throws -> [SaveLeftover] {
    let store = try? storage.directory(for: top, making: false)
    var found: [(path: SystemPath, file: SystemPath)] = []
    var waiting = [top]
    while let directory = waiting.popLast() {
      guard directory != store, let entries = try Self.entries(of: directory, isRequired: directory == top) else {
        continue
      }
      for entry in entries {
        let path = directory.appending(entry.name)
        if entry.name.isNameOfLeftover, let name = entry.name.nameOfTemporary {
          found.append((path, directory.appending(name)))
        } else if entry.kind == .directory, !Self.isUnentered(entry.name) {
          waiting.append(path)
        }
      }
    }
    // Saves that were under way are over by now, most of them.
    return found.sorted { $0.path < $1.path }.compactMap { leftover in
      guard let status = try? HostFileSystem().statusIfPresent(of: leftover.path),
        status.kind == .directory || status.kind == .regular && status.size > 0
      else { return nil }
      return SaveLeftover(url: Self.url(of: leftover.path), fileURL: Self.url(of: leftover.file))
    }
  }

  /// The names in a directory with their kinds; `nil` for one that can't be read and isn't required.
  private static func entries(of directory: SystemPath, isRequired: Bool) throws -> [DirectoryEntry]? {
    let files = HostFileSystem()
    do throws(SystemError) {
      return try files.withDescriptor(directory, flags: [.directory, .noFollow]) { (descriptor) throws(SystemError) in
        var all: [DirectoryEntry] = []
        while let entries = try files.readDirectory(descriptor) { all += entries }
        for index in all.indices where all[index].kind == nil {
          all[index].kind = try files.statusIfPresent(of: all[index].name, at: descriptor)?.kind
        }
        return all
      }
    } catch {
      if isRequired { throw error }
      return nil
    }
  }

  /// Where sync engines keep old files, and stores at the tops of volumes.
  private static func isUnentered(_ name: SystemPath) -> Bool {
    name == SystemPath(".stversions") || name.bytes.starts(with: ".file-versions-".utf8)
  }
}

extension SystemPath {
  /// Whether a killed save may have left something with this name that's worth keeping.
  ///
  /// New contents that never had their place aren't, nor is what was being removed.
  fileprivate var isNameOfLeftover: Bool { isTemporaryName && !isIncomingName && !isNamedForRemoval }
}
