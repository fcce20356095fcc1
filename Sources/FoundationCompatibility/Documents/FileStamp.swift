#if !canImport(ObjectiveC)
  internal import ContentHashing
  internal import FilePackages
  internal import Foundation
  internal import SystemInterface

  /// A description of a document's file without its bytes: different stamps mean that a program has written.
  ///
  /// A file is known by the hash of its bytes, so that a change of attributes is none of the contents. A package is known by the
  /// identity, size and modification time of each file in it: its members aren't read.
  enum FileStamp: Hashable, Sendable {
    case file(ContentHash)
    case package([Member])

    struct Member: Hashable, Sendable {
      let path: String
      let isDirectory: Bool
      let device: UInt64
      let inode: UInt64
      let size: Int64
      let modificationTime: Int64
    }

    /// - Returns: `nil` if nothing is there.
    /// - Throws: `SystemError` or `PackageError` if it can't be read.
    static func stamp(of url: URL) throws -> FileStamp? {
      let (files, path) = (HostFileSystem(), url.systemPath)
      guard let status = try files.statusIfPresent(of: path) else { return nil }
      guard status.kind == .directory else { return .file(ContentHash(of: try files.contents(of: path))) }
      let directory = try PinnedDirectory(at: path, files)
      var members: [Member] = []
      try collect(StoredMember(directory, .top), "", &members)
      return .package(members.sorted { $0.path < $1.path })
    }

    /// Packages have a limit of depth, which bounds the recursion.
    private static func collect(_ directory: StoredMember, _ prefix: String, _ members: inout [Member]) throws {
      for (name, member, status) in try directory.members() {
        let path = prefix + name.description
        let isDirectory = status.kind == .directory
        // The members of a directory show whether it has changed; its own dates also change with attributes of a save.
        members.append(
          Member(
            path: path, isDirectory: isDirectory, device: isDirectory ? 0 : status.device,
            inode: isDirectory ? 0 : status.inode, size: isDirectory ? 0 : status.size,
            modificationTime: isDirectory ? 0 : status.modificationTime))
        if isDirectory { try collect(member, path + "/", &members) }
      }
    }

    /// The file's own date.
    static func modificationDate(of url: URL) -> Date? {
      guard let status = try? HostFileSystem().statusIfPresent(of: url.systemPath) else { return nil }
      return Date(timeIntervalSince1970: Double(status.modificationTime) / 1e9)
    }
  }
#endif
