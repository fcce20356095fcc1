internal import FileCoordination
internal import FilePackages
internal import FoundationEssentials
internal import SystemInterface

// When the document takes what killed saves of single members have left in its package.

extension PackageWork {
  /// Whether the package has such files, by the last look at its members.
  var hasMemberLeftovers: Bool {
    work.memory.contents?.top?.directory.hasMemberLeftovers == true
      || work.memory.base?.contents?.top?.directory.hasMemberLeftovers == true
  }

  /// Removes such files when nobody saves the package.
  ///
  /// Failing to do so harms nobody: the next save tries again.
  func tidyMembers() async {
    guard hasMemberLeftovers else { return }
    _ = try? await work.readFile { access in
      let leftovers = leftovers(access)
      try await Offload.run { () throws(any Error) in try leftovers.take() }
      return .init(.done)
    }
  }

  /// The same before the package is saved: a save of the whole package leaves such files behind.
  func keepMemberLeftovers(_ access: borrowing FileAccess) async throws {
    let leftovers = leftovers(access)
    try await Offload.run { () throws(DocumentError) in try leftovers.takeBeforeReplacement() }
  }

  private func leftovers(_ access: borrowing FileAccess) -> MemberLeftovers {
    MemberLeftovers(inPackageAt: access.canonicalPath, access.url, work.options.versions, files: work.files)
  }
}
