package import FileCoordination
package import FoundationEssentials
internal import SystemInterface

/// A document that isn't a ``FileDocument``, among the documents of this process.
///
/// Several of them may have one item open, also beside a ``FileDocument``: they're notified of each other's saves as of any program's. But
/// two documents whose files another program brings together don't share a file by that. The one whose file has come is that file's, and
/// the other one loses its own.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock | accesses and messages of moves run on threads of their own |
///
/// - Note: Rule CD-28.
package final class DocumentNeighbour: Sendable {
  private struct State: Sendable {
    var key: DocumentRegistry.Key?
    /// The item as it was read or written last; it keeps its inode from being given to another one.
    var file: HeldFile?
    var hasLostFile = false
  }

  private let domain: CoordinationDomain
  private let state = Guarded(State())
  private let loss: Guarded<(@Sendable () -> Void)?> = Guarded(nil)

  /// Makes a document that isn't anywhere yet.
  ///
  /// - Parameter domain: Where it's presented.
  package init(in domain: CoordinationDomain) { self.domain = domain }

  deinit { leave() }

  private var files: any FileSystem { domain.configuration.fileSystem }

  /// Enters the document at a place, where it's found until it leaves.
  ///
  /// - Parameters:
  ///   - url: The item, which the caller has access to.
  ///   - notify: Called when another document's file has come to its place: it has to look there, and finds that its own is gone.
  package func enter(at url: URL, notify: @escaping @Sendable () -> Void) {
    loss.withLock { $0 = notify }
    let place = try? DocumentPresence.place(of: url, in: domain)
    let former = state.withLock { state in
      defer { state = State(key: place?.key) }
      return state.key
    }
    if let former { DocumentRegistry.shared.remove(self, at: former) }
    if let key = place?.key { DocumentRegistry.shared.add(self, at: key) }
    hold(url)
  }

  /// Takes the document out of those of this process.
  package func leave() {
    let former = state.withLock { state in
      defer { state = State() }
      return state
    }
    if let key = former.key { DocumentRegistry.shared.remove(self, at: key) }
  }

  /// Holds on to the item that's there now.
  ///
  /// - Parameter url: Its place, which the caller has access to.
  package func hold(_ url: URL) {
    guard let place = try? DocumentPresence.place(of: url, in: domain),
      let file = HeldFile(SystemPath(place.key.path), files)
    else { return }
    // The former one is closed outside the lock.
    _ = state.withLock { state in
      defer { if state.key != nil { state.file = file } }
      return state.file
    }
  }

  /// Notes that the item was moved: another document whose item was there has lost it.
  ///
  /// - Parameter url: Where it's now.
  package func move(to url: URL) {
    guard let key = try? DocumentPresence.place(of: url, in: domain).key else { return }
    let (former, file) = state.withLock { state in
      defer { if state.key != nil { state.key = key } }
      return (state.key, state.file?.identity)
    }
    guard let former else { return }
    if former == key { return }
    // In this order, so that a check of the other document finds this one at one of the two places.
    DocumentRegistry.shared.add(self, at: key)
    // The item there may have been saved by another document of it meanwhile, which has noted the move then.
    if let file, isThere(file, key) {
      DocumentRegistry.shared.takePlace(key, with: file, for: self)
      if let other = DocumentRegistry.shared.presence(at: key), other.heldFile?.identity != file { other.loseFile() }
    }
    DocumentRegistry.shared.remove(self, at: former)
  }

  private func isThere(_ file: FileIdentity, _ key: DocumentRegistry.Key) -> Bool {
    (try? files.statusIfPresent(of: SystemPath(key.path)))?.identity == file
  }

  /// Whether the item that's at the place is another document's, so that this one's is gone.
  ///
  /// - Parameter url: The place.
  /// - Returns: Whether it's so; from then on it stays so until the document is entered anew.
  package func hasLostFile(at url: URL) -> Bool {
    if hasLostFile { return true }
    let (key, own) = state.withLock { ($0.key, $0.file?.identity) }
    guard let key, let own, let place = try? DocumentPresence.place(of: url, in: domain),
      let found = (try? files.statusIfPresent(of: SystemPath(place.key.path)))?.identity, found != own
    else { return false }
    // That one wasn't told yet that its file was moved. One at this place has saved its file, which is this one's, too.
    let registry = DocumentRegistry.shared
    let others =
      registry.places(of: found, in: domain, otherThan: nil)
      + registry.neighbourPlaces(of: found, in: domain, otherThan: self)
    let isTaken = others.contains { other in
      other != key.path && (try? files.statusIfPresent(of: SystemPath(other)))?.identity != found
    }
    return state.withLock { state in
      if isTaken { state.hasLostFile = true }
      return state.hasLostFile
    }
  }

  /// Whether another document's file has come to its place.
  package var hasLostFile: Bool { state.withLock { $0.hasLostFile } }

  var heldFile: FileIdentity? { state.withLock { $0.file?.identity } }

  func loseFile() {
    state.withLock { $0.hasLostFile = true }
    loss.withLock { $0 }?()
  }
}

/// A weak reference that never changes.
///
/// `@unchecked Sendable`: `neighbour` is set once, in the initializer, and the runtime clears it atomically.
final class WeakNeighbour: @unchecked Sendable {
  private(set) weak var neighbour: DocumentNeighbour?

  init(_ neighbour: DocumentNeighbour) { self.neighbour = neighbour }
}
