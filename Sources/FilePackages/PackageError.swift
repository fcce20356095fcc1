public import SystemInterface

/// Why something couldn't be done with a package.
///
/// Errors of calls that write say whether the change is in place nevertheless: see ``isInPlace``.
public struct PackageError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of an error, with a number that stays the same in all versions.
  public struct Code: Hashable, Sendable {
    /// The number.
    public let number: Int

    /// Nothing has that name.
    public static let notFound = Code(number: 1)
    /// The member is of another kind than the call needs.
    public static let wrongKind = Code(number: 2)
    /// The text can't be the name of a member.
    public static let invalidName = Code(number: 3)
    /// The name is taken.
    public static let nameTaken = Code(number: 4)
    /// Members are nested deeper than ``PackageTree/depthMax``.
    public static let tooDeep = Code(number: 5)
    /// Another package has taken the place of the one that the tree was read from: open it again.
    public static let packageReplaced = Code(number: 6)
    /// The member was altered since the tree knows it, or while it was read.
    public static let memberChanged = Code(number: 7)
    /// A socket, FIFO or device, which a package can't have.
    public static let unsupportedKind = Code(number: 8)
    /// Something is at the destination.
    public static let destinationExists = Code(number: 9)
    /// The contents are larger than the caller accepts.
    public static let tooLarge = Code(number: 10)
    /// A system call failed: see ``PackageError/systemError``.
    public static let fileSystem = Code(number: 11)
    /// The bytes aren't an archive of members.
    public static let corruptArchive = Code(number: 12)
  }

  /// The kind of the error.
  public let code: Code
  /// The member, relative to the package, or the destination.
  public let path: SystemPath
  /// The failure behind it, if a system call failed.
  public let systemError: SystemError?
  /// Whether the change is made nevertheless: only what comes after it has failed.
  public let isInPlace: Bool

  package init(
    _ code: Code, _ path: SystemPath = SystemPath(""), systemError: SystemError? = nil, isInPlace: Bool = false
  ) {
    self.code = code
    self.path = path
    self.systemError = systemError
    self.isInPlace = isInPlace
  }

  package init(_ error: SystemError, _ path: SystemPath, isInPlace: Bool = false) {
    self.init(.fileSystem, path, systemError: error, isInPlace: isInPlace)
  }

  /// A sentence with the failure, its member, and the remedy.
  public var description: String {
    switch code {
    case .notFound: "notFound: the package has no '\(path)'"
    // Members have relative paths.
    case .wrongKind where path.isAbsolute: "wrongKind: '\(path)' isn't a directory, so it's no package"
    case .wrongKind: "wrongKind: '\(path)' is a member of another kind"
    case .invalidName:
      "invalidName: '\(path)' can't be the name of a member. Pass 1 to 255 bytes without '/' and NUL; not '.', '..' or '.*.fcsave'"
    case .nameTaken: "nameTaken: the package has '\(path)' already. Remove that first, or add under a free name"
    case .tooDeep: "tooDeep: '\(path)' is inside of more than \(PackageTree.depthMax) directories"
    case .packageReplaced: "packageReplaced: the package at '\(path)' isn't the one that was opened. Open it again"
    case .memberChanged: "memberChanged: '\(path)' was altered meanwhile. Open the package again"
    case .unsupportedKind: "unsupportedKind: '\(path)' is neither a file nor a directory nor a symbolic link"
    case .destinationExists: "destinationExists: something is at '\(path)'. Write in place of it, or remove it"
    case .tooLarge: "tooLarge: '\(path)' is larger than the caller accepts. Read it in parts"
    case .corruptArchive: "corruptArchive: the bytes aren't an archive of members"
    default: "fileSystem: '\(path)': \(systemError.map { "\($0)" } ?? "unknown")"
    }
  }
}

/// Runs `body`; its errors of system calls are about a member or a destination.
func aboutMember<Result>(
  _ path: SystemPath, _ body: () throws(SystemError) -> Result
) throws(PackageError) -> Result {
  do { return try body() } catch { throw PackageError(error, path) }
}
