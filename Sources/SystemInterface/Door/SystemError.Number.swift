internal import Glibc

extension SystemError {
  /// An error number by name, for packages above that don't import the C library.
  ///
  /// The names are those of swift-system's `Errno`.
  package struct Number: Hashable, Sendable {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let notPermitted = Number(rawValue: EPERM)
    package static let noSuchFileOrDirectory = Number(rawValue: ENOENT)
    package static let interrupted = Number(rawValue: EINTR)
    package static let resourceTemporarilyUnavailable = Number(rawValue: EAGAIN)
    package static let noMemory = Number(rawValue: ENOMEM)
    package static let permissionDenied = Number(rawValue: EACCES)
    package static let fileExists = Number(rawValue: EEXIST)
    package static let tooManyOpenFilesInSystem = Number(rawValue: ENFILE)
    package static let tooManyOpenFiles = Number(rawValue: EMFILE)
    package static let improperLink = Number(rawValue: EXDEV)
    package static let tooManyLinks = Number(rawValue: EMLINK)
    package static let isADirectory = Number(rawValue: EISDIR)
    package static let notADirectory = Number(rawValue: ENOTDIR)
    package static let noSpace = Number(rawValue: ENOSPC)
    package static let quotaExceeded = Number(rawValue: EDQUOT)
    package static let readOnlyFileSystem = Number(rawValue: EROFS)
    package static let fileNameTooLong = Number(rawValue: ENAMETOOLONG)
    package static let noFunction = Number(rawValue: ENOSYS)
    package static let tooManySymbolicLinkLevels = Number(rawValue: ELOOP)
    package static let fileTooLarge = Number(rawValue: EFBIG)
    package static let changedMeanwhile = Number(rawValue: ESTALE)
    package static let cancelled = Number(rawValue: ECANCELED)
    package static let notSupported = Number(rawValue: EOPNOTSUPP)
    package static let noAttribute = Number(rawValue: ENODATA)
    package static let noBufferSpace = Number(rawValue: ENOBUFS)
    package static let connectionRefused = Number(rawValue: ECONNREFUSED)
  }

  /// The error number, by name.
  package var number: Number { Number(rawValue: errno) }

  /// Whether the error number is one of `numbers`.
  package func isOne(of numbers: Number...) -> Bool { numbers.contains(number) }
}
