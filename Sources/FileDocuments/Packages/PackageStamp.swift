internal import CompactContainers
internal import ContentHashing
internal import FilePackages
internal import SystemInterface

extension PackageTree {
  /// A description of a package without its bytes: identity, size and modification time of each file in it.
  ///
  /// A directory counts by what is in it: its own dates also change with attributes of a save.
  ///
  /// - Complexity: O(members), one system call for each.
  func stamp() throws(PackageError) -> ContentHash {
    var hasher = ContentHasher()
    if let top { try Self.stamp(top, &hasher) }
    return hasher.finalized()
  }

  private static func stamp(_ directory: StoredMember, _ hasher: inout ContentHasher) throws(PackageError) {
    for (_, member, status) in try directory.members() {
      var bytes = member.place.path.bytes
      let isDirectory = status.kind == .directory
      bytes.append(0)
      for number in [
        status.device, status.inode, UInt64(bitPattern: status.size), UInt64(bitPattern: status.modificationTime),
      ] {
        bytes.append(littleEndian: isDirectory ? 0 : number)
      }
      hasher.update(bytes)
      if isDirectory { try stamp(member, &hasher) }
    }
  }
}
