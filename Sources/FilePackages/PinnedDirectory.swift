package import SystemInterface

/// The directory of a package as it was opened: names are looked up in it, whatever has its path now.
///
/// When another package takes its place, this directory stays what it was until its members are removed, and then has none. A
/// save gives it a temporary name in the very step in which the other one takes its place. So what was found in it is
/// complete if it has its own name afterwards, see ``checkThatItStays()``.
///
/// Any thread may use it:
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `sawLeftovers` | itself | any thread may list members |
package final class PinnedDirectory: Sendable {
  package let files: any FileSystem
  package let descriptor: FileDescriptor
  /// Where it was opened; for errors, and where there's no `/proc`.
  package let path: SystemPath
  package let identity: FileIdentity
  /// The hashes of the files that a document reads; `nil` for a package of none.
  package let digests: MemberDigests?
  /// Nobody else removes its members, although it has a temporary name: a save of this process has made or displaced it.
  private let isHeld: Bool
  /// Whether a list of members has left out files of killed saves.
  private let sawLeftovers = Guarded(false)

  /// Takes over an open directory, which is closed with this object.
  package init(
    _ descriptor: FileDescriptor, at path: SystemPath, _ files: any FileSystem, digests: MemberDigests? = nil,
    isHeld: Bool = false
  ) throws(PackageError) {
    do throws(SystemError) {
      identity = try files.status(of: descriptor).identity
    } catch {
      try? files.close(descriptor)
      throw PackageError(error, path)
    }
    self.files = files
    self.descriptor = descriptor
    self.path = path
    self.digests = digests
    self.isHeld = isHeld
  }

  /// Opens the directory at a canonical path.
  ///
  /// - Throws: `notFound`, `wrongKind` or `fileSystem`.
  package convenience init(
    at path: SystemPath, _ files: any FileSystem, digests: MemberDigests? = nil, isHeld: Bool = false
  ) throws(PackageError) {
    let descriptor: FileDescriptor
    do throws(SystemError) {
      descriptor = try files.open(path, at: .workingDirectory, flags: [.directory, .noFollow], mode: 0)
    } catch {
      let isThere = (try? files.statusIfPresent(of: path)) != nil
      if error.isAbsence || error.isDisplacement {
        throw PackageError(isThere ? .wrongKind : .notFound, path, systemError: error)
      }
      throw PackageError(error, path)
    }
    try self.init(descriptor, at: path, files, digests: digests, isHeld: isHeld)
  }

  deinit { try? files.close(descriptor) }

  /// Whether the package has files that saves of single members have left which were killed, as far as its members were listed.
  package var hasMemberLeftovers: Bool { sawLeftovers.withLock { $0 } }

  func noteLeftovers(_ areThere: Bool) { sawLeftovers.withLock { $0 = areThere } }

  /// Whether another package has taken its place, so that its members may be gone.
  ///
  /// A directory that another program removes member by member, without a temporary name, can't be distinguished from
  /// one that is altered.
  package func isReplaced() throws(SystemError) -> Bool {
    if try files.status(of: descriptor).linkCount == 0 { return true }
    if isHeld { return false }
    let link = SystemPath("/proc/self/fd/\(descriptor.rawValue)")
    if let place = try? files.readLink(link, at: .workingDirectory), place.isAbsolute {
      // The kernel adds this to the path of what is removed; the mark of a save comes before it.
      let deleted = Array(" (deleted)".utf8)
      let isDeleted = place.bytes.suffix(deleted.count) == deleted[...]
      let name = SystemPath(bytes: isDeleted ? Array(place.bytes.dropLast(deleted.count)) : place.bytes).lastComponent
      return name.isTemporaryName
    }
    return try files.statusIfPresent(of: path)?.identity != identity
  }

  /// - Throws: `packageReplaced` if what was found in it may be a part only.
  package func checkThatItStays() throws(PackageError) {
    if try aboutMember(path, isReplaced) { throw PackageError(.packageReplaced, path) }
  }
}

/// A member that was in a pinned directory when the tree got to know it.
package struct StoredMember: Sendable {
  package let directory: PinnedDirectory
  package let place: MemberPath
  /// The status that the member must still have; `nil` if any item under its name will do.
  package var expected: FileStatus?

  package init(_ directory: PinnedDirectory, _ place: MemberPath, expected: FileStatus? = nil) {
    self.directory = directory
    self.place = place
    self.expected = expected
  }

  /// A member of this directory; the name comes from a directory, or was checked.
  package func appending(_ name: SystemPath) throws(PackageError) -> StoredMember {
    StoredMember(directory, try place.appending(name))
  }

  /// Opens the directory that holds it for the duration of `body`.
  func withParent<Result>(
    _ body: (_ item: DirectoryItem) throws(PackageError) -> Result
  ) throws(PackageError) -> Result {
    let parent = StoredMember(directory, place.parent)
    return try parent.withDirectory { (descriptor) throws(PackageError) in
      try body(
        DirectoryItem(
          name: place.name, directory: descriptor, place: directory.path.appending(parent.place.path)))
    }
  }

  /// Opens this directory for the duration of `body`; at the top that costs nothing.
  ///
  /// - Throws: `notFound` or `packageReplaced` if it isn't there; `wrongKind`.
  func withDirectory<Result>(
    _ body: (FileDescriptor) throws(PackageError) -> Result
  ) throws(PackageError) -> Result {
    if place.isTop { return try body(directory.descriptor) }
    let opened = try open(flags: .directory)
    defer { try? directory.files.close(opened) }
    return try body(opened)
  }

  /// Opens it without following a link.
  ///
  /// - Throws: `notFound` or `packageReplaced` if it isn't there; `wrongKind`.
  func open(flags: OpenFlags) throws(PackageError) -> FileDescriptor {
    do throws(SystemError) {
      return try openSlowlyIfNeeded(flags: [flags, .noFollow, .nonBlocking])
    } catch {
      if error.isAbsence || error.isDisplacement {
        try directory.checkThatItStays()
        let isThere = (try? status()) != nil
        throw PackageError(isThere ? .wrongKind : .notFound, place.path, systemError: error)
      }
      throw PackageError(error, place.path)
    }
  }

  private func openSlowlyIfNeeded(flags: OpenFlags) throws(SystemError) -> FileDescriptor {
    let files = directory.files
    do throws(SystemError) {
      return try files.openWithoutSymbolicLinks(place.path, at: directory.descriptor, flags: flags)
    } catch  where error.isUnsupported {
      // Name by name, so that no link leads out of the package.
      var current = directory.descriptor
      defer { if current != directory.descriptor { try? files.close(current) } }
      for name in place.names.dropLast() {
        let next = try files.open(name, at: current, flags: [.directory, .noFollow], mode: 0)
        if current != directory.descriptor { try? files.close(current) }
        current = next
      }
      return try files.open(place.name, at: current, flags: flags, mode: 0)
    }
  }

  /// The members of this directory as they are now, each expected to stay what it is; without those no package can have.
  ///
  /// - Returns: The names with the members, in the order of the names' bytes.
  /// - Throws: `notFound`, `wrongKind`, `packageReplaced`, `memberChanged`, `tooDeep` or `fileSystem`.
  package func members() throws(PackageError) -> [(name: SystemPath, member: StoredMember, status: FileStatus)] {
    var names: [SystemPath] = []
    try forEachEntries { names += $0.map(\.name) }
    var members: [(name: SystemPath, member: StoredMember, status: FileStatus)] = []
    try withDirectory { (descriptor) throws(PackageError) in
      for name in names.sorted() {
        let status = try reading { () throws(SystemError) in
          try directory.files.statusIfPresent(of: name, at: descriptor)
        }
        // One that went in between is none.
        guard let status, [.regular, .directory, .symbolicLink].contains(status.kind) else { continue }
        var member = try appending(name)
        member.expected = status.kind == .directory ? nil : status
        members.append((name, member, status))
      }
    }
    try directory.checkThatItStays()
    return members
  }

  /// This member where it is now: in the package that has taken the place of its own, if that has the very same file.
  ///
  /// A save links what it doesn't alter, so that its members are still there. One that isn't expected to be something certain has
  /// no successor: it might be another one of the same name.
  ///
  /// - Returns: The member itself unless it's gone with its package, and if there's no successor.
  package func current() -> StoredMember {
    guard let expected else { return self }
    do {
      _ = try status()
    } catch  where error.code == .packageReplaced {
      guard let directory = try? PinnedDirectory(at: directory.path, directory.files, digests: directory.digests) else {
        return self
      }
      let successor = StoredMember(directory, place, expected: expected)
      return (try? successor.status()) == nil ? self : successor
    } catch {}
    return self
  }

  /// Its status, that of a link itself.
  ///
  /// - Throws: `notFound` or `packageReplaced` if it isn't there; `memberChanged` if it isn't what is expected.
  package func status() throws(PackageError) -> FileStatus {
    let found: FileStatus?
    if place.isTop {
      found = try aboutMember(place.path) { () throws(SystemError) in
        try directory.files.status(of: directory.descriptor)
      }
    } else {
      found = try withParent { (item) throws(PackageError) in
        try aboutMember(place.path) { () throws(SystemError) in
          try directory.files.statusIfPresent(of: item.name, at: item.directory)
        }
      }
    }
    guard let found else {
      try directory.checkThatItStays()
      throw PackageError(.notFound, place.path)
    }
    try check(found)
    return found
  }

  /// Runs `body`, whose errors are about this member.
  ///
  /// - Throws: `packageReplaced` or `memberChanged` if it was there and isn't any more.
  func reading<Result>(_ body: () throws(SystemError) -> Result) throws(PackageError) -> Result {
    do throws(SystemError) { return try body() } catch {
      if !error.isAbsence { throw PackageError(error, place.path) }
      try directory.checkThatItStays()
      throw PackageError(.memberChanged, place.path, systemError: error)
    }
  }

  /// - Throws: `memberChanged` unless a status is that of what is expected.
  func check(_ status: FileStatus) throws(PackageError) {
    if let expected, !expected.isSameContents(as: status) { throw PackageError(.memberChanged, place.path) }
  }

  /// The members of this directory, in no order, part by part.
  ///
  /// - Parameter body: Gets each part. Throws to stop.
  /// - Throws: The error of `body`; `notFound`, `packageReplaced`, `memberChanged`, `wrongKind` or `fileSystem`.
  func forEachEntries(_ body: ([DirectoryEntry]) throws(PackageError) -> Void) throws(PackageError) {
    try forEachNames { (entries) throws(PackageError) in
      // A file that an interrupted save of one member has left is no member, and isn't taken over by the next save.
      try body(
        entries.filter { entry in
          if !entry.name.isTemporaryName { return true }
          if entry.name.nameOfTemporary != nil { directory.noteLeftovers(true) }
          return false
        })
    }
  }

  /// The same with what isn't a member.
  func forEachNames(_ body: ([DirectoryEntry]) throws(PackageError) -> Void) throws(PackageError) {
    // A descriptor of its own: a position in the directory isn't shared with other readers.
    let opened = try openForListing()
    defer { try? directory.files.close(opened) }
    while let entries = try reading({ () throws(SystemError) in try directory.files.readDirectory(opened) }) {
      try body(entries)
    }
    try directory.checkThatItStays()
  }

  private func openForListing() throws(PackageError) -> FileDescriptor {
    if !place.isTop { return try open(flags: .directory) }
    return try aboutMember(place.path) { () throws(SystemError) in
      try directory.files.open(SystemPath("."), at: directory.descriptor, flags: .directory, mode: 0)
    }
  }
}

extension FileStatus {
  /// Whether nobody has written to the file between two moments, nor put another one in its place.
  ///
  /// The time of the last change of its metadata doesn't count: another name of the file changes that as well.
  package func isSameContents(as other: FileStatus) -> Bool {
    kind == other.kind && identity == other.identity && size == other.size
      && modificationTime == other.modificationTime
  }
}
