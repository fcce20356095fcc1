internal import FileCoordination
internal import SystemInterface
internal import VersionStore

/// Why a version couldn't be kept, found, restored or removed.
///
/// The file itself is as it was, unless ``message`` says otherwise.
public struct FileVersionError: Error, Sendable, CustomStringConvertible {
  /// The kind of error: a number that doesn't change.
  public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number.
    public let rawValue: Int

    /// Creates a code.
    ///
    /// - Parameter rawValue: The number.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// There was no access to the file; see ``FileVersionError/underlyingError``.
    public static let coordination = Code(rawValue: 1)
    /// A system call failed; see ``FileVersionError/underlyingError``.
    public static let fileSystem = Code(rawValue: 2)
    /// Nothing is at the path.
    public static let noSuchFile = Code(rawValue: 3)
    /// It's neither a file nor a directory.
    public static let notAFile = Code(rawValue: 4)
    /// The version was removed.
    public static let versionIsGone = Code(rawValue: 5)
    /// The stored contents aren't those that were kept.
    public static let damagedVersion = Code(rawValue: 6)
    /// The store was made by a later release.
    public static let unknownFormat = Code(rawValue: 7)
    /// It can't be done with the contents that the file has now.
    public static let isCurrent = Code(rawValue: 8)
    /// A file is where one was to be made.
    public static let fileExists = Code(rawValue: 9)
    /// The version is another file's.
    public static let otherFile = Code(rawValue: 10)

    /// The name of the code.
    public var description: String {
      switch self {
      case .coordination: "coordination"
      case .fileSystem: "fileSystem"
      case .noSuchFile: "noSuchFile"
      case .notAFile: "notAFile"
      case .versionIsGone: "versionIsGone"
      case .damagedVersion: "damagedVersion"
      case .unknownFormat: "unknownFormat"
      case .isCurrent: "isCurrent"
      case .fileExists: "fileExists"
      case .otherFile: "otherFile"
      default: "code \(rawValue)"
      }
    }
  }

  /// The kind of error.
  public let code: Code
  /// The event and the remedy, without the code.
  public let message: String
  /// A `FileCoordinationError`, or a `SystemError`.
  public let underlyingError: (any Error)?

  /// The code and the message.
  public var description: String { "\(code): \(message)" }

  init(_ code: Code, _ message: String, underlyingError: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.underlyingError = underlyingError
  }
}

extension FileVersionError {
  init(_ error: VersionStoreError) {
    switch error {
    case .system(let error):
      let message = Self.refusal(error) ?? error.description + Self.advice(for: error)
      self.init(.fileSystem, message, underlyingError: error)
    case .unknownFormat(let path, ""):
      self.init(
        .unknownFormat,
        "The file 'format' of the store '\(path)' is empty, so it doesn't say which release made the store. If it was this one, copy "
          + "the file of that name from another store.")
    case .unknownFormat(let path, let text):
      self.init(
        .unknownFormat,
        "The store '\(path)' was made by a later release of this library: its format is '\(text)'. Use that release.")
    case .notAStore(let path):
      self.init(
        .unknownFormat,
        "'\(path)' isn't a store of versions, and isn't empty. Choose another directory, which is made if it isn't there."
      )
    case .damaged(let path):
      self.init(
        .damagedVersion,
        "'\(path)' differs from the version that was kept: some byte of it has changed. It was left as it is; remove the version, or restore the "
          + "file from a backup.")
    case .misplaced(let path):
      self.init(
        .damagedVersion,
        "'\(path)' isn't a directory of the user to whom the store around it belongs: another program has put it there, so nothing is "
          + "read from the store, and nothing kept in it. Move it away, and put the store's own directory back if there's one."
      )
    case .missing(let path):
      self.init(
        .damagedVersion,
        "The directory '\(path)' of the store is gone: another program has removed it. Nothing was changed. Put it back from a backup if "
          + "there's one; without it, what was in it is lost, and the next call makes the store's main directories anew."
      )
    case .versionIsGone(let id):
      self.init(.versionIsGone, "The version \(id) was removed. List the versions again.")
    case .nothingThere(let path):
      self.init(.noSuchFile, "Nothing is at '\(path)'. If it was deleted, 'deletedFiles(below:)' finds its versions.")
    case .notAFile(let path):
      self.init(
        .notAFile,
        "'\(path)' is neither a file nor a directory, or has something else in it: there are no versions of it.")
    }
  }

  /// A directory below which versions are kept has been moved or removed.
  static func directoryIsGone(_ path: SystemPath) -> FileVersionError {
    FileVersionError(
      .noSuchFile,
      "There's no directory at '\(path)' any more, so no versions are kept until there's one again. If it was moved, keep it at its new place: "
        + "the histories of its files have moved along.")
  }

  /// Directories can't be read below one of which versions are kept.
  static func unreadable(_ count: Int, because reason: String?) -> FileVersionError {
    let (subject, object) =
      count == 1 ? ("A directory below it", "it") : ("\(count) directories below it", "such a directory")
    return FileVersionError(
      .fileSystem,
      "\(subject) can't be read, so no versions are kept of what is inside: \(reason ?? "the reason isn't known"). Mend that, for example "
        + "by the permission to read and search it or by a higher limit of open files ('ulimit -n'), or exclude \(object) by name."
    )
  }

  /// Directories below one of which versions are kept aren't watched by the kernel.
  static func unwatched(_ count: Int, because reason: String?) -> FileVersionError {
    FileVersionError(
      .fileSystem,
      (count == 1 ? "A directory below it isn't watched" : "\(count) directories below it aren't watched")
        + ", but looked at from time to time: a change there is kept late, and what is overwritten twice in between has no version"
        + (reason.map { ". \($0)" } ?? "."))
  }

  private static func advice(for error: SystemError) -> String {
    if error.isOne(of: .noSpace, .quotaExceeded) {
      return
        ". Nothing was changed. Free space on the volume, or remove versions of files there with 'prune(_:by:isDryRun:)'."
    }
    if error.number == .readOnlyFileSystem {
      return
        ". Versions are on the volume of their file, and that's read-only: nothing was changed. Mount it so that it can be written."
    }
    return ""
  }

  /// Runs a part of an access; errors of the store and of the kernel become errors that say what to do.
  static func passing<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch let error as VersionStoreError { throw FileVersionError(error) } catch let error
      as SystemError
    {
      throw FileVersionError(error)
    }
  }

  init(_ error: FileCoordinationError) { self.init(.coordination, error.description, underlyingError: error) }

  /// Any error of an access in which only errors of these kinds are thrown.
  init(_ error: any Error) {
    switch error {
    case let error as FileVersionError: self = error
    case let error as VersionStoreError: self.init(error)
    case let error as FileCoordinationError: self.init(error)
    case let error as SystemError: self.init(.system(error))
    default: self.init(.coordination, "\(error)", underlyingError: error)
    }
  }
}
