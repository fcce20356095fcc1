internal import ContentHashing
internal import FileCoordination
internal import FoundationEssentials
internal import SystemInterface

// The verbs that concern the place of the file, and what all operations share.

extension DocumentWork {
  func move() async throws -> Result {
    guard let presence else { throw DocumentError.notOpen }
    if presence.hasLostFile { throw DocumentError.fileDeleted }
    try checkThatPlaceIsFree(argument, presence.presenter.url)
    try checkThatTargetIsUnlocked()
    let takeBack = try presence.reserve(argument.url)
    do {
      try await withFile { asked, check in
        try await coordinator.move(asked, to: argument.url, replacing: argument.isReplacing) { access in
          try check(access)
          try checkDirectory(of: access.wasMoved ? access.url : asked)
        }
      }
    } catch let error as OtherDirectory {
      takeBack()
      let result = Result(.failed(movedTooOften(presence)))
      result.rightPlace = error.place
      return result
    } catch let error as FileCoordinationError where error.isChangeInPlace {
      try presence.move(to: argument.url)
      throw error
    } catch {
      takeBack()
      throw error
    }
    // The presenter of an access isn't notified of it.
    try presence.move(to: argument.url)
    return Result(.done)
  }

  /// A name is given in the directory where the file is: another program may have moved it before this access.
  private func checkDirectory(of url: URL) throws(OtherDirectory) {
    guard let name = argument.name else { return }
    let place = url.sibling(named: name)
    if place.path != argument.url.path { throw OtherDirectory(place: place) }
  }

  /// Refuses a place that's taken before the document of the file there is asked to let it go, and may have to save for that.
  private func checkThatPlaceIsFree(_ argument: CallArgument<Contents>, _ former: URL) throws {
    if argument.isReplacing { return }
    let (old, new) = (try coordinator.canonicalPath(of: former), try coordinator.canonicalPath(of: argument.url))
    guard let present = try? files.statusIfPresent(of: new) else { return }
    // Another spelling of its name may lead to the file itself.
    if old != new, try files.statusIfPresent(of: old)?.identity == present.identity { return }
    throw Self.taken(argument.url)
  }

  func delete() async throws -> Result {
    try await withFile { asked, check in try await coordinator.delete(asked, checking: check) }
    return Result(.done)
  }

  func copy() async throws -> Result {
    try checkThatTargetIsUnlocked()
    try await withFile { asked, check in
      try await coordinator.copy(asked, to: argument.url, replacing: argument.isReplacing, checking: check)
    }
    await unlockCopy(at: argument.url)
    return Result(.done)
  }

  /// Makes a new file, which is presented before anybody else can reach it.
  func place() async throws -> Result {
    let (contents, bytes) = try await mine()
    try checkSize(of: bytes)
    let presence = try enter(argument.url)
    do {
      return try await coordinator(for: presence).write(presence.presenter.url) { access in
        try checkPlace(access)
        try await access.replaceContents(with: bytes)
        let result = Result(.done)
        result.incoming = Memory.Stored(contents, ContentHash(of: bytes))
        noteFile(access, in: result)
        if options.observesUncoordinatedChanges { presence.hold(access.canonicalPath, files) }
        try await presence.register(access)
        result.presence = presence
        return result
      }
    } catch {
      presence.leave()
      throw error
    }
  }

  /// Refuses a place that's taken, unless what is there may be replaced.
  ///
  /// Also if the program wants to replace it: neither what is locked is, nor the document's own file. Nobody has compared that with what
  /// the document knows, so text of other programs would be lost.
  func checkPlace(_ access: borrowing FileAccess) throws {
    guard let present = try files.statusIfPresent(of: access.canonicalPath) else { return }
    if !argument.isReplacing { throw Self.taken(argument.url) }
    if present.isLocked { throw Self.lockedPlace(argument.url) }
    if let presence, presence.heldFile?.identity == present.identity { throw Self.ownPlace(argument.url) }
  }

  /// Refuses to save elsewhere where the document is, before the program is asked for a grant.
  func checkThatPlaceIsElsewhere() throws(DocumentError) {
    if isAtOwnPlace { throw Self.ownPlace(argument.url) }
  }

  /// Whether the place of the call is the document's own, under any spelling.
  var isAtOwnPlace: Bool {
    guard let presence, let own = try? DocumentPresence.place(of: presence.presenter.url, in: options.domain),
      let place = try? DocumentPresence.place(of: argument.url, in: options.domain)
    else { return false }
    return own.key == place.key
  }

  /// Refuses to replace a locked file by a move or a copy, which need permissions of its directory alone.
  private func checkThatTargetIsUnlocked() throws(DocumentError) {
    guard argument.isReplacing, !isAtOwnPlace else { return }
    guard let path = try? coordinator.canonicalPath(of: argument.url) else { return }
    if (try? files.statusIfPresent(of: path))?.isLocked == true { throw Self.lockedPlace(argument.url) }
  }

  private static func taken(_ url: URL) -> DocumentError {
    DocumentError(.fileExists, "There's a file at '\(url.path)'. Choose another place.")
  }

  private static func ownPlace(_ url: URL) -> DocumentError {
    DocumentError(
      .fileExists, "'\(url.path)' is the document's own file. Call 'save()' to save it there, or choose another place.")
  }

  private static func lockedPlace(_ url: URL) -> DocumentError {
    DocumentError(
      .locked,
      "The file at '\(url.path)' is locked: its permissions don't let its owner write it, so it isn't replaced. Unlock it, or choose "
        + "another place.")
  }

  // MARK: - Shared

  var coordinator: FileCoordinator { coordinator(for: presence) }

  func coordinator(for presence: DocumentPresence?) -> FileCoordinator {
    FileCoordinator(
      label: presence?.presenter.presenterLabel ?? "document", presenter: presence?.presenter, domain: options.domain)
  }

  func mine() async throws(DocumentError) -> (contents: Contents, bytes: Data) {
    guard let contents = memory.contents else { preconditionFailure("a closed document has no contents") }
    return (contents, try await bytes(of: contents))
  }

  func bytes(of contents: Contents) async throws(DocumentError) -> Data {
    do {
      if traits.isPrompt { return try format.bytes(of: contents) }
      return try await FormatCode.run(atMost: options.deadline, options.clock) { [format] in
        try format.bytes(of: contents)
      }
    } catch let error as DocumentError {
      throw error
    } catch {
      throw DocumentError(
        .unwritableContents, "The format can't write the contents: \(error)", underlyingError: error)
    }
  }

  func contents(of bytes: Data) async throws(DocumentError) -> Contents {
    do {
      if traits.isPrompt { return try format.contents(of: bytes) }
      return try await FormatCode.run(atMost: options.deadline, options.clock) { [format] in
        try format.contents(of: bytes)
      }
    } catch let error as DocumentError {
      throw error
    } catch {
      throw DocumentError(
        .unreadableContents, "The format can't read the file: \(error)", underlyingError: error)
    }
  }

  func hold(_ access: borrowing FileAccess) {
    if options.observesUncoordinatedChanges { presence?.hold(access.canonicalPath, files) }
  }

  /// Whether the file may have gone without an announcement, so that there'll be a report of it.
  var expectsReports: Bool { options.observesUncoordinatedChanges && !isDeletionAnnounced }

  /// Whether a program that doesn't coordinate has taken the file away.
  func isMissing(_ url: URL) -> Bool {
    guard expectsReports else { return false }
    return (try? files.statusIfPresent(of: coordinator.canonicalPath(of: url))) == .some(nil)
  }

  /// Follows the file to where a program has moved it that doesn't coordinate, if nobody has reported that.
  func follow(_ presence: DocumentPresence) async throws -> FollowedFile {
    guard let path = presence.filePlace else { return .nowhere }
    let place = try URL(filePathBytes: path.bytes)
    let takeBack = try presence.reserveToFollow(place)
    do {
      return try await coordinator.write(
        presence.presenter.url, options: .forMoving, and: place, secondOptions: .forMerging
      ) { former, present in
        if try files.statusIfPresent(of: former.canonicalPath) != nil {
          takeBack()
          return .atAccess
        }
        if presence.filePlace == present.canonicalPath {
          try await former.didMove(to: present.url)
          try presence.follow(to: present.url)
        } else {
          takeBack()
        }
        return .elsewhere
      }
    } catch {
      takeBack()
      throw error
    }
  }

  var files: any FileSystem { options.domain.configuration.fileSystem }

  /// The contents and the status of the file; `nil` if there's none.
  ///
  /// Any other failure is an error: a file that can't be read isn't gone.
  func present(_ access: borrowing FileAccess) async throws -> PresentFile? {
    do {
      let (contents, status) = try await access.contentsAndStatus(countMax: Int64(clamping: options.byteCountMax)) {
        [progress] in
        DocumentProgress.note(.reading, $0, of: $1, to: progress)
      }
      return PresentFile(contents: contents, status: status)
    } catch {
      if error.isAbsence { return nil }
      throw error
    }
  }

  /// Notes the date of the file, and whether it can be written.
  func noteFile(_ access: borrowing FileAccess, _ known: FileStatus? = nil, in result: Result) {
    let path = access.canonicalPath
    if let status = known ?? (try? files.statusIfPresent(of: path)) {
      result.modificationDate = Date(timeIntervalSince1970: Double(status.modificationTime) / 1e9)
      result.isLocked = status.isLocked
    }
    result.isWritable = files.isWritable(path) && files.isWritable(path.parent)
  }
}

/// A file that was to get another name is in another directory.
private struct OtherDirectory: Error {
  /// Where it has that name.
  let place: URL
}

extension URL {
  /// Another name in the same directory.
  func sibling(named name: String) -> URL {
    deletingLastPathComponent().appending(path: name, directoryHint: .notDirectory)
  }
}

/// Where a document's file was found that isn't at its place.
enum FollowedFile: Sendable {
  case nowhere
  /// At another place, which the document has by now, or will have when it looks again.
  case elsewhere
  /// Where an access by the document's place leads: it's there again, or there's news of a coordinated move on its way.
  case atAccess
}

extension FileCoordinationError {
  /// Whether there's nothing at the place.
  var isAbsence: Bool {
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
        case .fileSystem where error.systemError?.errno == SystemError.Number.cancelled.rawValue: .cancelled
        case .fileSystem where error.systemError?.errno == SystemError.Number.fileTooLarge.rawValue: .fileTooLarge
        default: .coordination
        }
      let errno = error.systemError?.errno
      self.init(code, error.message + Self.advice(about: errno), underlyingError: error)
    case let error as SystemError:
      self.init(.coordination, "\(error)" + Self.advice(about: error.errno), underlyingError: error)
    default: self.init(.coordination, "\(error)", underlyingError: error)
    }
  }

  /// The remedy for a full volume, with a space before it.
  static func advice(about errno: Int32?) -> String {
    guard errno == SystemError.Number.noSpace.rawValue || errno == SystemError.Number.quotaExceeded.rawValue else {
      return ""
    }
    return " Make room on the volume and try again, or put the contents elsewhere with 'save(as:)'."
  }
}

/// The contents of a file, as they were read.
struct PresentFile: Sendable {
  let contents: Data
  /// Before they were read; `nil` for what was just written.
  var status: FileStatus?
}
