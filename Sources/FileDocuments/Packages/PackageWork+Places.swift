internal import FileCoordination
internal import FilePackages
internal import FoundationEssentials
internal import SystemInterface

// A package at another place, and members alone.

extension PackageWork {
  func place() async throws -> Result {
    let (tree, argument) = (mine(), work.argument)
    let presence = try work.enter(argument.url)
    do {
      return try await work.coordinator(for: presence).write(presence.presenter.url) { access in
        let path = access.canonicalPath
        try work.checkPlace(access)
        let written = try tree.write(to: path, argument.isReplacing ? .anything : .nothing, digests: digests)
        return try await registered(presence, access, Stored(written, try written.stamp()))
      }
    } catch {
      presence.leave()
      throw error
    }
  }

  private static let justWritten = DocumentError(
    .coordination, "Another program has just written the package. Try again.")

  /// Everything is saved by now, so that nothing else is in memory alone.
  func replaceMember() async throws -> Result {
    guard let (path, bytes) = work.argument.member else { preconditionFailure("no member") }
    return try await work.writeFile { access in try await replace(path, bytes, access) }
  }

  private func replace(_ path: SystemPath, _ bytes: [UInt8], _ access: borrowing FileAccess) async throws -> Result {
    let tree = mine()
    let member = try AlteredMember(path, bytes, of: tree)
    guard let (stored, stamps) = try present(access, leavingOut: path) else { throw DocumentError.fileDeleted }
    if try work.files.statusIfPresent(of: access.canonicalPath)?.isLocked == true { throw DocumentError.locked }
    if stored.tag != work.memory.base?.tag { throw Self.justWritten }
    let members = try replacedMembers(in: stored, by: tree.with(bytes, as: path))
    // Nobody announces what's stored in a mapping: another try would find the same.
    if members.areAltered { try await keepVersion(tree, access, isConflict: true) }
    try await work.keepFormer(access, stored.tag)
    do throws(PackageError) {
      return done(try replaced(member, in: tree, stamps, members), access)
    } catch  where error.code == .memberChanged { throw Self.justWritten }
  }
}
