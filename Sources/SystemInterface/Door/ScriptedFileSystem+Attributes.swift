extension ScriptedFileSystem {
  /// Logged and scripted, then fchmod(2).
  package func setMode(of descriptor: FileDescriptor, to mode: UInt32) throws(SystemError) {
    try run(.setMode, on: descriptor) { (base, _, _) throws(SystemError) in
      try base.setMode(of: descriptor, to: mode)
    }
  }

  /// Logged and scripted, then fchown(2).
  package func setOwner(of descriptor: FileDescriptor, to owner: UInt32, group: UInt32) throws(SystemError) {
    try run(.setDescriptorOwner, on: descriptor, .owner(owner, group: group)) { (base, _, _) throws(SystemError) in
      try base.setOwner(of: descriptor, to: owner, group: group)
    }
  }

  /// Logged and scripted, then fchownat(2).
  package func setOwner(
    of path: SystemPath, at directory: FileDescriptor, to owner: UInt32, group: UInt32
  ) throws(SystemError) {
    try run(.setOwner, [(path, directory)], .owner(owner, group: group)) { (base, paths, _) throws(SystemError) in
      try base.setOwner(of: paths[0], at: directory, to: owner, group: group)
    }
  }

  /// Logged and scripted, then futimens(3).
  package func setModificationTime(of descriptor: FileDescriptor, to time: Int64) throws(SystemError) {
    try run(.setDescriptorTime, on: descriptor) { (base, _, _) throws(SystemError) in
      try base.setModificationTime(of: descriptor, to: time)
    }
  }

  /// Logged and scripted, then utimensat(2).
  package func setModificationTime(
    of path: SystemPath, at directory: FileDescriptor, to time: Int64?
  ) throws(SystemError) {
    try run(.setTime, [(path, directory)]) { (base, paths, _) throws(SystemError) in
      try base.setModificationTime(of: paths[0], at: directory, to: time)
    }
  }

  /// Logged and scripted, then flistxattr(2).
  package func extendedAttributes(of descriptor: FileDescriptor) throws(SystemError) -> [ExtendedAttributeName] {
    try run(.listAttributes, on: descriptor) { (base, _, _) throws(SystemError) in
      try base.extendedAttributes(of: descriptor)
    }
  }

  /// Logged and scripted, then fgetxattr(2).
  package func extendedAttribute(
    _ name: ExtendedAttributeName, of descriptor: FileDescriptor
  ) throws(SystemError) -> [UInt8] {
    try run(.attribute, on: descriptor, .attribute(name)) { (base, _, _) throws(SystemError) in
      try base.extendedAttribute(name, of: descriptor)
    }
  }

  /// Logged and scripted, then lgetxattr(2).
  package func extendedAttribute(
    _ name: ExtendedAttributeName, ofItemAt path: SystemPath
  ) throws(SystemError) -> [UInt8] {
    try run(.attributeByName, [(path, .workingDirectory)], .attribute(name)) { (base, paths, _) throws(SystemError) in
      try base.extendedAttribute(name, ofItemAt: paths[0])
    }
  }

  /// Logged and scripted, then lsetxattr(2).
  package func setExtendedAttribute(
    _ name: ExtendedAttributeName, ofItemAt path: SystemPath, to value: [UInt8]
  ) throws(SystemError) {
    try run(.setAttributeByName, [(path, .workingDirectory)], .attribute(name)) {
      (base, paths, _) throws(SystemError) in
      try base.setExtendedAttribute(name, ofItemAt: paths[0], to: value)
    }
  }

  /// Logged and scripted, then fsetxattr(2).
  package func setExtendedAttribute(
    _ name: ExtendedAttributeName, of descriptor: FileDescriptor, to value: [UInt8]
  ) throws(SystemError) {
    try run(.setAttribute, on: descriptor, .attribute(name)) { (base, _, _) throws(SystemError) in
      try base.setExtendedAttribute(name, of: descriptor, to: value)
    }
  }

  /// Logged and scripted, then fremovexattr(2).
  package func removeExtendedAttribute(
    _ name: ExtendedAttributeName, of descriptor: FileDescriptor
  ) throws(SystemError) {
    try run(.removeAttribute, on: descriptor, .attribute(name)) { (base, _, _) throws(SystemError) in
      try base.removeExtendedAttribute(name, of: descriptor)
    }
  }
}
