#if !canImport(ObjectiveC)
  internal import ContentHashing
  internal import FileDocuments
  internal import FileVersions
  internal import Foundation
  internal import SystemInterface

  // How a document is saved to a place that isn't its own: an item there is somebody else's, or the text that couldn't be opened.

  /// The fate of an item that such a save finds.
  enum FoundItem: Equatable {
    /// Nothing is lost with it: a link, or a file that has what will be written.
    case replaced
    /// It becomes a version first.
    case keptAndReplaced
    /// It's of another kind, which no version could bring back in the place of the document.
    case refused(String)

    init(_ status: FileStatus, _ stamp: FileStamp?, newContents: Any) {
      let isPackage = status.kind == .directory
      switch status.kind {
      case .symbolicLink: self = .replaced
      case .regular, .directory:
        if isPackage, newContents is Data || (newContents as? FileWrapper)?.isDirectory == false {
          self = .refused("a directory")
        } else if !isPackage, (newContents as? FileWrapper)?.isDirectory == true {
          self = .refused("a file")
        } else if !isPackage, let data = newContents as? Data, stamp == .file(ContentHash(of: data)) {
          self = .replaced
        } else {
          self = .keptAndReplaced
        }
      default: self = .refused("neither a file nor a directory")
      }
    }
  }

  extension FileStamp {
    private var isPackage: Bool {
      if case .package = self { return true }
      return false
    }

    /// Whether this is of an item that neither takes the place of the other one nor can be merged with it.
    func isOfAnotherKind(than other: FileStamp?) -> Bool { other.map { $0.isPackage != isPackage } ?? false }

    /// Throws if another program has put an item of another kind in the place of the document's own one.
    func checkKind(_ base: FileStamp?, at url: URL) throws {
      if isOfAnotherKind(than: base) { throw DocumentError.isOfAnotherKind(url, isPackage ? "a directory" : "a file") }
    }
  }

  extension DocumentError {
    static func isOfAnotherKind(_ url: URL, _ kind: String) -> DocumentError {
      DocumentError(
        .fileExists,
        "'\(url.path)' is \(kind), and the document would put something else in its place. Save it by another name, or move that "
          + "away.")
    }
  }

  extension UIDocument {
    /// Writes contents to a place, inside of an access to it.
    nonisolated func write(_ contents: SharedReference<Any>, toPlace url: URL) throws -> Finding {
      for _ in 0..<Self.attemptCountMax {
        let status = try HostFileSystem().statusIfPresent(of: url.systemPath)
        guard let status else {
          do {
            return try write(contents, to: url, for: .forCreating, expectsNothing: true)
          } catch is ChangedMeanwhile { continue }
        }
        let isReadable = status.kind == .regular || status.kind == .directory
        let found = isReadable ? try FileStamp.find(at: url.systemPath) : nil
        var expected = found.map(ExpectedItem.item)
        if status.kind == .symbolicLink {
          guard let link = try? FoundLink(at: url.systemPath, status) else { continue }
          expected = .link(link)
        }
        // Before the version is made, so that later stores of other programs are seen.
        let members = try found?.members(at: url.systemPath)
        switch FoundItem(status, found?.stamp, newContents: contents.value) {
        case .replaced: break
        case .keptAndReplaced:
          if found?.hasMemberLeftovers == true { try memberLeftovers(at: url).takeBeforeReplacement() }
          _ = try VersionsWithinAccess(VersionDomain.versions).add(to: url, contentsOf: url, byMoving: false)
        case .refused(let kind): throw DocumentError.isOfAnotherKind(url, kind)
        }
        do {
          return try write(contents, to: url, for: .forCreating, insteadOf: expected, members)
        } catch is ChangedMeanwhile {}
      }
      throw DocumentError(
        .coordination, "'\(url.path)' is written by another program again and again. Try again later.")
    }
  }
#endif
