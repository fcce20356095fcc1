internal import Glibc

/// How the source and the destination of a move or a copy are related, other than by refusal.
enum ItemRelation {
  case distinct
  /// Two spellings of one name, in a directory that folds case or normalises names.
  case respelled
}

extension FileSystem {
  /// Throws EINVAL when two paths lead to one item, by links, mounts or spelling, or to one inside the other.
  ///
  /// - Complexity: A few system calls, and one for each directory above the items if one of them is a directory.
  package func refuseOneItem(_ operation: String, _ from: SystemPath, _ to: SystemPath) throws(SystemError) {
    try refuseNesting(operation, from, to)
    try withItems(from, to) { (source, target) throws(SystemError) in
      if try relation(of: source, to: target, replacing: true, in: operation) == .respelled {
        throw .oneItem(operation, source, target)
      }
    }
  }

  /// Checks whether source and destination are one item, before anything is touched.
  ///
  /// Where something is in the way of a move or copy that doesn't replace, the rename fails with the error.
  ///
  /// - Throws: EINVAL when they are one item otherwise than by spelling, or one is inside the other.
  func relation(
    of source: DirectoryItem, to target: DirectoryItem, replacing: Bool, in operation: String
  ) throws(SystemError) -> ItemRelation {
    guard let status = try statusIfPresent(of: source.name, at: source.directory) else { return .distinct }
    if status.kind == .directory { try refuse(status.identity, above: target, operation, source, target) }
    guard let there = try statusIfPresent(of: target.name, at: target.directory) else { return .distinct }
    if there.identity == status.identity, try isRespelled(source, target) { return .respelled }
    if !replacing { return .distinct }
    if there.identity == status.identity { throw .oneItem(operation, source, target) }
    if there.kind == .symbolicLink, try leads(target, to: status.identity) {
      throw .link(operation, source, target, from: target, to: source)
    }
    if status.kind == .symbolicLink, try leads(source, to: there.identity) {
      throw .link(operation, source, target, from: source, to: target)
    }
    if there.kind == .directory {
      try refuse(there.identity, above: source, operation, source, target)
      if status.kind == .symbolicLink, let end = try endOfLink(source) {
        try refuse(there.identity, above: end, operation, source, target)
      }
    }
    return .distinct
  }

  /// Throws EINVAL when a directory is above an item, by whatever path: mounts and spellings give it several.
  private func refuse(
    _ directory: FileIdentity, above item: DirectoryItem, _ operation: String, _ source: DirectoryItem,
    _ target: DirectoryItem
  ) throws(SystemError) {
    var place = item.place
    while true {
      if try status(of: place, at: .workingDirectory, links: .follow).identity == directory {
        throw SystemError(
          call: operation, paths: [source.path, target.path], errno: EINVAL,
          advice: "One of the two is inside the other.")
      }
      if place == .root || place.bytes.isEmpty { return }
      place = place.parent
    }
  }

  /// Whether one entry of one directory has both names: it's listed by one of them only.
  private func isRespelled(_ source: DirectoryItem, _ target: DirectoryItem) throws(SystemError) -> Bool {
    if source.name == target.name { return false }
    if try status(of: source.directory).identity != status(of: target.directory).identity { return false }
    return try withDescriptor(SystemPath("."), at: source.directory, flags: .directory) {
      (directory) throws(SystemError) in
      while let entries = try readDirectory(directory) {
        if entries.contains(where: { $0.name == target.name }) { return false }
      }
      return true
    }
  }

  /// Whether a symbolic link, perhaps by way of others, leads to an item.
  private func leads(_ link: DirectoryItem, to identity: FileIdentity) throws(SystemError) -> Bool {
    var path = link.path
    do {
      for _ in 0..<LinkResolver.expansionsMax {
        path = path.parent.appending(try readLink(path, at: .workingDirectory))
        if try status(of: path, at: .workingDirectory, links: .noFollow).identity == identity { return true }
      }
    } catch let error where error.endsLink || error.errno == EINVAL {
      // EINVAL: not a link any more, so this was the last one.
    }
    return false
  }

  /// Where a symbolic link leads in the end; `nil` for one that leads nowhere.
  private func endOfLink(_ link: DirectoryItem) throws(SystemError) -> DirectoryItem? {
    do {
      let path = try canonicalPath(of: link.path, resolvingLastComponent: true)
      return DirectoryItem(name: path.lastComponent, directory: .workingDirectory, place: path.parent)
    } catch let error where error.endsLink {
      return nil
    }
  }
}

extension SystemError {
  /// Whether following a symbolic link ends with this error because of the link's target.
  fileprivate var endsLink: Bool {
    isAbsence || isOne(of: ELOOP, EACCES, ENAMETOOLONG)
  }

  static func oneItem(_ operation: String, _ source: DirectoryItem, _ target: DirectoryItem) -> SystemError {
    SystemError(
      call: operation, paths: [source.path, target.path], errno: EINVAL,
      advice: "Both paths lead to one item; to keep one name of several, delete the other.")
  }

  fileprivate static func link(
    _ operation: String, _ source: DirectoryItem, _ target: DirectoryItem, from link: DirectoryItem,
    to item: DirectoryItem
  ) -> SystemError {
    SystemError(
      call: operation, paths: [source.path, target.path], errno: EINVAL,
      advice: "'\(link.path)' is a symbolic link that leads to '\(item.path)'; delete one of the two first.")
  }
}
