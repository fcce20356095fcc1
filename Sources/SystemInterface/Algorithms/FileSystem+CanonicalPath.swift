internal import Glibc

extension FileSystem {
  /// The one spelling of a path: absolute, without symbolic links, `.`, `..`, doubled or trailing slashes.
  ///
  /// Blocks for a few system calls. The answer is that of one moment: a directory that is renamed or a link that is
  /// retargeted meanwhile may be seen before or after.
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
    let isCanonical = path.isLexicallyCanonical
    // The usual case: no component has to be resolved.
    if isCanonical, try isPlain(path, parent: { path.directoryOfLastName }, follow: resolvingLastComponent) {
      return path
    }
    let components = try path.checkedComponents()
    if !isCanonical {
      let parent = components.last == SystemPath.parentName[...] ? nil : SystemPath(joining: components.dropLast())
      if try isPlain(SystemPath(joining: components), parent: { parent }, follow: resolvingLastComponent) {
        return SystemPath(joining: components.removingParents())
      }
    }
    return try LinkResolver(path, components, followsLast: resolvingLastComponent).resolved(by: self)
  }

  /// Whether the kernel says in one go that no link is on the way, or in two when the last component is missing.
  private func isPlain(_ path: SystemPath, parent: () -> SystemPath?, follow: Bool) throws(SystemError) -> Bool {
    let obstacle = try obstacle(on: path, follow ? .pathOnly : [.pathOnly, .noFollow])
    // A file about to be created: everything but its name is there.
    guard obstacle == ENOENT, let parent = parent() else { return obstacle == nil }
    return try self.obstacle(on: parent, .pathOnly) == nil
  }

  /// Why the kernel doesn't go to a path without following a link; `nil` when it does.
  private func obstacle(on path: SystemPath, _ flags: OpenFlags) throws(SystemError) -> Int32? {
    let place: FileDescriptor
    do {
      place = try openWithoutSymbolicLinks(path, at: .workingDirectory, flags: flags)
    } catch let error where error.isOne(of: ENOTDIR, EACCES, ENAMETOOLONG) {
      throw error
    } catch {
      // ELOOP and ENOENT need closer inspection; ENOSYS and EPERM come from old kernels and sandboxes.
      return error.errno
    }
    try? close(place)
    return nil
  }
}

extension SystemPath {
  package static let parentName = Array("..".utf8)
  private static let ownName = Array(".".utf8)
  package static let pathLengthMax = 4095
  package static let nameLengthMax = 255

  /// Whether the bytes are those of an absolute path without NUL, `.`, `..`, doubled or trailing slashes, and not too long.
  ///
  /// - Complexity: One pass, without allocating.
  package var isLexicallyCanonical: Bool {
    unsafe bytes.withUnsafeBufferPointer { unsafe Self.isLexicallyCanonical($0) }
  }

  private static func isLexicallyCanonical(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    let count = bytes.count
    guard count > 0, count <= pathLengthMax, unsafe bytes[0] == separator else { return false }
    var start = 1
    for end in 1..<max(count, 1) {
      switch unsafe bytes[end] {
      case 0: return false
      case separator:
        if unsafe !isName(bytes, from: start, to: end) { return false }
        start = end + 1
      default: break
      }
    }
    return unsafe count == 1 || isName(bytes, from: start, to: count)
  }

  /// Whether the bytes between two slashes name an entry of a directory.
  private static func isName(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int) -> Bool {
    let dot = UInt8(ascii: ".")
    switch end - start {
    case 0: return false
    case 1: return unsafe bytes[start] != dot
    case 2: return unsafe bytes[start] != dot || bytes[start + 1] != dot
    case let length: return length <= nameLengthMax
    }
  }

  /// The directory of the last component of a lexically canonical path; `nil` for the root.
  fileprivate var directoryOfLastName: SystemPath? {
    guard bytes.count > 1, let slash = bytes.lastIndex(of: Self.separator) else { return nil }
    return slash == 0 ? .root : SystemPath(bytes: bytes[..<slash])
  }

  /// The path with `.`, `..` and spare slashes removed, judged by the bytes alone.
  ///
  /// Right where no symbolic link is involved, which the caller has to ensure.
  ///
  /// - Returns: An absolute path without `.`, `..`, doubled or trailing slashes.
  /// - Throws: EINVAL for a relative path or an embedded NUL; ENAMETOOLONG over 4095 bytes, or 255 in a component.
  package func lexicallyCanonical() throws(SystemError) -> SystemPath {
    if isLexicallyCanonical { return self }
    return SystemPath(joining: try checkedComponents().removingParents())
  }

  /// The components other than `.`; throws for paths the kernel would refuse or take to mean something else.
  package func checkedComponents() throws(SystemError) -> [ArraySlice<UInt8>] {
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

  package init(joining components: some Collection<ArraySlice<UInt8>>) {
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
