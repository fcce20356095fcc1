#if !canImport(ObjectiveC)
  internal import FileCoordination
  internal import FilePackages
  internal import Foundation
  internal import SystemInterface

  extension FileWrapper {
    static func read(
      _ url: URL, _ options: ReadingOptions, _ digests: MemberDigests? = nil
    ) throws -> (Node, [String: Any]) {
      let member = try member(at: url)
      do {
        let status = try member.status()
        let node: Node
        switch status.kind {
        case .directory:
          let directory = try PinnedDirectory(
            at: member.directory.path.appending(member.place.path), HostFileSystem(), digests: digests)
          let top = StoredMember(directory, .top)
          node = .directory(DirectoryNode(stored: top, status: try top.status(), readTime: CoarseClock.fileTime))
        case .symbolicLink:
          let directory = member.directory.path.foundationURL
          node = .symbolicLink(LinkNode(target: try member.target(), directory: directory))
        case .regular:
          var known = member
          known.expected = status
          node = .file(FileNode(stored: known, status: status))
        case .fifo, .socket, .characterDevice, .blockDevice, .unknown:
          throw PackageError(.unsupportedKind, member.place.path)
        }
        let wrapper = FileWrapper(regularFileWithContents: Data())
        wrapper.node = node
        if options.contains(.immediate) { try wrapper.loadAll() }
        // The children must not keep this wrapper, which only read them, as their parent.
        wrapper.orphanChildren()
        return (wrapper.node, attributes(of: status))
      } catch let error as PackageError { throw error.cocoaError(url, isReading: true) }
    }

    /// The item at a URL, by its name in its directory, which stays open.
    static func member(at url: URL) throws -> StoredMember {
      guard url.isFileURL else { throw CocoaError(.fileReadUnsupportedScheme, userInfo: [NSURLErrorKey: url]) }
      do {
        let path = try HostFileSystem().canonicalPath(of: url.systemPath, resolvingLastComponent: false)
        let parent = try PinnedDirectory(at: path.parent, HostFileSystem())
        // The root directory is no package.
        return StoredMember(parent, try MemberPath(path.itemName()))
      } catch let error as SystemError {
        throw PackageError(error, url.systemPath).cocoaError(url, isReading: true)
      } catch let error as PackageError { throw error.cocoaError(url, isReading: true) }
    }

    /// Reads everything that isn't in memory.
    func loadAll() throws {
      switch node {
      case .symbolicLink: return
      case .file(var file):
        if file.contents == nil { file.contents = try file.stored?.data() }
        node = .file(file)
      case .directory:
        for child in try loadChildren().values { try child.loadAll() }
      }
    }

    private func orphanChildren() {
      guard case .directory(let directory) = node else { return }
      for child in directory.children?.values ?? [:].values { child.parents = [] }
    }

    /// Takes over what another wrapper was read as; children of the same name stay the same objects.
    func adopt(_ other: FileWrapper) throws {
      fileAttributes = other.fileAttributes
      guard case .directory(let old) = node, let children = old.children, case .directory = other.node else {
        if case .directory(let old) = node { for child in old.children?.values ?? [:].values { remove(child) } }
        node = other.node
        return adoptChildren()
      }
      var merged = try other.loadChildren()
      guard case .directory(var directory) = other.node else { return }
      let former = Dictionary(
        children.values.compactMap { child in child.filename.map { ($0, child) } },
        uniquingKeysWith: { first, _ in first })
      for (key, child) in merged {
        guard let present = former[key] else { continue }
        try present.adopt(child)
        present.filename = key
        merged[key] = present
      }
      let kept = Set(merged.values.map(ObjectIdentifier.init))
      for child in children.values where !kept.contains(ObjectIdentifier(child)) {
        child.parents.removeAll { $0.wrapper == nil || $0.wrapper === self }
      }
      directory.children = merged
      directory.numbers.noteRemoval()
      node = .directory(directory)
      for child in merged.values {
        child.parents.removeAll { $0.wrapper == nil || $0.wrapper === self || $0.wrapper === other }
        child.parents.append(WeakParent(wrapper: self))
      }
    }
  }

  extension StoredMember {
    /// The contents of a file, where it is now.
    func data() throws(PackageError) -> Data {
      var data = Data()
      try current().readContents { (part, _) in data.append(contentsOf: part) }
      return data
    }
  }

  extension PackageError {
    /// The error as Apple's Foundation would hand it out.
    func cocoaError(_ url: URL, isReading: Bool) -> CocoaError {
      let cocoa: CocoaError.Code =
        switch code {
        case .notFound: isReading ? .fileReadNoSuchFile : .fileNoSuchFile
        case .invalidName: isReading ? .fileReadInvalidFileName : .fileWriteInvalidFileName
        case .destinationExists, .nameTaken: .fileWriteFileExists
        case .tooLarge: .fileReadTooLarge
        default:
          systemError.map { FileCoordinationError.cocoaCode(ofSystemError: $0.errno, isReading: isReading) }
            ?? (isReading ? .fileReadUnknown : .fileWriteUnknown)
        }
      return CocoaError(cocoa, userInfo: [NSURLErrorKey: url, NSUnderlyingErrorKey: self])
    }
  }
#endif
