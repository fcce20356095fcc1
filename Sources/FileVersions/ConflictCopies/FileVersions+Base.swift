internal import FileCoordination
public import FoundationEssentials
internal import VersionStore

extension FileVersions {
  /// Keeps the present contents of a file as the base of later merges: the contents that all devices have when they are
  /// in step.
  ///
  /// No sync engine says what the sides of a conflict began with, so a program that merges keeps it: when it opens the file, say, or
  /// when the engine reports that everything is transferred. ``FileConflict/base`` of the next conflict is the one that was kept last.
  /// It has to be what *every* side has begun with: a merge from something newer would undo the changes in between.
  ///
  /// Presenters save first. As long as the file has a conflict, no other side has its present contents: they're kept as a version like
  /// any other then, whose ``FileVersion/isBase`` is false. Contents that the last base has aren't kept again.
  ///
  /// - Parameters:
  ///   - url: The file or package.
  ///   - isPackage: Whether a directory is a package although its name has no extension and it has no versions yet.
  /// - Returns: The version.
  /// - Throws: ``FileVersionError``.
  /// - Complexity: O(bytes) to hash them; their blocks are shared where the file system can.
  /// - Note: Rule CV-36.
  @discardableResult
  public func addBase(of url: URL, isPackage: Bool = false) async throws(FileVersionError) -> FileVersion {
    try await perform { keeper in
      try keeper.coordinator.blocking.read(url, options: .resolvesSymbolicLink) { access in
        try keeper.addBase(access, isPackage: isPackage)
      }
    }
  }
}

extension VersionKeeper {
  func addBase(_ access: borrowing FileAccess, isPackage: Bool) throws -> FileVersion {
    let path = access.canonicalPath
    let kept = try versions(at: path) ?? []
    let isBase = kept.allSatisfy(\.isResolved)
    if isBase, let last = kept.first(where: \.isBase) {
      let store = try store(for: path)
      let contents = try store.contents(ofItemAt: path)
      if let stored = last.stored, stored.size == contents?.size, try store.hashed(stored).hash == contents?.hash {
        return last
      }
    }
    return try add(access, from: path, Addition(isBase: isBase, isPackage: isPackage))
  }
}
