/// How one claim locks its item.
enum LockMode: UInt8, Sendable {
  case read
  /// A read of everything below the item too: a snapshot.
  case deepRead
  case write
  /// A write that concerns everything below the item too: deleting, moving, replacing.
  case deepWrite

  init(_ access: ItemAccess) {
    switch access {
    case .read: self = .read
    case .readAll: self = .deepRead
    case .write(let intent): self = intent.isDeep ? .deepWrite : .write
    case .delegated(let forWriting): self = forWriting ? .deepWrite : .deepRead
    }
  }

  /// The mode of these two bits: there are four modes.
  @inline(__always)
  init(bits: UInt8) {
    switch bits {
    case LockMode.read.rawValue: self = .read
    case LockMode.deepRead.rawValue: self = .deepRead
    case LockMode.write.rawValue: self = .write
    case LockMode.deepWrite.rawValue: self = .deepWrite
    default: preconditionFailure("lock mode \(bits)")
    }
  }

  var isRead: Bool { self == .read || self == .deepRead }
  var isDeep: Bool { self == .deepRead || self == .deepWrite }
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

/// The conflicts between accesses, as one table.
///
/// | relation                      | read, read | read, write | write, write | rules                      |
/// | ----------------------------- | ---------- | ----------- | ------------ | -------------------------- |
/// | same item, or one package     | no         | block       | block        | C-001…C-004, C-006…C-009   |
/// | outer claim is a read         | no         | no          | –            | C-010, C-011               |
/// | outer claim is a plain write  | –          | no          | no           | C-012, C-018               |
/// | outer claim is a deep write   | –          | block       | block        | C-013…C-016                |
/// | outer claim reads all         | no         | block       | –            | C-046, see below           |
/// | unrelated paths               | no         | no          | no           | C-005                      |
///
/// Apple has no read of everything inside. We need one for `.forUploading` of a plain directory: an archive of files
/// that are being written is no consistent snapshot (C-046).
///
/// Not in the table because it comes before it: claims of one purpose, of one request, and of a request with the
/// accesses it is nested in never block each other (C-023, C-116, C-130…C-133).
enum ConflictRules {
  static func conflict(_ first: LockMode, _ second: LockMode, _ relation: ItemRelation) -> Bool {
    switch relation {
    case .same: !(first.isRead && second.isRead)
    case .firstContainsSecond: reachesInside(first, second)
    case .secondContainsFirst: reachesInside(second, first)
    }
  }

  private static func reachesInside(_ outer: LockMode, _ inner: LockMode) -> Bool {
    switch outer {
    case .read, .write: false
    case .deepRead: !inner.isRead
    case .deepWrite: true
    }
  }
}
