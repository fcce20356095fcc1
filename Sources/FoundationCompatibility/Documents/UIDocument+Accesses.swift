#if !canImport(ObjectiveC)
  internal import ContentHashing
  internal import FileDocuments
  internal import FilePackages
  internal import FileVersions
  internal import Foundation
  internal import Glibc
  internal import SystemInterface

  // How an operation accesses a document's file.

  extension Finding {
    /// An error in the terms of Apple's names.
    fileprivate init(_ error: any Error, at url: URL, isReading: Bool) {
      switch error {
      case let error as SystemError:
        self.init(PackageError(error, url.systemPath).cocoaError(url, isReading: isReading))
      case let error as PackageError: self.init(error.cocoaError(url, isReading: isReading))
      case let error as FileVersionError: self.init(error.foundationError(at: url, isReading: isReading))
      default: self.init(error)
      }
    }
  }

  extension UIDocument {
    nonisolated func read(
      _ url: URL, _ options: NSFileCoordinator.ReadingOptions = [], _ body: (URL) throws -> Finding
    ) -> Finding {
      var (problem, finding): (NSError?, Finding?) = (nil, nil)
      unsafe NSFileCoordinator(filePresenter: self)
        .coordinate(readingItemAt: url, options: options, error: &problem) { url in
          do { finding = try body(url) } catch { finding = Finding(error, at: url, isReading: true) }
        }
      return finding ?? Finding(problem ?? CocoaError(.fileReadUnknown))
    }

    nonisolated func write(
      _ url: URL, _ options: NSFileCoordinator.WritingOptions, _ body: (URL) throws -> Finding
    ) -> Finding {
      var (problem, finding): (NSError?, Finding?) = (nil, nil)
      unsafe NSFileCoordinator(ofDocument: self)
        .coordinate(writingItemAt: url, options: options, error: &problem) { url in
          do { finding = try body(url) } catch { finding = Finding(error, at: url, isReading: false) }
        }
      return finding ?? Finding(problem ?? CocoaError(.fileWriteUnknown))
    }

    /// Reads the document's own file, wherever it is by then.
    nonisolated func readFile(_ body: (URL) throws -> Finding) -> Finding {
      following { asked in
        read(asked, .withoutChanges) { url in try isOutrun(asked, at: url) ? .outrun : body(url) }
      }
    }

    /// Writes the document's own file, wherever it is by then.
    nonisolated func writeFile(_ body: (URL) throws -> Finding) -> Finding {
      following { asked in
        write(asked, []) { url in try isOutrun(asked, at: url) ? .outrun : body(url) }
      }
    }

    /// Accesses the document's file and the place that it's moved to.
    ///
    /// `target` says which place that is, for the one where the file is: again if another program has moved it before the access. `body`
    /// gets both, and what notifies others that the file is at the second one by now.
    nonisolated func moveFile(
      to target: (URL) -> URL, _ body: (_ file: URL, _ target: URL, _ announce: () -> Void) throws -> Finding
    ) -> Finding {
      var found: URL?
      return following { asked in
        let place = target(found ?? asked)
        return move(asked, to: place, body) { url in
          found = url
          return target(url).systemPath == place.systemPath
        }
      }
    }

    /// Accesses the document's file, again if it was outrun.
    private nonisolated func following(_ access: (URL) -> Finding) -> Finding {
      for _ in 0..<Self.attemptCountMax {
        let finding = access(fileURL)
        if !finding.isOutrun { return finding }
      }
      return Finding(DocumentError(.coordination, "'\(fileURL.path)' is moved again and again. Try again later."))
    }

    /// Whether the news of a move came between the choice of a place and the request of the access that is at `url`: then it's about
    /// whatever is at the former place by now.
    ///
    /// A request that's there before the document has the news is led to the new place (C-317), so an access is at one of the two.
    private nonisolated func isOutrun(_ asked: URL, at url: URL) -> Bool {
      let present = fileURL.systemPath
      return present != asked.systemPath && present != url.systemPath
    }

    private nonisolated func move(
      _ asked: URL, to target: URL, _ body: (URL, URL, () -> Void) throws -> Finding, isRight: (URL) -> Bool
    ) -> Finding {
      var (problem, finding): (NSError?, Finding?) = (nil, nil)
      let coordinator = NSFileCoordinator(ofDocument: self)
      unsafe coordinator.coordinate(
        writingItemAt: asked, options: .forMoving, writingItemAt: target, options: .forReplacing, error: &problem
      ) { url, target in
        if isOutrun(asked, at: url) || !isRight(url) { return finding = .outrun }
        do {
          finding = try body(url, target) {
            coordinator.item(at: url, didMoveTo: target)
            present(at: target)
          }
        } catch { finding = Finding(error, at: target, isReading: false) }
      }
      return finding ?? Finding(problem ?? CocoaError(.fileWriteUnknown))
    }

    /// Presents another place, before anybody else can reach it.
    nonisolated func present(at url: URL) {
      NSFileCoordinator.removeFilePresenter(self)
      facts.withLock { $0.place(at: url.absoluteURL) }
      NSFileCoordinator.addFilePresenter(self)
      enterNeighbours(at: url)
    }

    /// Enters the document among those of this process, which may bring each other's files to one place.
    nonisolated func enterNeighbours(at url: URL) {
      neighbour.enter(at: url) { [weak self] in
        MainTurns.later { [weak self] in self?.runner.note(.itemChanged) }
      }
    }

    /// Where a save moves the document because its type changes; `nil` if it stays.
    nonisolated func placeForSaving(_ operation: SaveOperation) -> URL? { placeForSaving(operation, from: fileURL) }

    /// The same of a file that's at a place by now.
    nonisolated func placeForSaving(_ operation: SaveOperation, from url: URL) -> URL? {
      guard let type = savingFileType, type != fileType else { return nil }
      let name = fileNameExtension(forType: type, saveOperation: operation)
      if name.isEmpty || name == url.pathExtension { return nil }
      return url.deletingPathExtension().appendingPathExtension(name)
    }

    /// Writes contents over the very file that is the base, and over no other one.
    nonisolated func write(_ contents: SharedReference<Any>, over base: FileStamp?, at url: URL) throws -> Finding {
      for _ in 0..<Self.attemptCountMax {
        if neighbour.hasLostFile(at: url) { return Finding(.missing) }
        guard let found = try FileStamp.find(at: url.systemPath) else { return Finding(.missing) }
        if found.stamp != base {
          try found.stamp.checkKind(base, at: url)
          let isOwnText = (contents.value as? Data).map { found.stamp == .file(ContentHash(of: $0)) } ?? false
          if !isOwnText { return Finding(.differsUnread, found.stamp, at: url) }
          // After a failure they are written once more: they may be gone after the loss of power.
          if !ownWrites.mayLoseFile {
            neighbour.hold(url)
            return Finding(.done, found.stamp, at: url)
          }
        }
        // The new package has none of these files.
        if found.hasMemberLeftovers { try memberLeftovers(at: url).takeBeforeReplacement() }
        do {
          let finding = try write(contents, to: url, for: .forOverwriting, insteadOf: .item(found))
          neighbour.hold(url)
          ownWrites.mayLoseFile = false
          return finding
        } catch let error as ChangedMeanwhile {
          if error.areMembersAltered { return Finding(.differsUnread, found.stamp, at: url) }
        } catch {
          ownWrites.mayLoseFile = true
          throw error
        }
      }
      throw DocumentError(
        .coordination, "'\(url.path)' is written by another program again and again. Try again later.")
    }

    nonisolated static var attemptCountMax: Int { 16 }

    nonisolated func memberLeftovers(at url: URL) -> MemberLeftovers {
      MemberLeftovers(inPackageAt: url.systemPath, url, VersionDomain.versions)
    }

    /// Writes contents by the methods that the program may override.
    ///
    /// `members` are those of a package that isn't the document's own; otherwise they are compared with what the document has read.
    nonisolated func write(
      _ contents: SharedReference<Any>, to url: URL, for operation: SaveOperation, insteadOf found: ExpectedItem? = nil,
      _ members: ReplacedMembers? = nil, expectsNothing: Bool = false, original: URL? = nil
    ) throws -> Finding {
      let attributes = try fileAttributesToWrite(to: url, for: operation)
      saving.withLock {
        $0 = SafeSave(
          place: url.systemPath, expected: found, members: members, expectsNothing: expectsNothing, original: original)
      }
      defer { saving.withLock { $0 = nil } }
      try writeContents(contents.value, andAttributes: attributes, safelyTo: url, for: operation)
      // Unless a class has gone on writing, what was put there is the base, whatever is there by now.
      if let written = saving.withLock({ $0?.written }),
        let now = try HostFileSystem().statusIfPresent(of: url.systemPath),
        now.identity == written.status.identity, now.kind == .directory || now.hasContents(of: written.status)
      {
        return Finding(.done, written.stamp, at: url)
      }
      guard let stamp = try FileStamp.stamp(of: url) else { throw CocoaError.missing(url) }
      return Finding(.done, stamp, at: url)
    }
  }
#endif
