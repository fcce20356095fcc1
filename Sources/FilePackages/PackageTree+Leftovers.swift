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

// MARK: - In the package

extension PackageTree {
  /// A file that a save of one member has left which was killed.
  package struct MemberLeftover: Sendable {
    /// The member that was saved, or the beginning of its name if that's long.
    package let member: SystemPath
    let directory: StoredMember
    let name: SystemPath
  }

  /// The files that killed saves of single members have left in the package that was opened.
  ///
  /// The caller keeps such saves out meanwhile. New contents that no other program can have written are removed, see
  /// ``SystemInterface/SystemPath/isIncomingName``.
  ///
  /// - Returns: The files, of this user only.
  /// - Throws: Errors of reading directories.
  /// - Complexity: O(members); of most members only the name is read.
  package func memberLeftovers() throws(PackageError) -> [MemberLeftover] {
    var found: [MemberLeftover] = []
    guard let top else { return [] }
    top.directory.noteLeftovers(false)
    var waiting = [top]
    while let directory = waiting.popLast() {
      var entries: [DirectoryEntry] = []
      try directory.forEachNames { part in
        entries += part.filter { $0.name.isTemporaryName || $0.kind == nil || $0.kind == .directory }
      }
      try directory.withDirectory { (descriptor) throws(PackageError) in
        for name in entries.map(\.name) {
          let status = try directory.reading { () throws(SystemError) in
            try files.statusIfPresent(of: name, at: descriptor)
          }
          if name.isIncomingName {
            // Nobody else has written it.
            files.removeAbandoned(name, at: descriptor)
            continue
          }
          if status?.kind == .directory, !name.isTemporaryName { waiting.append(try directory.appending(name)) }
          guard let origin = name.nameOfTemporary, status?.kind == .regular, status?.owner == HostUser.effectiveUserID
          else { continue }
          let member = directory.place.isTop ? origin : directory.place.path.appending(origin)
          found.append(MemberLeftover(member: member, directory: directory, name: name))
        }
      }
    }
    return found
  }

  /// The contents of such a file.
  package func contents(of leftover: MemberLeftover) throws(PackageError) -> [UInt8] {
    try leftover.directory.withDirectory { (descriptor) throws(PackageError) in
      try leftover.directory.reading { () throws(SystemError) in
        try files.withDescriptor(leftover.name, at: descriptor, flags: [.noFollow, .nonBlocking]) {
          (file) throws(SystemError) in
          var (bytes, buffer): ([UInt8], [UInt8]) = ([], Array(repeating: 0, count: 1 << 16))
          while true {
            let count = try files.read(file, into: &buffer)
            if count == 0 { return bytes }
            bytes += buffer[..<count]
          }
        }
      }
    }
  }

  /// Removes such a file.
  package func remove(_ leftover: MemberLeftover) throws(PackageError) {
    try leftover.directory.withDirectory { (descriptor) throws(PackageError) in
      try leftover.directory.reading { () throws(SystemError) in
        try files.unlink(leftover.name, at: descriptor, .file)
      }
    }
  }
}
