internal import FileAccessArbiter
internal import FoundationEssentials
internal import SystemInterface

/// Where a URL leads: the canonical path that coordination goes by, and the spelling that its owner sees.
struct FileLocation: Sendable {
  /// Absent if only a path was given: most programs that pass paths don't ask for URLs, which take microseconds to make.
  let givenURL: URL?
  let path: ItemPath
  let spelling: PathSpelling

  /// The URL as its owner spells it.
  var url: URL { givenURL ?? FileURLCoding.url(of: path.bytes) }

  /// Resolves a URL: symbolic links in the middle always, in the last component only when asked (C-305).
  ///
  /// - Complexity: one pass of realpath(3) over the directories of the path.
  init(_ url: URL, followingLastLink: Bool = false, in fileSystem: any FileSystem) throws(FileCoordinationError) {
    let spelled = try FileURLCoding.path(of: url)
    let canonical = try FileCoordinationError.wrapping { () throws(SystemError) in
      try fileSystem.canonicalPath(of: SystemPath(bytes: spelled), resolvingLastComponent: followingLastLink)
    }
    self.init(url, spelled: spelled, canonical: canonical.bytes, followsLastLink: followingLastLink)
  }

  /// Where an item is by now that has been somewhere else.
  init(_ url: URL, at path: ItemPath, spelling: PathSpelling) {
    givenURL = url
    self.path = path
    self.spelling = spelling
  }

  /// Combines the results of resolving a URL.
  init(_ url: URL, spelled: [UInt8], canonical: [UInt8], followsLastLink: Bool) {
    path = ItemPath(canonical: canonical)
    let spelled = FileURLCoding.withoutTrailingSlashes(spelled)
    if followsLastLink, canonical != spelled {
      // The accessor is to see the target, not the link.
      givenURL = FileURLCoding.url(of: canonical)
      spelling = PathSpelling(spelled: canonical, canonical: canonical)
    } else {
      givenURL = url
      spelling = PathSpelling(spelled: spelled, canonical: canonical)
    }
  }

  /// Takes an absolute path at its word, without asking the file system; `.`, `..` and spare slashes are removed.
  init(lexicalPath path: String) throws(FileCoordinationError) {
    if path.isEmpty { throw .invalidPath(path, because: "it's empty") }
    if path.utf8.first != FileURLCoding.slash { throw .relativePath(path) }
    if path.utf8.contains(0) { throw .invalidPath(path, because: "it contains a NUL") }
    let canonical = try FileCoordinationError.wrapping { () throws(SystemError) in
      try SystemPath(path).lexicallyCanonical()
    }
    self.path = ItemPath(canonical: canonical.bytes)
    givenURL = nil
    spelling = PathSpelling(spelled: canonical.bytes, canonical: canonical.bytes)
  }
}

extension FileCoordinationError {
  fileprivate static func relativePath(_ path: String) -> Self {
    Self(
      .relativeURL, subjects: [path],
      message: "'\(path)' is relative, and its meaning changes with the working directory. Pass an absolute path, "
        + "such as that of 'URL(filePath:).absoluteFileURL()'.")
  }
}

/// Turns canonical paths back into the spelling that a program used: `/var/x` instead of `/private/var/x` (C-424).
///
/// The two paths differ in a prefix, up to what their last components have in common; the difference applies to every
/// path that begins with the canonical prefix.
struct PathSpelling: Equatable, Sendable {
  private final class Difference: Equatable, Sendable {
    let spelledPrefix: [UInt8]
    let canonicalPrefix: [UInt8]

    init(_ spelledPrefix: [UInt8], _ canonicalPrefix: [UInt8]) {
      self.spelledPrefix = spelledPrefix
      self.canonicalPrefix = canonicalPrefix
    }

    static func == (left: Difference, right: Difference) -> Bool {
      left.spelledPrefix == right.spelledPrefix && left.canonicalPrefix == right.canonicalPrefix
    }
  }

  /// Absent if paths are spelled as they are, which is usual: then a spelling is one word.
  private let difference: Difference?

  /// Whether paths are spelled as they are.
  var isCanonical: Bool { difference == nil }

  init(spelled: [UInt8], canonical: [UInt8]) {
    if spelled == canonical {
      difference = nil
      return
    }
    var common = 0
    for (left, right) in zip(spelled.reversed(), canonical.reversed()) {
      if left != right { break }
      common += 1
    }
    // Back to the start of a component, so that no component is cut in two.
    while common > 0, spelled[spelled.count - common] != FileURLCoding.slash { common -= 1 }
    difference = Difference(Array(spelled.dropLast(common)), Array(canonical.dropLast(common)))
  }

  func url(of path: ItemPath) -> URL {
    let bytes = path.bytes
    guard let difference, bytes.starts(with: difference.canonicalPrefix) else { return FileURLCoding.url(of: bytes) }
    let prefixCount = difference.canonicalPrefix.count
    guard bytes.count == prefixCount || bytes[prefixCount] == FileURLCoding.slash else {
      return FileURLCoding.url(of: bytes)
    }
    return FileURLCoding.url(of: difference.spelledPrefix + bytes.dropFirst(prefixCount))
  }
}
