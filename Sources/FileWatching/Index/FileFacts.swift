package import SystemInterface

/// The record of a file in an index apart from its name: the results of statx(2).
package struct FileFacts: Hashable, Sendable {
  /// Kind and permissions, `st_mode`.
  package var mode: UInt16
  package var owner: UInt32
  package var group: UInt32
  /// In bytes.
  package var size: Int64
  /// In nanoseconds since 1970.
  package var modificationTime: Int64
  /// Without its lowest bit, for which there's no room in the index.
  package var changeTime: Int64
  /// `nil` where the file system doesn't keep it.
  package var creationTime: Int64?
  package var identity: FileIdentity
  /// Whether the file has other names.
  package var isLinked: Bool
  /// Whether statx(2) was asked.
  ///
  /// If not, only kind and identity are known, and the change time is when the name was read.
  package var isRead = true

  /// Bits of no kind, so that no file has a mode of 0.
  private static let unknownKind: UInt32 = 0o170000

  package init(_ status: FileStatus) {
    let kind = status.kind == .unknown ? Self.unknownKind : status.kind.modeBits
    mode = UInt16(truncatingIfNeeded: kind | status.mode)
    owner = status.owner
    group = status.group
    size = status.size
    modificationTime = status.modificationTime
    changeTime = status.changeTime & ~1
    creationTime = status.creationTime
    identity = status.identity
    isLinked = status.linkCount > 1 && status.kind != .directory
  }

  /// The facts that a directory has about an entry that isn't a directory.
  ///
  /// - Parameters:
  ///   - kind: The kind of file.
  ///   - identity: Its device and inode.
  ///   - moment: The time that it would have got if it had been changed when it was read.
  package init(kind: FileKind, _ identity: FileIdentity, readAt moment: Int64) {
    mode = UInt16(truncatingIfNeeded: kind == .unknown ? Self.unknownKind : kind.modeBits)
    owner = .max
    group = .max
    size = 0
    modificationTime = 0
    changeTime = moment & ~1
    self.identity = identity
    isLinked = false
    isRead = false
  }

  /// The facts that a listing has about a member without an error.
  init(_ listing: DirectoryListing, _ member: DirectoryListing.Member, device: UInt64, readAt moment: Int64) {
    if let status = listing.status(of: member) {
      self.init(status)
    } else {
      let identity = FileIdentity(device: device, inode: member.inode ?? 0)
      self.init(kind: member.kind ?? .unknown, identity, readAt: moment)
    }
  }

  init(_ row: FileRow, _ volume: VolumeTable.Volume) {
    mode = row.mode
    owner = volume.owner
    group = volume.group
    size = row.size
    modificationTime = row.modificationTime
    changeTime = row.changeTime
    creationTime = row.creationTime <= FileRow.unread ? nil : row.creationTime
    identity = FileIdentity(device: volume.device, inode: row.inode)
    isLinked = row.isLinked
    isRead = row.isRead
  }

  /// Whether a file hasn't altered since, as far as these facts show.
  ///
  /// If only its name had been read, it hasn't altered if its last change was before that.
  package func hold(for later: FileFacts) -> Bool {
    if isRead || !later.isRead { return self == later }
    return kind == later.kind && identity == later.identity && later.changeTime < changeTime
  }

  package var kind: FileKind { FileKind(modeBits: UInt32(mode)) }

  /// Whether something follows from its being there.
  var isRemarkable: Bool { isLinked || kind == .directory || kind == .symbolicLink }

  /// Whether anybody may run it, or enter it.
  package var isExecutable: Bool { mode & 0o111 != 0 }

  /// The permission, set-id and sticky bits.
  package var permissions: UInt16 { mode & 0o7777 }
}
