#if !canImport(ObjectiveC)
  internal import ContentHashing
  internal import FileCoordination
  internal import FileDocuments
  internal import FilePackages
  internal import FileVersions
  internal import Foundation
  internal import SystemInterface

  /// How an operation ended, and what it has found.
  struct Finding: Sendable {
    var outcome: OperationOutcome
    var stamp: FileStamp?
    var modificationDate: Date?
    /// The file was moved, and the access was of its former place: nothing was done there.
    private(set) var isOutrun = false

    static var outrun: Finding {
      var finding = Finding(.missing)
      finding.isOutrun = true
      return finding
    }

    init(_ outcome: OperationOutcome) { self.outcome = outcome }

    init(_ error: any Error) { outcome = .failed(DocumentError(ofProgram: error)) }

    /// The file is the base; its date may be another one.
    init(unchangedAt url: URL) {
      outcome = .unchanged
      modificationDate = FileStamp.modificationDate(of: url)
    }

    init(_ outcome: OperationOutcome, _ stamp: FileStamp, at url: URL) {
      self.outcome = outcome
      self.stamp = stamp
      modificationDate = FileStamp.modificationDate(of: url)
    }
  }

  extension URL {
    /// Whether permissions let a document be saved here: another file takes the place of this one, so its directory is written, too.
    fileprivate var canBeSaved: Bool {
      let files = FileManager.default
      return files.isWritableFile(atPath: path) && files.isWritableFile(atPath: deletingLastPathComponent().path)
    }
  }

  extension DocumentRunner {
    /// Runs `work` where the document's file is accessed, and `then` on the main actor.
    private func perform(
      _ document: UIDocument, _ work: @escaping @Sendable (UIDocument) -> Finding,
      then: @escaping @MainActor @Sendable (UIDocument, Finding) -> Void
    ) {
      document.performAsynchronousFileAccess {
        let finding = work(document)
        document.note(nil)
        MainTurns.later { then(document, finding) }
      }
    }

    func open(_ document: UIDocument) {
      let url = document.fileURL
      document.inbox.open()
      document.memberDigests.withLock { $0 = MemberDigests() }
      perform(document) { document in
        // A save puts another file in the place of the one that was read, which isn't the place of a link to it.
        document.read(url, .resolvesSymbolicLink) { url in
          // Nobody saves it meanwhile. Failing to clear up harms nobody. Text that another program has written in the last instant before a
          // killed save is kept as a version.
          let versions = VersionsWithinAccess(VersionDomain.versions)
          _ = try? HostFileSystem().removeLeftovers(ofSavesOf: url.systemPath) { versions.keepLeftover($0, of: url) }
          guard let found = try FileStamp.find(at: url.systemPath) else { throw CocoaError.missing(url) }
          if found.hasMemberLeftovers { try? document.memberLeftovers(at: url).take() }
          try document.read(from: url)
          document.facts.withLock { $0.place(at: url.absoluteURL) }
          NSFileCoordinator.addFilePresenter(document)
          document.enterNeighbours(at: url)
          return Finding(.done, found.stamp, at: url)
        }
      } then: { [self] document, finding in
        let finding = loadArrived(document, finding)
        if finding.outcome != .done {
          NSFileCoordinator.removeFilePresenter(document)
          document.neighbour.leave()
        }
        complete(finding)
      }
    }

    /// Loads what an operation has read, or keeps the failure.
    private func loadArrived(_ document: UIDocument, _ finding: Finding) -> Finding {
      let arrived = document.inbox.close()
      guard finding.outcome == .done, let arrived else { return finding }
      do {
        try document.load(fromContents: arrived.value, ofType: document.fileType)
        return finding
      } catch { return Finding(error) }
    }

    /// Reads what another program has written, if the document is going to take it over.
    func check(_ document: UIDocument) {
      let (base, mayTakeOver) = (memory.base?.tag, !core.published.hasUnsavedChanges)
      if mayTakeOver { document.inbox.open() }
      perform(document) { document in
        document.readFile { url in
          if document.neighbour.hasLostFile(at: url) { return Finding(.missing) }
          guard let stamp = try FileStamp.stamp(of: url) else { return Finding(.missing) }
          document.neighbour.hold(url)
          if stamp == base { return Finding(unchangedAt: url) }
          if mayTakeOver { try document.read(from: url) } else { try stamp.checkKind(base, at: url) }
          return Finding(mayTakeOver ? .differs(unreadable: nil) : .differsUnread, stamp, at: url)
        }
      } then: { [self] document, finding in
        let arrived = document.inbox.close()
        complete(takeOver(mayTakeOver ? arrived : nil, finding, insteadOf: base, document))
      }
    }

    /// Loads what a check has read, unless something was edited meanwhile.
    private func takeOver(
      _ arrived: SharedReference<Any>?, _ finding: Finding, insteadOf base: FileStamp?, _ document: UIDocument
    ) -> Finding {
      if finding.outcome == .differsUnread, hasOwnText(finding.stamp, document) {
        // The contents that a failed write has put there aren't saved yet.
        if document.ownWrites.mayLoseFile { return Finding(unchangedAt: document.fileURL) }
        var finding = finding
        finding.outcome = .done
        return finding
      }
      guard case .differs = finding.outcome, let stamp = finding.stamp else { return finding }
      do {
        if core.published.hasUnsavedChanges {
          try stamp.checkKind(base, at: document.fileURL)
          var finding = finding
          // A class that reads by itself has loaded them.
          if arrived != nil { finding.outcome = .differsUnread }
          return finding
        } else if let arrived {
          try document.load(fromContents: arrived.value, ofType: document.fileType)
        }
        return finding
      } catch {
        // Of another kind it isn't the document's file with other contents: nothing may replace it.
        if stamp.isOfAnotherKind(than: base) { return Finding(error) }
        var finding = finding
        finding.outcome = .differs(unreadable: DocumentError(ofProgram: error))
        report(DocumentError(ofProgram: error))
        return finding
      }
    }

    /// Whether a file has just what is unsaved, and nothing was edited since it was read: then nothing is in conflict.
    private func hasOwnText(_ stamp: FileStamp?, _ document: UIDocument) -> Bool {
      guard core.published.revision == operationRevision, case .file(let hash)? = stamp,
        let contents = try? document.contents(forType: document.savingFileType ?? "public.data") as? Data
      else { return false }
      return ContentHash(of: contents) == hash
    }

    func load(_ document: UIDocument, _ url: URL) {
      let revision = operationRevision
      let isHere = url.systemPath == document.fileURL.systemPath
      document.inbox.open()
      perform(document) { document in
        let load: (URL) throws -> Finding = { url in
          if isHere, document.neighbour.hasLostFile(at: url) { return Finding(.missing) }
          guard let stamp = try FileStamp.stamp(of: url) else {
            if isHere { return Finding(.missing) }
            throw CocoaError.missing(url)
          }
          try document.read(from: url)
          var finding = Finding(.done, stamp, at: url)
          if !isHere { finding.modificationDate = nil }
          return finding
        }
        return isHere ? document.readFile(load) : document.read(url, [], load)
      } then: { [self] document, finding in
        // Edited all the same: that's kept first, and then this is done again.
        if core.published.revision != revision { _ = document.inbox.close() }
        complete(loadArrived(document, finding))
      }
    }

    // MARK: - Writing

    /// Writes the contents as they are now, unless the file isn't what it was.
    func write(_ document: UIDocument, _ then: @escaping @MainActor @Sendable (OperationOutcome) -> Void) {
      let base = memory.base?.tag
      guard let contents = contents(of: document, then) else { return }
      isWriting = true
      let changesPlace = document.placeForSaving(.forOverwriting) != nil
      perform(document) { document in
        guard changesPlace else {
          return document.writeFile { url in
            try document.write(contents, over: base, at: url)
          }
        }
        let target = { (url: URL) in document.placeForSaving(.forOverwriting, from: url) ?? url }
        return document.moveFile(to: target) { url, target, announce in
          try document.write(contents, over: base, at: url, asItemAt: target, announce)
        }
      } then: { [self] _, finding in
        isWriting = false
        complete(finding)
        then(finding.outcome)
      }
    }

    /// The document's class has written by itself, and the document wasn't there.
    ///
    /// The contents of the file may be those that another program has written since, unless that's excluded: then they're read as such.
    func noteForeignWrite(_ document: UIDocument, isAlone: @escaping @MainActor @Sendable () -> Bool) {
      perform(document) { document in
        document.readFile { url in
          guard let stamp = try FileStamp.stamp(of: url) else { return Finding(.missing) }
          document.neighbour.hold(url)
          return Finding(.done, stamp, at: url)
        }
      } then: { [self] _, finding in
        var finding = finding
        if !isAlone() { finding.stamp = finding.stamp?.ofNothing }
        complete(finding)
      }
    }

    /// Makes a new file, and presents it before anybody else can reach it.
    ///
    /// `taken` are the contents from the time of the call, if that had to wait.
    func place(_ document: UIDocument, _ target: URL, _ taken: Snapshot?) {
      guard let contents = contents(of: document, taken: taken, { _ in }) else { return }
      let former = document.documentState.contains(.closed) ? nil : document.fileURL
      perform(document) { [isPresentedElsewhere] document in
        document.write(target, .forReplacing) { url in
          let finding = try document.write(contents, toPlace: url)
          isPresentedElsewhere.withLock { $0 = true }
          document.present(at: url)
          return finding
        }
      } then: { [self] document, finding in
        complete(finding)
        guard finding.outcome == .done, let former, former != document.fileURL else { return }
        if !former.canBeSaved { document.postMoved(from: former) }
      }
    }

    /// The contents for a write, which fails without them.
    private func contents(
      of document: UIDocument, taken: Snapshot? = nil, _ then: @MainActor @Sendable (OperationOutcome) -> Void
    ) -> SharedReference<Any>? {
      let waiting = snapshot
      if taken == nil { snapshot = nil }
      if let taken = taken ?? waiting, taken.revision == core.published.revision { return taken.contents }
      do {
        return SharedReference(try document.contents(forType: document.savingFileType ?? "public.data"))
      } catch {
        let finding = Finding(error)
        complete(finding)
        then(finding.outcome)
        return nil
      }
    }

    // MARK: - Versions

    func keepTheirs(_ document: UIDocument) {
      perform(document) { document in
        document.readFile { url in
          _ = try VersionsWithinAccess(VersionDomain.versions)
            .add(to: url, contentsOf: url, byMoving: false, isConflict: true)
          document.memberDigests.withLock { $0 }.adopt()
          return Finding(.done)
        }
      } then: { [self] _, finding in
        completeKeeping(finding)
      }
    }

    func keepMine(_ document: UIDocument) {
      guard let contents = contents(of: document, { _ in }) else { return failHeldHandlers() }
      perform(document) { document in
        document.readFile { url in
          let versions = VersionDomain.versions
          let folder = NSFileVersion.temporaryDirectoryURLForNewVersionOfItem(at: url)
          defer { try? FileManager.default.removeItem(at: folder) }
          let copy = folder.appendingPathComponent(url.lastPathComponent)
          try document.writeContents(contents.value, to: copy, for: .forOverwriting, originalContentsURL: url)
          _ = try VersionsWithinAccess(versions).add(to: url, contentsOf: copy, byMoving: true)
          return Finding(.done)
        }
      } then: { [self] _, finding in
        completeKeeping(finding)
      }
    }

    private func completeKeeping(_ finding: Finding) {
      complete(finding)
      if finding.outcome != .done { failHeldHandlers() }
    }

    func listConflicts(_ document: UIDocument) {
      perform(document) { document in
        let conflicts = NSFileVersion.unresolvedConflictVersionsOfItem(at: document.fileURL) ?? []
        return Finding(.conflicts(!conflicts.isEmpty))
      } then: { [self] _, finding in
        complete(finding)
      }
    }
  }
#endif
