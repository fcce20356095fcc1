internal import SystemInterface

/// A conflict copy with the file beside it.
struct ConflictCopy: Hashable, Sendable {
  let name: ConflictCopyName
  /// The copy, as a canonical path.
  let path: SystemPath
  /// When its contents were changed last, in nanoseconds since 1970.
  let modificationTime: Int64
}

/// Tells conflict copies from files that only have such names.
///
/// | beside | the copy |
/// | --- | --- |
/// | none of the files that it may be a copy of | is a file like any other |
/// | a file, and the copy is a directory, or the reverse | likewise |
/// | anything, and the copy is a symbolic link or a special file | likewise |
/// | the same file by another hard link | likewise: its contents are always those of the file |
/// | several files of which it may be a copy, as copies have copies | is one of that which isn't a copy itself |
struct ConflictCopyFinder: Sendable {
  let engines: [ConflictCopyEngine]
  private let files = HostFileSystem()

  init(_ engines: Set<ConflictCopyEngine>) { self.engines = engines.inOrder }

  /// The copies of a file, those that were changed last first.
  ///
  /// - Complexity: O(names in its directory).
  func copies(of path: SystemPath) throws(SystemError) -> [ConflictCopy] {
    if engines.isEmpty || path == .root { return [] }
    let own = path.lastComponent
    // Every engine leaves what's before the first dot where it is.
    let stem = own.bytes.prefix { $0 != UInt8(ascii: ".") }
    var copies: [ConflictCopy] = []
    for name in try files.names(in: path.parent)
    where name.bytes.count > own.bytes.count && name.bytes.starts(with: stem) {
      guard let parsed = ConflictCopyName(name, engines: engines), parsed.originalNames.contains(own),
        let copy = try copy(parsed, in: path.parent), copy.original == path
      else { continue }
      copies.append(copy.copy)
    }
    return copies.sorted { ($1.modificationTime, $0.path) < ($0.modificationTime, $1.path) }
  }

  /// A copy that's there, and the file that it's of.
  func copy(
    _ name: ConflictCopyName, in directory: SystemPath
  ) throws(SystemError) -> (copy: ConflictCopy, original: SystemPath)? {
    let path = directory.appending(name.name)
    guard let status = try files.statusIfPresent(of: path), status.kind == .regular || status.kind == .directory else {
      return nil
    }
    for original in name.originalNames {
      let original = directory.appending(original)
      guard let other = try files.statusIfPresent(of: original), other.kind == status.kind else { continue }
      if other.identity == status.identity { return nil }
      return (ConflictCopy(name: name, path: path, modificationTime: status.modificationTime), original)
    }
    return nil
  }
}
