package import ContentHashing
package import SystemInterface

extension VersionStore {
  /// Puts the contents of a version at a path: all of them or none.
  ///
  /// A file that's there keeps its permissions, owner and attributes. Its contents are lost, if they weren't kept before and `target` doesn't
  /// keep them.
  ///
  /// - Parameters:
  ///   - version: The version.
  ///   - path: A canonical path; something else than the version's kind may be there.
  ///   - target: The items whose place it may take.
  ///   - notes: The store of the path; this one unless stated.
  ///   - item: The history of which the contents say that they are, if nothing is there: the next look lets it go on there.
  /// - Throws: ``VersionStoreError/damaged(_:)`` if the contents aren't those that were kept, ``VersionStoreError/versionIsGone(_:)``, or
  ///   the error of a system call. The item at the path is as it was then.
  /// - Complexity: O(bytes), to see that they are those that were kept.
  package func restore(
    _ version: StoredVersion, to path: SystemPath, over target: RestoringTarget = .any,
    notedIn notes: VersionStore? = nil, taggedAs item: ItemID? = nil
  ) throws(VersionStoreError) {
    let notes = notes ?? self
    guard try versionIfPresent(version.id, of: version.item) != nil else { throw .versionIsGone(version.id) }
    try verify(version)
    if version.isPackage {
      return try restorePackage(version, to: path, over: target, notedIn: notes, taggedAs: item)
    }
    let source = self.path(of: version)
    if try status(of: path)?.kind != .directory {
      return try overwriting(path, target, notedIn: notes) { (target, settle) throws(SystemError) in
        try files.replaceContents(
          of: path, withContentsOf: source, mode: version.mode, over: target
        ) { (file) throws(SystemError) in
          if let item { try? files.setExtendedAttribute(Self.tagName, of: file, to: Array(item.description.utf8)) }
          try settle(file)
        }
      }
    }
    // The package that's there makes room in the last step.
    let temporary = restoringPath(of: version.id, for: path)
    try place(at: path, over: target, notedIn: notes, from: temporary) { () throws(VersionStoreError) in
      try storing { () throws(SystemError) in
        try files.replaceContents(of: temporary, withContentsOf: source, mode: version.mode)
      }
    }
  }

  /// Where contents are made that are then moved to a path: in a step, which is removed after a crash, if that's on the same volume.
  func restoringPath(of id: VersionID, for path: SystemPath) -> SystemPath {
    let name = StoreLayout.restoring + id.description + "-" + String(UInt64.random(in: .min ... .max), radix: 16)
    let target = try? status(of: path.parent)?.device
    let own = try? status(of: layout.steps)?.device
    return target == own ? step(String(name.dropFirst())) : path.parent.appending(name)
  }

  private func restorePackage(
    _ version: StoredVersion, to path: SystemPath, over target: RestoringTarget, notedIn notes: VersionStore,
    taggedAs item: ItemID?
  ) throws(VersionStoreError) {
    let temporary = restoringPath(of: version.id, for: path)
    try place(at: path, over: target, notedIn: notes, from: temporary) { () throws(VersionStoreError) in
      try makePackage(version, at: temporary)
      if let item { tag(temporary, item) }
    }
  }

  /// Makes a package of a version where nobody looks yet.
  func makePackage(_ version: StoredVersion, at path: SystemPath) throws(VersionStoreError) {
    let source = self.path(of: version)
    try storing { () throws(SystemError) in try copy(source, to: path) }
    let members = try members(of: version)
    // The directories of the version are closed.
    for member in members where member.kind == .directory {
      try openDirectory(member.path.bytes.isEmpty ? path : path.appending(member.path))
    }
    try removeUnlisted(in: path, SystemPath(bytes: []), Set(members.map(\.path)))
    for member in members.reversed() { try open(member, below: path) }
  }

  /// Removes what a program has put into the package since it was kept, such as the log of a database that it has opened there.
  private func removeUnlisted(
    in directory: SystemPath, _ path: SystemPath, _ members: Set<SystemPath>
  ) throws(VersionStoreError) {
    for name in try names(in: directory) {
      let (place, member) = (directory.appending(name), path.bytes.isEmpty ? name : path.appending(name))
      if !members.contains(member) {
        try removeTree(place)
      } else if try status(of: place)?.kind == .directory {
        try removeUnlisted(in: place, member, members)
      }
    }
  }

  /// Copies a package to a name of its own: nobody takes a part of it for the whole there.
  private func copy(_ source: SystemPath, to target: SystemPath) throws(SystemError) {
    func item(_ path: SystemPath, at directory: FileDescriptor) -> DirectoryItem {
      DirectoryItem(name: path.lastComponent, directory: directory, place: path.parent)
    }
    try files.withDescriptor(source.parent, flags: .directory) { (directory) throws(SystemError) in
      try files.withDescriptor(target.parent, flags: .directory) { (parent) throws(SystemError) in
        try files.copyTree(item(source, at: directory), to: item(target, at: parent), durability: .synchronized)
      }
    }
  }

  /// Gives a member its own permissions and time back.
  private func open(_ member: Member, below top: SystemPath) throws(VersionStoreError) {
    if member.kind == .symbolicLink { return }
    let path = member.path.bytes.isEmpty ? top : top.appending(member.path)
    try storing { () throws(SystemError) in
      try files.withDescriptor(path, flags: [.noFollow, .nonBlocking]) { (file) throws(SystemError) in
        try files.setMode(of: file, to: member.mode)
        if let contents = member.contents { try files.setModificationTime(of: file, to: contents.modificationTime) }
      }
    }
  }

  /// Whether the contents of a version are those that were kept.
  ///
  /// If the version isn't hashed yet, its contents are those that were kept, and it's hashed now.
  ///
  /// - Throws: ``VersionStoreError/damaged(_:)`` with the first file that isn't what it was.
  /// - Complexity: O(bytes).
  package func verify(_ version: StoredVersion) throws(VersionStoreError) {
    let top = path(of: version)
    if !version.isPackage {
      guard let hash = try known(version).hash else {
        _ = try hashed(version)
        return
      }
      if try hashIfPresent(of: top) != hash { throw .damaged(top) }
      return
    }
    try verify(members(of: version), below: top)
  }

  /// Whether a version is there with the contents that were kept.
  ///
  /// - Parameter version: A version.
  /// - Returns: `false` also if that can't be found out.
  /// - Complexity: O(bytes).
  package func isIntact(_ version: StoredVersion) -> Bool {
    guard (try? versionIfPresent(version.id, of: version.item)) != nil else { return false }
    return (try? verify(version)) != nil
  }

  /// Compares a removed version with its hash; one that has none gets it when it's brought back.
  ///
  /// - Parameter removed: The version.
  /// - Throws: ``VersionStoreError/damaged(_:)``, or the error of a system call.
  /// - Complexity: O(bytes).
  package func verify(_ removed: RemovedVersion) throws(VersionStoreError) {
    guard let hash = removed.version.hash else { return }
    let path = path(of: removed)
    if removed.version.isPackage {
      return try verify(members(listedAt: path.parent.parent.appending(StoreLayout.members), hash), below: path)
    }
    if try hashIfPresent(of: path) != hash { throw .damaged(path) }
  }

  private func verify(_ members: [Member], below top: SystemPath) throws(VersionStoreError) {
    for member in members {
      guard let contents = member.contents else { continue }
      let path = member.path.bytes.isEmpty ? top : top.appending(member.path)
      if try hashIfPresent(of: path) != contents.hash { throw .damaged(path) }
    }
  }

  private func hashIfPresent(of path: SystemPath) throws(VersionStoreError) -> ContentHash? {
    do throws(VersionStoreError) { return try hash(of: path) } catch .system(let error) where error.isAbsence {
      return nil
    }
  }
}

// MARK: - Members of packages

/// A file, directory or link in a package.
package struct Member: Hashable, Sendable {
  package let kind: FileKind
  package let mode: UInt32
  /// Below the package; empty for itself.
  package let path: SystemPath
  /// Of a file.
  package let contents: Contents?

  package struct Contents: Hashable, Sendable {
    package let size: Int64
    package let modificationTime: Int64
    package let hash: ContentHash
  }
}

extension VersionStore {
  /// The members of a package, in the order of their names.
  ///
  /// - Parameter version: A version of a package.
  /// - Returns: Its members, itself first.
  /// - Throws: ``VersionStoreError/damaged(_:)`` if the list isn't what it was, or the error of a system call.
  package func members(of version: StoredVersion) throws(VersionStoreError) -> [Member] {
    try members(
      listedAt: layout.directory(of: version.id, of: version.item).appending(StoreLayout.members), version.hash)
  }

  private func members(listedAt path: SystemPath, _ hash: ContentHash?) throws(VersionStoreError) -> [Member] {
    let bytes = try contents(of: path)
    if ContentHash(of: bytes) != hash { throw .damaged(path) }
    let members = Member.members(in: bytes)
    if members.contains(nil) { throw .damaged(path) }
    return members.compactMap(\.self)
  }
}

extension Member {
  /// Reads a list; `nil` for lines that aren't members.
  static func members(in list: [UInt8]) -> [Member?] {
    list.split(separator: UInt8(ascii: "\n")).map(Member.init(line:))
  }

  /// The line that ``MemberList`` has made.
  fileprivate init?(line: ArraySlice<UInt8>) {
    let fields = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false).map {
      String(decoding: $0, as: UTF8.self)
    }
    guard fields.count >= 3, let mode = UInt32(fields[1], radix: 8), let path = PercentEncoding.decode(fields[2].utf8),
      let kind: FileKind = ["file": .regular, "directory": .directory, "link": .symbolicLink][fields[0]]
    else { return nil }
    self.kind = kind
    self.mode = mode
    self.path = SystemPath(bytes: path)
    if kind != .regular {
      contents = nil
      return
    }
    guard fields.count == 6, let size = Int64(fields[3]), let time = Int64(fields[4]), let hash = ContentHash(fields[5])
    else { return nil }
    contents = Contents(size: size, modificationTime: time, hash: hash)
  }
}

extension StoreLayout {
  /// The beginning of the name of a file that's about to be put in the place of another one.
  static let restoring = ".restoring-"
}
