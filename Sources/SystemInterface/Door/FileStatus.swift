internal import CSystemShims
internal import Glibc

/// The kinds of files that a name can stand for.
///
/// - Note: inode(7).
public enum FileKind: Hashable, Sendable {
  /// A file with contents.
  case regular
  /// A directory.
  case directory
  /// A symbolic link.
  case symbolicLink
  /// A named pipe.
  case fifo
  /// A Unix-domain socket.
  case socket
  /// A character device.
  case characterDevice
  /// A block device.
  case blockDevice
  /// Anything else the kernel may come up with.
  case unknown
}

/// The device and the inode of a file: they stay the same when it's renamed, and differ between two files that exist at
/// once.
package struct FileIdentity: Hashable, Sendable {
  /// The file system that holds the file.
  package let device: UInt64

  /// The number of the file in its file system; reused after the file is gone.
  package let inode: UInt64

  /// Creates an identity.
  ///
  /// - Parameters:
  ///   - device: The file system that holds the file.
  ///   - inode: The number of the file in its file system.
  package init(device: UInt64, inode: UInt64) {
    self.device = device
    self.inode = inode
  }
}

/// The kernel's record of a file apart from its name and contents.
///
/// - Note: stat(3type).
package struct FileStatus: Hashable, Sendable {
  /// The kind of file.
  package var kind: FileKind
  /// The permission, set-id and sticky bits: `0o7777` at most.
  package var mode: UInt32
  /// The user who owns the file.
  package var owner: UInt32
  /// The group of the file.
  package var group: UInt32
  /// The length of the contents in bytes.
  package var size: Int64
  /// The bytes the file takes on the disk; smaller than ``size`` when the file has holes.
  package var allocatedSize: Int64
  /// When the contents last changed, in nanoseconds since 1970; clamped to what 64 bits hold (years 1677 to 2262).
  package var modificationTime: Int64
  /// When contents or metadata last changed, in nanoseconds since 1970; clamped likewise.
  package var changeTime: Int64
  /// When the file was made, in nanoseconds since 1970; clamped likewise.
  ///
  /// `nil` where the file system doesn't keep it, and for a status that was read through a descriptor.
  package var creationTime: Int64?
  /// Device and inode.
  package var identity: FileIdentity
  /// The number of names the file has.
  package var linkCount: UInt64
  /// The device a device node stands for.
  package var representedDevice: UInt64

  /// Creates a status, for file systems other than the machine's own.
  ///
  /// - Parameters:
  ///   - kind: The kind of file that the name stands for.
  ///   - mode: The permission, set-id and sticky bits.
  ///   - owner: The user who owns the file.
  ///   - group: The group of the file.
  ///   - size: The length of the contents in bytes.
  ///   - allocatedSize: The bytes the file takes on the disk.
  ///   - modificationTime: When the contents last changed, in nanoseconds since 1970.
  ///   - changeTime: When contents or metadata last changed, in nanoseconds since 1970.
  ///   - identity: Device and inode.
  ///   - linkCount: The number of names the file has.
  ///   - representedDevice: The device a device node stands for.
  ///   - creationTime: When the file was made, in nanoseconds since 1970, if that's known.
  package init(
    kind: FileKind, mode: UInt32, owner: UInt32, group: UInt32, size: Int64, allocatedSize: Int64,
    modificationTime: Int64, changeTime: Int64, identity: FileIdentity, linkCount: UInt64 = 1,
    representedDevice: UInt64 = 0, creationTime: Int64? = nil
  ) {
    self.kind = kind
    self.mode = mode
    self.owner = owner
    self.group = group
    self.size = size
    self.allocatedSize = allocatedSize
    self.modificationTime = modificationTime
    self.changeTime = changeTime
    self.identity = identity
    self.linkCount = linkCount
    self.representedDevice = representedDevice
    self.creationTime = creationTime
  }

  /// The file system that holds the file.
  package var device: UInt64 { identity.device }
  /// The number of the file in its file system.
  package var inode: UInt64 { identity.inode }
}

extension FileStatus {
  init(_ raw: stat) {
    self.init(
      kind: FileKind(modeBits: raw.st_mode), mode: raw.st_mode & 0o7777, owner: raw.st_uid, group: raw.st_gid,
      size: Int64(raw.st_size), allocatedSize: Int64(raw.st_blocks) * 512,
      modificationTime: Self.nanoseconds(raw.st_mtim), changeTime: Self.nanoseconds(raw.st_ctim),
      identity: FileIdentity(device: UInt64(raw.st_dev), inode: UInt64(raw.st_ino)),
      linkCount: UInt64(raw.st_nlink), representedDevice: UInt64(raw.st_rdev))
  }

  init(_ raw: shim_status) {
    self.init(
      kind: FileKind(modeBits: raw.mode), mode: raw.mode & 0o7777, owner: raw.owner, group: raw.group,
      size: Int64(clamping: raw.size), allocatedSize: Int64(clamping: raw.block_count) * 512,
      modificationTime: Self.nanoseconds(raw.modification_time), changeTime: Self.nanoseconds(raw.change_time),
      identity: FileIdentity(device: raw.device, inode: raw.inode), linkCount: UInt64(raw.link_count),
      representedDevice: raw.represented_device,
      creationTime: raw.has_creation_time ? Self.nanoseconds(raw.creation_time) : nil)
  }

  private static func nanoseconds(_ time: timespec) -> Int64 {
    let (scaled, overflow) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, carried) = scaled.addingReportingOverflow(Int64(time.tv_nsec))
    return overflow || carried ? (time.tv_sec < 0 ? .min : .max) : sum
  }
}

extension FileKind {
  /// The kind that the `S_IFMT` bits of a mode say; other bits don't matter.
  package init(modeBits: UInt32) {
    switch modeBits & S_IFMT {
    case S_IFREG: self = .regular
    case S_IFDIR: self = .directory
    case S_IFLNK: self = .symbolicLink
    case S_IFIFO: self = .fifo
    case S_IFSOCK: self = .socket
    case S_IFCHR: self = .characterDevice
    case S_IFBLK: self = .blockDevice
    default: self = .unknown
    }
  }

  /// The kind as the `S_IFMT` bits of a mode.
  package var modeBits: UInt32 {
    switch self {
    case .regular: S_IFREG
    case .directory: S_IFDIR
    case .symbolicLink: S_IFLNK
    case .fifo: S_IFIFO
    case .socket: S_IFSOCK
    case .characterDevice: S_IFCHR
    case .blockDevice: S_IFBLK
    case .unknown: 0
    }
  }
}
