#if !canImport(ObjectiveC)
  internal import FileCoordination
  public import FileVersions
  internal import Foundation
  internal import SystemInterface

  /// Where versions with Apple's names are kept.
  enum VersionDomain {
    private static let storage = Guarded(VersionStorage.standard)

    static func use(_ storage: VersionStorage) { Self.storage.withLock { $0 = storage } }

    static var versions: FileVersions {
      FileVersions(domain: CompatibilityDomain.current, storage: storage.withLock { $0 })
    }

    /// Asks for something that Apple's class has no error for: the error is reported as misuse.
    static func ask<Result>(
      _ url: URL, _ question: (FileVersions) throws(FileVersionError) -> Result
    ) -> Result? {
      do { return try question(versions) } catch {
        Misuse.report("versions of '\(url.path)': \(error)")
        return nil
      }
    }
  }

  extension NSFileVersion {
    /// Where versions are kept: `VersionStorage.standard` unless set.
    ///
    /// Beyond Apple's class. Set it before the first version is made.
    ///
    /// - Parameter storage: The storage.
    public static func setStorage(_ storage: VersionStorage) { VersionDomain.use(storage) }

    /// The version that a presenter is notified of.
    static func announced(_ name: String, at url: URL) async -> NSFileVersion {
      let versions = VersionsWithinAccess(VersionDomain.versions)
      let version = await Offload.run { () throws(Never) in versions.version(named: name, near: url) }
      return version.map { NSFileVersion($0, of: url) } ?? NSFileVersion(url, name: name)
    }
  }

  extension FileVersionError {
    /// The error as Apple's Foundation would hand it out.
    func foundationError(at url: URL, isReading: Bool) -> NSError {
      if let error = underlyingError as? FileCoordinationError { return error.foundationError(isReading: isReading) }
      let cocoa: CocoaError.Code =
        switch (code, underlyingError) {
        case (.fileSystem, let error as SystemError):
          FileCoordinationError.cocoaCode(ofSystemError: error.errno, isReading: isReading)
        case (.noSuchFile, _), (.versionIsGone, _): isReading ? .fileReadNoSuchFile : .fileNoSuchFile
        case (.damagedVersion, _), (.unknownFormat, _): .fileReadCorruptFile
        case (.fileExists, _): .fileWriteFileExists
        case (.notAFile, _), (.isCurrent, _): .featureUnsupported
        default: isReading ? .fileReadUnknown : .fileWriteUnknown
        }
      return NSError(
        domain: NSCocoaErrorDomain, code: cocoa.rawValue,
        userInfo: [NSLocalizedDescriptionKey: description, NSUnderlyingErrorKey: self, NSFilePathErrorKey: url.path])
    }
  }
#endif
