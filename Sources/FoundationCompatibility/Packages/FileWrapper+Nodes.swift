#if !canImport(ObjectiveC)
  internal import FilePackages
  internal import Foundation
  internal import SystemInterface

  extension FileWrapper {
    /// The item of a wrapper.
    enum Node {
      case file(FileNode)
      case directory(DirectoryNode)
      case symbolicLink(LinkNode)
    }

    struct FileNode {
      /// The contents; `nil` until they were asked for.
      var contents: Data?
      /// Where they are on disk, unchanged, and with what status.
      var stored: StoredMember?
      /// The status of the file when it was read or written.
      var status: FileStatus?
    }

    struct DirectoryNode {
      /// The children; `nil` until they were asked for.
      var children: [String: FileWrapper]?
      /// Names on disk that aren't UTF-8, by their keys.
      var names: [String: SystemPath] = [:]
      /// How far the names that were wished for are taken.
      var numbers = NameNumbers()
      var stored: StoredMember?
      /// The status of the directory, and the time, when it was read.
      var status: FileStatus?
      var readTime: Int64 = 0
    }

    struct LinkNode {
      var target: SystemPath
      /// The directory of the link, for a relative target.
      var directory: URL?
    }

    struct WeakParent { weak var wrapper: FileWrapper? }

    func misuse(_ problem: String) { Misuse.report("FileWrapper: \(problem)") }

    static func name(of url: URL) -> String { url.systemPath.lastComponent.description }

    // MARK: - Attributes

    static func attributes(of kind: FileKind) -> [String: Any] {
      let type: FileAttributeType =
        switch kind {
        case .directory: .typeDirectory
        case .symbolicLink: .typeSymbolicLink
        default: .typeRegular
        }
      return [FileAttributeKey.type.rawValue: type]
    }

    static func attributes(of status: FileStatus) -> [String: Any] {
      var attributes = attributes(of: status.kind)
      attributes[FileAttributeKey.posixPermissions.rawValue] = NSNumber(value: status.mode)
      attributes[FileAttributeKey.size.rawValue] = NSNumber(value: status.size)
      attributes[FileAttributeKey.modificationDate.rawValue] = Date(nanoseconds: status.modificationTime)
      attributes[FileAttributeKey.creationDate.rawValue] = status.creationTime.map(Date.init(nanoseconds:))
      attributes[FileAttributeKey.ownerAccountID.rawValue] = NSNumber(value: status.owner)
      attributes[FileAttributeKey.groupOwnerAccountID.rawValue] = NSNumber(value: status.group)
      return attributes
    }

    /// The permissions among the attributes.
    var mode: UInt32? {
      (fileAttributes[FileAttributeKey.posixPermissions.rawValue] as? NSNumber).map { $0.uint32Value & 0o7777 }
    }

    // MARK: - Children

    /// The children of a directory, read now if they weren't.
    func loadChildren() throws -> [String: FileWrapper] {
      guard case .directory(var directory) = node else { return [:] }
      if let children = directory.children { return children }
      var children: [String: FileWrapper] = [:]
      for (name, member, status) in try directory.stored?.members() ?? [] {
        let key = try SystemPath(name.description).firstFree { name in children[name.description] != nil }.description
        if SystemPath(key) != name { directory.names[key] = name }
        let child = FileWrapper(directoryWithFileWrappers: [:])
        child.node = try Self.node(of: member, status, in: directory.stored)
        child.fileAttributes = Self.attributes(of: status)
        child.filename = key
        child.preferredName = key
        child.parents = [WeakParent(wrapper: self)]
        children[key] = child
      }
      directory.children = children
      node = .directory(directory)
      return children
    }

    private static func node(of member: StoredMember, _ status: FileStatus, in holder: StoredMember?) throws -> Node {
      switch status.kind {
      case .directory:
        return .directory(DirectoryNode(stored: member, status: status, readTime: CoarseClock.fileTime))
      case .symbolicLink:
        let directory = holder.map { $0.directory.path.appending($0.place.path) }
        return .symbolicLink(LinkNode(target: try member.target(), directory: directory?.foundationURL))
      default: return .file(FileNode(stored: member, status: status))
      }
    }

    /// The key of a child that was read or added; nothing is read.
    func key(of child: FileWrapper) -> String? {
      guard case .directory(let directory) = node, child.parents.contains(where: { $0.wrapper === self }) else {
        return nil
      }
      // Most have the name that they wish for: then it doesn't matter how many there are.
      if let name = child.preferredName, directory.children?[name] === child { return name }
      return directory.children?.first { $0.value === child }?.key
    }

    func insert(_ child: FileWrapper, preferring name: String) -> String {
      var key = ""
      changeDirectory { directory in
        // Some number is free.
        var numbers = directory.numbers.take()
        let free = try? numbers.firstFree(SystemPath(name)) { directory.children?[$0.description] != nil }
        directory.numbers = numbers
        key = free?.description ?? name
        directory.children = directory.children ?? [:]
        directory.children?[key] = child
        directory.names[key] = nil
      }
      child.parents.removeAll { $0.wrapper == nil || $0.wrapper === self }
      child.parents.append(WeakParent(wrapper: self))
      return key
    }

    func remove(_ child: FileWrapper) {
      guard let key = key(of: child) else { return }
      changeDirectory { directory in
        directory.children?[key] = nil
        directory.names[key] = nil
        directory.numbers.noteRemoval()
      }
      child.parents.removeAll { $0.wrapper == nil || $0.wrapper === self }
    }

    /// Changes a directory in place: while the wrapper had it as well, each change would copy all children.
    private func changeDirectory(_ body: (inout DirectoryNode) -> Void) {
      guard case .directory(var directory) = node else { return }
      node = .directory(DirectoryNode())
      body(&directory)
      node = .directory(directory)
    }

    /// Whether another wrapper is inside of this one; a directory that wasn't read has no wrappers.
    func contains(_ other: FileWrapper) -> Bool {
      guard case .directory(let directory) = node else { return false }
      return directory.children?.values.contains { $0 === other || $0.contains(other) } ?? false
    }

    /// Tells children that were made with this wrapper whose children they are.
    func adoptChildren() {
      guard case .directory(let directory) = node else { return }
      for child in directory.children?.values ?? [:].values { child.parents = [WeakParent(wrapper: self)] }
    }

    // MARK: - Serialized form

    func archive() throws -> MemberArchive {
      switch node {
      case .file:
        guard let contents = regularFileContents else { throw CocoaError(.fileReadUnknown) }
        return .file(Array(contents), mode: mode ?? 0o644)
      case .symbolicLink(let link): return .symbolicLink(target: link.target.bytes, mode: mode ?? 0o777)
      case .directory(let directory):
        let entries = try loadChildren().map { key, child in
          MemberArchive.Entry(
            name: (directory.names[key] ?? SystemPath(key)).bytes,
            preferredName: (directory.names[key] ?? SystemPath(child.preferredFilename ?? key)).bytes,
            member: try child.archive())
        }
        return .directory(entries, mode: mode ?? 0o755)
      }
    }

    static func contents(of archive: MemberArchive) -> (Node, [String: Any]) {
      var attributes: [String: Any]
      let (node, mode): (Node, UInt32)
      switch archive {
      case .file(let contents, let fileMode):
        attributes = self.attributes(of: .regular)
        (node, mode) = (.file(FileNode(contents: Data(contents))), fileMode)
      case .symbolicLink(let target, let linkMode):
        attributes = self.attributes(of: .symbolicLink)
        (node, mode) = (.symbolicLink(LinkNode(target: SystemPath(bytes: target))), linkMode)
      case .directory(let entries, let directoryMode):
        attributes = self.attributes(of: .directory)
        var directory = DirectoryNode(children: [:])
        for entry in entries {
          let name = SystemPath(bytes: entry.name)
          let key = name.description
          if SystemPath(key) != name { directory.names[key] = name }
          let child = FileWrapper(directoryWithFileWrappers: [:])
          (child.node, child.fileAttributes) = contents(of: entry.member)
          child.adoptChildren()
          child.filename = key
          child.preferredName = SystemPath(bytes: entry.preferredName).description
          directory.children?[key] = child
        }
        (node, mode) = (.directory(directory), directoryMode)
      }
      attributes[FileAttributeKey.posixPermissions.rawValue] = NSNumber(value: mode)
      return (node, attributes)
    }
  }

  extension Date {
    fileprivate init(nanoseconds: Int64) { self.init(timeIntervalSince1970: Double(nanoseconds) / 1e9) }
  }
#endif
