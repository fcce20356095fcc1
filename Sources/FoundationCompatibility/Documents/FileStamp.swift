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
      let path: MemberPath
      let isDirectory: Bool
      let device: UInt64
      let inode: UInt64
      let size: Int64
      let modificationTime: Int64

      var identity: FileIdentity { FileIdentity(device: device, inode: inode) }
    }

    var isOfFile: Bool { if case .file = self { true } else { false } }

    /// - Returns: `nil` if nothing is there.
    /// - Throws: `SystemError` or `PackageError` if it can't be read.
    static func stamp(of url: URL) throws -> FileStamp? { try find(at: url.systemPath)?.stamp }

    /// The same, with the status that it had before.
    static func find(at path: SystemPath) throws -> StampedItem? {
      let files = HostFileSystem()
      guard let status = try files.statusIfPresent(of: path) else { return nil }
      guard status.kind == .directory else {
        let (contents, status) = try files.contentsAndStatus(of: path)
        return StampedItem(stamp: .file(ContentHash(of: contents)), status: status)
      }
      let directory = try PinnedDirectory(at: path, files)
      var members: [Member] = []
      try collect(StoredMember(directory, .top), &members)
      return StampedItem(
        stamp: .package(members.sorted { $0.path.path < $1.path.path }), status: status,
        hasMemberLeftovers: directory.hasMemberLeftovers)
    }

    /// Packages have a limit of depth, which bounds the recursion.
    private static func collect(_ directory: StoredMember, _ members: inout [Member]) throws {
      for (_, member, status) in try directory.members() {
        let isDirectory = status.kind == .directory
        // The members of a directory show whether it has changed; its own dates also change with attributes of a save.
        members.append(
          Member(
            path: member.place, isDirectory: isDirectory, device: isDirectory ? 0 : status.device,
            inode: isDirectory ? 0 : status.inode, size: isDirectory ? 0 : status.size,
            modificationTime: isDirectory ? 0 : status.modificationTime))
        if isDirectory { try collect(member, &members) }
      }
    }

    /// The file's own date.
    static func modificationDate(of url: URL) -> Date? {
      guard let status = try? HostFileSystem().statusIfPresent(of: url.systemPath) else { return nil }
      return Date(timeIntervalSince1970: Double(status.modificationTime) / 1e9)
    }
  }

  /// The item that was at a place.
  struct StampedItem: Sendable {
    let stamp: FileStamp
    /// Before it was read.
    let status: FileStatus
    /// Whether it's a package in which killed saves of single members have left files.
    var hasMemberLeftovers = false

    /// Looks at the members of this package that aren't in the one which takes its place: a program that has mapped one changes its bytes and
    /// not its status.
    ///
    /// - Throws: `PackageError` if it's gone.
    func membersReplaced(
      by new: StampedItem?, at place: SystemPath, _ digests: MemberDigests
    ) throws -> ReplacedMembers {
      guard case .package(let members) = stamp else { return ReplacedMembers() }
      var kept: Set<FileIdentity> = []
      if case .package(let members)? = new?.stamp { kept = Set(members.map(\.identity)) }
      let places = members.filter { !$0.isDirectory && !kept.contains($0.identity) }.map(\.path)
      let directory = try PinnedDirectory(at: place, HostFileSystem(), digests: digests)
      return ReplacedMembers(at: places, in: directory)
    }

    /// Looks at all members of a package of which the document knows nothing.
    func members(at place: SystemPath) throws -> ReplacedMembers {
      try membersReplaced(by: nil, at: place, MemberDigests())
    }

    /// Throws ESTALE unless an item is this one, and has what it had, also in the members that will be gone.
    func check(_ item: DirectoryItem, _ replaced: ReplacedMembers) throws(SystemError) {
      let now = try HostFileSystem().statusIfPresent(of: item.name, at: item.directory)
      switch stamp {
      // A program that has mapped the file changes its bytes and not its status.
      case .file:
        if let now, now.hasContents(of: status), (try? FileStamp.find(at: item.path)?.stamp) == stamp { return }
      case .package:
        if now?.identity == status.identity, (try? FileStamp.find(at: item.path)?.stamp) == stamp,
          (try? replaced.isThere(in: PackageTree(openingPackageAt: item.path))) == true
        {
          return
        }
      }
      throw SystemError.replacedMeanwhile(item)
    }
  }

  /// The symbolic link that was at a place: nothing is lost with it.
  struct FoundLink: Sendable {
    private let target: SystemPath
    private let status: FileStatus

    /// - Parameters:
    ///   - path: Where the link is.
    ///   - status: Its status, before its target is read.
    /// - Throws: `SystemError` if it can't be read.
    init(at path: SystemPath, _ status: FileStatus) throws(SystemError) {
      target = try HostFileSystem().readLink(path, at: .workingDirectory)
      self.status = status
    }

    /// Throws ESTALE unless an item is this link.
    ///
    /// A change of its place alone changes `st_ctime`, which isn't compared.
    func check(_ item: DirectoryItem) throws(SystemError) {
      let files = HostFileSystem()
      if let now = try files.statusIfPresent(of: item.name, at: item.directory), now.hasContents(of: status),
        (try? files.readLink(item.name, at: item.directory)) == target
      {
        return
      }
      throw SystemError.replacedMeanwhile(item)
    }
  }

  extension SystemError {
    fileprivate static func replacedMeanwhile(_ item: DirectoryItem) -> SystemError {
      SystemError(
        call: "replaceItem", paths: [item.name], errno: SystemError.Number.changedMeanwhile.rawValue,
        advice: "Another program has written it meanwhile.")
    }
  }

  /// The item that a save has found at its place, and may replace.
  enum ExpectedItem: Sendable {
    case item(StampedItem)
    case link(FoundLink)

    var item: StampedItem? {
      if case .item(let item) = self { return item }
      return nil
    }

    /// Throws ESTALE unless an item is this one.
    func check(_ item: DirectoryItem, _ replaced: ReplacedMembers) throws(SystemError) {
      switch self {
      case .item(let expected): try expected.check(item, replaced)
      case .link(let expected): try expected.check(item)
      }
    }
  }

  /// A save that is under way.
  struct SafeSave: Sendable {
    let place: SystemPath
    /// The item that may be replaced; any if it's `nil`.
    let expected: ExpectedItem?
    /// Its members, as they were when it became a version; `nil` if it's the document's own.
    var members: ReplacedMembers?
    /// Nothing was there: an item that's there by now is another program's.
    var expectsNothing = false
    /// Where the document's file is until the save has ended: its metadata and its unchanged members are taken over.
    var original: URL?
    /// The item that has taken its place.
    var written: StampedItem?
  }

  /// The file isn't any more what it was when it was compared: nothing was replaced.
  struct ChangedMeanwhile: Error {
    /// Whether members have other bytes than those that were read, with the same dates, so that the file is the same otherwise.
    var areMembersAltered = false
  }
#endif
