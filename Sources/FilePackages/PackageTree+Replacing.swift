package import ContentHashing
package import SystemInterface

/// The files that are gone from a package with a save: replaced by others, or removed.
package struct ReplacedMembers: Sendable {
  package struct Member: Sendable {
    package let place: MemberPath
    package let hash: ContentHash
  }

  /// Those whose bytes are known, with the hashes that they have.
  package private(set) var known: [Member] = []
  /// Whether one has other bytes than the document knows, with the same dates.
  package private(set) var areAltered = false

  /// None.
  package init() {}

  /// Looks at files of a package, of which the document knows the digests.
  package init(at places: [MemberPath], in directory: PinnedDirectory) {
    guard let digests = directory.digests else { return }
    var left = Int64(MemberDigests.unreadSizeMax)
    for place in places { add(StoredMember(directory, place), digests, &left) }
  }

  /// Looks at one file; `left` is how many more bytes of files are read that nobody has read.
  private mutating func add(_ member: StoredMember, _ digests: MemberDigests, _ left: inout Int64) {
    // A file that can't be read has other dates by now, or is none that the document has read.
    guard let status = try? member.status() else { return }
    let former = digests.hash(of: status)
    if former == nil, status.size > left { return }
    guard let found = try? member.contentHash() else { return }
    if former == nil {
      left -= status.size
      digests.noteFirst(found.hash, of: found.status)
    } else if former != found.hash {
      areAltered = true
      digests.noteAltered(found.hash, of: found.status)
    }
    known.append(Member(place: member.place, hash: found.hash))
  }

  /// The hash of one of the members; `nil` if it isn't known.
  package func hash(of path: SystemPath) -> ContentHash? { known.first { $0.place.path == path }?.hash }

  /// Whether all of them are in a package as they were.
  package func isThere(in package: PackageTree) throws(PackageError) -> Bool {
    guard let directory = package.top?.directory else { return false }
    for member in known {
      if try StoredMember(directory, member.place).contentHash().hash != member.hash { return false }
    }
    return true
  }
}

extension PackageTree {
  /// Looks at the files of a package that are gone with it when this tree takes its place.
  ///
  /// Their hashes are compared with those that are known; those of others are known from then on. Unchanged members aren't looked at: they are linked,
  /// so that nothing is lost of them.
  ///
  /// - Parameter package: A tree of the package at the place, which has the document's digests.
  /// - Returns: The files.
  /// - Throws: Errors of listing directories.
  /// - Complexity: O(changes), and O(bytes) of the files that are known, and of others up to ``MemberDigests/unreadSizeMax``. For a
  ///   tree that was opened on another package, O(members) of this one.
  package func replacedMembers(in package: PackageTree) throws(PackageError) -> ReplacedMembers {
    guard let top = package.top, top.directory.digests != nil else { return ReplacedMembers() }
    return ReplacedMembers(at: try ReplacedFiles.files(of: top, without: root).map(\.place), in: top.directory)
  }

  /// Notes the hashes of the bytes that this tree has written to a package.
  ///
  /// - Parameter package: The new package, before another program can reach it.
  /// - Throws: Errors of looking up its members.
  func noteWritten(in package: PackageTree) throws(PackageError) {
    guard let top = package.top, let digests = top.directory.digests else { return }
    try Self.noteWritten(root, in: top, digests)
  }

  private static func noteWritten(
    _ node: DirectoryNode, in directory: StoredMember, _ digests: MemberDigests
  ) throws(PackageError) {
    for (name, change) in node.changes {
      let member = try directory.appending(name)
      switch change {
      case .member(.directory(let inner)): try noteWritten(inner, in: member, digests)
      case .member(.file(let file)):
        guard case .bytes(let bytes) = file.contents else { continue }
        digests.noteWritten(ContentHash(of: bytes), of: try member.status())
      case .member(.stored), .member(.symbolicLink), .removed: continue
      }
    }
  }
}

/// Finds the files of a package that a tree doesn't take over.
private struct ReplacedFiles {
  let package: StoredMember
  /// Places from which the tree has everything that it doesn't name itself.
  private var kept: Set<MemberPath> = []
  private var files: [StoredMember] = []

  static func files(of package: StoredMember, without root: DirectoryNode) throws(PackageError) -> [StoredMember] {
    var finder = ReplacedFiles(package: package)
    finder.keepPlaces(of: .directory(root))
    if !finder.kept.contains(package.place) { try finder.add(package) }
    try finder.addAltered(root)
    return finder.files
  }

  private init(package: StoredMember) { self.package = package }

  private func isHere(_ stored: StoredMember) -> Bool {
    stored.directory.identity == package.directory.identity
  }

  private mutating func keepPlaces(of node: MemberNode) {
    switch node {
    case .stored(let stored): if isHere(stored) { kept.insert(stored.place) }
    case .directory(let directory):
      if let base = directory.base, directory.hasMembersOfBase, isHere(base) { kept.insert(base.place) }
      for case .member(let member) in directory.changes.values { keepPlaces(of: member) }
    case .file, .symbolicLink: break
    }
  }

  private mutating func addAltered(_ directory: DirectoryNode) throws(PackageError) {
    let base = directory.base.flatMap { directory.hasMembersOfBase && isHere($0) ? $0 : nil }
    for (name, change) in directory.changes.sorted(by: { $0.key < $1.key }) {
      if let base { try add(StoredMember(package.directory, try base.place.appending(name))) }
      if case .member(.directory(let inner)) = change { try addAltered(inner) }
    }
  }

  /// Adds a file, or the files in a directory, without those that the tree has elsewhere.
  private mutating func add(_ member: StoredMember) throws(PackageError) {
    if kept.contains(member.place) { return }
    do throws(PackageError) {
      switch try member.status().kind {
      case .regular: files.append(member)
      case .directory: for (_, inner, _) in try member.members() { try add(inner) }
      case .symbolicLink, .fifo, .socket, .characterDevice, .blockDevice, .unknown: break
      }
    } catch  where [.notFound, .wrongKind, .memberChanged, .packageReplaced].contains(error.code) {
      // There was none, or none any more, which the dates of the package show.
    }
  }
}
