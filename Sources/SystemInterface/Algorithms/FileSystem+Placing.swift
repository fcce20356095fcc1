internal import Glibc

/// A single component and the open directory it is looked up in.
package struct DirectoryItem {
  package let name: SystemPath
  package let directory: FileDescriptor
  /// The path of the directory, for errors and for looking at what is above it.
  package let place: SystemPath

  package init(name: SystemPath, directory: FileDescriptor, place: SystemPath) {
    self.name = name
    self.directory = directory
    self.place = place
  }

  package var path: SystemPath { place.appending(name) }

  /// Another name in the same directory.
  func beside(_ name: SystemPath) -> DirectoryItem {
    DirectoryItem(name: name, directory: directory, place: place)
  }

  /// Runs `body`; its errors name this item by its full path, whatever the operation is called with.
  package func locatingErrors<Result>(_ body: () throws(SystemError) -> Result) throws(SystemError) -> Result {
    do { return try body() } catch { throw error.located(in: place, subject: path) }
  }
}

extension FileSystem {
  /// Renames an item to its final name; with `replacing`, an item that is there makes room in one step.
  ///
  /// - Parameters:
  ///   - item: The item to rename.
  ///   - target: Its final name, in a directory of the same file system.
  ///   - replacing: Whether something may be there already.
  /// - Returns: The item displaced, when rename(2) couldn't replace it; the caller removes it.
  /// - Throws: EEXIST when something is there and may not be replaced; EXDEV for another file system; the error of the
  ///   call that failed otherwise. Nothing has moved then.
  package func place(_ item: DirectoryItem, as target: DirectoryItem, replacing: Bool) throws(SystemError)
    -> DirectoryItem?
  {
    if !replacing {
      try renameExclusively(item, to: target)
      return nil
    }
    do {
      try rename(item, to: target, .replacing)
      return nil
    } catch let error where error.isOne(of: EISDIR, ENOTDIR, ENOTEMPTY, EEXIST) {
      // A directory that isn't empty, or the other kind of item.
      return try displace(target, by: item)
    }
  }

  private func displace(_ target: DirectoryItem, by item: DirectoryItem) throws(SystemError) -> DirectoryItem {
    do {
      try rename(item, to: target, .exchange)
    } catch let error where error.isUnsupported {
      return try displaceInTwoSteps(target, by: item)
    }
    // The change is made: a displaced item that can't be set aside is removed where it is now.
    return (try? setAside(item, namedFor: target.name)) ?? item
  }

  private func displaceInTwoSteps(
    _ target: DirectoryItem, by item: DirectoryItem
  ) throws(SystemError) -> DirectoryItem {
    let displaced = try setAside(target)
    do {
      try rename(item, to: target, .replacing)
    } catch {
      try? renameExclusively(displaced, to: target)
      throw error
    }
    return displaced
  }

  /// Renames an item to a temporary name beside it.
  ///
  /// - Parameters:
  ///   - item: The item.
  ///   - name: The name that the temporary one is made for; its own unless stated.
  /// - Returns: The item under its temporary name.
  /// - Throws: The error of the call that failed.
  func setAside(_ item: DirectoryItem, namedFor name: SystemPath? = nil) throws(SystemError) -> DirectoryItem {
    try withTemporaryName(for: name ?? item.name) { (name) throws(SystemError) in
      let aside = item.beside(name)
      try renameExclusively(item, to: aside)
      return aside
    }
  }

  /// Renames an item unless the name is taken, also where the file system doesn't support `RENAME_NOREPLACE`.
  func renameExclusively(_ item: DirectoryItem, to target: DirectoryItem) throws(SystemError) {
    do {
      try rename(item, to: target, .exclusive)
    } catch let error where error.isUnsupported {
      if try status(of: item.name, at: item.directory, links: .noFollow).kind == .directory {
        try renameDirectoryExclusively(item, to: target)
      } else {
        try link(
          item.name, at: item.directory, to: target.name, at: target.directory, links: .noFollow)
        try unlink(item.name, at: item.directory, .file)
      }
    }
  }

  /// Takes the name with an empty directory, which rename(2) then replaces; EEXIST comes from mkdir(2).
  private func renameDirectoryExclusively(
    _ item: DirectoryItem, to target: DirectoryItem
  ) throws(SystemError) {
    try makeDirectory(target.name, at: target.directory, mode: 0o700)
    do {
      try rename(item, to: target, .replacing)
    } catch {
      try? unlink(target.name, at: target.directory, .emptyDirectory)
      throw error
    }
  }

  private func rename(
    _ item: DirectoryItem, to target: DirectoryItem, _ mode: RenameMode
  ) throws(SystemError) {
    try rename(item.name, at: item.directory, to: target.name, at: target.directory, mode)
  }
}
