internal import Glibc

extension FileSystem {
  /// Gives `target` the owner, extended attributes and mode of an open file or directory.
  ///
  /// The order matters: chown(2) clears set-id bits and capabilities, and attributes can't be set any more on a file
  /// whose new mode is read-only.
  func copyMetadata(
    from source: FileDescriptor, _ status: FileStatus, to target: FileDescriptor
  ) throws(SystemError) {
    let keepsOwner = try copyOwner(status, to: target)
    try copyExtendedAttributes(from: source, to: target)
    // Set-id bits would let everybody act as the new owner, which the old one never granted.
    try setMode(of: target, to: keepsOwner ? status.mode : status.mode & ~(S_ISUID | S_ISGID))
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

  /// Sets owner and group if they differ and that is permitted; returns whether both are as wanted now.
  private func copyOwner(_ wanted: FileStatus, to target: FileDescriptor) throws(SystemError) -> Bool {
    let present = try status(of: target)
    if present.owner == wanted.owner && present.group == wanted.group { return true }
    do {
      try setOwner(of: target, to: wanted.owner, group: wanted.group)
      return true
    } catch let error where error.isOne(of: EPERM, EINVAL) {
      // Anybody may give a file to a group they are in. EINVAL: the id has no mapping in this user namespace.
      try? setOwner(of: target, to: UInt32.max, group: wanted.group)
      return false
    }
  }

  private func copyExtendedAttributes(
    from source: FileDescriptor, to target: FileDescriptor
  ) throws(SystemError) {
    let wanted = try extendedAttributesIfSupported(of: source)
    // An access list that the new file inherited from its directory would grant what the old file didn't.
    for name in try extendedAttributesIfSupported(of: target) where name.isAccessList && !wanted.contains(name) {
      try removeExtendedAttribute(name, of: target)
    }
    for name in wanted {
      do {
        try setExtendedAttribute(name, of: target, to: extendedAttribute(name, of: source))
      } catch let error where error.errno == ENODATA {
        continue  // Removed since it was listed.
      } catch let error where name.isKeptBySystem && error.isOne(of: EPERM, EOPNOTSUPP) {
        continue
      }
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

extension ExtendedAttributeName {
  /// Whether the attribute is a POSIX access list, which decides who may use the file (acl(5)).
  fileprivate var isAccessList: Bool {
    bytes.starts(with: "system.posix_acl_".utf8)
  }

  /// Whether the system rather than the user put the attribute there, and may refuse to have it elsewhere.
  fileprivate var isKeptBySystem: Bool {
    bytes.starts(with: "system.".utf8) || bytes.starts(with: "security.".utf8)
  }
}
