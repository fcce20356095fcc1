extension FileSystem {
  /// How many names of a directory are looked at for leftovers.
  private static var leftoverNameCountMax: Int { 65_536 }

  /// Removes what saves of a file have left beside it that were killed.
  ///
  /// The caller keeps others from saving the file meanwhile. Only regular files of this user are removed. Files whose names are so
  /// long that temporary names are cut share these with others: nothing is removed then.
  ///
  /// - Parameter path: The file, as a canonical path.
  /// - Returns: How many were removed.
  /// - Throws: The error of openat(2), getdents64(2), statx(2) or unlinkat(2).
  /// - Complexity: O(*n*) in the number of names in the directory, up to 65,536.
  package func removeLeftovers(ofSavesOf path: SystemPath) throws(SystemError) -> Int {
    let name = try path.itemName()
    guard name.bytes.count <= SystemPath.uncutNameLengthMax else { return 0 }
    return try locatingErrors(at: path) { () throws(SystemError) in
      try withDescriptor(path.parent, flags: .directory) { (directory) throws(SystemError) in
        var (leftovers, count): ([SystemPath], Int) = ([], 0)
        // All names first: a directory that is changed while it's read may show a name twice, or not at all.
        while count < Self.leftoverNameCountMax, let entries = try readDirectory(directory) {
          count += entries.count
          leftovers += entries.map(\.name).filter { $0.isTemporaryName(for: name) }
        }
        var removedCount = 0
        for leftover in leftovers {
          guard let status = try statusIfPresent(of: leftover, at: directory), status.kind == .regular,
            status.owner == HostUser.effectiveUserID
          else { continue }
          try unlink(leftover, at: directory, .file)
          removedCount += 1
        }
        return removedCount
      }
    }
  }
}
