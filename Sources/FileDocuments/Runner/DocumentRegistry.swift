internal import FileCoordination
internal import SystemInterface

/// The items that documents of this process have open: one document for each.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `entries` | its lock | documents open and close on actors of their own |
///
/// - Note: Rule CD-28.
final class DocumentRegistry: Sendable {
  struct Key: Hashable, Sendable {
    let domain: ObjectIdentifier
    /// Canonical.
    let path: String

    init(_ path: String, in domain: CoordinationDomain) {
      self.domain = ObjectIdentifier(domain)
      self.path = path
    }
  }

  private struct Entry: Sendable {
    let owner: ObjectIdentifier
    let document: WeakActor
  }

  static let shared = DocumentRegistry()
  private let entries = Guarded<[Key: Entry]>([:])

  /// Enters a document.
  ///
  /// - Returns: Whether no other document is there.
  func enter(_ document: any Actor, at key: Key) -> Bool {
    let entry = Entry(owner: ObjectIdentifier(document), document: WeakActor(document))
    return entries.withLock { entries in
      if let other = entries[key], other.owner != entry.owner, other.document.actor != nil { return false }
      entries[key] = entry
      return true
    }
  }

  /// Removes a document that's entered there.
  func leave(_ owner: ObjectIdentifier, at key: Key) {
    entries.withLock { entries in if entries[key]?.owner == owner { entries[key] = nil } }
  }

  /// All documents that are open and presented.
  var documents: [any Actor] { entries.withLock { Array($0.values) }.compactMap(\.document.actor) }

  func document(at key: Key) -> (any Actor)? { entries.withLock { $0[key]?.document }?.actor }
}

/// A weak reference that never changes.
///
/// `@unchecked Sendable`: `actor` is set once, in the initializer, and the runtime clears it atomically.
final class WeakActor: @unchecked Sendable {
  private(set) weak var actor: (any Actor)?

  init(_ actor: any Actor) { self.actor = actor }
}
