internal import ContentHashing
internal import FileCoordination
internal import FoundationEssentials
internal import SystemInterface

/// A document at a place: its presenter, its registration in the domain, and its entry among the documents of this process.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock | operations register and move, the document ends it, on threads of their own |
/// | `isTidied` | its lock | a search notes it that keeps neither this nor the document |
final class DocumentPresence: Sendable {
  private struct State: Sendable {
    var key: DocumentRegistry.Key?
    var registration: FilePresenterRegistration?
    /// The file as it was read or written last.
    var file: HeldFile?
    /// Another document's file is where this one's was.
    var hasLostFile = false
    /// An operation has found the file elsewhere, about which there may be no news.
    var hasFollowed = false
    /// The backup was made since the document was opened.
    var hasBackup = false
    /// The program's access to the place, and for which of the presenter's URLs it is.
    var grant: DocumentGrant?
    var grantedMoveCount = 0
    /// The latest of the presenter's URLs for which a grant was asked for.
    var triedMoveCount = 0
    /// The document has left.
    var isOver = false
    /// The latest save has failed after its contents took their place.
    var mayLoseFile = false
    /// When a save has kept a version since the document was opened, and what that has.
    var keptVersion: (time: MonotonicTime, tag: ContentHash)?
  }

  let presenter: DocumentPresenter
  /// The file, where it was when the document came.
  let item: ResolvedItem
  private let domain: CoordinationDomain
  private let document: WeakActor
  private let owner: ObjectIdentifier
  private let state: Guarded<State>
  /// Whether the leftovers of killed saves were searched for.
  let isTidied = Guarded(false)

  /// Enters a document among those of this process.
  ///
  /// - Parameters:
  ///   - url: The file. If it's a symbolic link, the file it leads to is meant: saving would replace the link.
  ///   - document: The document.
  ///   - domain: Where it's presented.
  ///   - observes: Whether to notice programs that don't coordinate.
  ///   - executor: Runs the callbacks.
  /// - Throws: ``DocumentError`` with code `.alreadyOpen` if another document is there.
  init(
    _ url: URL, of document: any DocumentMessageReceiver, in domain: CoordinationDomain, observes: Bool,
    _ executor: (any TaskExecutor)?
  ) throws(DocumentError) {
    let (place, key, item) = try Self.place(of: url, in: domain)
    self.item = item
    presenter = DocumentPresenter(
      place, atCanonicalPath: key.path, of: document, observesUncoordinatedChanges: observes, executor)
    self.document = WeakActor(document)
    owner = ObjectIdentifier(document)
    self.domain = domain
    state = Guarded(State(key: key))
    guard DocumentRegistry.shared.enter(document, self, at: key) else { throw .alreadyOpen(url) }
  }

  deinit { leave() }

  static func place(
    of url: URL, in domain: CoordinationDomain
  ) throws(DocumentError) -> (url: URL, key: DocumentRegistry.Key, item: ResolvedItem) {
    do throws(FileCoordinationError) {
      let target = try domain.resolve(url, followingLastLink: true)
      let item = try domain.resolve(url)
      let path = target.canonicalPath
      let key = DocumentRegistry.Key(path, in: domain)
      if item.canonicalPath == path { return (url, key, item) }
      let place = target.canonicalURL
      return (place, key, try domain.resolve(place))
    } catch { throw DocumentError(error) }
  }

  /// Registers the presenter within an access to its file.
  func register(_ access: borrowing FileAccess) async throws(FileCoordinationError) {
    hold(try await access.register(presenter))
  }

  /// Keeps the registration of the presenter until the document leaves.
  func hold(_ registration: FilePresenterRegistration) { state.withLock { $0.registration = registration } }

  /// Notes that the file was moved.
  func move(to url: URL) throws(DocumentError) {
    presenter.url = url
    noteMoved()
  }

  /// Notes that an operation has found the file elsewhere.
  func follow(to url: URL) throws(DocumentError) {
    try move(to: url)
    state.withLock { $0.hasFollowed = true }
  }

  /// Whether an operation has found the file elsewhere since this was asked last.
  func takesNoticeOfFollowing() -> Bool {
    state.withLock { state in
      defer { state.hasFollowed = false }
      return state.hasFollowed
    }
  }

  /// The presenter's URL has changed: the document is found there from now on.
  func noteMoved() {
    guard let document = document.actor, let place = try? Self.place(of: presenter.url, in: domain) else { return }
    let former = state.withLock { state in
      defer { state.key = place.key }
      return state.key
    }
    // In this order, so that a check of the other document finds this one at one of the two places.
    DocumentRegistry.shared.take(document, self, at: place.key)?.loseFile()
    if let file = try? domain.configuration.fileSystem.statusIfPresent(of: SystemPath(place.key.path))?.identity {
      DocumentRegistry.shared.takePlace(place.key, with: file)
    }
    if let former, former != place.key { DocumentRegistry.shared.leave(owner, at: former) }
  }

  /// Another document's file is where this one's was, which is gone.
  func loseFile() {
    state.withLock { $0.hasLostFile = true }
    guard let receiver = document.actor as? any DocumentMessageReceiver else { return }
    Task { [presenter] in await receiver.itemChanged(for: presenter) }
  }

  /// Whether another document's file is where this one's was.
  var hasLostFile: Bool { state.withLock { $0.hasLostFile } }

  /// Whether a file that has come to the place of this document's is another document's.
  ///
  /// That one wasn't told yet that its file was moved. If the file is at its place as well, it has two names.
  func isTaken(by file: FileIdentity, _ files: any FileSystem) -> Bool {
    let (own, held) = state.withLock { ($0.key, $0.file?.identity) }
    if held == file { return false }
    func isElsewhere(_ place: String) -> Bool {
      (try? files.statusIfPresent(of: SystemPath(place)))?.identity != file
    }
    let registry = DocumentRegistry.shared
    return registry.places(of: file, in: domain, otherThan: self).contains { $0 == own?.path || isElsewhere($0) }
      // One of another kind at this place may have been opened there, and has saved.
      || registry.neighbourPlaces(of: file, in: domain).contains { $0 != own?.path && isElsewhere($0) }
  }

  /// Whether both have one file, as far as known.
  func holdsFile(of other: DocumentPresence) -> Bool {
    guard let file = heldFile?.identity else { return false }
    return file == other.heldFile?.identity
  }

  /// Holds on to the file that's there now, without access to its contents; if there's none, the former one is held on to.
  func hold(_ path: SystemPath, _ files: any FileSystem) {
    if let file = HeldFile(path, files) { heldFile = file }
  }

  /// The file that was read or written last.
  var heldFile: HeldFile? {
    get { state.withLock { $0.file } }
    set {
      // The former one is closed outside the lock.
      _ = state.withLock { state in
        defer { state.file = newValue }
        return state.file
      }
    }
  }

  /// Where the file is that was read or written last; `nil` if it's gone, or that isn't known.
  ///
  /// A save of another process that was killed has perhaps set it aside: it's not the document's file any more then, and may be removed.
  var filePlace: SystemPath? {
    guard let place = heldFile?.place, !place.lastComponent.isTemporaryName else { return nil }
    return place
  }

  /// Enters the document at a place to which it's about to be moved.
  ///
  /// - Returns: Takes that back.
  /// - Throws: ``DocumentError`` with code `.alreadyOpen` if another document is there.
  func reserve(_ url: URL) throws(DocumentError) -> () -> Void {
    guard let document = document.actor else { return {} }
    let key = try Self.place(of: url, in: domain).key
    guard DocumentRegistry.shared.enter(document, self, at: key) else { throw .alreadyOpen(url) }
    return { [owner, state] in
      if state.withLock({ $0.key }) != key { DocumentRegistry.shared.leave(owner, at: key) }
    }
  }

  /// The same for a place to which the file has been moved already: a document whose own file is gone from there gives way.
  func reserveToFollow(_ url: URL) throws(DocumentError) -> () -> Void {
    do throws(DocumentError) {
      return try reserve(url)
    } catch {
      let key = try Self.place(of: url, in: domain).key
      guard let other = DocumentRegistry.shared.presence(at: key), !other.holdsFile(of: self) else { throw error }
      return {}
    }
  }

  /// - Returns: Whether nobody has looked yet for what killed saves have left.
  func takesTidying() -> Bool {
    isTidied.withLock { isTidied in
      defer { isTidied = true }
      return !isTidied
    }
  }

  var mayLoseFile: Bool {
    get { state.withLock { $0.mayLoseFile } }
    set { state.withLock { $0.mayLoseFile = newValue } }
  }

  var keptVersion: (time: MonotonicTime, tag: ContentHash)? {
    get { state.withLock { $0.keptVersion } }
    set { state.withLock { $0.keptVersion = newValue } }
  }

  // MARK: - The program's access to the place

  /// Takes over a grant for the present place, and ends that of the former one.
  ///
  /// - Parameters:
  ///   - grant: The grant.
  ///   - moveCount: The number of the presenter's URL that it's for; the present one unless stated.
  func adopt(_ grant: DocumentGrant?, at moveCount: Int? = nil) {
    let count = moveCount ?? presenter.moveCount
    let former = state.withLock { state in
      // One that comes too late ends at once.
      if state.isOver { return grant }
      defer {
        state.grant = grant
        state.grantedMoveCount = count
        state.triedMoveCount = count
      }
      return state.grant
    }
    former?.end()
  }

  /// The present grant is for the presenter's URL as well: that's another spelling of the same place.
  func keepGrant() {
    let count = presenter.moveCount
    state.withLock { state in
      state.grantedMoveCount = count
      state.triedMoveCount = count
    }
  }

  /// The place for which there's no grant yet.
  func placeToGrant() -> (url: URL, moveCount: Int)? {
    let (url, count) = presenter.place
    return state.withLock { state in
      if state.grantedMoveCount == count { return nil }
      state.triedMoveCount = count
      return (url, count)
    }
  }

  /// Whether the file was moved, and nobody has asked for a grant since.
  var needsGrant: Bool {
    let count = presenter.moveCount
    return state.withLock { !$0.isOver && $0.triedMoveCount != count }
  }

  /// Whether the document hasn't left.
  var isHere: Bool { state.withLock { !$0.isOver } }

  var hasBackup: Bool { state.withLock { $0.hasBackup } }
  func noteBackup() { state.withLock { $0.hasBackup = true } }

  /// Ends the registration and the entry.
  ///
  /// Doing so twice does nothing.
  func leave() {
    let former = state.withLock { state in
      defer {
        state = State()
        state.isOver = true
      }
      return state
    }
    former.registration?.end()
    if let key = former.key { DocumentRegistry.shared.leave(owner, at: key) }
    former.grant?.end()
  }
}
