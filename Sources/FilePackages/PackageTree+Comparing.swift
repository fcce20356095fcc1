internal import ContentHashing
public import SystemInterface

/// A member that two packages don't have alike.
///
/// - Note: Rule SP-5.
public struct PackageDifference: Hashable, Sendable {
  /// The kinds of differences.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// Only the later package has it.
    case added
    /// Only the former package had it.
    case removed
    /// Both have it: with other contents, as another kind of member, or as a link to another target.
    case altered
  }

  /// The path of the member in its package.
  public let path: SystemPath
  /// The kind of difference.
  public let kind: Kind
}

extension PackageTree {
  /// The properties by which files of two packages are compared.
  ///
  /// - Note: Rule FW-7.
  public enum Comparison: Hashable, Sendable {
    /// Sizes, times of modification and permissions.
    ///
    /// Nothing is read. Files in memory have no such time: their bytes are compared with those of files in memory, and differ from
    /// files on disk.
    case attributes
    /// Hashes of the contents.
    case contents
  }

  /// The members that this tree doesn't have as another one, in the order of their paths' bytes in each directory.
  ///
  /// A directory that only one of both has is named together with everything in it. Files that are hard links of one another aren't read.
  /// Blocks for the disk.
  ///
  /// - Parameters:
  ///   - former: The other tree, of the same package at an earlier time perhaps.
  ///   - comparison: How files are compared.
  /// - Returns: The differences; none if both trees are alike.
  /// - Throws: ``PackageError``, with code ``PackageError/Code/packageReplaced`` if one of both can't be read any more,
  ///   ``PackageError/Code/memberChanged`` if somebody wrote to a member meanwhile, or ``PackageError/Code/unsupportedKind`` for a socket,
  ///   FIFO or device.
  /// - Complexity: O(members), and O(bytes) of files of equal size if contents are compared.
  /// - Note: Rules SP-5, FW-7 and FW-8.
  public func differences(
    from former: PackageTree, by comparison: Comparison = .contents
  ) throws(PackageError) -> [PackageDifference] {
    var search = DifferenceSearch(comparison: comparison, files: files)
    try search.compare(former.root, root, at: .top)
    return search.found
  }
}

/// Walks through two directories at once.
private struct DifferenceSearch {
  let comparison: PackageTree.Comparison
  let files: any FileSystem
  var found: [PackageDifference] = []

  mutating func compare(_ former: DirectoryNode, _ present: DirectoryNode, at place: MemberPath) throws(PackageError) {
    let (old, new) = (Set(try former.names()), Set(try present.names()))
    for name in old.union(new).sorted() {
      let inner = try place.appending(name)
      try compare(
        old.contains(name) ? try member(name, of: former, inner) : nil,
        new.contains(name) ? try member(name, of: present, inner) : nil, at: inner)
    }
    // Otherwise names were missing that were still there.
    for directory in [former.base, present.base] { try directory?.directory.checkThatItStays() }
  }

  /// A member that was listed.
  private func member(
    _ name: SystemPath, of directory: DirectoryNode, _ place: MemberPath
  ) throws(PackageError) -> MemberNode {
    guard let node = try directory.member(name) else { throw PackageError(.memberChanged, place.path) }
    return node
  }

  private mutating func compare(_ old: MemberNode?, _ new: MemberNode?, at place: MemberPath) throws(PackageError) {
    switch (old, new) {
    case (nil, nil): return
    case (nil, let new?):
      found.append(PackageDifference(path: place.path, kind: .added))
      try compareInside(nil, new, at: place)
    case (let old?, nil):
      found.append(PackageDifference(path: place.path, kind: .removed))
      try compareInside(old, nil, at: place)
    case (let old?, let new?):
      let isAlike = try isAlike(old, new, at: place)
      if !isAlike { found.append(PackageDifference(path: place.path, kind: .altered)) }
      try compareInside(old, new, at: place)
    }
  }

  /// Compares the members of what is a directory in one of both packages.
  private mutating func compareInside(
    _ old: MemberNode?, _ new: MemberNode?, at place: MemberPath
  ) throws(PackageError) {
    let (former, present) = (try directory(old, place), try directory(new, place))
    if former == nil, present == nil { return }
    try compare(former ?? DirectoryNode(), present ?? DirectoryNode(), at: place)
  }

  private func directory(_ node: MemberNode?, _ place: MemberPath) throws(PackageError) -> DirectoryNode? {
    guard let node, try node.kind(place.path) == .directory else { return nil }
    return try node.asDirectory(place.path)
  }

  /// Apart from the members of directories.
  private func isAlike(_ old: MemberNode, _ new: MemberNode, at place: MemberPath) throws(PackageError) -> Bool {
    let kind = try old.kind(place.path)
    if try new.kind(place.path) != kind { return false }
    return switch kind {
    case .directory: true
    case .symbolicLink: try target(old) == target(new)
    case .file: try isAlikeFile(old, new)
    }
  }

  private func target(_ node: MemberNode) throws(PackageError) -> SystemPath? {
    switch node {
    case .symbolicLink(let target): target
    case .stored(let stored): try stored.target()
    case .file, .directory: nil
    }
  }

  private func isAlikeFile(_ old: MemberNode, _ new: MemberNode) throws(PackageError) -> Bool {
    if case .stored(let old) = old, case .stored(let new) = new {
      let (former, present) = (try old.status(), try new.status())
      if former.identity == present.identity { return true }
      if former.size != present.size { return false }
      if comparison == .attributes {
        return former.modificationTime == present.modificationTime && former.mode == present.mode
      }
    } else if comparison == .attributes, old.isStored || new.isStored {
      return false
    }
    return try hash(old) == hash(new)
  }

  private func hash(_ node: MemberNode) throws(PackageError) -> ContentHash? {
    switch node {
    case .stored(let stored): return try stored.contentHash().hash
    case .file(let file):
      switch file.contents {
      case .bytes(let bytes): return ContentHash(of: bytes)
      case .file(let place):
        let directory = try PinnedDirectory(at: place.parent, files)
        return try StoredMember(directory, MemberPath(place.lastComponent)).contentHash().hash
      }
    case .directory, .symbolicLink: return nil
    }
  }
}

extension MemberNode {
  fileprivate var isStored: Bool { if case .stored = self { true } else { false } }
}
