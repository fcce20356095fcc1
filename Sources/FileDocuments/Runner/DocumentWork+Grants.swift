internal import FileCoordination
internal import FoundationEssentials
internal import SystemInterface

// The program's access to the place of the file: before each operation there's one for the place where the file is, or will be.

extension DocumentWork {
  /// Performs an operation once the program has granted access to the place that it's about.
  func performWithGrant(_ operation: DocumentOperation) async -> Result {
    do throws(DocumentError) {
      if operation == .place { try checkThatPlaceIsElsewhere() }
      if operation == .move { return try await performMove() }
      if options.grant == nil { return await performOnFileOrPackage(operation) }
      return switch operation {
      case .open, .place: try await performAtNewPlace(operation)
      case .check, .write, .move, .merge, .keep, .load, .delete, .copy, .listConflicts: try await performHere(operation)
      }
    } catch { return Result(.failed(error)) }
  }

  /// The presence that the operation makes takes over the grant.
  private func performAtNewPlace(_ operation: DocumentOperation) async throws(DocumentError) -> Result {
    let grant = try await grant(for: argument.url)
    arrivingGrant.withLock { $0 = grant }
    let result = await performOnFileOrPackage(operation)
    arrivingGrant.withLock { $0.take() }?.end()
    return result
  }

  /// Moves the file; again if it was to get another name, and was in another directory when it was its turn.
  private func performMove() async throws(DocumentError) -> Result {
    var work = self
    for _ in 0..<Self.attemptCountMax {
      let result = try await work.performMoveOnce()
      guard let place = result.rightPlace else { return result }
      work = work.moved(to: place)
    }
    throw presence.map(movedTooOften) ?? .notOpen
  }

  private func performMoveOnce() async throws(DocumentError) -> Result {
    if options.grant == nil { return await performOnFileOrPackage(.move) }
    try await renewGrant()
    // A second grant for the place of the first one would end access to it when one of them ends.
    if isAtOwnPlace {
      let result = await performOnFileOrPackage(.move)
      if result.outcome == .done { presence?.keepGrant() }
      return result
    }
    let grant = try await grant(for: argument.url)
    let result = await performOnFileOrPackage(.move)
    if result.outcome == .done { presence?.adopt(grant) } else { grant?.end() }
    return result
  }

  private func performHere(_ operation: DocumentOperation) async throws(DocumentError) -> Result {
    try await renewGrant()
    return await performOnFileOrPackage(operation)
  }

  /// Takes a grant for the place to which another program has moved the file.
  func renewGrant() async throws(DocumentError) {
    guard options.grant != nil, let presence, let (url, moveCount) = presence.placeToGrant() else { return }
    let grant = try await grant(for: url)
    if presence.isHere { presence.adopt(grant, at: moveCount) } else { grant?.end() }
  }

  private func grant(for url: URL) async throws(DocumentError) -> DocumentGrant? {
    guard let begin = options.grant else { return nil }
    do {
      return try await ProgramCode.run(atMost: options.deadline, options.clock, orFail: .timedOut) {
        try await begin(url)
      }
    } catch let error as DocumentError where error.code == .cancelled {
      throw error
    } catch {
      throw DocumentError(
        .notGranted, "The program gives no access to '\(url.path)', so nothing was read or written: \(error)",
        underlyingError: error)
    }
  }
}
