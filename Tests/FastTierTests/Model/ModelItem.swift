@testable import FileAccessArbiter
@testable import FileCoordination

/// The items of all models: a root, two directories, two files in the first and three in the second.
///
/// `twin` happens to have the fingerprint of `file`, and `mate` its strong counter.
enum ModelItem: UInt, CaseIterable, Hashable, NestedItem {
  case root, directory, file, sibling, other, stranger, twin, mate

  var parent: ModelItem? {
    switch self {
    case .root: nil
    case .directory, .other: .root
    case .file, .sibling: .directory
    case .stranger, .twin, .mate: .other
    }
  }

  var name: String {
    switch self {
    case .root: "/"
    case .directory: "/d"
    case .file: "/d/f"
    case .sibling: "/d/g"
    case .other: "/e"
    case .stranger: "/e/h"
    case .twin: "/e/t"
    case .mate: "/e/m"
    }
  }

  /// In a table of four entries, `other` and `stranger` come where `root` and `directory` would.
  var fingerprint: UInt64 {
    switch self {
    case .twin: Self.file.fingerprint
    // As many counters as a model has.
    case .mate: Self.file.fingerprint + UInt64(Model.strongCounterCount)
    case .root, .directory, .file, .sibling, .other, .stranger: UInt64(8 + rawValue)
    }
  }

  var pathFingerprint: PathFingerprint { PathFingerprint(mixing: fingerprint) }

  func obstacle(_ interest: ItemInterest) -> Obstacle<ModelItem> {
    Obstacle(item: self, key: fingerprint, interest: interest)
  }

  func contains(_ other: ModelItem) -> Bool { other.isBelow(self) }

  func isBelow(_ item: ModelItem) -> Bool {
    var ancestor = parent
    while let next = ancestor {
      if next == item { return true }
      ancestor = next.parent
    }
    return false
  }

  var path: [ModelItem] { (parent?.path ?? []) + [self] }

  /// The fingerprints of each item's path; never freed, as claims keep pointers to them.
  static let paths: [ClaimPath] = allCases.map { item in
    let path = item.path
    let fingerprints = UnsafeMutablePointer<UInt64>.allocate(capacity: path.count)
    for (index, step) in path.enumerated() { fingerprints[index] = step.fingerprint }
    return ClaimPath(fingerprints, count: path.count)
  }

  var claimPath: ClaimPath { Self.paths[Int(rawValue)] }

  /// The path, with the item's word.
  ///
  /// - Parameter memos: Where the words of all items begin, or zero.
  /// - Returns: The path.
  func claimPath(memos: Int) -> ClaimPath {
    if memos == 0 { return claimPath }
    return ClaimPath(claimPath.fingerprints, count: claimPath.count, memo: memos + 8 * Int(rawValue))
  }
}

/// The kinds of claims.
enum ClaimKind: Hashable {
  case read, write
  /// Deletes or moves an item with all that is in it.
  case deepWrite

  var interest: ItemInterest {
    switch self {
    case .read: .blocksWriting
    case .write: [.blocksReading, .blocksWriting]
    case .deepWrite: .everything
    }
  }
}

struct ModelClaim: Hashable {
  var number: Int
  var thread: Int
  var kind: ClaimKind
  var item: ModelItem
  var isNested = false
  /// Whether it's tried again in the fast tier after a check.
  var isPatient = false

  /// Whether both can't be granted at the same time.
  func conflicts(with other: ModelClaim) -> Bool {
    if thread == other.thread { return false }
    if item == other.item { return kind != .read || other.kind != .read }
    return kind == .deepWrite && other.item.isBelow(item) || other.kind == .deepWrite && item.isBelow(other.item)
  }

  /// Whether an interest keeps the fast tier from granting the claim.
  func isCovered(by interest: ItemInterest, at place: ModelItem) -> Bool {
    if item == place { return interest.contains(kind == .read ? .blocksReading : .blocksWriting) }
    return item.isBelow(place) && interest.contains(kind == .read ? .blocksReadingBelow : .blocksWritingBelow)
  }
}

/// A presenter that must be asked before others read or write an item, and notified of writes inside.
struct ModelPresenter: Hashable {
  var number: Int
  var item: ModelItem

  static let interest = ItemInterest.presenter

  func concerns(_ claim: ModelClaim) -> Bool { claim.isCovered(by: Self.interest, at: item) }
}

/// The conflicts between claims of a model, and the names of its words.
struct ClaimRules {
  let claims: [ModelClaim]
  private let conflictMasks: [UInt64]
  private var presenterMasks: [UInt64]
  var placeNames: [Int: String] = [:]

  init(_ claims: [ModelClaim], presenters: [ModelPresenter] = []) {
    self.claims = claims
    conflictMasks = claims.map { claim in
      claims.reduce(0) { $0 | (claim.conflicts(with: $1) ? 1 << UInt64($1.number) : 0) }
    }
    presenterMasks = claims.map { claim in
      presenters.reduce(0) { $0 | ($1.concerns(claim) ? 1 << UInt64($1.number) : 0) }
    }
  }

  func conflicts(of claim: Int) -> UInt64 { conflictMasks[claim] }
  /// The claims that a presenter is to be asked about.
  func claims(concerning presenter: Int) -> UInt64 {
    claims.indices.reduce(0) { $0 | (presenterMasks[$1] & (1 << UInt64(presenter)) != 0 ? 1 << UInt64($1) : 0) }
  }
  func presenters(concernedBy claim: Int) -> UInt64 { presenterMasks[claim] }

  func name(_ claim: Int) -> String {
    let claim = claims[claim]
    return "\(claim.kind) \(claim.item.name) of thread \(claim.thread)"
  }

  func names(_ mask: UInt64) -> String {
    claims.filter { mask & (1 << UInt64($0.number)) != 0 }.map { name($0.number) }.joined(separator: " and ")
  }

  func place(_ address: Int) -> String { placeNames[address] ?? "word \(address)" }

  /// The problem in the host's records.
  func problem(in host: ModelHost) -> String? {
    let held = host.claims.filter(\.isHeld).map(\.claim)
    for (index, one) in held.enumerated() {
      for two in held[..<index] where one.conflicts(with: two) {
        return "the host holds \(name(one.number)) and \(name(two.number))"
      }
    }
    return nil
  }
}
