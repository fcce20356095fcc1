/// How one claim locks its item.
enum LockMode: Hashable, Sendable {
  case read
  case write
  /// A write that concerns everything below the item too: deleting, moving, replacing.
  case deepWrite

  init(_ access: ItemAccess) {
    switch access {
    case .read: self = .read
    case .write(let intent): self = intent.isDeep ? .deepWrite : .write
    }
  }
}

/// Where two locked items stand to each other.
///
/// A package is locked as a whole, so items of one package are the `same`.
enum ItemRelation: Hashable, Sendable {
  case same
  /// The first item is a plain directory around the second.
  case firstContainsSecond
  case secondContainsFirst
}

/// Who blocks whom: section 3.1 of the specification as one table.
///
/// | relation                      | read, read | read, write | write, write | rules                |
/// | ----------------------------- | ---------- | ----------- | ------------ | -------------------- |
/// | same item, or one package     | no         | block       | block        | C-001…C-004, C-006…9 |
/// | outer claim is a read         | no         | no          | –            | C-010, C-011         |
/// | outer claim is a plain write  | –          | no          | no           | C-012, C-018         |
/// | outer claim is a deep write   | –          | block       | block        | C-013…C-016          |
/// | unrelated paths               | no         | no          | no           | C-005                |
///
/// Not in the table because it comes before it: claims of one purpose, of one request, and of a request with the
/// accesses it is nested in never block each other (C-023, C-116, C-130…C-133).
enum ConflictRules {
  static func conflict(_ first: LockMode, _ second: LockMode, _ relation: ItemRelation) -> Bool {
    switch relation {
    case .same: first != .read || second != .read
    case .firstContainsSecond: first == .deepWrite
    case .secondContainsFirst: second == .deepWrite
    }
  }
}
