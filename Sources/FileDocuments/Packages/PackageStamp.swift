internal import CompactContainers
internal import ContentHashing
internal import FilePackages
internal import SystemInterface

/// Descriptions of a package without its bytes.
struct PackageStamps: Equatable {
  /// Of all members.
  let all: ContentHash
  /// Of all members but one.
  let others: ContentHash
}

extension PackageTree {
  /// A description of a package without its bytes: identity, size and modification time of each file in it.
  ///
  /// A directory counts by what is in it: its own dates also change with attributes of a save.
  ///
  /// - Complexity: O(members), one system call for each.
  func stamp() throws(PackageError) -> ContentHash { try stamps(leavingOut: nil).all }

  /// The same, and also without one member.
  ///
  /// - Parameter path: The member; `nil` for none.
  /// - Returns: Both descriptions.
  /// - Throws: Errors of reading directories.
  func stamps(leavingOut path: SystemPath?) throws(PackageError) -> PackageStamps {
    var (all, others) = (ContentHasher(), ContentHasher())
    if let top { try Self.stamp(top, leavingOut: path, &all, &others) }
    let stamp = all.finalized()
    return PackageStamps(all: stamp, others: path == nil ? stamp : others.finalized())
  }

  private static func stamp(
    _ directory: StoredMember, leavingOut path: SystemPath?, _ all: inout ContentHasher, _ others: inout ContentHasher
  ) throws(PackageError) {
    for (_, member, status) in try directory.members() {
      let place = member.place.path
      var bytes = place.bytes
      let isDirectory = status.kind == .directory
      bytes.append(0)
      for number in [
        status.device, status.inode, UInt64(bitPattern: status.size), UInt64(bitPattern: status.modificationTime),
      ] {
        bytes.append(littleEndian: isDirectory ? 0 : number)
      }
      all.update(bytes)
      if path != nil, path != place { others.update(bytes) }
      if isDirectory { try stamp(member, leavingOut: path, &all, &others) }
    }
  }
}
