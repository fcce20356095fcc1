internal import FileWatching
internal import SystemInterface
internal import VersionStore

/// The conflicts in a tree, kept current from its changes.
///
/// Only names that look like those of copies are remembered. Whether one is a copy is found out anew whenever it, or a file that it may
/// be a copy of, comes, goes or changes.
struct ConflictMap: Sendable {
  let finder: ConflictCopyFinder
  /// For each file that may have copies the names that may be theirs.
  private var candidates: [SystemPath: Set<ConflictCopyName>] = [:]
  private(set) var conflicts: [SystemPath: ConflictedFile] = [:]
  /// Files that went with conflicts in the store: files that come to their places may have them again.
  private var vacated: Set<SystemPath> = []

  init(_ engines: Set<ConflictCopyEngine>) { finder = ConflictCopyFinder(engines) }

  var sorted: [ConflictedFile] { conflicts.values.sorted { $0.path < $1.path } }

  /// Takes in what has changed in the tree.
  ///
  /// - Parameters:
  ///   - changes: The changes, those in moved directories included.
  ///   - dirty: Files whose stored conflicts may have changed.
  ///   - storedCount: Counts the stored conflicts of a file.
  /// - Returns: The differences of the conflicts.
  /// - Throws: The error of a system call, or of `storedCount`.
  /// - Complexity: O(changes), and a few system calls for each file and copy that's concerned.
  mutating func update(
    _ changes: [TreeChange], dirty: Set<SystemPath>, storedCount: (SystemPath) throws -> Int
  ) throws -> [FileConflictUpdate.Change] {
    var concerned = dirty
    var recounted = dirty
    for path in changes.compactMap(\.vacatedPath) { note(path, isThere: false, &concerned) }
    for change in changes {
      guard let path = change.currentPath else { continue }
      note(path, isThere: true, &concerned)
      if vacated.remove(path) != nil { recounted.insert(path) }
      guard case .moved(let old) = change.action, let former = conflicts[old], former.storedConflictCount > 0 else {
        continue
      }
      recounted.insert(old)
      // An engine renames a file to a copy, and puts another one in its place at once: the history stays there.
      let name = ConflictCopyName(path.lastComponent, engines: finder.engines)
      if path.parent == old.parent, name?.originalNames.contains(old.lastComponent) == true { continue }
      recounted.insert(path)
    }
    concerned.formUnion(recounted)
    var differences: [FileConflictUpdate.Change] = []
    for path in concerned.sorted() {
      let count = recounted.contains(path) ? try storedCount(path) : conflicts[path]?.storedConflictCount ?? 0
      if let difference = try look(at: path, storedCount: count) { differences.append(difference) }
    }
    return differences
  }

  private mutating func note(_ path: SystemPath, isThere: Bool, _ concerned: inout Set<SystemPath>) {
    let directory = path.parent
    if let name = ConflictCopyName(path.lastComponent, engines: finder.engines) {
      for original in name.originalNames.map(directory.appending) {
        if isThere { candidates[original, default: []].insert(name) } else { candidates[original]?.remove(name) }
        if candidates[original]?.isEmpty == true { candidates[original] = nil }
        concerned.insert(original)
      }
    }
    // It may be a copy of another one of these now.
    for name in candidates[path] ?? [] { concerned.formUnion(name.originalNames.map(directory.appending)) }
    if conflicts[path] != nil { concerned.insert(path) }
  }

  private mutating func look(at path: SystemPath, storedCount: Int) throws -> FileConflictUpdate.Change? {
    let former = conflicts[path]
    var copies: [ConflictCopy] = []
    for name in candidates[path] ?? [] {
      if let found = try finder.copy(name, in: path.parent), found.original == path { copies.append(found.copy) }
    }
    copies.sort { ($1.modificationTime, $0.path) < ($0.modificationTime, $1.path) }
    let isThere = try HostFileSystem().statusIfPresent(of: path) != nil
    let count = isThere ? storedCount : 0
    if !isThere, let former, former.storedConflictCount > 0 { vacated.insert(path) }
    if copies.isEmpty && count == 0 {
      conflicts[path] = nil
      return former.map { .ended($0.path) }
    }
    let conflict = ConflictedFile(path, copies: copies.map(\.name), storedConflictCount: count)
    conflicts[path] = conflict
    guard let former else { return .appeared(conflict) }
    return former == conflict ? nil : .changed(conflict)
  }
}

extension VersionKeeper {
  /// How many conflicts of a file in the store aren't resolved.
  func storedConflictCount(at path: SystemPath) throws -> Int {
    // A look at a place where nothing is would end its history, and an engine may be about to put another file there.
    if try HostFileSystem().statusIfPresent(of: path) == nil { return 0 }
    try lookAtFile(ofCopy: path)
    return try withStore(at: [path]) { store in
      guard let item = try store.item(at: path, creating: false) else { return 0 }
      return try store.versions(of: item).count { !$0.isResolved }
    }
  }

  /// The files below a directory that have such conflicts, as far as the store knows where they are.
  ///
  /// - Complexity: O(versions of the files there): their records are read, and nothing else.
  func filesWithStoredConflicts(below directory: SystemPath) throws -> Set<SystemPath> {
    let store = try store(for: directory.appending("x"))
    var found: Set<SystemPath> = []
    for (path, item) in try store.items(below: directory) {
      // A damaged record is reported to each caller that asks for the versions of that file.
      // A version that has no directory yet is none of a conflict.
      let versions = (try? store.versions(of: item, unfolding: false)) ?? []
      if versions.contains(where: { !$0.isResolved }) { found.insert(path) }
    }
    return found
  }
}
