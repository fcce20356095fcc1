internal import Glibc

/// Makes beside each directory and file of a walk its copy in another tree.
struct CopyVisitor<Files: FileSystem>: TreeVisitor {
  private let files: Files
  private let source: DirectoryItem
  private let target: DirectoryItem
  private let durability: CopyDurability
  private var cursor: DirectoryCursor
  private var targetIdentity: FileIdentity?
  /// The paths of the directory that's copied and of its copy.
  private var places: (source: SystemPath, target: SystemPath)

  init(files: Files, source: DirectoryItem, target: DirectoryItem, durability: CopyDurability) {
    self.files = files
    self.source = source
    self.target = target
    self.durability = durability
    self.cursor = DirectoryCursor(base: target.directory)
    self.places = (source.place, target.place)
  }

  mutating func willEnter(_ name: SystemPath) throws(SystemError) {
    let isTop = cursor.depth == 0
    let copy = DirectoryItem(name: isTop ? target.name : name, directory: cursor.current, place: places.target)
    do {
      try files.makeDirectory(copy.name, at: copy.directory, mode: 0o700)
      let status = try cursor.descend(into: copy.name, using: files)
      if isTop { targetIdentity = status.identity }
    } catch { throw error.located(in: copy.place, subject: copy.path) }
    places = (places.source.appending(name), copy.path)
  }

  func didEnter(_ name: SystemPath, _ directory: FileDescriptor, _ status: FileStatus) throws(SystemError) {
    // The paths differed, but a bind mount led the walk into its own output, which would never end.
    if status.identity == targetIdentity {
      throw SystemError(call: "copyItem", paths: [name], errno: EINVAL, advice: "It would be copied into itself.")
    }
  }

  func visit(_ entry: DirectoryEntry, in directory: FileDescriptor) throws(SystemError) {
    let status = try files.status(of: entry.name, at: directory, links: .noFollow)
    try files.copyLeaf(
      DirectoryItem(name: entry.name, directory: directory, place: places.source), status,
      to: DirectoryItem(name: entry.name, directory: cursor.current, place: places.target), durability: durability)
  }

  mutating func willLeave(_ directory: FileDescriptor) throws(SystemError) {
    let status = try files.status(of: directory)
    do {
      try files.copyMetadata(from: directory, status, to: cursor.current)
      try files.setModificationTime(of: cursor.current, to: status.modificationTime)
      if durability == .synchronized { try files.synchronizeDirectory(cursor.current) }
      _ = try cursor.ascend(using: files)
    } catch { throw error.located(in: places.target, subject: places.target) }
    places = (places.source.parent, places.target.parent)
  }

  mutating func close() {
    cursor.close(using: files)
  }
}
