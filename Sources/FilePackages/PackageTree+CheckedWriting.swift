package import ContentHashing
package import SystemInterface

/// Looks at the packages of a save, before and after they change places.
struct PackageCheck {
  /// Whether the package that was replaced is the one that may be.
  let isExpected: (PackageTree) throws(PackageError) -> Bool
  /// Notes the new package before it takes its place.
  let note: (PackageTree) throws(PackageError) -> Void
  /// Whether the new package is what was noted.
  let isNoted: (PackageTree) throws(PackageError) -> Bool
}

extension PackageTree {
  /// The end of a write that replaces one certain state of a package.
  package enum CheckedWrite<Stamp> {
    /// The tree that was written, opened, and its stamp.
    case written(PackageTree, Stamp)
    /// The same, and something failed afterwards: it may be gone after the loss of power, or the replaced package is left beside it.
    case writtenAndFailed(PackageTree, Stamp, PackageError)
    /// Another program has altered the package since it was looked at; it's at its place, as that program has left it.
    ///
    /// The caller has to rescue the tree, if there's one: it was in its place for a moment, and somebody has altered it there. It
    /// has a temporary name, and is removed with ``removeLeftovers(of:age:)``. The error says what has changed.
    case changedMeanwhile(PackageError, kept: PackageTree?)
  }

  /// Writes the package in the place of another one, but only if that has exactly the members that the caller has looked at.
  ///
  /// The two change places, and the one that comes out is inspected before it's removed. If it isn't what it was, it goes back. So a
  /// change that another program makes to a member while this one is written isn't lost. A write that leaves the size and comes within the
  /// same tick of the file system's clock, and one through a mapping, are seen by the hashes of the members that are known. One through a
  /// descriptor or mapping that stays open for longer isn't. On file systems that can't exchange names, the place is empty for a moment each
  /// time.
  ///
  /// - Parameters:
  ///   - path: The place, as a canonical path.
  ///   - replacement: ``Replacement/openedPackage``, or ``Replacement/anything`` for a tree of another package.
  ///   - stamp: The stamp of the package when it was looked at.
  ///   - replaced: The members that are gone with that package, with the hashes that they must have.
  ///   - digests: The hashes of the document whose package it is; those of the bytes that are written are noted.
  ///   - describe: Makes the stamp of a package, from the identities and times of its members, for example.
  /// - Returns: The tree that was written, or the news that another program was faster.
  /// - Throws: Errors as ``write(to:_:linking:)``.
  package func write<Stamp: Equatable>(
    to path: SystemPath, _ replacement: Replacement, expecting stamp: Stamp, replacing replaced: ReplacedMembers,
    digests: MemberDigests?, stampedBy describe: @escaping (PackageTree) throws(PackageError) -> Stamp
  ) throws(PackageError) -> CheckedWrite<Stamp> {
    let box = StampBox<Stamp>()
    let check = PackageCheck(
      isExpected: { (tree) throws(PackageError) in
        if try describe(tree) != stamp { return false }
        return try replaced.isThere(in: tree)
      },
      note: { (tree) throws(PackageError) in
        box.stamp = try describe(tree)
        try noteWritten(in: tree)
      },
      isNoted: { (tree) throws(PackageError) in try describe(tree) == box.stamp })
    var writer = PackageWriter(
      files: files, destination: path, replacement, .whereNobodyCanWriteThroughIt, digests, check)
    do throws(PackageError) {
      let directory = try writer.write(root)
      guard let noted = box.stamp else { preconditionFailure("a package is in its place that wasn't looked at") }
      return .written(PackageTree(directory), noted)
    } catch  where !error.isInPlace && (error.code == .memberChanged || error.code == .packageReplaced) {
      return .changedMeanwhile(error, kept: writer.kept)
    } catch {
      guard let placed = writer.placed, let noted = box.stamp else { throw error }
      return .writtenAndFailed(PackageTree(placed), noted, error)
    }
  }

  /// Replaces one file of the package on disk, as ``replaceOnDisk(_:_:)`` does, if it's what it was.
  ///
  /// - Parameters:
  ///   - path: The member.
  ///   - bytes: The contents.
  ///   - status: The status of the member when it was looked at; `nil` if there was none.
  ///   - hash: The hash of its bytes then; `nil` if its status says enough.
  /// - Throws: ``PackageError/Code/memberChanged`` if another program has altered the member meanwhile, which is as that program has left
  ///   it; errors as ``replaceOnDisk(_:_:)``.
  package mutating func replaceOnDisk(
    _ path: SystemPath, _ bytes: [UInt8], expecting status: FileStatus?, _ hash: ContentHash?
  ) throws(PackageError) {
    let files = files
    do throws(PackageError) {
      try replaceOnDisk(path) { (item) throws(SystemError) in
        try files.replaceContents(of: item.name, at: item.directory, with: bytes, expecting: status) {
          (former) throws(SystemError) in
          guard let hash else { return true }
          return try files.contentHash(of: former) == hash
        }
      }
    } catch  where error.systemError?.number == .changedMeanwhile || error.systemError?.isAbsence == true {
      throw PackageError(.memberChanged, path, systemError: error.systemError)
    }
  }

  /// Notes the hash of bytes that were just written to a member.
  package func noteWritten(_ bytes: [UInt8], _ status: FileStatus) {
    top?.directory.digests?.noteWritten(ContentHash(of: bytes), of: status)
  }

  /// The status of a member on disk; `nil` if there's none, or if another package has taken the place of this one.
  package func statusOnDisk(_ path: SystemPath) throws(PackageError) -> FileStatus? {
    guard let base = root.base else { return nil }
    do throws(PackageError) {
      return try StoredMember(base.directory, try MemberPath(path)).status()
    } catch {
      if [.notFound, .packageReplaced, .memberChanged, .wrongKind].contains(error.code) { return nil }
      throw error
    }
  }
}

/// The stamp of a package that's about to take its place.
private final class StampBox<Stamp> {
  var stamp: Stamp?
}
