internal import Glibc

/// The parts of a file's owner, group and access list that its copy could be given, and the mode that follows.
///
/// A mode is meaningful only with the group and the access list that it was made for. Where one of these is lost, each
/// class of users but the owner gets at most the common permissions of all users that may now be in that class.
struct KeptPermissions {
  /// The fate of the access list.
  enum ListOutcome {
    /// The original has none.
    case absent
    /// The copy has it, narrowed if need be.
    case kept(AccessList?)
    /// The copy couldn't be given it; `nil` when it has a form that this code doesn't support.
    case lost(AccessList?)
  }

  /// Whether the copy has the owner of the original.
  private let hasOwner: Bool
  /// Whether the copy has the group of the original.
  private let hasGroup: Bool
  var list = ListOutcome.absent

  /// Everything is kept.
  init() {
    (hasOwner, hasGroup) = (true, true)
  }

  /// Compares the requested owner and group with the present ones.
  init(_ wanted: FileStatus, _ present: FileStatus) {
    (hasOwner, hasGroup) = (wanted.owner == present.owner, wanted.group == present.group)
  }

  /// An access list as the copy may have it; `nil` when it can't be narrowed because its form is unknown.
  func narrowed(_ list: [UInt8]) -> [UInt8]? {
    hasGroup ? list : AccessList(list)?.forOtherGroup.bytes
  }

  /// The mode for a copy of a file with this status.
  func mode(for status: FileStatus) -> UInt32 {
    // Set-id bits would let everybody act as the new owner, which the old one never granted.
    let owner = hasOwner && hasGroup ? status.mode & ~0o077 : status.mode & ~0o077 & ~(S_ISUID | S_ISGID)
    var (group, others) = (status.mode >> 3 & 7, status.mode & 7)
    switch list {
    case .absent:
      if !hasGroup { (group, others) = (group & others, group & others) }
    case .kept(let list):
      // Here the bits of the group are the mask of the list, and the permissions of the group itself stand in the list.
      others &= list?.others ?? 7
    case .lost(let list):
      let named = list?.named ?? 0
      (group, others) = ((list?.owningGroup ?? 0) & named, others & named)
      if !hasGroup { (group, others) = (group & others, group & others) }
    }
    return owner | group << 3 | others
  }
}
