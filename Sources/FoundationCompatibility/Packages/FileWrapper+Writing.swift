#if !canImport(ObjectiveC)
  internal import FileDocuments
  internal import FilePackages
  internal import Foundation
  internal import SystemInterface

  extension FileWrapper {
    func save(to url: URL, _ options: WritingOptions, mayLink: Bool) throws {
      guard url.isFileURL else { throw CocoaError(.fileWriteUnsupportedScheme, userInfo: [NSURLErrorKey: url]) }
      do {
        let path = try HostFileSystem().canonicalPath(of: url.systemPath, resolvingLastComponent: false)
        switch node {
        case .file: try saveFile(to: path, options)
        case .symbolicLink(let link): try saveLink(link, to: path, options)
        case .directory: try saveDirectory(to: path, options, mayLink: mayLink)
        }
      } catch let error as SystemError {
        throw PackageError(error, url.systemPath).cocoaError(url, isReading: false)
      } catch let error as PackageError { throw error.cocoaError(url, isReading: false) }
    }

    private func saveFile(to path: SystemPath, _ options: WritingOptions) throws {
      guard case .file(var file) = node else { return }
      let files = HostFileSystem()
      let contents = try file.contents ?? file.stored?.data() ?? Data()
      let replaced = try files.statusIfPresent(of: path)?.identity
      let mode = mode
      try files.replaceContents(of: path, with: Array(contents)) { (file) throws(SystemError) in
        // Nobody may read it before by other permissions, and a save that can't set them has replaced nothing.
        if let mode { try files.setMode(of: file, to: mode) }
        try files.synchronize(file)
      }
      // A copy elsewhere isn't the place from which the contents are read later, unless the caller requests that.
      let isItsOwn = replaced != nil && file.stored?.expected?.identity == replaced
      guard isItsOwn || options.contains(.withNameUpdating) else { return }
      let member = StoredMember(try PinnedDirectory(at: path.parent, files), try MemberPath(path.lastComponent))
      file.status = try member.status()
      file.stored = StoredMember(member.directory, member.place, expected: file.status)
      node = .file(file)
    }

    private func saveLink(_ link: LinkNode, to path: SystemPath, _ options: WritingOptions) throws {
      let files = HostFileSystem()
      if !options.contains(.atomic) {
        do throws(SystemError) {
          return try files.makeSymbolicLink(path, at: .workingDirectory, target: link.target)
        } catch {
          throw PackageError(error.isOne(of: .fileExists) ? .destinationExists : .fileSystem, path, systemError: error)
        }
      }
      let temporary = try files.withTemporaryName(for: path.lastComponent) { (name) throws(SystemError) in
        let temporary = path.parent.appending(name)
        try files.makeSymbolicLink(temporary, at: .workingDirectory, target: link.target)
        return temporary
      }
      do { try files.moveItem(from: temporary, to: path, replacing: true) } catch {
        try? files.removeItem(at: temporary)
        throw error
      }
    }

    private func saveDirectory(to path: SystemPath, _ options: WritingOptions, mayLink: Bool) throws {
      guard case .directory(let directory) = node else { return }
      let present = try HostFileSystem().statusIfPresent(of: path)
      if options.contains(.atomic), present?.kind == .directory { try takeMemberLeftovers(inPackageAt: path) }
      let replaced = present?.identity
      let tree = PackageTree(try Self.packageNode(of: directory, mode), files: HostFileSystem())
      let (written, _) = try tree.write(
        to: path, options.contains(.atomic) ? .anything : .nothing, linking: mayLink ? .always : .never)
      if options.contains(.withNameUpdating) { updateNames() }
      guard let top = written.top else { return }
      // If somebody else has replaced the new package by now, there's nothing to read any more, but it was written.
      if options.contains(.withNameUpdating) {
        try? rebind(to: top) { _ in true }
      } else if let replaced {
        // Contents that were read from the replaced package can be read from this one.
        try? rebind(to: top) { $0?.directory.identity == replaced }
      }
    }

    /// Makes versions of the files that killed saves of single members have left in a package, before that's replaced.
    private func takeMemberLeftovers(inPackageAt path: SystemPath) throws {
      let url = path.foundationURL
      let leftovers = MemberLeftovers(inPackageAt: path, url, VersionDomain.versions)
      do throws(DocumentError) {
        if leftovers.areThere { try leftovers.takeBeforeReplacement() }
      } catch {
        throw CocoaError(.fileWriteUnknown, userInfo: [NSURLErrorKey: url, NSUnderlyingErrorKey: error])
      }
    }

    private static func packageNode(of directory: DirectoryNode, _ mode: UInt32?) throws -> FilePackages.DirectoryNode {
      guard let children = directory.children else {
        return FilePackages.DirectoryNode(base: directory.stored, mode: mode)
      }
      var node = FilePackages.DirectoryNode(base: directory.stored, hasMembersOfBase: false, mode: mode)
      for (key, child) in children {
        node.changes[directory.names[key] ?? SystemPath(key)] = .member(try child.memberNode())
      }
      return node
    }

    private func memberNode() throws -> MemberNode {
      switch node {
      case .symbolicLink(let link): return .symbolicLink(target: link.target)
      case .directory(let directory):
        if directory.children == nil, let stored = directory.stored, mode == directory.status?.mode {
          return .stored(stored)
        }
        return .directory(try Self.packageNode(of: directory, mode))
      case .file(let file):
        // The same file as it was read: it's linked, or copied, without being read.
        if let stored = file.stored?.current(), mode == file.status?.mode,
          file.contents == nil || (try? stored.status()) != nil
        {
          return .stored(stored)
        }
        let contents = try file.contents ?? file.stored?.data() ?? Data()
        return .file(FilePackages.FileNode(.bytes(Array(contents)), mode: mode))
      }
    }

    /// Lets members that were written be those of the new package.
    ///
    /// - Parameters:
    ///   - stored: The member that stands for this wrapper in the new package.
    ///   - isMeant: Whether that's so for a wrapper that was another member until now, or none.
    /// - Throws: `PackageError` if the new package has been replaced.
    private func rebind(to stored: StoredMember, _ isMeant: (StoredMember?) -> Bool) throws {
      switch node {
      case .symbolicLink: return
      case .file(var file):
        guard isMeant(file.stored) else { return }
        file.status = try stored.status()
        file.stored = StoredMember(stored.directory, stored.place, expected: file.status)
        if let status = file.status { fileAttributes = Self.attributes(of: status) }
        node = .file(file)
      case .directory(var directory):
        for (key, child) in directory.children ?? [:] {
          try child.rebind(to: stored.appending(directory.names[key] ?? SystemPath(key)), isMeant)
        }
        guard isMeant(directory.stored) else { return }
        directory.stored = stored
        directory.status = try stored.status()
        directory.readTime = CoarseClock.fileTime
        if let status = directory.status { fileAttributes = Self.attributes(of: status) }
        node = .directory(directory)
      }
    }

    /// Notes of which package this wrapper and those in it are.
    ///
    /// - Returns: A function that restores that: for a package that was written, and then didn't get to its place.
    /// - Complexity: O(*n*) in the number of wrappers that were looked at.
    func capturePlaces() -> () -> Void {
      let (node, filename, fileAttributes) = (node, filename, fileAttributes)
      var children: [() -> Void] = []
      if case .directory(let directory) = node {
        children = (directory.children ?? [:]).values.map { $0.capturePlaces() }
      }
      return {
        self.node = node
        self.filename = filename
        self.fileAttributes = fileAttributes
        for restore in children { restore() }
      }
    }

    private func updateNames() {
      guard case .directory(let directory) = node else { return }
      for (key, child) in directory.children ?? [:] {
        child.filename = key
        child.updateNames()
      }
    }
  }
#endif
