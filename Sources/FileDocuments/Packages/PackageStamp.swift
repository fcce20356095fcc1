internal import CompactContainers
internal import ContentHashing
internal import FilePackages
internal import SystemInterface

/// Descriptions of a package without its bytes.
struct PackageStamps {
  /// Of all members.
  var all: ContentHash { hasher.finalized() }
  private var hasher = ContentHasher()
  /// Of the members before the one that's left out; `nil` if that isn't there.
  private var before: ContentHasher?
  /// The descriptions of the members after it.
  private var after: [UInt8] = []

  /// Of all members but one.
  var others: ContentHash { before.map { Self.hash($0, after) } ?? all }

  /// Of all members, if the one that's left out gets another status; `nil` if it isn't there.
  func replacing(_ place: SystemPath, _ status: FileStatus) -> ContentHash? {
    before.map { Self.hash($0, Self.description(of: place, status) + after) }
  }

  fileprivate mutating func add(_ place: SystemPath, _ status: FileStatus, isLeftOut: Bool) {
    let description = Self.description(of: place, status)
    if isLeftOut { before = hasher } else if before != nil { after += description }
    hasher.update(description)
  }

  private static func description(of place: SystemPath, _ status: FileStatus) -> [UInt8] {
    var bytes = place.bytes
    bytes.append(0)
    let isDirectory = status.kind == .directory
    for number in [
      status.device, status.inode, UInt64(bitPattern: status.size), UInt64(bitPattern: status.modificationTime),
    ] {
      bytes.append(littleEndian: isDirectory ? 0 : number)
    }
    return bytes
  }

  private static func hash(_ hasher: ContentHasher, _ bytes: [UInt8]) -> ContentHash {
    var hasher = hasher
    hasher.update(bytes)
    return hasher.finalized()
  }
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
    var stamps = PackageStamps()
    if let top { try Self.stamp(top, leavingOut: path, &stamps) }
    return stamps
  }

  private static func stamp(
    _ directory: StoredMember, leavingOut path: SystemPath?, _ stamps: inout PackageStamps
  ) throws(PackageError) {
    for (_, member, status) in try directory.members() {
      let place = member.place.path
      stamps.add(place, status, isLeftOut: place == path)
      if status.kind == .directory { try stamp(member, leavingOut: path, &stamps) }
    }
  }
}
