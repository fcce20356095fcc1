#if !canImport(ObjectiveC)
  public import Foundation
  internal import Glibc
  internal import SystemInterface

  extension FileManager {
    /// Puts a new item in the place of another, so that there's always one of them.
    ///
    /// One rename within a file system, after the new item has been brought to the disk, so that no power failure leaves less than one of
    /// them; across file systems the new item is copied beside the old one first. The old item's mode, owner
    /// and extended attributes are given to the new one unless `.usingNewMetadataOnly` is among the options. If `newItemURL` is on another
    /// file system and something fails, the new item is still there.
    ///
    /// `replaceItemAt(_:withItemAt:)` does the same, with a backup or with options. With both it's Foundation's, which on Linux renames
    /// the *old* item over the new one, so that the new contents are lost: use this instead.
    ///
    /// - Parameters:
    ///   - originalItemURL: The item that's replaced.
    ///   - newItemURL: The item that takes its place, and is gone from its own.
    ///   - backupItemName: The name beside the original for a copy of the old item, made first and removed at the end unless
    ///     `.withoutDeletingBackupItem` is among the options; `nil` for none.
    ///   - options: The parts of the old item to keep.
    ///   - resultingURL: Where to put the URL of the new item, which is the original's.
    /// - Throws: `CocoaError`, before anything is touched when two of original, new item and backup are one item by a
    ///   link, a mount or spelling, or one is inside another. The original is still there then, and the new item,
    ///   perhaps with the mode and owner of the original. If only a later step failed, the new item is in its place:
    ///   then the underlying error names the remains, such as the backup.
    public func replaceItem(
      at originalItemURL: URL, withItemAt newItemURL: URL, backupItemName: String?,
      options: FileManager.ItemReplacementOptions = [], resultingItemURL resultingURL: UnsafeMutablePointer<NSURL?>?
    ) throws {
      try Self.replace(originalItemURL, newItemURL, backupItemName, options)
      unsafe resultingURL?.pointee = originalItemURL as NSURL
    }

    /// Puts a new item in the place of another, so that there's always one of them.
    ///
    /// Like ``replaceItem(at:withItemAt:backupItemName:options:resultingItemURL:)``, with the same errors; if nothing
    /// is at the original's place, the new item is moved there.
    ///
    /// - Parameters:
    ///   - originalItemURL: The item that's replaced.
    ///   - newItemURL: The item that takes its place, and is gone from its own.
    /// - Returns: The URL of the new item, which is the original's.
    /// - Throws: `CocoaError`.
    @discardableResult
    public func replaceItemAt(_ originalItemURL: URL, withItemAt newItemURL: URL) throws -> URL? {
      try Self.put(newItemURL, inPlaceOf: originalItemURL, nil, [])
    }

    /// The same with a backup of the old item while it's replaced.
    ///
    /// - Parameters:
    ///   - originalItemURL: The item that's replaced.
    ///   - newItemURL: The item that takes its place, and is gone from its own.
    ///   - backupItemName: The name beside the original for a copy of the old item, which is removed at the end; `nil` for none.
    /// - Returns: The URL of the new item, which is the original's.
    /// - Throws: `CocoaError`.
    @discardableResult
    public func replaceItemAt(
      _ originalItemURL: URL, withItemAt newItemURL: URL, backupItemName: String?
    ) throws -> URL? {
      try Self.put(newItemURL, inPlaceOf: originalItemURL, backupItemName, [])
    }

    /// The same with options.
    ///
    /// - Parameters:
    ///   - originalItemURL: The item that's replaced.
    ///   - newItemURL: The item that takes its place, and is gone from its own.
    ///   - options: The parts of the old item to keep.
    /// - Returns: The URL of the new item, which is the original's.
    /// - Throws: `CocoaError`.
    @discardableResult
    public func replaceItemAt(
      _ originalItemURL: URL, withItemAt newItemURL: URL, options: FileManager.ItemReplacementOptions
    ) throws -> URL? {
      try Self.put(newItemURL, inPlaceOf: originalItemURL, nil, options)
    }

    /// Apple's form makes the item if there's none.
    ///
    /// Code of this library calls it by this name, which Foundation's method can't be taken for.
    static func put(
      _ newURL: URL, inPlaceOf originalURL: URL, _ backupName: String? = nil,
      _ options: FileManager.ItemReplacementOptions = []
    ) throws -> URL? {
      let (files, original) = (HostFileSystem(), try path(of: originalURL))
      let new = try path(of: newURL)
      do throws(SystemError) {
        if try files.statusIfPresent(of: original) == nil {
          try files.synchronizeItem(at: new)
          try files.moveItem(from: new, to: original, replacing: false)
          return originalURL
        }
      } catch { throw cocoaError(error, originalURL) }
      try replace(originalURL, newURL, backupName, options)
      return originalURL
    }

    private static func replace(
      _ originalURL: URL, _ newURL: URL, _ backupName: String?, _ options: FileManager.ItemReplacementOptions
    ) throws {
      let (files, original) = (HostFileSystem(), try path(of: originalURL))
      let new = try path(of: newURL)
      let backup = try backupName.map { name in
        try path(of: originalURL.deletingLastPathComponent().appendingPathComponent(name))
      }
      do throws(SystemError) {
        // Before anything is touched: a backup in the place of the new item would be the end of it.
        try files.refuseOneItem("replaceItem", new, original)
        if let backup {
          try files.refuseOneItem("replaceItem", original, backup)
          try files.refuseOneItem("replaceItem", new, backup)
        }
        guard try files.statusIfPresent(of: original) != nil else {
          throw SystemError(call: "replaceItem", paths: [original], errno: ENOENT)
        }
        if !options.contains(.usingNewMetadataOnly) {
          do { try files.copyMetadata(from: original, to: new) } catch  where error.errno != ELOOP { throw error }
        }
      } catch { throw cocoaError(error, originalURL) }
      do throws(SystemError) {
        if let backup { try files.copyItem(from: original, to: backup, replacing: true) }
        try files.synchronizeItem(at: new)
        try files.moveItem(from: new, to: original, replacing: true)
        if let backup, !options.contains(.withoutDeletingBackupItem) { try files.removeItem(at: backup) }
      } catch { throw cocoaError(error, originalURL) }
    }

    /// The canonical path of a URL; a symbolic link in its last component is the item itself.
    private static func path(of url: URL) throws -> SystemPath {
      guard url.isFileURL else { throw CocoaError(.fileWriteUnsupportedScheme, userInfo: [NSURLErrorKey: url]) }
      do throws(SystemError) {
        return try HostFileSystem().canonicalPath(of: url.systemPath, resolvingLastComponent: false)
      } catch { throw cocoaError(error, url) }
    }

    static func cocoaError(_ error: SystemError, _ url: URL) -> CocoaError {
      let code: CocoaError.Code =
        switch error.errno {
        case ENOENT: .fileNoSuchFile
        case EACCES, EPERM: .fileWriteNoPermission
        case EROFS: .fileWriteVolumeReadOnly
        case ENOSPC, EDQUOT: .fileWriteOutOfSpace
        default: .fileWriteUnknown
        }
      return CocoaError(code, userInfo: [NSURLErrorKey: url, NSUnderlyingErrorKey: error])
    }
  }
#endif
