internal import FilePackages
internal import SystemInterface

extension PackageManifest {
  /// A manifest that was applied to a package.
  struct Applied: Sendable {
    var tree: PackageTree
    /// Members that had another name or place before, and that the package hasn't got any more.
    var missing: [SystemPath] = []
    /// Altered, removed and moved members that aren't in the package any more what they were.
    var changed: [SystemPath] = []
  }

  /// Makes the changes to a package.
  ///
  /// Members that the manifest doesn't name are those of the package.
  ///
  /// - Parameter package: A tree of the package, opened and not altered.
  /// - Returns: The tree.
  /// - Throws: Errors of looking up members.
  /// - Complexity: O(entries).
  func applied(to package: PackageTree) throws(PackageError) -> Applied {
    var result = Applied(tree: package)
    let root = try directory(root, .top, package.top, &result)
    result.tree = PackageTree(root, files: package.files)
    return result
  }

  private func directory(
    _ directory: Directory, _ path: MemberPath, _ top: StoredMember?, _ result: inout Applied
  ) throws(PackageError) -> DirectoryNode {
    var node = DirectoryNode(mode: directory.mode)
    if let origin = directory.origin {
      node.base = try top.flatMap { (top) throws(PackageError) in
        try PackageManifest.stored(origin, in: top, is: .directory)
      }
      node.hasMembersOfBase = directory.hasMembersOfOrigin
      if node.base == nil, directory.hasMembersOfOrigin { result.missing.append(path.path) }
    }
    for entry in directory.entries {
      let place = try path.appending(entry.name)
      if let base = node.base {
        let now = try PackageManifest.identity(base.appending(entry.name))
        if (now == nil) != (entry.former == nil) || now.map({ !$0.isSame(as: entry.former) }) ?? false {
          result.changed.append(place.path)
        }
      }
      guard let member = entry.member else {
        if node.base != nil, node.hasMembersOfBase { node.changes[entry.name] = .removed }
        continue
      }
      node.changes[entry.name] = try self.member(member, place, top, &result).map { .member($0) }
    }
    return node
  }

  private func member(
    _ member: Member, _ path: MemberPath, _ top: StoredMember?, _ result: inout Applied
  ) throws(PackageError) -> MemberNode? {
    switch member {
    case .file(let bytes, let mode): return .file(FileNode(.bytes(bytes), mode: mode))
    case .symbolicLink(let target): return .symbolicLink(target: target)
    case .directory(let inner): return .directory(try directory(inner, path, top, &result))
    case .kept(let origin, let identity):
      guard let top, let stored = try PackageManifest.stored(origin, in: top, is: nil) else {
        result.missing.append(path.path)
        return nil
      }
      if let identity, try !identity.isSame(as: PackageManifest.identity(stored)) { result.changed.append(path.path) }
      return .stored(stored)
    }
  }

  /// The member of a package at a path; `nil` if there's none, or none of that kind.
  fileprivate static func stored(
    _ path: SystemPath, in top: StoredMember, is kind: PackageTree.Kind?
  ) throws(PackageError) -> StoredMember? {
    let stored = StoredMember(top.directory, try MemberPath(path))
    guard let identity = try identity(stored), kind == nil || identity.kind == kind else { return nil }
    return stored
  }

  fileprivate static func identity(_ stored: StoredMember) throws(PackageError) -> Identity? {
    do throws(PackageError) {
      return Identity(try stored.status())
    } catch  where error.code == .notFound || error.code == .wrongKind { return nil }
  }
}

extension PackageManifest {
  /// Whether a package has all of it already: the process was killed after the save, and before its journal was gone.
  ///
  /// - Parameter package: A tree of the package, opened and not altered.
  /// - Returns: `false` also if that can't be found out.
  /// - Complexity: O(bytes) of the altered members.
  func isFulfilled(by package: PackageTree) -> Bool {
    guard let top = package.top else { return false }
    return (try? isFulfilled(root, by: top)) ?? false
  }

  private func isFulfilled(_ directory: Directory, by stored: StoredMember) throws(PackageError) -> Bool {
    if let mode = directory.mode, try stored.status().mode != mode { return false }
    let isHere = directory.origin == stored.place.path && directory.hasMembersOfOrigin
    if !isHere, directory.origin == nil || !directory.hasMembersOfOrigin {
      // Nothing else is in it.
      let names = try stored.members().map(\.name)
      if names != directory.entries.filter({ $0.member != nil }).map(\.name) { return false }
    }
    for entry in directory.entries {
      let member = try stored.appending(entry.name)
      guard let identity = try PackageManifest.identity(member) else {
        if entry.member == nil { continue }
        return false
      }
      guard let wanted = entry.member, try isFulfilled(wanted, by: member, identity) else { return false }
    }
    return true
  }

  private func isFulfilled(
    _ wanted: Member, by stored: StoredMember, _ identity: Identity
  ) throws(PackageError) -> Bool {
    switch wanted {
    case .symbolicLink(let target):
      if identity.kind != .symbolicLink { return false }
      return try stored.target() == target
    case .directory(let inner):
      if identity.kind != .directory { return false }
      return try isFulfilled(inner, by: stored)
    case .kept(_, let former):
      // A save links members that it doesn't alter, or copies them with their times.
      guard let former, former.kind == identity.kind else { return false }
      return former.modificationTime == identity.modificationTime
        && (former.kind == .directory || former.size == identity.size)
    case .file(let bytes, let mode):
      guard identity.kind == .file, identity.size == Int64(bytes.count) else { return false }
      if let mode, try stored.status().mode != mode { return false }
      var rest = bytes[...]
      var isSame = true
      try stored.readContents { (part, _) throws(PackageError) in
        isSame = isSame && rest.starts(with: part)
        rest = rest.dropFirst(part.count)
      }
      return isSame && rest.isEmpty
    }
  }
}
