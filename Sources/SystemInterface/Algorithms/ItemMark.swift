internal import Glibc

/// An item as it was at some time, by which it's seen whether it was altered, whatever names it has had since.
///
/// A file is compared as saves do it. Of a directory all members count, each with its name, identity, size, and the times at which it was
/// changed. The top's own change time doesn't: a renaming sets it.
struct ItemMark: Equatable {
  let top: FileStatus
  /// A hash of the members, so that a mark takes the same memory for any number of them.
  fileprivate let members: Int

  static func == (mark: ItemMark, other: ItemMark) -> Bool {
    let (top, others) = (mark.top, other.top)
    guard mark.members == other.members, top.hasContents(of: others) else { return false }
    return top.kind != .directory || top.mode == others.mode && top.owner == others.owner && top.group == others.group
  }
}

extension FileSystem {
  /// Looks at an item and all its members.
  ///
  /// - Parameter item: The item.
  /// - Returns: The mark.
  /// - Throws: The error of the call that failed.
  /// - Complexity: O(*n*) in the number of items below, which are read by status alone.
  func mark(of item: DirectoryItem) throws(SystemError) -> ItemMark {
    let top = try status(of: item.name, at: item.directory, links: .noFollow)
    var visitor = MarkVisitor(files: self)
    if top.kind == .directory { try walkTree(item.name, at: item.directory, &visitor) }
    return ItemMark(top: top, members: visitor.hasher.finalize())
  }
}

private struct MarkVisitor<Files: FileSystem>: TreeVisitor {
  let files: Files
  var hasher = Hasher()
  private var depth = 0

  init(files: Files) { self.files = files }

  private mutating func note(_ name: SystemPath, _ status: FileStatus) {
    hasher.combine(name)
    hasher.combine(status.kind)
    hasher.combine(status.identity)
    hasher.combine(status.size)
    hasher.combine(status.modificationTime)
    hasher.combine(status.changeTime)
  }

  mutating func visit(_ entry: DirectoryEntry, in directory: FileDescriptor) throws(SystemError) {
    note(entry.name, try files.status(of: entry.name, at: directory, links: .noFollow))
  }

  mutating func didEnter(
    _ name: SystemPath, _ directory: FileDescriptor, _ status: FileStatus
  ) throws(SystemError) {
    if depth > 0 { note(name, status) }
    depth += 1
  }

  mutating func willLeave(_ directory: FileDescriptor) {
    hasher.combine(depth)
    depth -= 1
  }
}
