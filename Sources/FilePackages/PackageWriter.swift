internal import SystemInterface

/// Writes one package beside its place, and puts it there.
///
/// Each directory of the new package is open while it's filled, and so is the one that unchanged members come from.
struct PackageWriter {
  let files: any FileSystem
  let destination: SystemPath
  let replacement: PackageTree.Replacement
  let linking: PackageTree.Linking
  /// Looks at the package that's replaced when it's out of the way.
  let check: PackageCheck?
  /// The hashes of the document whose package it will be.
  let digests: MemberDigests?
  var report = PackageTree.Report()
  /// The new package, if somebody has altered it while it was in its place, from where it was taken back.
  private(set) var kept: PackageTree?

  /// The status of the item at the place at the beginning; `nil` if there was none.
  private(set) var present: FileStatus?
  /// Whether the new package has taken its place.
  private var isInPlace = false
  /// The new package in its place, once nothing was found of another program in what it has replaced.
  private(set) var placed: PinnedDirectory?

  init(
    files: any FileSystem, destination: SystemPath, _ replacement: PackageTree.Replacement,
    _ linking: PackageTree.Linking, _ digests: MemberDigests?, _ check: PackageCheck? = nil
  ) {
    self.files = files
    self.destination = destination
    self.replacement = replacement
    self.linking = linking
    self.check = check
    self.digests = digests
  }

  /// - Returns: The directory of the new package.
  mutating func write(_ root: DirectoryNode) throws(PackageError) -> PinnedDirectory {
    do throws(PackageError) {
      let name = try aboutMember(destination, destination.itemName)
      let parent = try aboutMember(destination) { () throws(SystemError) in
        try files.open(destination.parent, at: .workingDirectory, flags: .directory, mode: 0)
      }
      defer { try? files.close(parent) }
      let place = DirectoryItem(name: name, directory: parent, place: destination.parent)
      present = try aboutMember(destination) { () throws(SystemError) in try files.statusIfPresent(of: name, at: parent)
      }
      try checkPlace(root)
      return try write(root, to: place)
    } catch  where isInPlace {
      throw PackageError(error.code, error.path, systemError: error.systemError, isInPlace: true)
    }
  }

  /// Refuses what may not be replaced.
  private func checkPlace(_ root: DirectoryNode) throws(PackageError) {
    guard let present else { return }
    switch replacement {
    case .anything: return
    case .nothing: throw PackageError(.destinationExists, destination)
    case .openedPackage:
      guard let base = root.base else { throw PackageError(.destinationExists, destination) }
      if present.identity != base.directory.identity { throw PackageError(.packageReplaced, destination) }
    }
  }

  private mutating func write(_ root: DirectoryNode, to place: DirectoryItem) throws(PackageError) -> PinnedDirectory {
    let (draft, use) = try makeDraft(root, beside: place)
    var isDraft = true
    defer { if isDraft { try? files.close(use) } }
    let new: PinnedDirectory
    do throws(PackageError) {
      new = try PinnedDirectory(try openDirectory(draft, destination), at: destination, files, digests: digests)
      try fill(new.descriptor, at: draft.path, from: root, .top)
      try aboutMember(destination) { () throws(SystemError) in try files.completeDraft(use) }
      try finish(new.descriptor, root, .top)
      try check?.note(try heldTree(draft))
    } catch {
      try? files.removeDisplaced(draft)
      throw error
    }
    let displaced: DirectoryItem?
    do throws(PackageError) {
      displaced = try exchange(draft, place)
    } catch {
      try? files.removeDisplaced(draft)
      throw error
    }
    isInPlace = true
    isDraft = false
    try? files.close(use)
    if let check, let displaced { try confirm(check, displaced, place, new) }
    placed = new
    try aboutMember(destination) { () throws(SystemError) in
      // As long as the new package may not survive a power failure, the former one isn't removed.
      do throws(SystemError) {
        try files.synchronizeAfterCommit(place.directory)
      } catch { throw error.leaving(displaced) }
      try files.removeDisplaced(displaced)
    }
    return new
  }

  /// A package that has a temporary name for a moment.
  private func heldTree(_ item: DirectoryItem) throws(PackageError) -> PackageTree {
    PackageTree(
      try PinnedDirectory(try openDirectory(item, item.path), at: item.path, files, digests: digests, isHeld: true))
  }

  /// Puts the replaced package back unless it's what it was.
  ///
  /// - Throws: `memberChanged` when that's done; the error of the call that failed if it can't be.
  private mutating func confirm(
    _ check: PackageCheck, _ displaced: DirectoryItem, _ place: DirectoryItem, _ new: PinnedDirectory
  ) throws(PackageError) {
    // One that can't be read isn't what it was.
    if let tree = try? heldTree(displaced), (try? check.isExpected(tree)) == true { return }
    let taken = try aboutMember(destination) { () throws(SystemError) in
      let taken = try files.putBack(displaced, to: place)
      try files.synchronizeAfterCommit(place.directory)
      return taken
    }
    isInPlace = false
    // Unless it's gone from its place as well, the new one has the temporary name now; or another program's, which has taken its place.
    if let taken, let tree = try? heldTree(taken) {
      if tree.top?.directory.identity == new.identity, (try? check.isNoted(tree)) == true {
        try? files.removeDisplaced(taken)
      } else {
        kept = tree
      }
    }
    throw PackageError(.memberChanged, destination)
  }

  /// Puts the new package in its place, unless somebody else has done so since the one there was opened.
  ///
  /// - Returns: The item that has to be removed.
  private func exchange(_ draft: DirectoryItem, _ place: DirectoryItem) throws(PackageError) -> DirectoryItem? {
    let lock = lockPlace(place)
    defer { if let lock { try? files.close(lock) } }
    try checkThatPlaceIsSame(place)
    do throws(SystemError) {
      return try files.place(draft, as: place, replacing: replacement == .anything || present != nil)
    } catch {
      let isTaken = replacement != .anything && error.isOne(of: .fileExists)
      throw PackageError(isTaken ? .destinationExists : .fileSystem, destination, systemError: error)
    }
  }

  /// How long another save of the same package is waited for; it checks the place and renames meanwhile, nothing else.
  private static let lockPatience = Duration.seconds(1)

  /// Keeps out other saves of the package that's replaced until the descriptor is closed.
  ///
  /// Where that isn't possible, or another program keeps the lock for longer than any save does, the check alone has to
  /// do.
  private func lockPlace(_ place: DirectoryItem) -> FileDescriptor? {
    guard replacement == .openedPackage, present != nil,
      let directory = try? files.open(place.name, at: place.directory, flags: [.directory, .noFollow], mode: 0)
    else { return nil }
    let end = HostClock.shared.now.advanced(by: Self.lockPatience)
    while true {
      do throws(SystemError) {
        try files.lock(directory)
        return directory
      } catch {
        let now = HostClock.shared.now
        if !error.isOne(of: .resourceTemporarilyUnavailable) || now >= end { return directory }
        // There's no event for it: the kernel only lets threads wait without a limit.
        _ = ThreadEvent().wait(until: now.advanced(by: .milliseconds(1)))
      }
    }
  }

  /// Somebody may have saved while this was written.
  private func checkThatPlaceIsSame(_ place: DirectoryItem) throws(PackageError) {
    if replacement == .anything { return }
    let now = try aboutMember(destination) { () throws(SystemError) in
      try files.statusIfPresent(of: place.name, at: place.directory)
    }
    if now?.identity == present?.identity { return }
    throw PackageError(present == nil ? .destinationExists : .packageReplaced, destination)
  }

  /// Makes the new directory, which only its owner may use until it's complete if it has a mode to come.
  ///
  /// - Returns: The directory, and a descriptor that's open as long as nobody may take it for a leftover.
  private func makeDraft(
    _ root: DirectoryNode, beside place: DirectoryItem
  ) throws(PackageError) -> (DirectoryItem, use: FileDescriptor) {
    let isModeKnown = root.mode != nil || root.base != nil || present?.kind == .directory
    let (name, use) = try aboutMember(destination) { () throws(SystemError) in
      try files.makeDraftDirectory(for: place.name, at: place.directory, mode: isModeKnown ? 0o700 : 0o777)
    }
    return (DirectoryItem(name: name, directory: place.directory, place: place.place), use)
  }

  private func openDirectory(_ item: DirectoryItem, _ path: SystemPath) throws(PackageError) -> FileDescriptor {
    try aboutMember(path) { () throws(SystemError) in
      try files.open(item.name, at: item.directory, flags: [.directory, .noFollow], mode: 0)
    }
  }

  // MARK: - Directories

  /// Puts all members of a directory into a new one.
  private mutating func fill(
    _ target: FileDescriptor, at place: SystemPath, from node: DirectoryNode, _ path: MemberPath
  ) throws(PackageError) {
    if let base = node.base, node.hasMembersOfBase {
      try base.withDirectory { (source) throws(PackageError) in
        let sourcePlace = base.directory.path.appending(base.place.path)
        try base.forEachEntries { (entries) throws(PackageError) in
          for entry in entries where node.changes[entry.name] == nil {
            let item = DirectoryItem(name: entry.name, directory: target, place: place)
            let old = DirectoryItem(name: entry.name, directory: source, place: sourcePlace)
            let stored = try base.appending(entry.name)
            // Nothing else needs to be known of a file of the package that's replaced.
            if entry.kind == .regular, linking != .never, isReplaced(stored), try link(stored, old, to: item) {
              continue
            }
            try bring(stored, old, to: item, try path.appending(entry.name))
          }
        }
      }
    }
    for (name, change) in node.changes.sorted(by: { $0.key < $1.key }) {
      guard case .member(let member) = change else { continue }
      let former = node.base.map { base in (base, name) }
      try write(
        member, to: DirectoryItem(name: name, directory: target, place: place), try path.appending(name), former)
    }
  }

  /// Gives a filled directory its attributes, and brings it to the disk.
  private func finish(_ target: FileDescriptor, _ node: DirectoryNode, _ path: MemberPath) throws(PackageError) {
    if path.isTop, present?.kind == .directory {
      try aboutMember(destination) { () throws(SystemError) in
        try files.withDescriptor(destination, flags: [.directory, .noFollow]) { (old) throws(SystemError) in
          try files.copyMetadata(from: old, files.status(of: old), to: target)
        }
      }
    } else if let base = node.base {
      do throws(PackageError) {
        try base.withDirectory { (source) throws(PackageError) in
          try aboutMember(path.path) { () throws(SystemError) in
            try files.copyMetadata(from: source, files.status(of: source), to: target)
          }
        }
      } catch  where !node.hasMembersOfBase && (error.code == .packageReplaced || error.code == .notFound) {
        // It would have lent its attributes, and is gone.
      }
    }
    try aboutMember(path.path) { () throws(SystemError) in
      if let mode = node.mode { try files.setMode(of: target, to: mode) }
      try files.synchronizeDirectory(target)
    }
  }

  private mutating func writeDirectory(
    _ node: DirectoryNode, to item: DirectoryItem, _ path: MemberPath
  ) throws(PackageError) {
    let isModeKnown = node.mode != nil || node.base != nil
    try aboutMember(path.path) { () throws(SystemError) in
      try files.makeDirectory(item.name, at: item.directory, mode: isModeKnown ? 0o700 : 0o777)
    }
    let target = try openDirectory(item, path.path)
    defer { try? files.close(target) }
    try fill(target, at: item.path, from: node, path)
    try finish(target, node, path)
  }

  // MARK: - Members

  /// Writes a member that was altered, or moved here.
  private mutating func write(
    _ node: MemberNode, to item: DirectoryItem, _ path: MemberPath, _ former: (StoredMember, SystemPath)?
  ) throws(PackageError) {
    switch node {
    case .directory(let directory): try writeDirectory(directory, to: item, path)
    case .symbolicLink(let target):
      try aboutMember(path.path) { () throws(SystemError) in
        try files.makeSymbolicLink(item.name, at: item.directory, target: target)
      }
    case .file(let file):
      try writeFile(
        file, to: item, path, try former.map { (base, name) throws(PackageError) in try base.appending(name) })
    case .stored(let stored):
      try stored.withParent { (source) throws(PackageError) in try bring(stored, source, to: item, path) }
    }
  }

  /// Brings an unchanged member with all that's in it.
  private mutating func bring(
    _ stored: StoredMember, _ source: DirectoryItem, to item: DirectoryItem, _ path: MemberPath
  ) throws(PackageError) {
    let status = try aboutMember(path.path) { () throws(SystemError) in
      try files.statusIfPresent(of: source.name, at: source.directory)
    }
    guard let status else {
      try stored.directory.checkThatItStays()
      throw PackageError(.memberChanged, path.path)
    }
    try stored.check(status)
    switch status.kind {
    case .regular: try bringFile(stored, status, source, to: item)
    case .directory:
      try writeDirectory(DirectoryNode(base: StoredMember(stored.directory, stored.place)), to: item, path)
      // Nothing in it has changed, so its time stays.
      try aboutMember(path.path) { () throws(SystemError) in
        try files.setModificationTime(of: item.name, at: item.directory, to: status.modificationTime)
      }
    case .symbolicLink:
      try stored.reading { () throws(SystemError) in
        try files.copyTree(source, to: item, durability: .synchronized)
      }
    case .fifo, .socket, .characterDevice, .blockDevice, .unknown: throw PackageError(.unsupportedKind, path.path)
    }
  }
}
