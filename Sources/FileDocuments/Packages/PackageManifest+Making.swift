internal import FilePackages
internal import SystemInterface

extension PackageManifest {
  /// Describes a tree by its differences from a package.
  ///
  /// Members of that package are named. All others are in the manifest with their bytes: those that were added or altered, and those of
  /// another package, such as a version that the document went back to.
  ///
  /// - Parameters:
  ///   - tree: The tree.
  ///   - package: The directory of the package; `nil` if there's none.
  ///   - byteCountMax: How many bytes of contents are accepted.
  /// - Throws: ``FilePackages/PackageError/Code/tooLarge``, and errors of reading members that aren't of that package.
  /// - Complexity: O(changes) and, for trees of other packages, O(bytes).
  init(_ tree: PackageTree, of package: FileIdentity?, byteCountMax: Int = .max) throws(PackageError) {
    var maker = ManifestMaker(package: package, files: tree.files, left: byteCountMax)
    root = try maker.directory(tree.root, .top)
  }
}

private struct ManifestMaker {
  let package: FileIdentity?
  let files: any FileSystem
  /// How many more bytes are accepted.
  var left: Int

  private func isOwn(_ stored: StoredMember) -> Bool { stored.directory.identity == package }

  private func identity(_ stored: StoredMember) -> PackageManifest.Identity? {
    (try? stored.status()).flatMap(PackageManifest.Identity.init)
  }

  mutating func directory(_ node: DirectoryNode, _ path: MemberPath) throws(PackageError) -> PackageManifest.Directory {
    var result = PackageManifest.Directory(mode: node.mode)
    let base = node.base
    if let base, isOwn(base) {
      result.origin = base.place.path
      result.hasMembersOfOrigin = node.hasMembersOfBase
    } else if let base {
      if result.mode == nil { result.mode = try base.status().mode }
      if node.hasMembersOfBase {
        for (name, stored, status) in try base.members() where node.changes[name] == nil {
          let member = try copied(stored, status, try path.appending(name))
          result.entries.append(PackageManifest.Entry(name: name, former: nil, member: member))
        }
      }
    }
    for (name, change) in node.changes {
      let former = try result.origin == nil ? nil : base?.appending(name)
      var entry = PackageManifest.Entry(name: name, former: former.flatMap(identity), member: nil)
      switch change {
      case .member(let member): entry.member = try self.member(member, try path.appending(name))
      case .removed: if result.origin == nil { continue }
      }
      result.entries.append(entry)
    }
    result.entries.sort { $0.name < $1.name }
    return result
  }

  private mutating func member(
    _ node: MemberNode, _ path: MemberPath
  ) throws(PackageError) -> PackageManifest.Member {
    switch node {
    case .directory(let inner): return .directory(try directory(inner, path))
    case .symbolicLink(let target): return .symbolicLink(target: target)
    case .stored(let stored) where isOwn(stored): return .kept(stored.place.path, identity(stored))
    case .stored(let stored): return try copied(stored, try stored.status(), path)
    case .file(let file):
      switch file.contents {
      case .bytes(let bytes):
        try take(bytes.count, path)
        return .file(bytes, mode: file.mode)
      case .file(let place):
        let directory = try PinnedDirectory(at: place.parent, files)
        let source = StoredMember(directory, try MemberPath(place.lastComponent))
        return .file(try contents(source, path), mode: file.mode)
      }
    }
  }

  /// A member of another package, with all that's in it.
  private mutating func copied(
    _ stored: StoredMember, _ status: FileStatus, _ path: MemberPath
  ) throws(PackageError) -> PackageManifest.Member {
    switch status.kind {
    case .directory: return .directory(try directory(DirectoryNode(base: stored), path))
    case .symbolicLink: return .symbolicLink(target: try stored.target())
    case .regular: return .file(try contents(stored, path), mode: status.mode)
    case .fifo, .socket, .characterDevice, .blockDevice, .unknown: throw PackageError(.unsupportedKind, path.path)
    }
  }

  private mutating func contents(_ stored: StoredMember, _ path: MemberPath) throws(PackageError) -> [UInt8] {
    var (bytes, room): ([UInt8], Int) = ([], left)
    try stored.readContents { (part, size) throws(PackageError) in
      if size > Int64(room) || bytes.count + part.count > room { throw PackageError(.tooLarge, path.path) }
      bytes += part
    }
    try take(bytes.count, path)
    return bytes
  }

  private mutating func take(_ count: Int, _ path: MemberPath) throws(PackageError) {
    if count > left { throw PackageError(.tooLarge, path.path) }
    left -= count
  }
}
