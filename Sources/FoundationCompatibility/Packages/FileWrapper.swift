#if !canImport(ObjectiveC)
  internal import FilePackages
  public import Foundation
  internal import SystemInterface

  /// A file, a directory with all that's in it, or a symbolic link, in memory or on disk.
  ///
  /// Apple's class, on packages of this library. A wrapper of something on disk reads names and contents when they're asked for, through
  /// the directory that was opened: if another package takes its place meanwhile, unread contents are `nil`, unless the new package has
  /// the very same file. Contents that were asked for stay in memory. With ``ReadingOptions/immediate`` all of it is read at once.
  ///
  /// **Names.** The children of a directory have different keys, which are their names on disk. The first child with a preferred name
  /// has it as key; the next ones have `NAME 2.ext`, `NAME 3.ext` and so on, whichever is free. A name on disk that isn't UTF-8 has a key in
  /// which U+FFFD stands for what isn't; written again, it's the name that it was.
  ///
  /// **Saving.** A directory is written beside its place and takes it in one step, with or without ``WritingOptions/atomic``; that option
  /// decides whether something may be replaced. With an original, unchanged files share their blocks with it, or are
  /// other names of its files; see ``write(to:options:originalContentsURL:)``. When a directory is written in the place
  /// of the package that it was read from, its unread members are those of the new package from then on.
  ///
  /// **Misuse** that raises an exception on Apple platforms, such as a question to a wrapper of another kind, is reported to
  /// ``NSFileCoordinator/setMisuseHandler(_:)``; it changes nothing, and is answered with `nil`, or with an empty name.
  ///
  /// Sockets, FIFOs and devices in a directory aren't children. All calls that read or write block for the disk. Not sendable, as on Apple
  /// platforms: one thread at a time.
  ///
  /// - Note: Rules FW-1 to FW-10 and CW-01 to CW-10.
  open class FileWrapper: NSObject, NSSecureCoding {
    var node: Node
    /// The directories that have this wrapper as a child.
    var parents: [WeakParent] = []
    var preferredName: String?

    // MARK: - Making

    /// Reads what is at a URL, which decides about the kind; a symbolic link is read as a link.
    ///
    /// - Parameters:
    ///   - url: The file URL.
    ///   - options: How it's read.
    /// - Throws: `CocoaError`, such as `.fileReadNoSuchFile`; with ``ReadingOptions/immediate`` also for what's inside.
    public init(url: URL, options: ReadingOptions = []) throws {
      (node, fileAttributes) = try Self.read(url, options)
      super.init()
      finishReading(url)
    }

    /// The same for a document, which has to know the bytes that were read.
    init(url: URL, _ digests: MemberDigests) throws {
      (node, fileAttributes) = try Self.read(url, [], digests)
      super.init()
      finishReading(url)
    }

    private func finishReading(_ url: URL) {
      adoptChildren()
      filename = Self.name(of: url)
      preferredName = filename
    }

    /// Makes a directory.
    ///
    /// - Parameter childrenByPreferredName: The children. One without a preferred name gets its key for that.
    public init(directoryWithFileWrappers childrenByPreferredName: [String: FileWrapper]) {
      node = .directory(DirectoryNode(children: [:]))
      fileAttributes = Self.attributes(of: .directory)
      super.init()
      for (name, child) in childrenByPreferredName.sorted(by: { $0.key < $1.key }) {
        if child.preferredName == nil { child.preferredFilename = name }
        _ = addFileWrapper(child)
      }
    }

    /// Makes a file.
    ///
    /// - Parameter contents: Its contents.
    public init(regularFileWithContents contents: Data) {
      node = .file(FileNode(contents: contents))
      fileAttributes = Self.attributes(of: .regular)
      super.init()
    }

    /// Makes a symbolic link.
    ///
    /// - Parameter url: The place that the link leads to. A relative URL makes a relative link.
    public init(symbolicLinkWithDestinationURL url: URL) {
      node = .symbolicLink(LinkNode(target: url.baseURL == nil ? url.systemPath : SystemPath(url.relativePath)))
      fileAttributes = Self.attributes(of: .symbolicLink)
      super.init()
    }

    /// Makes the wrapper that ``serializedRepresentation`` was made of.
    ///
    /// - Parameter serializeRepresentation: The bytes; `nil` is returned for others.
    public init?(serializedRepresentation serializeRepresentation: Data) {
      guard let archive = try? MemberArchive(bytes: Array(serializeRepresentation)) else { return nil }
      (node, fileAttributes) = Self.contents(of: archive)
      super.init()
      adoptChildren()
    }

    /// Makes the wrapper that a coder has encoded.
    ///
    /// - Parameter inCoder: The coder.
    public required init?(coder inCoder: NSCoder) {
      guard let data = inCoder.decodeObject(of: NSData.self, forKey: CodingKeys.contents),
        let archive = try? MemberArchive(bytes: Array(data as Data))
      else { return nil }
      (node, fileAttributes) = Self.contents(of: archive)
      super.init()
      adoptChildren()
      filename = inCoder.decodeObject(of: NSString.self, forKey: CodingKeys.filename) as String?
      preferredName = inCoder.decodeObject(of: NSString.self, forKey: CodingKeys.preferredName) as String?
    }

    private enum CodingKeys {
      static let contents = "serializedRepresentation"
      static let filename = "filename"
      static let preferredName = "preferredFilename"
    }

    /// Encodes the serialized representation and the names; contents that can't be read any more aren't encoded.
    ///
    /// - Parameter coder: The coder, with keys.
    open func encode(with coder: NSCoder) {
      coder.encode(serializedRepresentation as NSData?, forKey: CodingKeys.contents)
      coder.encode(filename as NSString?, forKey: CodingKeys.filename)
      coder.encode(preferredName as NSString?, forKey: CodingKeys.preferredName)
    }

    /// Whether only what was expected is decoded: always.
    open class var supportsSecureCoding: Bool { true }

    // MARK: - Kind, names, attributes

    /// Whether it's a directory.
    open var isDirectory: Bool { if case .directory = node { true } else { false } }

    /// Whether it's a file with contents.
    open var isRegularFile: Bool { if case .file = node { true } else { false } }

    /// Whether it's a symbolic link.
    open var isSymbolicLink: Bool { if case .symbolicLink = node { true } else { false } }

    /// The name wished for, which is the key in a directory unless another child has it.
    ///
    /// A change adds the wrapper anew to the directories that have it. It isn't stored on disk. `nil`, an empty name, and one that no file
    /// can have are reported as misuse.
    open var preferredFilename: String? {
      get { preferredName }
      set {
        guard let newValue, SystemPath(newValue).canBeMember else {
          return misuse("preferredFilename = \(newValue.map { "'\($0)'" } ?? "nil")")
        }
        if newValue == preferredName { return }
        let holders = parents.compactMap(\.wrapper)
        for holder in holders { holder.removeFileWrapper(self) }
        preferredName = newValue
        for holder in holders { _ = holder.addFileWrapper(self) }
      }
    }

    /// The name that it had on disk when it was read, or written with ``WritingOptions/withNameUpdating``.
    open var filename: String?

    /// Attributes with the keys of `FileAttributeKey`: those on disk when it was read.
    ///
    /// The permissions among them are those of what is written.
    open var fileAttributes: [String: Any]

    // MARK: - Contents

    /// The contents of a file; `nil` if they can't be read any more.
    ///
    /// Read once, and kept. Reported as misuse unless it's a file.
    open var regularFileContents: Data? {
      guard case .file(var file) = node else {
        misuse("regularFileContents of what isn't a regular file")
        return nil
      }
      if file.contents == nil {
        file.contents = try? file.stored?.data()
        node = .file(file)
      }
      return file.contents
    }

    /// The place that a symbolic link leads to: relative to the link if the link is, with the text on disk as its
    /// relative path.
    ///
    /// Reported as misuse unless it's a symbolic link.
    open var symbolicLinkDestinationURL: URL? {
      guard case .symbolicLink(let link) = node else {
        misuse("symbolicLinkDestinationURL of what isn't a symbolic link")
        return nil
      }
      if link.target.isAbsolute { return link.target.foundationURL }
      return URL(fileURLWithPath: link.target.description, relativeTo: link.directory)
    }

    /// The children of a directory by their keys; `nil` if they can't be read any more.
    ///
    /// Reported as misuse unless it's a directory.
    open var fileWrappers: [String: FileWrapper]? {
      guard isDirectory else {
        misuse("fileWrappers of what isn't a directory")
        return nil
      }
      return try? loadChildren()
    }

    /// Adds a child to a directory.
    ///
    /// Reported as misuse for a child without a preferred name, and for one that the directory is itself inside of.
    ///
    /// - Parameter child: The child; one that is there already stays what it is.
    /// - Returns: Its key, empty after misuse.
    @discardableResult
    open func addFileWrapper(_ child: FileWrapper) -> String {
      guard isDirectory, (try? loadChildren()) != nil else {
        misuse("addFileWrapper(_:) to what isn't a directory that can be read")
        return ""
      }
      if let key = key(of: child) { return key }
      guard let name = child.preferredName else {
        misuse("addFileWrapper(_:) of a wrapper without preferredFilename")
        return ""
      }
      if child === self || child.contains(self) {
        misuse("addFileWrapper(_:) of a directory to what is inside of it")
        return ""
      }
      return insert(child, preferring: name)
    }

    /// Adds a file to a directory.
    ///
    /// - Parameters:
    ///   - data: Its contents.
    ///   - fileName: Its preferred name.
    /// - Returns: Its key, empty after misuse.
    @discardableResult
    open func addRegularFile(withContents data: Data, preferredFilename fileName: String) -> String {
      let child = FileWrapper(regularFileWithContents: data)
      child.preferredFilename = fileName
      return addFileWrapper(child)
    }

    /// Removes a child from a directory; does nothing if it's none.
    ///
    /// - Parameter child: The child.
    open func removeFileWrapper(_ child: FileWrapper) {
      guard isDirectory, (try? loadChildren()) != nil else {
        return misuse("removeFileWrapper(_:) from what isn't a directory that can be read")
      }
      remove(child)
    }

    /// The key of a child of a directory; `nil` if it's none.
    ///
    /// Reported as misuse unless it's a directory.
    ///
    /// - Parameter child: The child.
    /// - Returns: Its key.
    open func keyForChildFileWrapper(_ child: FileWrapper) -> String? {
      guard isDirectory else {
        misuse("keyForChildFileWrapper(_:) of what isn't a directory")
        return nil
      }
      return (try? loadChildren()) == nil ? nil : key(of: child)
    }

    // MARK: - Comparing, reading and writing

    /// Whether what is at a URL is still what was read: by times and permissions, names, and targets of links, never by bytes.
    ///
    /// A wrapper that was made in memory, and not written with ``WritingOptions/withNameUpdating`` since, matches nothing. A directory
    /// whose children weren't asked for matches if none of its members is newer than the time when it was read; one that was written in the
    /// tick of the clock before, some milliseconds, counts as newer.
    ///
    /// - Parameter url: The file URL.
    /// - Returns: `false` also if it can't be read.
    open func matchesContents(of url: URL) -> Bool { (try? matches(url)) ?? false }

    /// Reads anew what is at a URL: children of the same name stay the same objects, others are added and removed.
    ///
    /// - Parameters:
    ///   - url: The file URL.
    ///   - options: How it's read.
    /// - Throws: `CocoaError`; nothing has changed then.
    open func read(from url: URL, options: ReadingOptions = []) throws {
      try adopt(FileWrapper(url: url, options: options))
      filename = Self.name(of: url)
    }

    /// Writes the wrapper with all that's in it; it's at the place as a whole or not at all, and on the disk when this returns.
    ///
    /// Without ``WritingOptions/atomic`` a directory, and a link, isn't written where something is. A file replaces a file in one step
    /// anyway. Permissions, owner and extended attributes of what is replaced are kept unless ``fileAttributes`` says otherwise. A file that a
    /// killed save of one member has left in a package becomes a version before the package is replaced (rule CD-14).
    ///
    /// - Parameters:
    ///   - url: The place, a file URL.
    ///   - options: How it's written.
    ///   - originalContentsURL: The former package, if unchanged files may share their blocks with it, or be other names of its
    ///     files; a write in place to one such name changes both. `nil` for files of their own.
    /// - Throws: `CocoaError`, such as `.fileWriteFileExists`; its underlying error says more. Nothing has changed then, unless that says
    ///   that the change is in place.
    open func write(to url: URL, options: WritingOptions = [], originalContentsURL: URL?) throws {
      try save(to: url, options, mayLink: originalContentsURL != nil)
      if options.contains(.withNameUpdating) { filename = Self.name(of: url) }
    }

    /// Names, contents, targets of links and permissions as bytes, always the same for the same tree; `nil` if something can't be read.
    ///
    /// The form is this library's: `FCPK`, the number 1, and the members one after the other, those of a directory in the order of
    /// their keys' bytes. Dates aren't in it.
    open var serializedRepresentation: Data? { (try? archive()).map { Data($0.bytes) } }
  }
#endif
