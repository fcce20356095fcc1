#if !canImport(ObjectiveC)
  internal import ContentHashing
  internal import FileDocuments
  internal import FilePackages
  internal import FileVersions
  internal import Foundation
  internal import SystemInterface

  /// Notes the writes of a document's class without the document, through a coordinator that was made for the document.
  ///
  /// The document learns in the access itself what the class has written: after the access another program may write, and that would count
  /// as the document's own contents.
  ///
  /// | state | guarded by | why |
  /// | --- | --- | --- |
  /// | `state` | its lock | set on the main actor, changed on the threads of accesses |
  final class OwnWrites: Sendable {
    private struct State {
      /// The contents of the file, as far as the document and its class know.
      var known: FileStamp?
      /// The file as the class has left it, until the document takes notice of that.
      var written: Finding?
      /// The latest write has failed: its contents, if they are in their place, may be gone after the loss of power.
      var mayLoseFile = false
    }

    private let state = Guarded(State())

    /// The document knows from now on that the file has this.
    func expect(_ stamp: FileStamp?) {
      state.withLock { $0 = State(known: stamp, mayLoseFile: $0.mayLoseFile) }
    }

    var known: FileStamp? { state.withLock { $0.known } }

    fileprivate func note(_ stamp: FileStamp, at url: URL) {
      let finding = Finding(.done, stamp, at: url)
      state.withLock { $0 = State(known: stamp, written: finding, mayLoseFile: $0.mayLoseFile) }
    }

    var mayLoseFile: Bool {
      get { state.withLock { $0.mayLoseFile } }
      set { state.withLock { $0.mayLoseFile = newValue } }
    }

    /// The file as the class has written it since the document has looked last; `nil` if that is not known.
    func take() -> Finding? { state.withLock { $0.written.take() } }
  }

  /// An item that a coordinator writes.
  struct WrittenItem {
    let asked: SystemPath
    let url: URL
    let options: NSFileCoordinator.WritingOptions

    init(_ asked: URL, _ present: URL, _ options: NSFileCoordinator.WritingOptions) {
      self.asked = asked.absoluteURL.systemPath
      url = present
      self.options = options
    }
  }

  /// One write of a document's class, inside of its access.
  ///
  /// It's put together from what is there before and afterwards: changes of another program from before the access aren't the document's.
  struct OwnWrite {
    private let document: UIDocument
    private let file: URL
    private let before: FileStamp
    /// The members that are accessed; `nil` for the whole file.
    private let members: [SystemPath]?

    /// - Returns: `nil` if it isn't about the file of an open document.
    /// - Throws: The error of a version that couldn't be kept: nothing may be overwritten then.
    init?(_ document: UIDocument?, _ items: [WrittenItem]) throws {
      guard let document, let known = document.ownWrites.known else { return nil }
      let place = document.fileURL.systemPath
      let items = items.filter { $0.asked == place || $0.asked.isInside(place) }
      if items.isEmpty { return nil }
      let whole = items.first { $0.asked == place }
      file = whole?.url ?? document.fileURL
      guard let before = try? FileStamp.stamp(of: file) else { return nil }
      self.before = before
      self.document = document
      members = whole == nil ? items.map(\.asked) : nil
      let keepsOthers = !items.allSatisfy {
        $0.options.isDisjoint(with: [.forMerging, .contentIndependentMetadataOnly, .forMoving])
      }
      if before != known, whole != nil, !keepsOthers {
        do {
          _ = try VersionsWithinAccess(VersionDomain.versions)
            .add(to: file, contentsOf: file, byMoving: false, isConflict: true)
        } catch {
          // To delete a file is a way to get room for versions.
          if !items.contains(where: { $0.options.contains(.forDeleting) }) { throw error }
        }
      }
    }

    /// The accessor has run.
    func end() {
      guard let known = document.ownWrites.known, let after = try? FileStamp.stamp(of: file) else { return }
      let place = file.systemPath
      let written = known.changed(from: before, to: after) { member in
        guard let members else { return true }
        let path = place.appending(member.path.path)
        return members.contains { path == $0 || path.isInside($0) }
      }
      document.neighbour.hold(file)
      document.ownWrites.note(written, at: file)
    }
  }

  extension FileStamp {
    /// This stamp with what has changed between two others: of a package, of the members that are chosen.
    fileprivate func changed(
      from before: FileStamp, to after: FileStamp, where isIncluded: (Member) -> Bool
    ) -> FileStamp {
      guard case .package(let known) = self, case .package(let before) = before, case .package(let after) = after else {
        return before == after ? self : after
      }
      var members = Dictionary(known.map { ($0.path, $0) }) { first, _ in first }
      let (former, present) = (Set(before), Set(after))
      for member in before where !present.contains(member) && isIncluded(member) { members[member.path] = nil }
      for member in after where !former.contains(member) && isIncluded(member) { members[member.path] = member }
      return .package(members.values.sorted { $0.path.path < $1.path.path })
    }

    /// A stamp of the same kind that no item has: the file differs from it.
    var ofNothing: FileStamp {
      switch self {
      case .file: .file(ContentHash(of: Data(UUID().uuidString.utf8)))
      case .package:
        .package([Member(path: .top, isDirectory: false, device: 0, inode: 0, size: -1, modificationTime: 0)])
      }
    }
  }
#endif
