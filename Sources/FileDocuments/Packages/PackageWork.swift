internal import ContentHashing
internal import FileCoordination
internal import FilePackages
internal import FileVersions
internal import FoundationEssentials
internal import SystemInterface

/// One operation of a document that's a package: this does the same with trees as ``DocumentWork`` with bytes.
struct PackageWork: Sendable {
  typealias Result = DocumentWork<PackageTree>.Result
  typealias Stored = DocumentWork<PackageTree>.Memory.Stored

  /// The work that doesn't depend on the format.
  let work: DocumentWork<PackageTree>
  /// The hashes of the files that the document has read, for the packages that this operation finds.
  let digests: MemberDigests

  init(work: DocumentWork<PackageTree>) {
    self.work = work
    let base = work.memory.base?.contents?.top?.directory.digests
    base?.adopt()
    digests = base?.forAnotherPackage() ?? MemberDigests()
  }

  @concurrent
  func perform(_ operation: DocumentOperation) async -> Result {
    do {
      switch operation {
      case .open: return try await open()
      case .check: return try await check()
      case .write: return try await write()
      case .merge: return try await merge()
      case .keep(let kept): return try await keep(kept)
      case .load(let isElsewhere): return try await load(isElsewhere)
      case .place: return try await place()
      case .copy where work.argument.member != nil: return try await replaceMember()
      case .listConflicts:
        await tidyMembers()
        return await work.perform(operation)
      case .move, .delete, .copy: return await work.perform(operation)
      }
    } catch { return Result(.failed(work.refusal(of: operation, error) ?? DocumentError(ofPackage: error))) }
  }

  // MARK: - Opening

  private func open() async throws -> Result {
    let presence = try work.enter(work.argument.url)
    let url = presence.presenter.url
    do {
      let found = try await work.coordinator(for: presence).read(url) { access in
        try await opened(presence, access)
      }
      if let found { return found }
      guard let tree = work.argument.contents else {
        throw DocumentError(
          .fileNotFound, "Nothing is at '\(url.path)'. Pass contents for a new package: 'open(creatingWith:)'.")
      }
      do { return try await made(tree, at: url, presence) } catch { throw work.refusal(of: .place, error) ?? error }
    } catch {
      presence.leave()
      throw error
    }
  }

  private func made(_ tree: PackageTree, at url: URL, _ presence: DocumentPresence) async throws -> Result {
    try await work.coordinator(for: presence).write(url) { access in
      let isNew = try present(access) == nil
      if isNew { _ = try tree.write(to: access.canonicalPath, .nothing, digests: digests) }
      guard let result = try await opened(presence, access) else {
        throw DocumentError(.fileNotFound, "The new package at '\(url.path)' is gone already.")
      }
      result.isNew = isNew
      return result
    }
  }

  private func opened(_ presence: DocumentPresence, _ access: borrowing FileAccess) async throws -> Result? {
    guard let stored = try present(access) else { return nil }
    if access.wasMoved { presence.presenter.url = access.url }
    let result = try await registered(presence, access, stored)
    // After the registration every version that's added is announced.
    let hasLeftovers = stored.contents?.top?.directory.hasMemberLeftovers == true
    let hasNothing = work.looksAround(access.canonicalPath, noting: presence.isTidied)
    if hasNothing, !hasLeftovers { result.outcome = .doneWithoutVersions }
    return result
  }

  func registered(
    _ presence: DocumentPresence, _ access: borrowing FileAccess, _ stored: Stored
  ) async throws -> Result {
    let result = Result(.done)
    result.incoming = stored
    work.noteFile(access, in: result)
    if work.options.observesUncoordinatedChanges { presence.hold(access.canonicalPath, work.files) }
    try await presence.register(access)
    result.presence = presence
    return result
  }

  /// The package that's at the place now; `nil` if nothing is.
  func present(_ access: borrowing FileAccess) throws -> Stored? { try present(access, leavingOut: nil)?.stored }

  func present(
    _ access: borrowing FileAccess, leavingOut path: SystemPath?
  ) throws -> (stored: Stored, stamps: PackageStamps)? {
    do throws(PackageError) {
      let tree = try PackageTree(openingPackageAt: access.canonicalPath, files: work.files, digests: digests)
      let stamps = try tree.stamps(leavingOut: path)
      return (Stored(tree, stamps.all), stamps)
    } catch  where error.code == .notFound { return nil }
  }

  // MARK: - Reading and writing

  private func check() async throws -> Result {
    try await work.readFile { access in
      guard let stored = try present(access) else { return Result(.missing) }
      let isUnchanged = try !replacedMembers(in: stored).areAltered && stored.tag == work.memory.base?.tag
      let result = Result(isUnchanged ? .unchanged : .differs(unreadable: nil))
      if !isUnchanged { result.incoming = stored }
      work.hold(access)
      work.noteFile(access, in: result)
      return result
    }
  }

  /// Looks at the files that are gone when the document is saved over a package: later stores of other programs are seen.
  func replacedMembers(in stored: Stored) throws -> ReplacedMembers {
    if stored.tag == work.memory.base?.tag { return try replacedMembers(in: stored, by: mine()) }
    // The changes are made to the package of another program first, which is saved over then.
    guard let theirs = stored.contents else { return ReplacedMembers() }
    return try replacedMembers(in: stored, by: mine().rebased(onto: theirs))
  }

  func replacedMembers(in stored: Stored, by tree: PackageTree) throws(PackageError) -> ReplacedMembers {
    guard let theirs = stored.contents else { return ReplacedMembers() }
    return try tree.replacedMembers(in: theirs)
  }

  func mine() -> PackageTree {
    guard let contents = work.memory.contents else { preconditionFailure("a closed document has no contents") }
    return contents
  }

  func done(_ written: Stored, _ access: borrowing FileAccess) -> Result {
    let result = Result(.done)
    result.incoming = written
    work.noteFile(access, in: result)
    return result
  }

  private func load(_ isElsewhere: Bool) async throws -> Result {
    func read(_ access: borrowing FileAccess) throws -> Result {
      guard let stored = try present(access) else { return Result(.missing) }
      let result = Result(.done)
      result.incoming = stored
      if !isElsewhere { work.noteFile(access, in: result) }
      return result
    }
    if !isElsewhere { return try await work.readFile { access in try read(access) } }
    let result = try await work.coordinator.read(work.argument.url) { access in try read(access) }
    if result.outcome == .missing {
      throw DocumentError(.fileNotFound, "Nothing is at '\(work.argument.url.path)', so there's nothing to go back to.")
    }
    return result
  }

  // MARK: - Versions

  private func keep(_ kept: KeptContents) async throws -> Result {
    let incoming = work.memory.incoming
    let result: Result
    do {
      result = try await work.readFile { access in
        // Another program has saved since, and the news of that is on its way: the package that was read is gone.
        let isOutdated = try (incoming?.contents ?? mine()).isReplaced()
        let newer = isOutdated ? try present(access) : nil
        if isOutdated, newer == nil { return Result(.missing) }
        if let newer { _ = try replacedMembers(in: newer) }
        // Members that weren't altered are those of the package that's there.
        var mine = mine()
        if let theirs = (newer ?? incoming)?.contents { mine = try mine.rebased(onto: theirs) }
        let result = Result(kept == .theirs ? .keptAndRebased : .done)
        if incoming != nil { result.incoming = newer }
        if kept == .theirs { result.merged = mine }
        try await keepVersion(kept == .mine ? mine : theirs(newer), access, isConflict: incoming != nil)
        return result
      }
      if result.outcome == .missing { throw DocumentError.fileDeleted }
    } catch { throw DocumentError.noVersion(error) }
    return result
  }

  private func theirs(_ newer: Stored?) -> PackageTree {
    guard let theirs = (newer ?? work.memory.incoming)?.contents else { preconditionFailure("nothing has come") }
    return theirs
  }

  func keepVersion(_ tree: PackageTree, _ access: borrowing FileAccess, isConflict: Bool) async throws {
    try await work.options.versions.keep(
      tree, at: access.url, named: access.canonicalPath.lastComponent, isConflict: isConflict)
  }

  private func merge() async throws -> Result {
    let result = await work.perform(.merge)
    if let merged = result.merged, let theirs = work.memory.incoming?.contents {
      result.merged = try merged.rebased(onto: theirs)
    }
    return result
  }
}

extension DocumentError {
  /// An error of an operation with a package.
  init(ofPackage error: any Error) {
    guard let error = error as? PackageError else {
      self.init(error)
      return
    }
    let code: Code =
      switch error.code {
      case .notFound: .fileNotFound
      case .destinationExists: .fileExists
      case .wrongKind, .unsupportedKind, .tooDeep: .unreadableContents
      default: .coordination
      }
    self.init(code, "\(error)" + Self.advice(about: error.systemError?.errno), underlyingError: error)
  }
}

extension DocumentWork {
  /// Performs an operation with bytes or, if the document is a package, with trees.
  func performOnFileOrPackage(_ operation: DocumentOperation) async -> Result {
    if traits.isPackage, let work = self as? DocumentWork<PackageTree>,
      let result = await PackageWork(work: work).perform(operation) as? Result
    {
      return result
    }
    return await perform(operation)
  }
}

extension FileDocument {
  /// The written package becomes the contents: the directory that they were opened on is gone.
  ///
  /// Nothing was edited meanwhile, see ``DocumentCore/editsWaitForWrites``.
  func adoptWrittenPackage(_ kind: DocumentOperation, _ result: DocumentWork<Contents>.Result) {
    guard traits.isPackage, result.outcome == .done || result.isPlaced else { return }
    // Steps of undo have trees of the former directory.
    if kind != .copy || result.incoming != nil { undoSteps.removeAll() }
    switch kind {
    case .write, .place: memory.contents = result.incoming?.contents
    case .copy: if let incoming = result.incoming { memory.adoptReplacedMember(incoming) }
    case .open, .check, .merge, .keep, .load, .move, .delete, .listConflicts: break
    }
  }
}
