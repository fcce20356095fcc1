#if !canImport(ObjectiveC)
  public import FileCoordination
  internal import Foundation
  internal import Glibc

  extension FileCoordinationError {
    /// The domain of errors that Apple's Foundation has no code for; their codes are those of ``nativeErrorNumber``.
    public static let nativeErrorDomain = "FileCoordination.FileCoordinationError"

    /// The error as Apple's Foundation would hand it out.
    ///
    /// In `NSCocoaErrorDomain` where there's a code for it, else in ``nativeErrorDomain``. The underlying error is the presenter's if
    /// a presenter refused, and this one otherwise; the localized description is this error's.
    ///
    /// - Parameter isReading: Whether it's about an item that was only to be read.
    /// - Returns: The error.
    func foundationError(isReading: Bool) -> NSError {
      var userInfo: [String: Any] = [NSLocalizedDescriptionKey: description, NSUnderlyingErrorKey: self]
      if code == .presenterFailed, let underlyingError { userInfo[NSUnderlyingErrorKey] = underlyingError }
      if let path = subjects.first, path.hasPrefix("/") { userInfo[NSFilePathErrorKey] = path }
      if let cocoa = cocoaCode(isReading: isReading) {
        return NSError(domain: NSCocoaErrorDomain, code: cocoa.rawValue, userInfo: userInfo)
      }
      return NSError(domain: Self.nativeErrorDomain, code: nativeErrorNumber, userInfo: userInfo)
    }

    /// The number of the error's code in ``nativeErrorDomain``: that of ``FileCoordinationError/Code``, the same in all versions.
    public var nativeErrorNumber: Int { code.number }

    private func cocoaCode(isReading: Bool) -> CocoaError.Code? {
      switch code {
      case .cancelled: return .userCancelled
      case .presenterFailed: return isReading ? .fileReadUnknown : .fileWriteUnknown
      case .notAFileURL: return isReading ? .fileReadUnsupportedScheme : .fileWriteUnsupportedScheme
      case .invalidPath, .relativeURL, .pathTooLong:
        return isReading ? .fileReadInvalidFileName : .fileWriteInvalidFileName
      case .destinationExists: return .fileWriteFileExists
      case .fileSystem, .symbolicLinkLoop:
        return Self.cocoaCode(ofSystemError: systemError?.errno ?? 0, isReading: isReading)
      default: return nil
      }
    }

    static func cocoaCode(
      ofSystemError number: Int32, isReading: Bool
    ) -> CocoaError.Code {
      switch number {
      case ENOENT, ENOTDIR: isReading ? .fileReadNoSuchFile : .fileNoSuchFile
      case EACCES, EPERM: isReading ? .fileReadNoPermission : .fileWriteNoPermission
      case EROFS: .fileWriteVolumeReadOnly
      case ENOSPC, EDQUOT: .fileWriteOutOfSpace
      case EEXIST: .fileWriteFileExists
      case EFBIG: .fileReadTooLarge
      default: isReading ? .fileReadUnknown : .fileWriteUnknown
      }
    }
  }

  extension NSError {
    /// Any error of an access, as Apple's Foundation would hand it out.
    static func ofAccess(_ error: any Error, _ items: AccessedItems) -> NSError {
      guard let error = error as? FileCoordinationError else { return error as NSError }
      return error.foundationError(isReading: items.isReading(error))
    }
  }
#endif
