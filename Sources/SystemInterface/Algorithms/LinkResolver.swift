internal import Glibc

/// Resolves a path one component at a time, as the kernel does, except that its tail may be missing.
struct LinkResolver {
  /// The kernel's own limit (path_resolution(7)).
  static let expansionsMax = 40

  private let original: SystemPath
  private let followsLast: Bool
  /// The resolved part; empty stands for the root.
  private var resolved: [UInt8] = []
  /// The remaining components, the next one at the end.
  private var pending: [ArraySlice<UInt8>]
  /// How many components at the end of `resolved` don't exist.
  private var missing = 0
  private var expansions = 0

  init(_ original: SystemPath, _ components: [ArraySlice<UInt8>], followsLast: Bool) {
    self.original = original
    self.followsLast = followsLast
    self.pending = components.reversed()
  }

  consuming func resolved(by files: some FileSystem) throws(SystemError) -> SystemPath {
    while let component = pending.popLast() {
      if component == SystemPath.parentName[...] {
        try popComponent(files)
      } else {
        try push(component, files)
      }
    }
    return resolved.isEmpty ? .root : SystemPath(bytes: resolved)
  }

  private mutating func popComponent(_ files: some FileSystem) throws(SystemError) {
    if missing > 0 {
      missing -= 1
    } else if !resolved.isEmpty {
      let path = SystemPath(bytes: resolved)
      if try files.status(of: path, at: .workingDirectory, links: .noFollow).kind != .directory {
        throw refusal(ENOTDIR)
      }
    }
    resolved.removeSubrange((resolved.lastIndex(of: SystemPath.separator) ?? 0)...)
  }

  private mutating func push(_ component: ArraySlice<UInt8>, _ files: some FileSystem) throws(SystemError) {
    let length = resolved.count
    resolved.append(SystemPath.separator)
    resolved.append(contentsOf: component)
    if resolved.count > SystemPath.pathLengthMax { throw refusal(ENAMETOOLONG) }
    if missing > 0 {
      missing += 1
    } else if let target = try target(of: SystemPath(bytes: resolved), files), !pending.isEmpty || followsLast {
      resolved.removeSubrange(length...)
      try expand(target)
    }
  }

  /// The target when the path is a symbolic link.
  private mutating func target(
    of path: SystemPath, _ files: some FileSystem
  ) throws(SystemError) -> SystemPath? {
    do {
      return try files.readLink(path, at: .workingDirectory)
    } catch let error where error.errno == ENOENT {
      missing = 1
      return nil
    } catch let error where error.errno == EINVAL {
      return nil
    }
  }

  private mutating func expand(_ target: SystemPath) throws(SystemError) {
    expansions += 1
    if expansions > Self.expansionsMax { throw refusal(ELOOP) }
    if target.isAbsolute { resolved = [] }
    let components = target.bytes.split(separator: SystemPath.separator).filter { $0 != [UInt8(ascii: ".")] }
    if components.contains(where: { $0.count > SystemPath.nameLengthMax }) { throw refusal(ENAMETOOLONG) }
    pending.append(contentsOf: components.reversed())
  }

  private func refusal(_ code: Int32) -> SystemError {
    SystemError(call: "canonicalPath", paths: [original], errno: code)
  }
}
