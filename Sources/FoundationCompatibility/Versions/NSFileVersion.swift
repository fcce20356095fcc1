#if !canImport(ObjectiveC)
  internal import FileCoordination
  internal import FileVersions
  public import Foundation
  internal import SystemInterface

  /// A version of a file: its present contents, or kept ones.
  ///
  /// In the store that `FileVersions` uses, so programs that use either name see each other's versions. The calls block for the disk, and
  /// have no access of their own: make them inside of an accessor that reads or writes the file. Presenters of the file, and of what is
  /// around it, are notified of each version that's gained, lost or resolved.
  ///
  /// An object says what was known when it was fetched, but for ``isResolved`` and ``isDiscardable``, which can be set. Misuse that ends
  /// the process on Apple platforms is reported instead: see ``NSFileCoordinator/setMisuseHandler(_:)``.
  ///
  /// - Note: Rules CV-01…CV-23; `FileVersions` explains the numbers.
  open class NSFileVersion: NSObject, @unchecked Sendable {
    /// The file that it's a version of.
    let item: URL
    private let name: String
    /// `nil` of one that was removed, and of one that another program keeps in a store of its own.
    private let state: Guarded<FileVersion?>

    init(_ version: FileVersion, of item: URL) {
      self.item = item
      name = version.id.description
      state = Guarded(version)
    }

    /// A version that was announced, and isn't in the store.
    init(_ item: URL, name: String) {
      self.item = item
      self.name = name
      state = Guarded(nil)
    }

    var version: FileVersion? { state.withLock { $0 } }

    func replaceVersion(by version: FileVersion) { state.withLock { $0 = version } }

    // MARK: Properties

    /// Where its contents are: the file itself, or a read-only file whose path isn't for people.
    ///
    /// Of a version that isn't in the store, the file that it's of.
    open var url: URL { version?.url ?? item }

    /// The name that the file had; `nil` if the version isn't in the store any more (CV-23).
    ///
    /// Each call asks the file system whether the contents are there, also for ``hasLocalContents``.
    open var localizedName: String? { hasLocalContents ? version?.name : nil }

    /// The name of the machine that saved it; never `nil` for a conflict (CV-22).
    open var localizedNameOfSavingComputer: String? {
      version.flatMap { $0.deviceName ?? ($0.isConflict ? NSFileVersion.unknownComputer : nil) }
    }

    private static let unknownComputer = "another computer"

    /// The person who saved it, if that's recorded and is another one than this user (CV-22).
    ///
    /// Recorded are the `author` of the `FileVersions` that has kept the version, and the person whom the name of a conflict copy mentions as
    /// its author: those of Nextcloud, ownCloud, Dropbox and Seafile do. It's `nil` if nothing is recorded, as for versions that are added by
    /// this class, and if it's the name of this user's account or the full name of that.
    open var originatorNameComponents: PersonNameComponents? {
      version?.author.flatMap { PersonNameComponents(author: $0) }
    }

    /// When its contents were changed last.
    open var modificationDate: Date? { version?.modificationDate }

    /// Finds the version again, also in another process: a `String` (CV-06).
    open var persistentIdentifier: Any { name }

    /// Whether it stems from two writers that collided.
    open var isConflict: Bool { version?.isConflict ?? false }

    /// Whether it's no conflict, or one that was resolved.
    ///
    /// Setting `true` takes it off the list of conflicts that aren't resolved; its contents stay. There's no way back: setting `false` is
    /// reported as misuse and changes nothing (CV-11…CV-13).
    open var isResolved: Bool {
      get { version?.isResolved ?? true }
      set { resolve(newValue) }
    }

    /// Whether it may be removed at any time to get space.
    ///
    /// Can only be set to `true`, and not for the current version; anything else is reported as misuse and changes nothing (CV-14).
    open var isDiscardable: Bool {
      get { version?.isDiscardable ?? false }
      set { discard(newValue) }
    }

    /// Whether its contents are on this machine: they are, unless it was removed.
    open var hasLocalContents: Bool { version?.hasContents ?? false }

    /// Whether there's a thumbnail of it: there never is.
    open var hasThumbnail: Bool { false }

    // MARK: Equality

    /// Whether another object stands for the same version of the same file (CV-05).
    ///
    /// - Parameter object: The other object.
    /// - Returns: Whether it does.
    open override func isEqual(_ object: Any?) -> Bool {
      guard let other = object as? NSFileVersion else { return false }
      return other.name == name && (version != nil && other.version != nil || other.item == item)
    }

    /// A number that's equal for equal versions.
    open override var hash: Int { name.hashValue }

    // MARK: Listing

    /// The present contents of a file.
    ///
    /// - Parameter url: The file.
    /// - Returns: The version; `nil` when nothing is there (CV-01).
    open class func currentVersionOfItem(at url: URL) -> NSFileVersion? {
      VersionDomain.ask(url) { versions throws(FileVersionError) in try versions.blocking.currentVersion(of: url) }?
        .map { NSFileVersion($0, of: url) }
    }

    /// The versions that are kept of a file, newest first, without the current one.
    ///
    /// - Parameter url: The file.
    /// - Returns: The versions; `nil` when nothing is there (CV-02, CV-03).
    open class func otherVersionsOfItem(at url: URL) -> [NSFileVersion]? {
      VersionDomain.ask(url) { versions throws(FileVersionError) in try versions.blocking.versions(of: url) }?
        .map { $0.map { NSFileVersion($0, of: url) } }
    }

    /// The conflicts of a file that aren't resolved, newest first.
    ///
    /// - Parameter url: The file.
    /// - Returns: The versions; `nil` when nothing is there (CV-02, CV-04).
    open class func unresolvedConflictVersionsOfItem(at url: URL) -> [NSFileVersion]? {
      otherVersionsOfItem(at: url)?.filter { !$0.isResolved }
    }

    /// The versions of a file whose contents are on another machine: none.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - completionHandler: Gets the versions, or the error when nothing is at the URL; on a thread of the library.
    open class func getNonlocalVersionsOfItem(
      at url: URL, completionHandler: @escaping @Sendable ([NSFileVersion]?, (any Error)?) -> Void
    ) {
      Task.detached {
        do { completionHandler(try await nonlocalVersionsOfItem(at: url), nil) } catch { completionHandler(nil, error) }
      }
    }

    /// The versions of a file whose contents are on another machine: none.
    ///
    /// - Parameter url: The file.
    /// - Returns: No versions.
    /// - Throws: `CocoaError.fileReadNoSuchFile` when nothing is at the URL.
    open class func nonlocalVersionsOfItem(at url: URL) async throws -> [NSFileVersion] {
      do {
        if try await VersionDomain.versions.versions(of: url) != nil { return [] }
      } catch { throw error.foundationError(at: url, isReading: true) }
      throw CocoaError.error(.fileReadNoSuchFile, url: url)
    }

    /// Finds a version again.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - persistentIdentifier: The ``persistentIdentifier`` of a version.
    /// - Returns: The version; `nil` when it was removed, or is another file's (CV-06).
    open class func version(itemAt url: URL, forPersistentIdentifier persistentIdentifier: Any) -> NSFileVersion? {
      guard let name = persistentIdentifier as? String else { return nil }
      if let current = currentVersionOfItem(at: url), current.name == name { return current }
      return otherVersionsOfItem(at: url)?.first { $0.name == name }
    }
  }
#endif
