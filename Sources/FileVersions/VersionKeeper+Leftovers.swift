internal import ContentHashing
internal import FileCoordination
internal import FileWatching
internal import FoundationEssentials
internal import SystemInterface
internal import VersionStore

// A leftover of a killed save becomes a version before it's removed: another program may have written it in the last instant.

extension VersionKeeper {
  /// Keeps what a killed save has left, unless the item at the path has the same contents, or one of its versions.
  ///
  /// If nothing is at the path, the version is one of the file that was there, wherever that is now. Links and special files have no
  /// contents that could be kept.
  ///
  /// - Returns: The version that was added, and where its file is or was; `nil` if the contents are elsewhere already.
  func keepLeftover(_ leftover: SystemPath, at path: SystemPath) throws -> (id: FileVersion.ID, path: SystemPath)? {
    guard let status = try HostFileSystem().statusIfPresent(of: leftover),
      status.kind == .regular || status.kind == .directory
    else { return nil }
    var claimed: Set<SystemPath> = [path]
    for _ in 0..<Self.historyMoveCountMax {
      let outcome = try withStore(at: claimed.sorted()) { store -> LeftoverOutcome in
        let history = try store.history(ofLeftover: leftover, at: path)
        guard claimed.contains(history.path) else { return .isElsewhere(history.path) }
        try store.completeMoves(of: history.item)
        let version = try store.addUnlessKept(leftover, to: history.item, at: history.path, attributes)
        return .isKept(version.map { (FileVersion.ID(history.item, $0.id), history.path) })
      }
      switch outcome {
      case .isKept(let version): return version
      case .isElsewhere(let other): claimed = [path, other]
      }
    }
    throw VersionStoreError.nothingThere(path)
  }

  private enum LeftoverOutcome {
    case isKept((id: FileVersion.ID, path: SystemPath)?)
    /// The history is at another path, which has to be claimed first.
    case isElsewhere(SystemPath)
  }

  /// How often a history may move while its new place is claimed.
  private static let historyMoveCountMax = 4

  /// Whether a package has a member with some contents in one of its versions.
  func hasMember(_ member: SystemPath, _ hash: ContentHash, inVersionOf path: SystemPath) throws -> Bool {
    try withStoreIfPresent(at: path, otherwise: false) { store in
      guard let item = try store.item(at: path, creating: false) else { return false }
      return try store.versions(of: item).reversed().contains { version in
        try version.isPackage
          && store.members(of: version).contains { $0.path == member && $0.contents?.hash == hash }
      }
    }
  }

  // MARK: - Restorations and resolutions that were killed

  /// Makes versions of what restorations have left that were killed, at all paths of a store that this process begins to use.
  ///
  /// A leftover that can't be taken now, because another process is at work at its path for example, is taken with the next use of that path.
  func takeLeftovers(in store: VersionStore) { takeLeftovers(in: store, below: .root) }

  /// The same at a path and below it, before files are listed that are gone: their leftovers may be in no other place.
  func takeLeftovers(below path: SystemPath) {
    guard let root = try? storage.directory(for: path, making: false), VersionStore.exists(at: root),
      let store = try? store(for: path, making: false)
    else { return }
    takeLeftovers(in: store, below: path)
  }

  private func takeLeftovers(in store: VersionStore, below directory: SystemPath) {
    for path in (try? store.cutOffSaves()) ?? []
    where path == directory || path.isInside(directory) {
      try? withStore(at: [path]) { _ in }
    }
  }

  /// The same at one path, whose place in the store the caller has claimed, like those of the other paths.
  ///
  /// - Returns: The versions: none if they can't be kept, on a full disk for example; the next call tries again.
  func takeLeftovers(at path: SystemPath, in store: VersionStore, claimed: [SystemPath]) -> TakenLeftovers {
    let taken = try? store.takeLeftovers(at: path, attributes, claimed: Set(claimed))
    return taken ?? TakenLeftovers()
  }

  /// Notifies presenters of a resolution whose process was killed before it could do that.
  static func announce(
    _ resolution: ConflictResolution, of item: ItemID, at path: SystemPath, in domain: CoordinationDomain
  ) {
    let coordinator = FileCoordinator(label: "file versions", domain: domain)
    for change in resolution.changes(of: item) {
      try? coordinator.announceVersion(change.change, named: change.id.description, at: url(of: path))
    }
  }

  /// No version is lost if nobody can be notified of it.
  func announce(_ id: FileVersion.ID, takenAt path: SystemPath) {
    try? coordinator.announceVersion(.gained, named: id.description, at: Self.url(of: path))
  }
}
