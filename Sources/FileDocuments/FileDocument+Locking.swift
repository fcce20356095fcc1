internal import FileCoordination
internal import SystemInterface

// Locking the file, and drafts.

extension FileDocument {
  /// Whether the file is locked.
  ///
  /// May be read anywhere. A lock may be set or removed between two reads: take one ``snapshot`` to compare this with other states.
  ///
  /// - Note: Rule ND-9.
  public nonisolated var isLocked: Bool { snapshot.isLocked }

  /// Whether the document has made its file, and nobody has saved, moved or named it on purpose since.
  ///
  /// May be read anywhere. A program asks for a name when such a document is closed, or offers to delete it.
  ///
  /// - Note: Rule ND-9.
  public nonisolated var isDraft: Bool { snapshot.isDraft }

  /// Saves what is unsaved, and keeps the file from being edited and saved until it's unlocked.
  ///
  /// The lock of a file is the permission of its owner to write, as `chmod u-w` takes it away; of a package it's that of its directory. So it
  /// outlasts the document, moves with the file, holds for the superuser as well, and other programs may set and remove it: the
  /// document notices that. Other permissions stay.
  ///
  /// A locked document isn't saved by anything: edits and calls that save fail with code ``DocumentError/Code/locked``. Changes that were
  /// unsaved when another program locked the file stay in memory, and ``save(as:replacing:within:)`` puts them elsewhere. Others may still
  /// write the file, if they can: it's reloaded as ever. Moving, copying and deleting it go on, as their permissions are those of
  /// directories. A duplicate isn't locked.
  ///
  /// - Parameter deadline: How long to wait; that of the options unless stated.
  /// - Throws: ``DocumentError``; the file isn't locked then. With code `.notWritable` this process isn't its owner.
  /// - Complexity: O(bytes) if something is unsaved.
  /// - Note: Rule ND-9.
  public func lock(within deadline: Duration? = nil) async throws(DocumentError) {
    try await call(.setLock(true), nil, deadline)
  }

  /// Lets the file be edited and saved again.
  ///
  /// Changes that are unsaved are saved soon.
  ///
  /// - Parameter deadline: How long to wait; that of the options unless stated.
  /// - Throws: ``DocumentError``; the file is as it was. With code `.notWritable` this process isn't its owner.
  /// - Complexity: O(1).
  /// - Note: Rule ND-9.
  public func unlock(within deadline: Duration? = nil) async throws(DocumentError) {
    try await call(.setLock(false), nil, deadline)
  }
}
