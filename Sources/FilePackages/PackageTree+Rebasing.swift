package import SystemInterface

extension PackageTree {
  /// The changes of this tree, made to another package: that which has taken the place of the one that this was opened on.
  ///
  /// Members that weren't altered in this tree are taken from the other package. A member that was moved, and that's gone with
  /// the former package, is the one that the other package has under its former name, and is dropped if there's none.
  ///
  /// - Parameter other: A tree of the other package.
  /// - Returns: The tree; this one if both were opened on the same directory.
  /// - Throws: Errors of looking up names.
  /// - Complexity: O(changes).
  package func rebased(onto other: PackageTree) throws(PackageError) -> PackageTree {
    guard let base = root.base, let top = other.top, base.directory.identity != top.directory.identity else {
      return self
    }
    return PackageTree(try Self.rebased(root, onto: top.directory), files: files)
  }

  private static func rebased(
    _ node: DirectoryNode, onto directory: PinnedDirectory
  ) throws(PackageError) -> DirectoryNode {
    var result = node
    result.base = try node.base.flatMap { (base) throws(PackageError) in try present(base, in: directory, .directory) }
    for (name, change) in node.changes {
      switch change {
      case .removed: if result.base == nil { result.changes[name] = nil }
      case .member(.directory(let inner)):
        result.changes[name] = .member(.directory(try rebased(inner, onto: directory)))
      case .member(.stored(let stored)):
        if (try? stored.status()) != nil { continue }
        result.changes[name] = try present(stored, in: directory, nil).map { .member(.stored($0)) }
      case .member(.file), .member(.symbolicLink): break
      }
    }
    return result
  }

  /// The member of the same place; `nil` if there's none, or none of that kind.
  private static func present(
    _ stored: StoredMember, in directory: PinnedDirectory, _ kind: Kind?
  ) throws(PackageError) -> StoredMember? {
    let member = StoredMember(directory, stored.place)
    do throws(PackageError) {
      let found = try MemberNode.stored(member).kind(stored.place.path)
      return kind == nil || kind == found ? member : nil
    } catch  where error.code == .notFound || error.code == .wrongKind { return nil }
  }
}

extension PackageTree {
  /// The one member that was altered, if nothing else was, and its contents; `nil` otherwise.
  package var onlyAlteredFile: (path: SystemPath, bytes: [UInt8])? {
    var (directory, path) = (root, MemberPath.top)
    while directory.hasMembersOfBase, directory.mode == nil, directory.base?.place == path,
      let (name, change) = directory.changes.first, directory.changes.count == 1, case .member(let node) = change,
      let inner = try? path.appending(name)
    {
      path = inner
      switch node {
      case .directory(let next): directory = next
      case .file(let file):
        guard case .bytes(let bytes) = file.contents, file.mode == nil else { return nil }
        return (path.path, bytes)
      case .stored, .symbolicLink: return nil
      }
    }
    return nil
  }
}
