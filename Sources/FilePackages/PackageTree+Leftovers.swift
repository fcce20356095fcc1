package import SystemInterface

extension PackageTree {
  /// The same as ``removeLeftovers(of:age:)`` through a door of the caller's, at a time in nanoseconds since 1970.
  package static func removeLeftovers(
    of path: SystemPath, age: Duration, files: any FileSystem, now: Int64
  ) throws(PackageError) -> Int {
    let name = try aboutMember(path, path.itemName)
    let nanoseconds = Int64(
      clamping: age.components.seconds.multipliedReportingOverflow(by: 1_000_000_000).partialValue)
    return try aboutMember(path) { () throws(SystemError) in
      try files.withDescriptor(path.parent, flags: .directory) { (parent) throws(SystemError) in
        // All names first: a directory that is changed while it's read may show a name twice, or not at all.
        var leftovers: [SystemPath] = []
        while let entries = try files.readDirectory(parent) {
          leftovers += entries.map(\.name).filter { $0.isTemporaryName(for: name) }
        }
        // The crash was between the two steps of a file system that can't exchange names: these are the only copies.
        if leftovers.count > 1, try files.statusIfPresent(of: name, at: parent) == nil { return 0 }
        var count = 0
        for leftover in leftovers {
          guard let status = try files.statusIfPresent(of: leftover, at: parent),
            // The clock of files is finer than that of programs: an item that was made right now may seem to come from the
            // future.
            max(0, now - status.modificationTime) >= nanoseconds
          else { continue }
          do throws(SystemError) {
            try files.removeTree(leftover, at: parent, overridingMode: true)
            count += 1
          } catch  where error.isAbsence {
            // Somebody else clears up as well.
          }
        }
        if count > 0 { try files.synchronizeDirectory(parent) }
        return count
      }
    }
  }
}
