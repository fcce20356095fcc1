internal import SystemInterface

/// The record of a file: 64 bytes.
@usableFromInline
package struct FileRow: Hashable, Sendable {
  /// The directory it's in; none for the top of a scope, and for a number that isn't used.
  @usableFromInline package var parent = FileNumber.none
  /// The neighbours among the members of that directory; the first of them has the number of members in the place of the one before it.
  @usableFromInline package var previous = FileNumber.none
  @usableFromInline package var next = FileNumber.none
  /// The members of this directory are a list; only its first element is here.
  @usableFromInline package var firstChild = FileNumber.none
  /// Where the name is; the top of a scope has none.
  @usableFromInline package var name: UInt32 = 0
  @usableFromInline package var mode: UInt16 = 0
  /// Its place in the table of devices and owners.
  @usableFromInline package var volume: UInt16 = 0
  @usableFromInline package var size: Int64 = 0
  @usableFromInline package var modificationTime: Int64 = 0
  /// The lowest bit, a nanosecond, is given up for ``isLinked``.
  @usableFromInline package var changeTimeAndLink: Int64 = 0
  @usableFromInline package var creationTime = Int64.min
  @usableFromInline package var inode: UInt64 = 0

  package init() {}

  static let noTime = Int64.min
  /// The time of creation of a file for which statx(2) hasn't been called.
  static let unread = Int64.min + 1

  @inlinable package var changeTime: Int64 { changeTimeAndLink & ~1 }
  @inlinable package var isLinked: Bool { changeTimeAndLink & 1 == 1 }
  /// Whether the number stands for a file.
  @inlinable package var isUsed: Bool { mode != 0 }
  var isRead: Bool { creationTime != Self.unread }
  @inlinable package var isDirectory: Bool { mode & 0o170000 == 0o040000 }

  /// Becomes the first member of a directory.
  ///
  /// - Parameters:
  ///   - directory: The directory.
  ///   - first: The member that has been the first one.
  ///   - count: How many members there are with this one.
  mutating func place(in directory: FileNumber, before first: FileNumber, count: UInt32) {
    parent = directory
    previous = FileNumber(count)
    next = first
  }

  mutating func set(_ facts: FileFacts, volume: UInt16) {
    mode = facts.mode
    self.volume = volume
    size = facts.size
    modificationTime = facts.modificationTime
    changeTimeAndLink = facts.changeTime & ~1 | (facts.isLinked ? 1 : 0)
    creationTime = facts.isRead ? facts.creationTime.map { max($0, Self.unread + 1) } ?? Self.noTime : Self.unread
    inode = facts.identity.inode
  }
}

/// The devices and owners of files, each combination once.
///
/// Has room for 65,535; further ones are recorded without owner and device.
package struct VolumeTable: Sendable {
  package struct Volume: Hashable, Sendable {
    package var device: UInt64
    package var owner: UInt32
    package var group: UInt32
  }

  private(set) var volumes = [Volume(device: 0, owner: .max, group: .max)]
  private var places: [Volume: UInt16] = [:]
  /// Most files are like the one before.
  private var last: UInt16 = 0

  subscript(place: UInt16) -> Volume { volumes[Int(place)] }

  mutating func place(of volume: Volume) -> UInt16 {
    if volumes[Int(last)] == volume { return last }
    if let place = places[volume] {
      last = place
      return place
    }
    guard let place = UInt16(exactly: volumes.count) else { return 0 }
    volumes.append(volume)
    places[volume] = place
    last = place
    return place
  }
}
