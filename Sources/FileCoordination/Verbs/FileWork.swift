internal import FoundationEssentials
internal import SystemInterface

/// The work on the file system behind the verbs, on one item: blocking, and the same off the caller's thread.
struct FileWork: Sendable {
  private let fileSystem: any FileSystem
  private let path: SystemPath

  init(_ fileSystem: any FileSystem, _ path: SystemPath) {
    self.fileSystem = fileSystem
    self.path = path
  }

  /// Blocking.
  struct Blocking {
    fileprivate let work: FileWork

    func contents() throws(FileCoordinationError) -> Data {
      try work.wrapping { fileSystem, path throws(SystemError) in Data(try fileSystem.contents(of: path)) }
    }

    func contentsIfPresent() throws(FileCoordinationError) -> Data? {
      do {
        return Data(try work.fileSystem.contents(of: work.path))
      } catch {
        if error.number == .noSuchFileOrDirectory { return nil }
        throw .fileSystem(error)
      }
    }

    func replaceContents(
      with contents: Data, _ options: FileCoordinator.SavingOptions
    ) throws(FileCoordinationError) {
      try work.wrapping { fileSystem, path throws(SystemError) in
        try fileSystem.replaceContents(
          of: path, with: Array(contents), permission: options.contains(.replacesReadOnly) ? .ignored : .required)
      }
    }

    func delete() throws(FileCoordinationError) {
      try work.wrapping { fileSystem, path throws(SystemError) in
        try fileSystem.removeItem(at: path)
        fileSystem.removeIncoming(of: path)
      }
    }

    /// Moves the item; a move to another volume is announced while it's made.
    ///
    /// - Returns: The error of a step after the move, which is done; `nil` if there's none.
    /// - Throws: The item is where it was.
    func move(
      to destination: SystemPath, replacing: Bool, _ announcement: MoveAnnouncement
    ) throws(FileCoordinationError) -> FileCoordinationError? {
      try work.place(at: destination) { fileSystem, path throws(SystemError) in
        var problem: SystemError?
        do throws(SystemError) {
          try fileSystem.moveItem(from: path, to: destination, replacing: replacing, noting: announcement.note)
        } catch {
          if !error.isChangeInPlace { throw error }
          problem = error
        }
        fileSystem.removeIncoming(of: path)
        fileSystem.removeIncoming(of: destination)
        return problem.map(FileCoordinationError.fileSystem)
      }
    }

    func copy(to destination: SystemPath, replacing: Bool) throws(FileCoordinationError) {
      try work.place(at: destination) { fileSystem, path throws(SystemError) in
        try fileSystem.copyItem(from: path, to: destination, replacing: replacing)
        fileSystem.removeIncoming(of: destination)
      }
    }
  }

  /// The same work on the calling thread.
  var blocking: Blocking { Blocking(work: self) }

  private func wrapping<Result>(
    _ body: (any FileSystem, SystemPath) throws(SystemError) -> Result
  ) throws(FileCoordinationError) -> Result {
    try FileCoordinationError.wrapping { () throws(SystemError) in try body(fileSystem, path) }
  }

  private func place<Result>(
    at destination: SystemPath, _ body: (any FileSystem, SystemPath) throws(SystemError) -> Result
  ) throws(FileCoordinationError) -> Result {
    do { return try body(fileSystem, path) } catch {
      if error.number == .fileExists { throw .destinationExists(destination.description) }
      throw .fileSystem(error)
    }
  }
}

// MARK: - Off the caller's thread

extension FileWork {
  func contents() async throws(FileCoordinationError) -> Data {
    try await Offload.run { () throws(FileCoordinationError) in try blocking.contents() }
  }

  func contentsIfPresent() async throws(FileCoordinationError) -> Data? {
    try await Offload.run { () throws(FileCoordinationError) in try blocking.contentsIfPresent() }
  }

  func replaceContents(
    with contents: Data, _ options: FileCoordinator.SavingOptions
  ) async throws(FileCoordinationError) {
    try await Offload.run { () throws(FileCoordinationError) in try blocking.replaceContents(with: contents, options) }
  }

  func delete() async throws(FileCoordinationError) {
    try await Offload.run { () throws(FileCoordinationError) in try blocking.delete() }
  }

  func move(
    to destination: SystemPath, replacing: Bool, _ announcement: MoveAnnouncement
  ) async throws(FileCoordinationError) -> FileCoordinationError? {
    try await Offload.run { () throws(FileCoordinationError) in
      try blocking.move(to: destination, replacing: replacing, announcement)
    }
  }

  func copy(to destination: SystemPath, replacing: Bool) async throws(FileCoordinationError) {
    try await Offload.run { () throws(FileCoordinationError) in
      try blocking.copy(to: destination, replacing: replacing)
    }
  }
}
