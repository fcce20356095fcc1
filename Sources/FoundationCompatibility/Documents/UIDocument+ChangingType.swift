#if !canImport(ObjectiveC)
  internal import FileDocuments
  internal import FilePackages
  internal import FileVersions
  internal import Foundation
  internal import SystemInterface

  // How a document is saved as another type, under the name with that type's extension.
  //
  // ```
  //                            a.txt   a.rtf
  // before                     old     -
  // the new item is placed     old     new
  // the old one is set aside   -       new
  // ```
  //
  // A process that's killed at any instant, or a call that fails, leaves one of these. No name ever has contents that belong under the
  // other one.

  extension UIDocument {
    /// Writes contents as a new item at `target`, and removes the document's file, if that's the base until the last instant.
    ///
    /// - Parameters:
    ///   - contents: The contents.
    ///   - base: The file, as the document knows it.
    ///   - url: The file.
    ///   - target: Where nothing may be.
    ///   - announce: Notifies others that the file is there now.
    /// - Returns: How the save has ended.
    /// - Throws: The error that left the file at `url`, and nothing at `target`.
    nonisolated func write(
      _ contents: SharedReference<Any>, over base: FileStamp?, at url: URL, asItemAt target: URL, _ announce: () -> Void
    ) throws -> Finding {
      for _ in 0..<Self.attemptCountMax {
        if neighbour.hasLostFile(at: url) { return Finding(.missing) }
        guard let found = try FileStamp.find(at: url.systemPath) else { return Finding(.missing) }
        if found.stamp != base {
          try found.stamp.checkKind(base, at: url)
          return Finding(.differsUnread, found.stamp, at: url)
        }
        if found.hasMemberLeftovers { try memberLeftovers(at: url).takeBeforeReplacement() }
        do {
          let finding = try place(contents, at: target, insteadOf: found, at: url)
          // An attribute of the file says the same, where there are attributes.
          try? VersionsWithinAccess(VersionDomain.versions).noteMove(from: url, to: target)
          announce()
          neighbour.hold(target)
          return finding
        } catch let error as ChangedMeanwhile {
          if error.areMembersAltered { return Finding(.differsUnread, found.stamp, at: url) }
        }
      }
      throw DocumentError(
        .coordination, "'\(url.path)' is written by another program again and again. Try again later.")
    }

    private nonisolated func place(
      _ contents: SharedReference<Any>, at target: URL, insteadOf found: StampedItem, at url: URL
    ) throws -> Finding {
      if try files.statusIfPresent(of: target.systemPath) != nil { throw Self.occupied(target) }
      let finding: Finding
      do {
        finding = try write(contents, to: target, for: .forOverwriting, expectsNothing: true, original: url)
      } catch is ChangedMeanwhile { throw Self.occupied(target) }
      var written: StampedItem?
      if let stamp = finding.stamp, let status = try? files.statusIfPresent(of: target.systemPath) {
        written = StampedItem(stamp: stamp, status: status)
      }
      do {
        try withdraw(found, at: url, insteadOf: written, target)
        return finding
      } catch {
        // Unless another program has written it meanwhile: then there are both.
        if let written { try? setAside(written, ReplacedMembers(), at: target, target, .removed) }
        throw error
      }
    }

    private static nonisolated func occupied(_ target: URL) -> any Error {
      CocoaError.error(.fileWriteFileExists, url: target)
    }

    /// Removes the file whose contents another item has by now.
    private nonisolated func withdraw(
      _ found: StampedItem, at url: URL, insteadOf written: StampedItem?, _ target: URL
    ) throws {
      let digests = memberDigests.withLock { $0 }
      guard let replaced = try? found.membersReplaced(by: written, at: url.systemPath, digests) else {
        throw ChangedMeanwhile()
      }
      if replaced.areAltered { throw ChangedMeanwhile(areMembersAltered: true) }
      try setAside(found, replaced, at: url, target, .removedOnDisk)
    }

    private enum Removal {
      case removed
      /// Unless that's on the disk, it's undone.
      case removedOnDisk
    }

    /// Removes an item, if it's still the one that was looked at; if the process is killed meanwhile, the next open of `target` makes a
    /// version of it.
    private nonisolated func setAside(
      _ found: StampedItem, _ replaced: ReplacedMembers, at url: URL, _ target: URL, _ removal: Removal
    ) throws {
      let place = url.systemPath
      try withDraft(named: target.systemPath.lastComponent, beside: target) { draft in
        let aside = draft.url.systemPath
        do throws(SystemError) {
          try files.beginExchange(draft.directory)
          do throws(SystemError) {
            try files.moveItem(from: place, to: aside, replacing: false)
          } catch { if !error.isChangeInPlace || removal == .removedOnDisk { throw error } }
          try found.check(
            DirectoryItem(name: aside.lastComponent, directory: draft.directory, place: aside.parent), replaced)
        } catch {
          try putBack(aside, to: place, after: error)
          guard error.number == .changedMeanwhile || error.number == .noSuchFileOrDirectory else {
            throw FileManager.cocoaError(error, url)
          }
          throw ChangedMeanwhile()
        }
      }
    }

    /// Gives an item its name back, if it has lost it.
    private nonisolated func putBack(_ aside: SystemPath, to place: SystemPath, after cause: SystemError) throws {
      do throws(SystemError) {
        try files.moveItem(from: aside, to: place, replacing: false)
      } catch {
        if error.isAbsence || error.isChangeInPlace { return }
        throw NeededDraft(cause: FileManager.cocoaError(cause, place.foundationURL))
      }
    }
  }
#endif
