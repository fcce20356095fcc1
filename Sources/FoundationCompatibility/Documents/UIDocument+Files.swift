#if !canImport(ObjectiveC)
  internal import FileCoordination
  internal import FilePackages
  internal import Foundation
  internal import Glibc
  internal import SystemInterface

  // How a document's file is read and written, unless its class says otherwise.

  extension UIDocument {
    /// The door to the kernel for what takes the place of files.
    nonisolated var files: any FileSystem { CompatibilityDomain.current.configuration.fileSystem }

    nonisolated func readContents(of url: URL) throws {
      var isDirectory = ObjCBool(false)
      _ = unsafe FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory)
      let digests = memberDigests.withLock { $0 }
      let contents: Any = try isDirectory.boolValue ? FileWrapper(url: url, digests) : readData(at: url)
      if inbox.put(contents) { return }
      let (shared, type) = (SharedReference(contents), fileType)
      try MainTurns.wait { try self.load(fromContents: shared.value, ofType: type) }
    }

    nonisolated func write(_ contents: Any, _ url: URL, _ originalURL: URL?) throws {
      switch contents {
      case let data as Data: try write(data, to: url)
      case let wrapper as FileWrapper:
        try wrapper.write(to: url, options: .withNameUpdating, originalContentsURL: originalURL)
      default:
        throw CocoaError(
          .featureUnsupported,
          userInfo: [
            NSLocalizedDescriptionKey:
              "contents(forType:) has returned a \(type(of: contents)). Return Data or a FileWrapper, or override "
              + "writeContents(_:to:for:originalContentsURL:)."
          ])
      }
    }

    /// Writes contents beside the place, and puts them there in one step.
    nonisolated func writeSafely(
      _ contents: Any, _ attributes: [AnyHashable: Any], _ url: URL, _ operation: SaveOperation
    ) throws {
      let place = url.systemPath
      let save = saving.withLock { $0?.place == place ? $0 : nil }
      try withDraft(named: place.lastComponent, beside: save?.original ?? url) { new in
        let isThere = try files.statusIfPresent(of: place) != nil
        let restore = (contents as? FileWrapper)?.capturePlaces()
        do {
          let original = save?.original ?? (isThere ? url : nil)
          try writeContents(contents, to: new.url, for: operation, originalContentsURL: original)
          if isThere, save?.expectsNothing != true { return try exchange(new, with: url, save, attributes) }
          if save?.expected != nil { throw ChangedMeanwhile() }
          if let original = save?.original { try copyMetadata(of: original, to: new) }
          try set(attributes, of: new)
          if save?.expectsNothing == true {
            try add(new, at: url)
          } else {
            _ = try FileManager.put(new.url, inPlaceOf: url)
          }
        } catch {
          restore?()
          throw error
        }
      }
    }

    /// Sets attributes of what was written before it has its place: if one can't be set, nothing was replaced.
    private nonisolated func set(_ attributes: [AnyHashable: Any], of new: Draft) throws {
      let known = attributes.compactMap { key, value -> (FileAttributeKey, Any)? in
        if let key = key as? FileAttributeKey { return (key, value) }
        return (key as? String).map { (FileAttributeKey(rawValue: $0), value) }
      }
      if known.isEmpty { return }
      try FileManager.default.setAttributes(Dictionary(known) { first, _ in first }, ofItemAtPath: new.url.path)
    }

    private nonisolated func copyMetadata(of original: URL, to new: Draft) throws {
      do throws(SystemError) {
        try files.copyMetadata(from: original.systemPath, to: new.url.systemPath)
      } catch {
        // A link has none that matter.
        if error.number != .tooManySymbolicLinkLevels { throw FileManager.cocoaError(error, original) }
      }
    }

    /// Puts what was written at a place where nothing was, unless another program has made an item there since.
    private nonisolated func add(_ new: Draft, at url: URL) throws {
      let (source, place) = (new.url.systemPath, url.systemPath)
      let isCopy = saving.withLock { $0?.place == place && $0?.original != nil }
      let written = try? FileStamp.find(at: source)
      do throws(SystemError) {
        try files.synchronizeItem(at: source)
        try files.moveItem(from: source, to: place, replacing: false)
      } catch {
        // The document's file is still where it was: nothing has happened then.
        if error.isChangeInPlace, isCopy { try? files.moveItem(from: place, to: source, replacing: false) }
        throw error.errno == EEXIST ? ChangedMeanwhile() : FileManager.cocoaError(error, url) as any Error
      }
      // A class may write again: that's its own file.
      saving.withLock {
        $0?.expectsNothing = false
        if $0?.place == place { $0?.written = written }
      }
    }

    /// Puts what was written in the place of the file, unless another program has written that since it was compared.
    private nonisolated func exchange(
      _ new: Draft, with url: URL, _ save: SafeSave?, _ attributes: [AnyHashable: Any]
    ) throws {
      let expected = save?.expected
      let (place, source) = (url.systemPath, new.url.systemPath)
      func failure(_ error: SystemError) -> any Error {
        let isChange = error.number == .changedMeanwhile || error.number == .noSuchFileOrDirectory
        return expected != nil && isChange ? ChangedMeanwhile() : FileManager.cocoaError(error, url)
      }
      do throws(SystemError) {
        try files.copyMetadata(from: place, to: source)
      } catch {
        // A link has none that matter.
        if error.number != .tooManySymbolicLinkLevels { throw failure(error) }
      }
      try set(attributes, of: new)
      let written = try? FileStamp.find(at: source)
      let replaced = try save?.members ?? membersReplaced(in: expected?.item, by: written, at: place)
      do throws(SystemError) {
        try files.beginExchange(new.directory)
        try files.exchangeItem(at: source, with: place) { (item) throws(SystemError) in
          try expected?.check(item, replaced)
        }
      } catch { throw failure(error) }
      saving.withLock { if $0?.place == place { $0?.written = written } }
    }

    /// The members of a package that another one has otherwise or not at all, which have the bytes that were read.
    private nonisolated func membersReplaced(
      in expected: StampedItem?, by written: StampedItem?, at place: SystemPath
    ) throws -> ReplacedMembers {
      guard let expected else { return ReplacedMembers() }
      let digests = memberDigests.withLock { $0 }
      guard let replaced = try? expected.membersReplaced(by: written, at: place, digests) else {
        throw ChangedMeanwhile()
      }
      if replaced.areAltered { throw ChangedMeanwhile(areMembersAltered: true) }
      return replaced
    }

    /// A place beside a file, for what will change places with it.
    struct Draft {
      let url: URL
      /// The directory around it.
      let directory: FileDescriptor
    }

    /// The item in a draft is needed: it stays there until the next open makes a version of it.
    struct NeededDraft: Error { let cause: any Error }

    /// Runs `body` with a place beside a file, in a directory that's gone afterwards, and that the next open of the file removes if this
    /// process is killed.
    nonisolated func withDraft(named name: SystemPath, beside url: URL, _ body: (Draft) throws -> Void) throws {
      let (files, place) = (files, url.systemPath)
      let (parent, folder, use): (FileDescriptor, SystemPath, FileDescriptor)
      do throws(SystemError) {
        parent = try files.open(place.parent, at: .workingDirectory, flags: .directory, mode: 0)
        do throws(SystemError) {
          (folder, use) = try files.makeDraftDirectory(for: place.lastComponent, at: parent, mode: 0o700)
        } catch {
          try? files.close(parent)
          throw error
        }
      } catch { throw FileManager.cocoaError(error, url) }
      var isNeeded = false
      defer {
        if !isNeeded { try? files.removeDisplaced(DirectoryItem(name: folder, directory: parent, place: place.parent)) }
        try? files.close(use)
        try? files.close(parent)
      }
      do {
        try body(Draft(url: place.parent.appending(folder).appending(name).foundationURL, directory: use))
      } catch let needed as NeededDraft {
        isNeeded = true
        throw needed.cause
      }
    }
  }
#endif
