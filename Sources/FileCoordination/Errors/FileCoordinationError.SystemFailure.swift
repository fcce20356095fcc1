internal import SystemInterface

extension FileCoordinationError {
  /// A system call that failed: which one, on which paths, and why.
  public struct SystemFailure: Hashable, Sendable, CustomStringConvertible {
    /// The error number, as in errno(3): compare it with `ENOSPC` and the like.
    public let errno: Int32
    /// The error number's name for people, such as `ENOSPC`; `errno N` for one that file calls don't return.
    public let symbol: String
    /// The call with its section of the manual, such as `rename(2)`, or the operation that refused its task.
    public let call: String
    /// The paths that were given to the call; two for a rename or a link, none if the call was given only a descriptor.
    ///
    /// Bytes that aren't UTF-8 show as U+FFFD.
    public let paths: [String]
    /// One sentence: call, paths, reason and symbol.
    public let description: String

    init(_ error: SystemError) {
      errno = error.errno
      symbol = SystemError.symbol(of: error.errno)
      call = error.call
      paths = error.paths.map(\.description)
      description = error.description
    }
  }

  /// Whether the change was made nevertheless: only a step after it has failed.
  ///
  /// A replaced item couldn't be removed, and is at ``leftoverPath``, or the change may not survive a power failure. Don't repeat
  /// the change. `false` if nothing was changed, or not all.
  public var isChangeInPlace: Bool { rootError?.isChangeInPlace ?? false }

  /// Where an item is left that nobody needs after the change, and that couldn't be removed.
  ///
  /// Remove it when the reason is mended. Bytes that aren't UTF-8 show as U+FFFD.
  public var leftoverPath: String? { rootError?.leftover?.description }

  /// The system call whose failure is the reason, directly or through other errors of this type.
  ///
  /// `nil` if no system call failed. Usually there's one when the code is ``Code/fileSystem``, ``Code/pathTooLong``,
  /// ``Code/symbolicLinkLoop``, ``Code/domainUnreachable`` or ``Code/uncoordinatedChangesMissed``.
  ///
  /// - Complexity: O(*n*) in the number of errors that caused each other.
  public var systemError: SystemFailure? { rootError.map(SystemFailure.init) }

  private var rootError: SystemError? {
    switch underlyingError {
    case let error as SystemError: error
    case let error as FileCoordinationError: error.rootError
    default: nil
    }
  }
}
