internal import KeyValueReplicas
internal import SystemInterface

/// The directory of one store in a shared folder, opened for each piece of work, so that a folder which is mounted again is found.
///
///     FOLDER/ACCOUNT/STORE/change-…      one file for each change
///                         /values-…-…    everything up to a change
///                         /compacting    locked by the process that writes such a file
///
/// Functions block for system calls.
struct FolderFiles: Sendable {
  static let lockName = SystemPath("compacting")
  /// A larger file isn't one of a store.
  private static let byteCountMax: Int64 = 256 << 20

  let files: any FileSystem
  let folder: SystemPath
  let account: String
  let store: String

  var path: SystemPath { folder.appending(account).appending(store) }

  /// Opens the directory, which is made if it isn't there.
  func withDirectory<Result>(
    _ body: (FileDescriptor) throws(SharedStorageFailure) -> Result
  ) throws(SharedStorageFailure) -> Result {
    let descriptor = try calling { () throws(SystemError) in try openDirectory() }
    defer { try? files.close(descriptor) }
    return try body(descriptor)
  }

  private func openDirectory() throws(SystemError) -> FileDescriptor {
    do throws(SystemError) {
      return try files.open(path, at: .workingDirectory, flags: .directory, mode: 0)
    } catch {
      if error.number != .noSuchFileOrDirectory { throw error }
    }
    // The folder itself isn't made: it may be one that has to be mounted.
    return try files.withDescriptor(folder, flags: .directory) { (top) throws(SystemError) in
      try makeDirectory(SystemPath(account), at: top)
      return try files.withDescriptor(SystemPath(account), at: top, flags: [.directory, .noFollow]) {
        (directory) throws(SystemError) in
        try makeDirectory(SystemPath(store), at: directory)
        return try files.open(SystemPath(store), at: directory, flags: [.directory, .noFollow], mode: 0)
      }
    }
  }

  private func makeDirectory(_ name: SystemPath, at directory: FileDescriptor) throws(SystemError) {
    do throws(SystemError) {
      try files.makeDirectory(name, at: directory, mode: 0o700)
      try files.synchronizeDirectory(directory)
    } catch { if error.number != .fileExists { throw error } }
  }

  func survey(_ directory: FileDescriptor) throws(SharedStorageFailure) -> FolderSurvey {
    try calling { () throws(SystemError) in
      // A descriptor of its own has a position of its own.
      try files.withDescriptor(SystemPath("."), at: directory, flags: .directory) { (listed) throws(SystemError) in
        var names: [SystemPath] = []
        while let entries = try files.readDirectory(listed) { names += entries.map(\.name) }
        return FolderSurvey(of: try files.status(of: listed).identity, names)
      }
    }
  }

  // MARK: Reading

  /// - Returns: The change with a number; `nil` if there's no file.
  func change(_ revision: Int64, _ directory: FileDescriptor) throws(SharedStorageFailure) -> SharedTransaction? {
    let name = FolderName.change(revision).path
    guard let bytes = try contents(name, directory) else { return nil }
    return try parsing(name) { () throws(SharedFile.Failure) in
      let change = try SharedFile.change(bytes)
      if change.revision != revision { throw .damaged }
      return change
    }
  }

  /// - Returns: Everything up to a change; `nil` if there's no file.
  func state(_ values: FolderValues, _ directory: FileDescriptor) throws(SharedStorageFailure) -> SharedState? {
    let name = FolderName.values(values).path
    guard let bytes = try contents(name, directory) else { return nil }
    return try parsing(name) { () throws(SharedFile.Failure) in
      let state = try SharedFile.everything(bytes)
      if state.revision != values.revision { throw .damaged }
      return state
    }
  }

  private func contents(
    _ name: SystemPath, _ directory: FileDescriptor
  ) throws(SharedStorageFailure) -> [UInt8]? {
    let file: FileDescriptor
    do throws(SystemError) {
      file = try files.open(name, at: directory, flags: [.noFollow, .nonBlocking], mode: 0)
    } catch {
      if error.number == .noSuchFileOrDirectory { return nil }
      throw SharedStorageFailure(error, in: path)
    }
    defer { try? files.close(file) }
    return try calling { () throws(SystemError) in
      let status = try files.status(of: file)
      guard status.kind == .regular, status.size <= Self.byteCountMax else { return [] }
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: Int(min(status.size, 1 << 20)) + 1)
      while bytes.count <= Self.byteCountMax {
        let count = try files.read(file, into: &buffer)
        if count == 0 { break }
        bytes += buffer[..<count]
      }
      return bytes
    }
  }

  private func parsing<Result>(
    _ name: SystemPath, _ body: () throws(SharedFile.Failure) -> Result
  ) throws(SharedStorageFailure) -> Result {
    do throws(SharedFile.Failure) { return try body() } catch {
      let file = path.appending(name)
      switch error {
      case .foreign: throw SharedStorageFailure(.damaged, "'\(file)' isn't a file of a key-value store. Move it away.")
      case .newerFormat:
        throw SharedStorageFailure(
          .newerFormat, "a newer version of this package has written '\(file)'. Update this program.")
      case .damaged:
        throw SharedStorageFailure(
          .damaged,
          "'\(file)' isn't what was written. Restore it from a backup; or move the directory away, and devices begin a new one."
        )
      }
    }
  }

  // MARK: Writing

  /// The end of an attempt to make the file of a change.
  enum Making: Hashable, Sendable {
    case made
    /// Another device was faster.
    case taken
    /// The file may be there, or not, and may get lost with the power.
    case unknown
  }

  /// - Throws: A failure after which it's certain that the file isn't there.
  func make(_ change: SharedTransaction, _ directory: FileDescriptor) throws(SharedStorageFailure) -> Making {
    do throws(SystemError) {
      let name = FolderName.change(change.revision).path
      try files.makeFile(name, at: directory, with: SharedFile.bytes(of: change), mode: 0o600)
    } catch {
      // A temporary name is removed by a process that compacts after another device was faster.
      if error.number == .fileExists || error.call == "rename(2)" && error.number == .noSuchFileOrDirectory {
        return .taken
      }
      let isRefusal = error.isOne(
        of: .noSpace, .quotaExceeded, .permissionDenied, .notPermitted, .readOnlyFileSystem, .noSuchFileOrDirectory)
      if error.mayHaveNamed, !isRefusal { return .unknown }
      throw SharedStorageFailure(error, in: path)
    }
    do throws(SystemError) { try files.synchronizeDirectory(directory) } catch { return .unknown }
    return .made
  }

  func calling<Result>(_ body: () throws(SystemError) -> Result) throws(SharedStorageFailure) -> Result {
    do throws(SystemError) { return try body() } catch { throw SharedStorageFailure(error, in: path) }
  }
}

extension SystemError {
  /// Whether a file may have got its name although the call has failed.
  fileprivate var mayHaveNamed: Bool { ["linkat(2)", "rename(2)", "unlinkat(2)", "unlink(2)"].contains(call) }
}

extension SharedStorageFailure {
  init(_ error: SystemError, in directory: SystemPath) {
    let kind: Kind =
      switch error.number {
      case .noSpace, .quotaExceeded, .fileTooLarge, .tooManyLinks: .full
      case .permissionDenied, .notPermitted, .readOnlyFileSystem: .denied
      case .tooManySymbolicLinkLevels, .isADirectory: .damaged
      default: .unreachable
      }
    self.init(kind, "the shared folder '\(directory)' can't be used: \(error)")
  }
}
