// Accesses that others may make without asking, and their adoption.
//
// A host may grant an access to itself while nothing here is in the way of it, and enter it into the arbiter only when
// another party comes that would have to wait for it. For that it needs two things: to learn at once which items have
// interests (`takeInterestChanges`), and to have such an access adopted (`accessAdopted`) before the request or
// presenter in whose way it is. Then it can't be distinguished from an access that was requested.

extension FileAccessArbiter {
  /// The changes since the last call at the items that are claimed or presented: one entry for each such item.
  ///
  /// Empty unless the arbiter was made with `tracksInterest`.
  ///
  /// - Complexity: O(items at which claims or presenters came, went or moved since).
  package mutating func takeInterestChanges() -> [InterestChange] { tree.takeInterestChanges() }

  /// Whether nothing here is in the way of a claim, whatever its purpose.
  ///
  /// Only reads and plain writes outside of packages are ever admitted.
  ///
  /// - Complexity: O(length of the path), without allocation.
  package func admits(_ access: ItemAccess, at path: ItemPath) -> Bool {
    tree.admits(access, at: path)
  }

  /// Whether the item is a package or inside one, at any depth.
  package func isInPackage(_ path: ItemPath) -> Bool { tree.isInPackage(path) }

  /// An access that was granted without the arbiter is adopted.
  ///
  /// It counts as granted: no presenter is asked, no `.grant` is returned, and it ends by `accessReleased`. The access
  /// in which it is nested has to be adopted before it, and it before any request that is nested in it.
  ///
  /// - Precondition: ``admits(_:at:)`` for each of its items, and no presenter of its own.
  package mutating func accessAdopted(_ id: AccessID, _ request: AccessRequest, at time: Timestamp) -> [Effect] {
    begin(at: time)
    precondition(request.ownPresenter == nil && !request.isPreparation, "\(id) can't have been granted unasked")
    precondition(!request.items.isEmpty, "\(id) accesses no item")
    for item in request.items {
      precondition(admits(item.access, at: item.path), "\(id) is adopted at \(item.path), where others are")
    }
    insert(id, request, .granted)
    if !has(.adoptedWithoutContext) { noteContext(of: id, request.context) }
    return finish()
  }
}
