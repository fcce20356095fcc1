package import SystemInterface

// A file becomes a version while another one takes its place.

extension VersionStore {
  /// Keeps the contents of a file while another file takes its place: the old one becomes the version, without being
  /// copied.
  ///
  /// - Parameters:
  ///   - path: The file, as a canonical path.
  ///   - item: The item.
  ///   - attributes: The known properties of the version.
  ///   - noteOther: Called with another version, if a program that doesn't wait has written the file in the last instant: it has these
  ///     contents.
  ///   - replace: Puts another file in its place, if it returns, and only over what its first argument allows. Right before that it calls
  ///     its second argument with the complete new file, which is then on the disk, together with the version.
  /// - Returns: The version.
  /// - Throws: The error thrown by `replace`: no version was added then, unless the file was replaced all the same. Or the error of a
  ///   system call.
  /// - Complexity: O(bytes) of a small file, to hash them; O(1) for a large one.
  package func keep(
    _ path: SystemPath, of item: ItemID, _ attributes: VersionAttributes,
    noteOther: @escaping (StoredVersion) -> Void = { _ in },
    whileReplacing replace: (
      _ target: SaveTarget, _ settle: @escaping (FileDescriptor) throws(SystemError) -> Void
    ) throws -> Void
  ) throws -> StoredVersion {
    guard var former = try status(of: path) else { throw VersionStoreError.nothingThere(path) }
    if former.linkCount > 1 {
      // The other name may be the store's, left by a save that was killed.
      _ = try? unfold(of: item)
      former = try status(of: path) ?? former
    }
    let identity = former.identity
    let draft = SystemPath.temporaryName(for: path.lastComponent)
    var parts = OpenParts()
    defer { close(&parts) }
    let bare = try addBare(path, former, to: item, attributes, draft: draft, &parts)
    let version =
      try bare ?? add(contentsOf: path, former, to: item, attributes, taking: .linking, draft: draft, &parts)
    let kept = KeptWhileReplaced(version: version, isBare: bare != nil, parts: parts)
    var isSettled = false
    let refusal = Refusal()
    var target = saveTarget(
      KeptState(status: former, version: version),
      orElse: { (other) throws(VersionStoreError) in
        noteOther(try add(contentsOf: other, to: item, named: path.lastComponent, attributes))
      }, refusal)
    target.temporaryName = draft
    do {
      try replace(target) { (file) throws(SystemError) in
        try settle(kept, with: [file])
        isSettled = true
      }
      // A file that was written in place, or only looked at.
      if !isSettled { try settle(kept) }
    } catch {
      if try self.status(of: path)?.identity != identity {
        _ = try complete(kept, from: path, identity)
      } else {
        try undo(kept)
      }
      if let refusal = refusal.error { throw refusal }
      throw error
    }
    return try complete(kept, from: path, identity)
  }

  /// A version that isn't complete before another file has the place of its own.
  private struct KeptWhileReplaced {
    let version: StoredVersion
    let isBare: Bool
    let parts: OpenParts
  }

  private func settle(_ kept: KeptWhileReplaced, with files: [FileDescriptor] = []) throws(SystemError) {
    if kept.isBare { return try settleBare(kept.version, kept.parts, with: files) }
    try settle(kept.version, kept.parts, with: files, alsoAt: [layout.marks(of: kept.version.item)])
  }

  private func complete(
    _ kept: KeptWhileReplaced, from path: SystemPath, _ identity: FileIdentity
  ) throws(VersionStoreError) -> StoredVersion {
    let version = kept.version
    if kept.isBare { return try endBare(version, kept.parts) }
    try completeReplacement(of: version, from: path, identity, kept.parts.contents)
    try endStep(of: version.id, of: version.item)
    if version.hash == nil { hashingIsDue?() }
    return version
  }

  private func undo(_ kept: KeptWhileReplaced) throws(VersionStoreError) {
    let version = kept.version
    if kept.isBare { return try undoBare(version.id, of: version.item, kept.parts) }
    try remove(version.id, of: version.item)
    try? unlink(layout.mark(of: version.id, of: version.item))
  }
}
