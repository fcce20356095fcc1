#if !canImport(ObjectiveC)
  internal import ContentHashing
  internal import FilePackages
  public import Foundation
  internal import SystemInterface

  // Whether a wrapper has what is on disk.

  extension FileWrapper {
    /// The properties by which files are compared.
    ///
    /// Apple's class has no such choice.
    ///
    /// - Note: Rule FW-7.
    public enum Comparison: Hashable, Sendable {
      /// Times and permissions, as ``matchesContents(of:)`` does.
      case attributes
      /// Hashes of the contents; neither times nor permissions count.
      case contents
    }

    /// Whether a wrapper has the names, contents and targets of links that are at a URL.
    ///
    /// Apple's class has no such choice. With `.contents`, a wrapper that was made in memory can match, and all files are read whose sizes
    /// don't differ. A wrapper whose contents can't be read any more matches nothing.
    ///
    /// - Parameters:
    ///   - url: The file URL.
    ///   - comparison: The properties that count.
    /// - Returns: `false` also if it can't be read.
    /// - Note: Rule FW-7.
    public func matchesContents(of url: URL, comparing comparison: Comparison) -> Bool {
      switch comparison {
      case .attributes: matchesContents(of: url)
      case .contents: (try? hasContents(of: FileWrapper(url: url))) ?? false
      }
    }

    private func hasContents(of other: FileWrapper) throws -> Bool {
      switch (node, other.node) {
      case (.file(let mine), .file(let theirs)):
        if let size = mine.size, let other = theirs.size, size != other { return false }
        return try mine.hash() == theirs.hash()
      case (.symbolicLink(let mine), .symbolicLink(let theirs)): return mine.target == theirs.target
      case (.directory, .directory):
        let (mine, theirs) = (try childrenByName(), try other.childrenByName())
        guard mine.count == theirs.count else { return false }
        return try mine.allSatisfy { name, child in try theirs[name].map(child.hasContents) ?? false }
      case (.file, _), (.symbolicLink, _), (.directory, _): return false
      }
    }

    /// The children by their names on disk.
    private func childrenByName() throws -> [SystemPath: FileWrapper] {
      let children = try loadChildren()
      guard case .directory(let directory) = node else { return [:] }
      return Dictionary(
        children.map { (directory.names[$0.key] ?? SystemPath($0.key), $0.value) },
        uniquingKeysWith: { first, _ in first })
    }

    func matches(_ url: URL) throws -> Bool {
      let member = try Self.member(at: url)
      let status = try member.status()
      if status.kind == .directory {
        let directory = try PinnedDirectory(at: member.directory.path.appending(member.place.path), HostFileSystem())
        return try matches(StoredMember(directory, .top), status)
      }
      return try matches(member, status)
    }

    private func matches(_ member: StoredMember, _ status: FileStatus) throws -> Bool {
      switch node {
      case .file(let file):
        guard let known = file.status, status.kind == .regular else { return false }
        return known.modificationTime == status.modificationTime && known.mode == status.mode
      case .symbolicLink(let link): return try status.kind == .symbolicLink && member.target() == link.target
      case .directory(let directory):
        guard let known = directory.status, status.kind == .directory, known.mode == status.mode else { return false }
        guard let children = directory.children else {
          return try known.modificationTime == status.modificationTime
            && Self.isOlder(member, than: directory.readTime)
        }
        let members = try member.members()
        guard members.count == children.count else { return false }
        return try members.allSatisfy { name, member, status in
          let key = directory.names.first { $0.value == name }?.key ?? name.description
          return try children[key]?.matches(member, status) ?? false
        }
      }
    }

    /// Whether nothing in a directory was written to since a time.
    private static func isOlder(_ directory: StoredMember, than time: Int64) throws -> Bool {
      try directory.members().allSatisfy { _, member, status in
        try status.modificationTime < time && (status.kind != .directory || isOlder(member, than: time))
      }
    }
  }

  extension FileWrapper.FileNode {
    /// `nil` if nobody knows before it's read.
    fileprivate var size: Int64? { contents.map { Int64($0.count) } ?? status?.size }

    fileprivate func hash() throws -> ContentHash? {
      if let contents { return ContentHash(of: contents) }
      var hasher = ContentHasher()
      guard let stored else { return nil }
      try stored.current().readContents { (part, _) in hasher.update(part) }
      return hasher.finalized()
    }
  }
#endif
