internal import ContentHashing
internal import FileCoordination
internal import FilePackages
internal import FoundationEssentials
internal import SystemInterface

// A package that takes the place of the one that it was made from, or one member of it.

extension PackageWork {
  /// Compares first: the package of another program is kept as a version before it's overwritten.
  func write() async throws -> Result {
    let tree = mine()
    return try await work.writeFile { access in
      var lastError: (any Error)?
      for _ in 0..<Self.attemptCountMax {
        let altered = try AlteredMember(of: tree)
        guard let (stored, stamps) = try present(access, leavingOut: altered?.path) else { return Result(.missing) }
        let replaced = try replacedMembers(in: stored)
        if stored.tag != work.memory.base?.tag || replaced.areAltered {
          let result = Result(.differs(unreadable: nil))
          result.incoming = stored
          return result
        }
        if let status = try work.files.statusIfPresent(of: access.canonicalPath) {
          try await work.checkSaving(access, tree, status)
          try await work.keepFormer(access, stored.tag)
        }
        if stored.contents?.top?.directory.hasMemberLeftovers == true { try await keepMemberLeftovers(access) }
        switch try written(tree, altered, insteadOf: stored, stamps, replaced, access) {
        case .written(let written, let tag):
          work.hold(access)
          return done(Stored(written, tag), access)
        case .writtenAndFailed(let written, let tag, let error):
          work.hold(access)
          let result = done(Stored(written, tag), access)
          result.outcome = .failed(DocumentError(ofPackage: error))
          result.isPlaced = true
          return result
        case .changedMeanwhile(let error, let kept):
          if let kept { try await rescue(kept, access) }
          lastError = error
        }
      }
      throw lastError ?? DocumentError.fileDeleted
    }
  }

  /// A tree that can't be written, since members of another package are gone, isn't written more often than that.
  private static let attemptCountMax = 4

  /// A package that another program has altered in the moment in which it was in its place is a version, as the one that was there is.
  private func rescue(_ kept: PackageTree, _ access: borrowing FileAccess) async throws {
    let name = access.canonicalPath.lastComponent
    try await work.options.versions.keep(kept, at: access.url, named: name, isConflict: true)
    guard let place = kept.top?.directory.path else { return }
    // If this fails it's removed as the leftovers of killed saves are.
    try? work.files.withDescriptor(place.parent, flags: .directory) { (parent) throws(SystemError) in
      try work.files.removeDisplaced(
        DirectoryItem(name: place.lastComponent, directory: parent, place: place.parent))
    }
  }

  /// One member that was altered takes the place of its former self, which is one step as well.
  ///
  /// Otherwise the whole package is exchanged; of a tree that was opened on another one everything is copied.
  private func written(
    _ tree: PackageTree, _ altered: AlteredMember?, insteadOf stored: Stored, _ stamps: PackageStamps,
    _ members: ReplacedMembers, _ access: borrowing FileAccess
  ) throws(PackageError) -> PackageTree.CheckedWrite<ContentHash> {
    let isOwn = tree.top?.directory.identity == stored.contents?.top?.directory.identity
    func whole() throws(PackageError) -> PackageTree.CheckedWrite<ContentHash> {
      try tree.write(
        to: access.canonicalPath, isOwn ? .openedPackage : .anything, expecting: stored.tag, replacing: members,
        digests: digests
      ) { (tree) throws(PackageError) in try tree.stamp() }
    }
    guard isOwn, let altered else { return try whole() }
    do throws(PackageError) {
      let written = try replaced(altered, in: tree, stamps, members)
      return .written(written.contents ?? tree, written.tag)
    } catch  where error.code == .memberChanged {
      return .changedMeanwhile(error, kept: nil)
    } catch  where error.systemError?.isChangeInPlace == true {
      let written = try noted(altered, in: tree, stamps)
      return .writtenAndFailed(written.contents ?? tree, written.tag, error)
    } catch  where error.code == .wrongKind {
      // Another program has made a directory or a link of the member, which is in a version by now.
      return try whole()
    }
  }

  /// Replaces one member on disk.
  ///
  /// - Returns: The package, with the tag of what was there before, except for the member: if another program has altered another one
  ///   meanwhile, no package has that tag, so that's found by the next look, and isn't taken for the document's own.
  func replaced(
    _ altered: AlteredMember, in tree: PackageTree, _ stamps: PackageStamps, _ members: ReplacedMembers
  ) throws(PackageError) -> Stored {
    var tree = tree
    try tree.replaceOnDisk(altered.path, altered.bytes, expecting: altered.status, members.hash(of: altered.path))
    return try noted(altered, in: tree, stamps)
  }

  /// The package with a member that was just replaced.
  private func noted(
    _ altered: AlteredMember, in tree: PackageTree, _ stamps: PackageStamps
  ) throws(PackageError) -> Stored {
    let status = try tree.statusOnDisk(altered.path)
    if let status {
      tree.noteWritten(altered.bytes, status)
      if let tag = stamps.replacing(altered.path, status) { return Stored(tree, tag) }
    }
    // A new member, whose place among the others isn't known.
    let now = try tree.stamps(leavingOut: altered.path)
    let tag = now.others == stamps.others ? now.all : ContentHash(of: Array("\(stamps.all) \(now.all)".utf8))
    return Stored(tree, tag)
  }
}

/// A member that's replaced alone.
struct AlteredMember: Sendable {
  let path: SystemPath
  let bytes: [UInt8]
  /// Its status on disk, from before the stamp was made with which the package is compared; `nil` if there's none.
  let status: FileStatus?

  /// - Returns: `nil` unless the tree has exactly one altered file.
  init?(of tree: PackageTree) throws(PackageError) {
    guard let (path, bytes) = tree.onlyAlteredFile else { return nil }
    try self.init(path, bytes, of: tree)
  }

  init(_ path: SystemPath, _ bytes: [UInt8], of tree: PackageTree) throws(PackageError) {
    self.path = path
    self.bytes = bytes
    status = try tree.statusOnDisk(path)
  }
}
