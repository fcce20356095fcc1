internal import Glibc

extension FileSystem {
  /// The one spelling of a path: absolute, without symbolic links, `.`, `..`, doubled or trailing slashes.
  ///
  /// Blocks for a few system calls. The answer is that of one moment: whoever renames a directory or retargets a link
  /// meanwhile may be seen before or after.
  ///
  /// - Parameters:
  ///   - path: An absolute path. Its tail may be missing; the missing part is kept, with `..` taken lexically.
  ///   - resolvingLastComponent: Whether a symbolic link at the end is followed. Links before it always are.
  /// - Returns: The canonical path.
  /// - Throws: EINVAL for a relative path or an embedded NUL; ELOOP after 40 links; ENAMETOOLONG over 4095 bytes,
  ///   or 255 in a component; ENOTDIR when a file stands where a directory should; EACCES when the search isn't
  ///   permitted.
  /// - Complexity: Two system calls when no symbolic link is on the way, three when only the last component is missing;
  ///   one more per component otherwise.
  /// - Note: path_resolution(7), openat2(2).
  package func canonicalPath(
    of path: SystemPath, resolvingLastComponent: Bool
  ) throws(SystemError) -> SystemPath {
    let components = try path.checkedComponents()
    let plain = try plainPath(components, follow: resolvingLastComponent)
    if let plain { return plain }
    return try LinkResolver(path, components, followsLast: resolvingLastComponent).resolved(by: self)
  }

  /// The components joined, when the kernel says in one go that no link is among them; `nil` when it doesn't.
  private func plainPath(_ components: [ArraySlice<UInt8>], follow: Bool) throws(SystemError) -> SystemPath? {
    let flags: OpenFlags = follow ? .pathOnly : [.pathOnly, .noFollow]
    var obstacle = try obstacle(on: SystemPath(joining: components), flags)
    if obstacle == ENOENT, let last = components.last, last != SystemPath.parentName[...] {
      // A file about to be created: everything but its name is there.
      obstacle = try self.obstacle(on: SystemPath(joining: components.dropLast()), .pathOnly)
    }
    return obstacle == nil ? SystemPath(joining: components.removingParents()) : nil
  }

  /// Why the kernel doesn't go to a path without following a link; `nil` when it does.
  private func obstacle(on path: SystemPath, _ flags: OpenFlags) throws(SystemError) -> Int32? {
    let place: FileDescriptor
    do {
      place = try openWithoutSymbolicLinks(path, at: .workingDirectory, flags: flags)
    } catch let error where error.isOne(of: ENOTDIR, EACCES, ENAMETOOLONG) {
      throw error
    } catch {
      // ELOOP and ENOENT ask for a closer look; ENOSYS and EPERM come from old kernels and sandboxes.
      return error.errno
    }
    try? close(place)
    return nil
  }
}

extension SystemPath {
  static let parentName = Array("..".utf8)
  private static let ownName = Array(".".utf8)
  static let pathLengthMax = 4095
  static let nameLengthMax = 255

  /// The path with `.`, `..` and spare slashes removed by looking at the bytes alone.
  ///
  /// Right where no symbolic link is involved, which the caller has to know.
  ///
  /// - Returns: An absolute path without `.`, `..`, doubled or trailing slashes.
  /// - Throws: EINVAL for a relative path or an embedded NUL; ENAMETOOLONG over 4095 bytes, or 255 in a component.
  package func lexicallyCanonical() throws(SystemError) -> SystemPath {
    SystemPath(joining: try checkedComponents().removingParents())
  }

  /// The components other than `.`; throws for paths the kernel would refuse or take to mean something else.
  fileprivate func checkedComponents() throws(SystemError) -> [ArraySlice<UInt8>] {
    func refusal(_ code: Int32, _ advice: String? = nil) -> SystemError {
      SystemError(call: "canonicalPath", paths: [self], errno: code, advice: advice)
    }
    if !isAbsolute { throw refusal(EINVAL, "Pass an absolute path.") }
    if bytes.contains(0) { throw refusal(EINVAL, "Pass a path without a NUL byte.") }
    let components = bytes.split(separator: Self.separator).filter { $0 != Self.ownName[...] }
    if bytes.count > Self.pathLengthMax || components.contains(where: { $0.count > Self.nameLengthMax }) {
      throw refusal(ENAMETOOLONG)
    }
    return components
  }

  fileprivate init(joining components: some Collection<ArraySlice<UInt8>>) {
    var joined: [UInt8] = []
    joined.reserveCapacity(components.reduce(1) { $0 + 1 + $1.count })
    for component in components {
      joined.append(Self.separator)
      joined.append(contentsOf: component)
    }
    self.init(bytes: joined.isEmpty ? [Self.separator] : joined)
  }
}

extension [ArraySlice<UInt8>] {
  /// Takes `..` lexically, which is right where no symbolic link is involved.
  fileprivate func removingParents() -> Self {
    reduce(into: []) { kept, component in
      if component != SystemPath.parentName[...] {
        kept.append(component)
      } else {
        _ = kept.popLast()
      }
    }
  }
}
