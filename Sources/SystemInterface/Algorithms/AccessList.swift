internal import CompactContainers

/// A POSIX access list as the kernel stores it in an extended attribute.
///
/// - Note: acl(5); `struct posix_acl_xattr_entry` of Linux, version 2.
struct AccessList {
  /// The users that an entry is for.
  enum Tag: UInt16 {
    case owner = 1
    case user = 2
    case owningGroup = 4
    case group = 8
    case mask = 16
    case others = 32
  }

  struct Entry {
    let tag: Tag
    var permissions: UInt16
    let id: UInt32
  }

  private(set) var entries: [Entry] = []

  /// Reads a list; `nil` when it isn't of the version that this code supports.
  init?(_ bytes: [UInt8]) {
    guard bytes.count % 8 == 4, bytes.starts(with: [2, 0, 0, 0]) else { return nil }
    func number(_ offset: Int, _ count: Int) -> UInt32 {
      bytes[offset..<(offset + count)].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
    for offset in stride(from: 4, to: bytes.count, by: 8) {
      guard let tag = Tag(rawValue: UInt16(number(offset, 2))) else { return nil }
      entries.append(Entry(tag: tag, permissions: UInt16(number(offset + 2, 2)), id: number(offset + 4, 4)))
    }
  }

  /// The list as the kernel stores it.
  var bytes: [UInt8] {
    entries.reduce(into: [2, 0, 0, 0]) { bytes, entry in
      bytes.append(littleEndian: entry.tag.rawValue)
      bytes.append(littleEndian: entry.permissions)
      bytes.append(littleEndian: entry.id)
    }
  }

  private func permissions(of tag: Tag) -> UInt16? {
    entries.first { $0.tag == tag }?.permissions
  }

  /// The permissions of all others.
  var others: UInt32 { UInt32(permissions(of: .others) ?? 0) }

  /// The effective permissions of the owning group.
  var owningGroup: UInt32 {
    UInt32((permissions(of: .owningGroup) ?? 0) & (permissions(of: .mask) ?? 7))
  }

  /// The effective permissions that every user and group with an entry of its own has; 7 when there's none.
  var named: UInt32 {
    entries.reduce(7) { common, entry in
      switch entry.tag {
      case .user, .group: common & UInt32(entry.permissions & (permissions(of: .mask) ?? 7))
      case .owner, .owningGroup, .mask, .others: common
      }
    }
  }

  /// The list for a file that belongs to another group: that group and others get only the permissions that the former
  /// group and others both had.
  var forOtherGroup: AccessList {
    var list = self
    let common = UInt16(owningGroup & others)
    for index in list.entries.indices where [.owningGroup, .others].contains(list.entries[index].tag) {
      list.entries[index].permissions = common
    }
    return list
  }
}
