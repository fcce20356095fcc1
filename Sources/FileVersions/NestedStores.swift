internal import ContentHashing
internal import SystemInterface

/// The user's stores that aren't at the top of a mount, as in a subvolume of btrfs: the table of mounts doesn't lead there.
///
/// Each is noted as a symbolic link in `$XDG_DATA_HOME/file-versions-nested`, whose name is the beginning of the SHA-256 of its path. So a
/// file that has moved out of such a volume still finds the store of its history.
enum NestedStores {
  private static let directoryName = "file-versions-nested"

  /// Notes a store unless it's at the top of a mount, or noted already.
  ///
  /// A file that moves from there to another volume begins a history of its own if that fails.
  ///
  /// - Complexity: O(mounts).
  static func note(_ store: SystemPath, mounts: [MountTable.Mount] = MountTable.mounts) {
    if mounts.contains(where: { $0.path == store.parent }) { return }
    guard let directory = try? DataHome.privateDirectory(directoryName) else { return }
    let name = SystemPath(String(ContentHash(of: store.bytes).description.prefix(32)))
    try? HostFileSystem().makeSymbolicLink(directory.appending(name), at: .workingDirectory, target: store)
  }

  /// The stores that are noted, but for those on volumes that may not answer; they may be gone, or somebody else's.
  static func paths(on mounts: LocalMounts) throws(SystemError) -> [SystemPath] {
    let directory = try DataHome.path().appending(SystemPath(directoryName))
    return (try HostFileSystem().names(in: directory)).compactMap { name in
      try? HostFileSystem().readLink(directory.appending(name), at: .workingDirectory)
    }.filter { $0.isAbsolute && mounts.answer(at: $0) }.sorted()
  }
}
