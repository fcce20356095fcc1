internal import FileCoordination
internal import SystemInterface

/// The items that documents of this process have open: one document for each.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `entries` | its lock | documents open and close on actors of their own |
/// | `neighbours` | its lock | documents of other kinds do so on any thread |
///
/// - Note: Rule CD-28.
final class DocumentRegistry: Sendable {
  struct Key: Hashable, Sendable {
    let domain: CoordinationDomain.Identity
    /// Canonical.
    let path: String

    init(_ path: String, in domain: CoordinationDomain) {
      self.domain = domain.identity
      self.path = path
    }
  }

  private struct Entry: Sendable {
    let owner: ObjectIdentifier
    let document: WeakActor
    let presence: WeakPresence
  }

  static let shared = DocumentRegistry()
  private let entries = Guarded<[Key: Entry]>([:])

  /// Enters a document.
  ///
  /// - Returns: Whether no other document is there.
  func enter(_ document: any Actor, _ presence: DocumentPresence, at key: Key) -> Bool {
    let entry = Entry(
      owner: ObjectIdentifier(document), document: WeakActor(document), presence: WeakPresence(presence))
    return entries.withLock { entries in
      if let other = entries[key], other.owner != entry.owner, other.document.actor != nil { return false }
      entries[key] = entry
      return true
    }
  }

  /// Enters a document whose file has come to a place, also if another document is there: the file of that is gone.
  ///
  /// Unless that one has the same file open, because it was opened where the file is now.
  ///
  /// - Returns: The presence of the document whose place was taken.
  func take(_ document: any Actor, _ presence: DocumentPresence, at key: Key) -> DocumentPresence? {
    let entry = Entry(
      owner: ObjectIdentifier(document), document: WeakActor(document), presence: WeakPresence(presence))
    return entries.withLock { entries in
      guard let other = entries[key], other.owner != entry.owner, other.document.actor != nil else {
        entries[key] = entry
        return nil
      }
      guard let otherPresence = other.presence.presence, !otherPresence.holdsFile(of: presence) else { return nil }
      entries[key] = entry
      return otherPresence
    }
  }

  private let neighbours = Guarded<[Key: [WeakNeighbour]]>([:])

  func presence(at key: Key) -> DocumentPresence? { entries.withLock { $0[key]?.presence.presence } }

  /// The canonical paths at which other documents of a domain have a file open, as far as they know.
  func places(of file: FileIdentity, in domain: CoordinationDomain, otherThan presence: DocumentPresence?) -> [String] {
    let domain = domain.identity
    let others = entries.withLock { entries in
      entries.filter { $0.key.domain == domain }.compactMap { key, entry in
        entry.presence.presence.map { (key.path, $0) }
      }
    }
    return others.filter { $0.1 !== presence && $0.1.heldFile?.identity == file }.map(\.0)
  }

  /// Removes a document that's entered there.
  func leave(_ owner: ObjectIdentifier, at key: Key) {
    entries.withLock { entries in if entries[key]?.owner == owner { entries[key] = nil } }
  }

  /// All documents that are open and presented.
  var documents: [any Actor] { entries.withLock { Array($0.values) }.compactMap(\.document.actor) }

  func document(at key: Key) -> (any Actor)? { entries.withLock { $0[key]?.document }?.actor }
}

// MARK: - Documents of other kinds

extension DocumentRegistry {
  /// Enters a document beside all others that are there.
  func add(_ neighbour: DocumentNeighbour, at key: Key) {
    neighbours.withLock { $0[key, default: []].append(WeakNeighbour(neighbour)) }
  }

  func remove(_ neighbour: DocumentNeighbour, at key: Key) {
    neighbours.withLock { neighbours in
      let others = neighbours[key]?.filter { $0.neighbour != nil && $0.neighbour !== neighbour }
      neighbours[key] = others?.isEmpty == false ? others : nil
    }
  }

  /// The canonical paths at which documents of other kinds have a file open, as far as they know.
  func neighbourPlaces(
    of file: FileIdentity, in domain: CoordinationDomain, otherThan neighbour: DocumentNeighbour? = nil
  ) -> [String] {
    let domain = domain.identity
    let all = neighbours.withLock { neighbours in
      neighbours.filter { $0.key.domain == domain }.flatMap { key, found in
        found.compactMap(\.neighbour).map { (key.path, $0) }
      }
    }
    return all.filter { $0.1 !== neighbour && $0.1.heldFile == file }.map(\.0)
  }

  /// A document's file has come to a place: documents of other kinds that are there with another file have lost that.
  func takePlace(_ key: Key, with file: FileIdentity, for owner: DocumentNeighbour? = nil) {
    let found = neighbours.withLock { $0[key] ?? [] }.compactMap(\.neighbour)
    for neighbour in found where neighbour !== owner {
      if let held = neighbour.heldFile, held != file { neighbour.loseFile() }
    }
  }
}

/// A weak reference that never changes.
///
/// `@unchecked Sendable`: `presence` is set once, in the initializer, and the runtime clears it atomically.
final class WeakPresence: @unchecked Sendable {
  private(set) weak var presence: DocumentPresence?

  init(_ presence: DocumentPresence) { self.presence = presence }
}

/// A weak reference that never changes.
///
/// `@unchecked Sendable`: `actor` is set once, in the initializer, and the runtime clears it atomically.
final class WeakActor: @unchecked Sendable {
  private(set) weak var actor: (any Actor)?

  init(_ actor: any Actor) { self.actor = actor }
}
