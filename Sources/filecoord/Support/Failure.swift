import FileCoordination
import FileMetadata
import FileVersions
import Glibc
import KeyValueStore
import SystemInterface

/// The reason why a command failed.
struct Failure: Error {
  let code: ExitCode
  let message: String
  /// The command whose usage helps.
  private var command: Command?
  /// The command line is wrong, and not what it names.
  private var isAboutUsage: Bool

  init(_ code: ExitCode, _ message: String) {
    self.code = code
    self.message = message
    isAboutUsage = code == .usage
  }

  static func usage(_ message: String) -> Failure { Failure(.usage, message) }

  /// The same, with the usage of a command instead of that of the whole tool.
  func about(_ command: Command) -> Failure {
    var failure = self
    failure.command = command
    return failure
  }

  /// The text that's printed.
  var text: String {
    guard isAboutUsage else { return "filecoord: \(message)\n" }
    let help = command.map { "filecoord help \($0.name)" } ?? "filecoord help"
    return "filecoord: \(message)\n\nusage: \(command?.usage ?? Help.usage)\nTry '\(help)'.\n"
  }
}

// MARK: - Errors of the library

extension Failure {
  init(_ error: any Error) {
    switch error {
    case let failure as Failure: self = failure
    case _ where Self.isAboutDataHome(error):
      self.init(
        .configuration, "set HOME or XDG_DATA_HOME to an absolute path, below which versions and values are kept")
    case let error as FileCoordinationError: self.init(ExitCode(error), error.description)
    case let error as FileVersionError:
      self.init(ExitCode(error), Self.namingCommands(in: error.description))
      isAboutUsage = false
    case let error as KeyValueStoreError: self.init(ExitCode(error), error.description)
    case let error as MetadataQueryError: self.init(ExitCode(error), error.description)
    default: self.init(.software, "\(error)")
    }
  }

  /// Nothing is wrong with a file: neither variable says where this user's data is.
  private static func isAboutDataHome(_ error: any Error) -> Bool {
    switch error {
    case let error as FileVersionError: error.underlyingError as? SystemError == .unknownDataHome
    case let error as KeyValueStoreError: error == KeyValueStoreError(.unknownDataHome)
    default: false
    }
  }

  /// The library's advice names its own methods; the commands that do the same are these.
  static func namingCommands(in message: String) -> String {
    [
      ("deletedFiles(below:)", "filecoord versions --deleted"), ("prune(_:by:isDryRun:)", "filecoord purge"),
      ("addVersion(of:)", "filecoord keep"), ("isPackage", "--package"),
      ("keepVersions(below:)", "filecoord keep --live"),
    ].reduce(message) { $0.replacing("'\($1.0)'", with: "'\($1.1)'") }
  }
}

extension ExitCode {
  /// The code of a search in which some directories couldn't be read.
  init(unread errors: [SystemError]) {
    let isRefused = errors.allSatisfy { $0.number == .permissionDenied || $0.number == .notPermitted }
    self = isRefused ? .notPermitted : .inputOutput
  }

  fileprivate init(_ error: MetadataQueryError) {
    switch error.code {
    case .invalidPredicate: self = .dataError
    case .noScope, .unsortableAttribute: self = .usage
    case .invalidScope: self = .noInput
    case .watchingUnavailable: self = .unavailable
    default: self = .software
    }
  }

  fileprivate init(_ error: KeyValueStoreError) {
    switch error.code {
    case .invalidName, .emptyKey, .keyTooLong, .duplicateKey: self = .usage
    case .nestedTooDeep, .tooManyKeys, .tooManyBytes, .tooManyKeysAtOnce, .typeMismatch: self = .dataError
    case .contended, .busy, .cancelled: self = .tryAgain
    case .notShared, .unreachable: self = .unavailable
    case .permissionDenied: self = .notPermitted
    case .invalidConfiguration: self = .configuration
    default: self = .inputOutput
    }
  }

  fileprivate init(_ error: FileVersionError) {
    switch error.code {
    case .noSuchFile, .versionIsGone: self = .noInput
    case .notAFile, .isCurrent: self = .usage
    case .damagedVersion, .unknownFormat: self = .inputOutput
    case .fileExists: self = .cannotCreate
    default:
      switch error.underlyingError {
      case let error as FileCoordinationError: self.init(error)
      case let error as SystemError: self.init(systemErrorNumber: error.errno)
      default: self = .software
      }
    }
  }

  init(_ error: FileCoordinationError) {
    switch error.code {
    case .timedOut, .presenterUnresponsive, .deadlock, .accessLost: self = .tryAgain
    case .presenterFailed, .evictionRefused: self = .notPermitted
    case .domainUnreachable, .uncoordinatedChangesMissed: self = .unavailable
    case .destinationExists: self = .cannotCreate
    case .notAFileURL, .relativeURL, .invalidPath, .pathTooLong, .noItems, .tooManyItems, .messageTooLong:
      self = .usage
    case .symbolicLinkLoop: self = .inputOutput
    case .outerAccessEnded, .invalidAccessEnvironment: self = .configuration
    case .fileSystem: self.init(systemError: error.systemError)
    // A mistake that only a program's author can make.
    default: self = .software
    }
  }

  private init(systemError error: FileCoordinationError.SystemFailure?) {
    self.init(systemErrorNumber: error?.errno)
  }

  private init(systemErrorNumber number: Int32?) {
    switch number {
    case ENOENT, ENOTDIR: self = .noInput
    case EACCES, EPERM, EROFS: self = .notPermitted
    default: self = .inputOutput
    }
  }
}
