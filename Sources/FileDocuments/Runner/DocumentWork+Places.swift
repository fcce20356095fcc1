internal import ContentHashing
internal import FileCoordination
internal import FoundationEssentials
internal import SystemInterface

// The verbs that concern the place of the file, and what all operations share.

extension DocumentWork {
  func move() async throws -> Result {
    guard let presence else { throw DocumentError.notOpen }
    try await coordinator.move(presence.presenter.url, to: argument.url, replacing: argument.isReplacing)
    // The presenter of an access isn't notified of it.
    try presence.move(to: argument.url)
    return Result(.done)
  }

  func delete() async throws -> Result {
    guard let presence else { throw DocumentError.notOpen }
    try await coordinator.delete(presence.presenter.url)
    return Result(.done)
  }

  func copy() async throws -> Result {
    guard let presence else { throw DocumentError.notOpen }
    try await coordinator.copy(presence.presenter.url, to: argument.url, replacing: argument.isReplacing)
    return Result(.done)
  }

  /// Makes a new file, which is presented before anybody else can reach it.
  func place() async throws -> Result {
    let (contents, bytes) = try mine()
    let presence = try enter(argument.url)
    do {
      return try await coordinator(for: presence).write(presence.presenter.url) { access in
        if !argument.isReplacing, try files.statusIfPresent(of: access.canonicalPath) != nil {
          throw DocumentError(.fileExists, "There's a file at '\(argument.url.path)'. Choose another place.")
        }
        try await access.replaceContents(with: bytes)
        var result = Result(.done)
        result.incoming = Memory.Stored(contents, ContentHash(of: bytes))
        result.modificationDate = modificationDate(access)
        if options.observesUncoordinatedChanges { presence.hold(access.canonicalPath, files) }
        try await presence.register(in: options.domain)
        result.presence = presence
        return result
      }
    } catch {
      presence.leave()
      throw error
    }
  }

  // MARK: - Shared

  var coordinator: FileCoordinator { coordinator(for: presence) }

  func coordinator(for presence: DocumentPresence?) -> FileCoordinator {
    FileCoordinator(
      label: presence?.presenter.presenterLabel ?? "document", presenter: presence?.presenter, domain: options.domain)
  }

  func mine() throws(DocumentError) -> (contents: Contents, bytes: Data) {
    guard let contents = memory.contents else { preconditionFailure("a closed document has no contents") }
    return (contents, try bytes(of: contents))
  }

  func bytes(of contents: Contents) throws(DocumentError) -> Data {
    do { return try format.bytes(of: contents) } catch {
      throw DocumentError(
        .unwritableContents, "The format can't write the contents: \(error)", underlyingError: error)
    }
  }

  func contents(of bytes: Data) throws(DocumentError) -> Contents {
    do { return try format.contents(of: bytes) } catch {
      throw DocumentError(
        .unreadableContents, "The format can't read the file: \(error)", underlyingError: error)
    }
  }

  func hold(_ access: borrowing FileAccess) {
    if options.observesUncoordinatedChanges { presence?.hold(access.canonicalPath, files) }
  }

  /// Whether a program that doesn't coordinate has taken the file away.
  func isMissing(_ url: URL) -> Bool {
    guard options.observesUncoordinatedChanges, !isDeletionAnnounced, presence?.hasFileName == true else {
      return false
    }
    return (try? files.statusIfPresent(of: coordinator.canonicalPath(of: url))) == .some(nil)
  }

  var files: any FileSystem { options.domain.configuration.fileSystem }

  /// What the file has; `nil` if there's none.
  ///
  /// Any other failure is an error: a file that can't be read isn't gone.
  func present(_ access: borrowing FileAccess) async throws -> Data? {
    do { return try await access.contents() } catch {
      if error.isAbsence { return nil }
      throw error
    }
  }

  func modificationDate(_ access: borrowing FileAccess) -> Date? {
    guard let status = try? files.statusIfPresent(of: access.canonicalPath) else { return nil }
    return Date(timeIntervalSince1970: Double(status.modificationTime) / 1e9)
  }
}

extension FileCoordinationError {
  /// Whether there's nothing at the place.
  fileprivate var isAbsence: Bool {
    systemError?.errno == SystemError.Number.noSuchFileOrDirectory.rawValue
  }
}

extension DocumentError {
  /// Any error of an operation.
  init(_ error: any Error) {
    switch error {
    case let error as DocumentError: self = error
    case let error as FileCoordinationError:
      let code: Code =
        switch error.code {
        case .cancelled: .cancelled
        case .timedOut: .timedOut
        case .destinationExists: .fileExists
        case .fileSystem where error.isAbsence: .fileNotFound
        default: .coordination
        }
      self.init(code, error.message, underlyingError: error)
    default: self.init(.coordination, "\(error)", underlyingError: error)
    }
  }
}
