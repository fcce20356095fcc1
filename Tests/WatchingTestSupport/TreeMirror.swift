package import FileWatching
package import SystemInterface

/// A copy of a tree that's brought up to date only by a watcher's reports, and records reports that don't fit.
package struct TreeMirror {
  /// The facts of each file in the copy.
  package private(set) var files: [SystemPath: FileFacts]
  /// Changes that make no sense.
  package private(set) var violations: [String] = []

  package init(_ files: [SystemPath: FileFacts]) { self.files = files }

  /// Takes in an update; the facts of a reported file are read from the disk.
  package mutating func apply(_ update: TreeUpdate) {
    var placed: [(path: SystemPath, files: [SystemPath: FileFacts])] = []
    for change in update.changes {
      switch change.action {
      case .removed: remove(change)
      case .moved(let from): placed.append((change.path, takeOut(from, to: change.path)))
      case .added: placed.append((change.path, [change.path: Self.facts(change)]))
      case .modified: break
      }
    }
    for (path, others) in placed.sorted(by: { $0.path < $1.path }) { place(path, others) }
    for change in update.changes where change.action == .modified {
      if files.updateValue(Self.facts(change), forKey: change.path) == nil {
        violations.append("\(change.path) was modified, but isn't there")
      }
    }
  }

  private mutating func remove(_ change: TreeChange) {
    if files.removeValue(forKey: change.path) == nil {
      violations.append("\(change.path) was removed, but wasn't there")
    }
    if change.kind == .directory, files.keys.contains(where: { $0.isInside(change.path) }) {
      violations.append("\(change.path) was removed, but not what was in it")
    }
  }

  private mutating func takeOut(_ old: SystemPath, to new: SystemPath) -> [SystemPath: FileFacts] {
    var taken: [SystemPath: FileFacts] = [:]
    for (path, facts) in files where path == old || path.isInside(old) {
      files[path] = nil
      taken[SystemPath(bytes: new.bytes + path.bytes.dropFirst(old.bytes.count))] = facts
    }
    if taken[new] == nil { violations.append("\(old) was moved, but wasn't there") }
    return taken
  }

  private mutating func place(_ path: SystemPath, _ others: [SystemPath: FileFacts]) {
    if files[path] != nil { violations.append("\(path) came where something was") }
    files.merge(others) { $1 }
  }

  /// The facts on the disk, unless the item is another one by now, which is going to be reported.
  private static func facts(_ change: TreeChange) -> FileFacts {
    let status = try? HostFileSystem().status(of: change.path, at: .workingDirectory, links: .noFollow)
    if let status, status.kind == change.kind { return FileFacts(status) }
    return FileFacts(kind: change.kind, FileIdentity(device: 0, inode: 0), readAt: 0)
  }

  /// The files that are only on the disk or only here, and those that have altered without a report.
  ///
  /// - Parameters:
  ///   - contents: The contents of the disk.
  ///   - obscureInodes: Files of which a change may be reported late, as they were altered through names that nobody
  ///     has seen.
  ///   - comparesFacts: Whether the facts are compared too, and not only the set of files: not when files went on
  ///     changing while updates were taken in.
  /// - Returns: In words.
  package func differences(
    from contents: [SystemPath: FileFacts], except obscureInodes: Set<UInt64> = [], comparesFacts: Bool = true
  ) -> [String] {
    Set(contents.keys).union(files.keys).sorted().compactMap { path in
      guard let expected = contents[path] else { return "\(path) isn't there" }
      guard let known = files[path] else { return "\(path) is there" }
      if !comparesFacts { return known.kind == expected.kind ? nil : "\(path) is something else" }
      if obscureInodes.contains(expected.identity.inode) { return nil }
      return Self.told(known) == Self.told(expected) ? nil : "\(path) has altered"
    }
  }

  /// The facts whose changes a watcher reports.
  private static func told(_ facts: FileFacts) -> FileFacts {
    var told = facts
    // Renames set it, as do new links.
    told.changeTime = 0
    told.isLinked = false
    if facts.kind != .directory { return told }
    // A directory of the same name and permissions in its place is none the worse: its contents are reported.
    (told.modificationTime, told.size, told.creationTime) = (0, 0, 0)
    told.identity = FileIdentity(device: 0, inode: 0)
    return told
  }
}
