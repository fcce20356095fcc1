internal import Glibc

/// The actions at each step of a walk over a tree.
///
/// Every name is a single component of the directory given with it.
package protocol TreeVisitor {
  /// Called for everything but a directory.
  mutating func visit(_ entry: DirectoryEntry, in directory: FileDescriptor) throws(SystemError)

  /// Called before a directory is opened, the top of the tree included.
  mutating func willEnter(_ name: SystemPath) throws(SystemError)

  /// Called with a directory before anything in it is visited.
  mutating func didEnter(
    _ name: SystemPath, _ directory: FileDescriptor, _ status: FileStatus
  ) throws(SystemError)

  /// Called with a directory after everything in it has been visited.
  mutating func willLeave(_ directory: FileDescriptor) throws(SystemError)

  /// Called after a directory has been closed, with the one above it.
  mutating func didLeave(_ name: SystemPath, in parent: FileDescriptor) throws(SystemError)
}

extension TreeVisitor {
  package mutating func willEnter(_ name: SystemPath) throws(SystemError) {}
  package mutating func didEnter(
    _ name: SystemPath, _ directory: FileDescriptor, _ status: FileStatus
  ) throws(SystemError) {}
  package mutating func willLeave(_ directory: FileDescriptor) throws(SystemError) {}
  package mutating func didLeave(_ name: SystemPath, in parent: FileDescriptor) throws(SystemError) {}
}

extension FileSystem {
  /// Walks a tree depth first in the order of the names' bytes, never following a symbolic link.
  ///
  /// Neither recursion nor descriptors grow with the depth. Memory holds the names of one directory, and those of the
  /// directories still to enter on the way up.
  package func walkTree(
    _ root: SystemPath, at parent: FileDescriptor, _ visitor: inout some TreeVisitor
  ) throws(SystemError) {
    var cursor = DirectoryCursor(base: parent)
    do {
      var pending = [try enter(root, &cursor, &visitor)]
      while let next = pending.last?.last {
        if let name = next {
          pending[pending.count - 1].removeLast()
          pending.append(try enter(name, &cursor, &visitor))
        } else {
          pending.removeLast()
          try visitor.willLeave(cursor.current)
          let name = try cursor.ascend(using: self)
          try visitor.didLeave(name, in: cursor.current)
        }
      }
    } catch {
      cursor.close(using: self)
      throw error.located(in: cursor.path, subject: cursor.path)
    }
  }

  /// Enters a directory and visits its files; returns its directories, the next one last, below a `nil` that means
  /// leave.
  private func enter(
    _ name: SystemPath, _ cursor: inout DirectoryCursor, _ visitor: inout some TreeVisitor
  ) throws(SystemError) -> [SystemPath?] {
    try visitor.willEnter(name)
    let status = try cursor.descend(into: name, using: self)
    try visitor.didEnter(name, cursor.current, status)
    var directories: [SystemPath] = []
    for entry in try entries(of: cursor.current) {
      if entry.kind == .directory {
        directories.append(entry.name)
      } else {
        try visitor.visit(entry, in: cursor.current)
      }
    }
    return [nil] + directories.reversed()
  }

  /// All names in a directory, in the order of their bytes, each with its kind.
  private func entries(of directory: FileDescriptor) throws(SystemError) -> [DirectoryEntry] {
    var entries: [DirectoryEntry] = []
    while let batch = try readDirectory(directory) {
      for var entry in batch {
        if entry.kind == nil {
          guard let status = try statusIfPresent(of: entry.name, at: directory) else { continue }
          entry.kind = status.kind
        }
        entries.append(entry)
      }
    }
    return entries.sorted { $0.name < $1.name }
  }
}
