#if !canImport(ObjectiveC)
  internal import FileCoordination
  internal import FileVersions
  public import Foundation

  extension NSFileVersion {
    /// How contents become a version.
    public struct AddingOptions: OptionSet, Hashable, Sendable {
      /// The options as bits, those of Apple's.
      public let rawValue: UInt

      /// Creates a set of options.
      ///
      /// - Parameter rawValue: The options as bits.
      public init(rawValue: UInt) { self.rawValue = rawValue }

      /// Nothing remains where the contents were: on the same volume they become the version without being copied.
      public static let byMoving = AddingOptions(rawValue: 1)
    }

    /// How a version takes the place of a file.
    public struct ReplacingOptions: OptionSet, Hashable, Sendable {
      /// The options as bits, those of Apple's.
      public let rawValue: UInt

      /// Creates a set of options.
      ///
      /// - Parameter rawValue: The options as bits.
      public init(rawValue: UInt) { self.rawValue = rawValue }

      /// The version isn't kept any longer.
      public static let byMoving = ReplacingOptions(rawValue: 1)
    }

    /// Keeps the contents of a file as a version of a file.
    ///
    /// - Parameters:
    ///   - url: The file that it becomes a version of.
    ///   - contentsURL: The contents; may be the same file.
    ///   - options: Whether they remain where they are.
    /// - Returns: The version.
    /// - Throws: A `CocoaError`; nothing was changed then (CV-07, CV-08, CV-10).
    @discardableResult
    public class func addOfItem(
      at url: URL, withContentsOf contentsURL: URL, options: AddingOptions = []
    ) throws -> NSFileVersion {
      do {
        let versions = VersionsWithinAccess(VersionDomain.versions)
        let version = try versions.add(to: url, contentsOf: contentsURL, byMoving: options.contains(.byMoving))
        return NSFileVersion(version, of: url)
      } catch { throw error.foundationError(at: url, isReading: false) }
    }

    /// Makes an empty directory from which files become versions by a rename; the caller removes it.
    ///
    /// If it can't be made, that's reported to the ``NSFileCoordinator/setMisuseHandler(_:)``, and the directory for temporary files is
    /// returned: from there contents are copied.
    ///
    /// - Parameter url: The file of which they become versions.
    /// - Returns: The directory (CV-09).
    public class func temporaryDirectoryURLForNewVersionOfItem(at url: URL) -> URL {
      VersionDomain.ask(url) { versions throws(FileVersionError) in
        try versions.blocking.makeTemporaryDirectory(for: url)
      } ?? FileManager.default.temporaryDirectory
    }

    /// Puts the contents of the version in the place of a file; the contents that they overwrite become a version
    /// first.
    ///
    /// - Parameters:
    ///   - url: The file; it doesn't have to exist.
    ///   - options: Whether the version is kept.
    /// - Returns: Where the contents are: with the extension of the version, if that's another one.
    /// - Throws: A `CocoaError`; the file is as it was then (CV-17…CV-20).
    @discardableResult
    public func replaceItem(at url: URL, options: ReplacingOptions = []) throws -> URL {
      guard let version else { throw CocoaError.error(.fileNoSuchFile, url: self.url) }
      do {
        return try VersionsWithinAccess(VersionDomain.versions)
          .restore(version, to: url, byMoving: options.contains(.byMoving))
      } catch { throw error.foundationError(at: url, isReading: false) }
    }

    /// Removes the version.
    ///
    /// - Throws: A `CocoaError`: also for the current version, where Apple's raises an exception (CV-15).
    public func remove() throws {
      guard let version else { throw CocoaError.error(.fileNoSuchFile, url: url) }
      do {
        try VersionsWithinAccess(VersionDomain.versions).remove(version, of: item)
      } catch { throw error.foundationError(at: item, isReading: false) }
    }

    /// Removes all versions of a file but the current one.
    ///
    /// - Parameter url: The file.
    /// - Throws: A `CocoaError` (CV-16).
    public class func removeOtherVersionsOfItem(at url: URL) throws {
      do {
        let others = try VersionDomain.versions.blocking.versions(of: url) ?? []
        try VersionsWithinAccess(VersionDomain.versions).remove(others, of: url)
      } catch { throw error.foundationError(at: url, isReading: false) }
    }

    // MARK: Marks

    func resolve(_ isResolved: Bool) {
      guard let version, !version.isCurrent else {
        return report("isResolved", "of the current version, or of one that isn't kept")
      }
      if !isResolved { return report("isResolved", "to false") }
      if version.isResolved { return }
      let (item, versions) = (item, VersionDomain.versions)
      let changed = VersionDomain.ask(item) { _ throws(FileVersionError) in
        try VersionsWithinAccess(versions).markResolved(version, of: item)
      }
      if let changed { replaceVersion(by: changed) }
    }

    func discard(_ isDiscardable: Bool) {
      guard let version, !version.isCurrent else {
        return report("isDiscardable", "of the current version, or of one that isn't kept")
      }
      if !isDiscardable { return report("isDiscardable", "to false") }
      let item = item
      let changed = VersionDomain.ask(item) { versions throws(FileVersionError) in
        try versions.blocking.markDiscardable(version, of: item)
      }
      if let changed { replaceVersion(by: changed) }
    }

    private func report(_ property: String, _ what: String) {
      Misuse.report("'\(property)' of a version of '\(item.path)' can't be set \(what): nothing was changed.")
    }
  }
#endif
