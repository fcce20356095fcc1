internal import ContentHashing
internal import FilePackages
package import FileVersions
package import FoundationEssentials
package import SystemInterface

/// Files that saves of single members have left in a package which were killed: another program may have written them in the last instant.
package struct MemberLeftovers: Sendable {
  private let path: SystemPath
  private let url: URL
  private let versions: VersionsWithinAccess
  private let files: any FileSystem

  /// Those in a package.
  ///
  /// - Parameters:
  ///   - path: The package, as a canonical path.
  ///   - url: The same, as its versions know it.
  ///   - versions: Keeps the versions.
  ///   - files: The door to the package.
  package init(
    inPackageAt path: SystemPath, _ url: URL, _ versions: FileVersions, files: any FileSystem = HostFileSystem()
  ) {
    self.path = path
    self.url = url
    self.versions = VersionsWithinAccess(versions)
    self.files = files
  }

  /// Whether there are such files, as far as the directories of the package can be read.
  package var areThere: Bool {
    (try? PackageTree(openingPackageAt: path, files: files).memberLeftovers().isEmpty) == false
  }

  /// Makes a version of each such file, which is the package with that as the member, unless the package or a version has the contents, and
  /// removes it.
  ///
  /// Blocks. The caller keeps saves of members out meanwhile.
  ///
  /// - Throws: Errors of reading the package and of adding versions; the file is still there then.
  /// - Complexity: O(members); with such a file, O(bytes) of the package.
  package func take() throws {
    let tree = try PackageTree(openingPackageAt: path, files: files)
    for leftover in try tree.memberLeftovers() {
      let bytes = try tree.contents(of: leftover)
      if try !isKept(bytes, as: leftover.member, in: tree) {
        let made = try tree.with(bytes, as: leftover.member)
        _ = try versions.add(to: url) { source in _ = try made.write(to: source, .nothing) }
      }
      try tree.remove(leftover)
    }
  }

  /// The same before the package is replaced by a whole one, which has none of these files.
  ///
  /// - Throws: ``DocumentError`` with the code `versionNotKept`.
  package func takeBeforeReplacement() throws(DocumentError) {
    do { try take() } catch {
      throw DocumentError.versionNotKept(
        "A killed save has left a file in the package, and no version of that could be kept, so nothing was overwritten",
        error)
    }
  }

  private func isKept(_ bytes: [UInt8], as member: SystemPath, in tree: PackageTree) throws -> Bool {
    if bytes.isEmpty || (try? tree.contents(of: member)) == bytes { return true }
    return try versions.hasMember(member, ContentHash(of: bytes), inVersionOf: url)
  }
}

extension PackageTree {
  /// The same package with other contents of a member, or with a member more, whatever is there.
  func with(_ bytes: [UInt8], as member: SystemPath) throws(PackageError) -> PackageTree {
    var tree = self
    if let kind = try kind(of: member), kind != .file { try tree.remove(member) }
    try tree.update(member, bytes)
    return tree
  }
}
