internal import Glibc

extension FileSystem {
  /// Gives `target` the owner, extended attributes and mode of an open file or directory, as far as that's permitted.
  ///
  /// Where group or access list can't be kept, the mode is narrowed, see ``KeptPermissions``. The order matters: chown(2)
  /// clears set-id bits and capabilities, and attributes can't be set any more on a file whose new mode is read-only.
  package func copyMetadata(
    from source: FileDescriptor, _ status: FileStatus, to target: FileDescriptor
  ) throws(SystemError) {
    var kept = try copyOwner(status, to: target)
    try copyExtendedAttributes(from: source, to: target, &kept)
    try setMode(of: target, to: kept.mode(for: status))
  }

  /// Gives an item the owner, extended attributes and mode of another.
  ///
  /// - Parameters:
  ///   - source: The item whose metadata is taken, as a canonical path.
  ///   - target: The item that gets it, as a canonical path.
  /// - Throws: ELOOP if one of them is a symbolic link, or the error of the call that failed.
  package func copyMetadata(from source: SystemPath, to target: SystemPath) throws(SystemError) {
    try withDescriptor(source, flags: [.noFollow, .nonBlocking]) { (source) throws(SystemError) in
      try withDescriptor(target, flags: [.noFollow, .nonBlocking]) { (target) throws(SystemError) in
        try copyMetadata(from: source, status(of: source), to: target)
      }
    }
  }

  /// Sets owner and group as far as that's permitted, and checks the result.
  private func copyOwner(_ wanted: FileStatus, to target: FileDescriptor) throws(SystemError) -> KeptPermissions {
    let present = try status(of: target)
    if present.owner == wanted.owner && present.group == wanted.group { return KeptPermissions() }
    do {
      try setOwner(of: target, to: wanted.owner, group: wanted.group)
    } catch let error where error.refusesOwner {
      // Anybody may give a file to a group they are in.
      do { try setOwner(of: target, to: UInt32.max, group: wanted.group) } catch let error where error.refusesOwner {}
    }
    // Some file systems take the call and keep their own owner.
    return KeptPermissions(wanted, try status(of: target))
  }

  private func copyExtendedAttributes(
    from source: FileDescriptor, to target: FileDescriptor, _ kept: inout KeptPermissions
  ) throws(SystemError) {
    let wanted = try extendedAttributesIfSupported(of: source)
    // An access list that the new file inherited from its directory would grant more than the old file did, also where
    // the old file's own list is refused below.
    for name in try extendedAttributesIfSupported(of: target) where name.isAccessList {
      try removeExtendedAttribute(name, of: target)
    }
    for name in wanted where name != .versionRecord {
      let value: [UInt8]
      do {
        value = try extendedAttribute(name, of: source)
      } catch let error where error.errno == ENODATA {
        continue  // Removed since it was listed.
      }
      let permitted = name.isAccessList ? kept.narrowed(value) : value
      let isSet = try permitted.map { (value) throws(SystemError) in try setIfAccepted(name, of: target, to: value) }
      if name == .accessList {
        kept.list = isSet == true ? .kept(permitted.flatMap { AccessList($0) }) : .lost(AccessList(value))
      }
    }
  }

  /// Sets an attribute; returns `false` when the system refuses one of its own.
  private func setIfAccepted(
    _ name: ExtendedAttributeName, of target: FileDescriptor, to value: [UInt8]
  ) throws(SystemError) -> Bool {
    do {
      try setExtendedAttribute(name, of: target, to: value)
      return true
    } catch let error where name.isKeptBySystem && error.isOne(of: EPERM, EINVAL, EOPNOTSUPP) {
      return false
    }
  }

  private func extendedAttributesIfSupported(
    of descriptor: FileDescriptor
  ) throws(SystemError) -> [ExtendedAttributeName] {
    do {
      return try extendedAttributes(of: descriptor)
    } catch let error where error.isOne(of: EOPNOTSUPP, ENOSYS) {
      return []
    }
  }
}

extension SystemError {
  /// Whether an owner can't be set.
  ///
  /// EINVAL: the id has no mapping in this user namespace.
  var refusesOwner: Bool {
    isOne(of: EPERM, EINVAL, EOPNOTSUPP, ENOSYS)
  }
}

extension ExtendedAttributeName {
  /// The list that decides which users may use the file itself.
  fileprivate static let accessList = ExtendedAttributeName("system.posix_acl_access")

  /// Whether the attribute is a POSIX access list, which decides which users may use the file (acl(5)).
  fileprivate var isAccessList: Bool {
    bytes.starts(with: "system.posix_acl_".utf8)
  }

  /// Whether the system rather than the user put the attribute there, and may refuse to have it elsewhere.
  fileprivate var isKeptBySystem: Bool {
    bytes.starts(with: "system.".utf8) || bytes.starts(with: "security.".utf8)
  }
}
