internal import FileCoordination
internal import FoundationEssentials
internal import SystemInterface

// Accesses of the document's own file, wherever it is by then.

extension DocumentWork {
  static var attemptCountMax: Int { 16 }

  /// Reads the document's file; the result is `.missing` without a call of `body` if another document has that.
  func readFile(_ body: (borrowing FileAccess) async throws -> Result) async throws -> Result {
    try await following { asked in
      try await coordinator.read(asked, options: .withoutChanges) { access in
        isOutrun(asked, access) ? Result(.missing) : try await body(access)
      }
    }
  }

  /// Writes the document's file, in the same way.
  func writeFile(_ body: (borrowing FileAccess) async throws -> Result) async throws -> Result {
    try await following { asked in
      try await coordinator.write(asked) { access in
        isOutrun(asked, access) ? Result(.missing) : try await body(access)
      }
    }
  }

  /// Uses a verb of the coordinator on the document's file.
  ///
  /// - Parameter verb: Gets a place, and a check for the access to it: that throws if the document's file isn't there.
  /// - Throws: ``DocumentError`` with code `.fileDeleted` if the file is nowhere, or the error of the verb.
  func withFile(
    _ verb: (_ asked: URL, _ check: (borrowing FileAccess) throws -> Void) async throws -> Void
  ) async throws {
    let result = try await following { asked in
      do {
        try await verb(asked) { access in
          if isOutrun(asked, access) || !isThere(access) { throw OtherFile() }
        }
        return Result(.done)
      } catch is OtherFile { return Result(.missing) }
    }
    if result.outcome == .missing { throw DocumentError.fileDeleted }
  }

  /// Whether something is at the place of an access which isn't known to be another document's file.
  private func isThere(_ access: borrowing FileAccess) -> Bool {
    let identity: FileIdentity
    do throws(SystemError) {
      guard let status = try files.statusIfPresent(of: access.canonicalPath) else { return false }
      identity = status.identity
    } catch { return true }  // A file that can't be examined isn't gone.
    guard let presence, presence.hasLostFile || presence.isTaken(by: identity, files) else { return true }
    presence.loseFile()
    return false
  }

  private func isOutrun(_ asked: URL, _ access: borrowing FileAccess) -> Bool {
    presence?.presenter.isOutrun(asked, at: access.url) == true
  }

  /// Runs `body` with the file's place, again if the file was moved before it began.
  ///
  /// A file that a program takes away which doesn't coordinate was perhaps moved a moment ago, or will be there again in a moment, and
  /// nobody has reported that yet. No access is requested before that's reported: a move that's noticed during an access for writing
  /// counts as a part of it. So a move during a write of this document is never reported, and looked for afterwards.
  ///
  /// News of a coordinated move may have to wait until this operation ends, for a callback of the document that runs it. Accesses are led
  /// to the file meanwhile.
  private func following(_ body: (URL) async throws -> Result) async throws -> Result {
    guard let presence else { throw DocumentError.notOpen }
    let presenter = presence.presenter
    for _ in 0..<Self.attemptCountMax {
      // The file there is another document's.
      if presence.hasLostFile { return Result(.missing) }
      let url = presenter.url
      let count = presenter.messageCount
      var isGone = false
      if isMissing(url) {
        if await hearsOfPlace(url, presence, after: count) { continue }
        if isMissing(url) {
          switch try await follow(presence) {
          case .elsewhere: continue
          case .atAccess: break
          case .nowhere: isGone = true
          }
        }
      }
      let result = try await body(url)
      if result.outcome != .missing || presence.hasLostFile { return result }
      // Taken away just now: look for it as above, and it may be there again already.
      if presenter.url == url, isGone || !expectsReports { return result }
    }
    throw movedTooOften(presence)
  }

  func movedTooOften(_ presence: DocumentPresence) -> DocumentError {
    DocumentError(.coordination, "'\(presence.presenter.url.path)' is moved again and again. Try again later.")
  }

  /// Waits until the file is reported to be elsewhere, or is there again, for some time at most.
  ///
  /// Other messages may come first, as many as changes were made: a package has one for each member.
  ///
  /// - Returns: Whether one of both is so.
  private func hearsOfPlace(_ url: URL, _ presence: DocumentPresence, after count: Int) async -> Bool {
    let (presenter, clock) = (presence.presenter, options.domain.configuration.clock)
    let end = clock.now.advanced(by: options.reportMax)
    var count = count
    while true {
      let remaining = clock.now.duration(to: end)
      guard remaining > .zero, await presenter.waitForMessage(after: count, atMost: remaining, clock) else {
        return false
      }
      count = presenter.messageCount
      if presenter.url != url || presence.hasLostFile || !isMissing(url) { return true }
    }
  }
}

/// At the place of an access is another file than the document's, or none.
private struct OtherFile: Error {
}
