/// The tree of items that somebody claims or presents, keyed by the components of canonical paths.
///
/// A node lives while a claim or presenter is attached to it or below it. Nodes count what is attached below them, so
/// that a look at a path costs in proportion to its depth, whatever is claimed or presented elsewhere.
struct ItemTree: Sendable {
  typealias NodeIndex = Int32
  typealias ClaimIndex = Int32
  static let none: Int32 = -1

  struct Node: Sendable {
    let name: [UInt8]
    /// Of the path, for the child table and for ``InterestChange``; equal ones don't prove equal paths.
    let fingerprint: PathFingerprint
    let parent: NodeIndex
    let isPackage: Bool
    var firstChild = ItemTree.none
    var nextSibling = ItemTree.none
    var previousSibling = ItemTree.none
    /// Held claims on this very item.
    var held = ClaimList()
    /// Claims on this very item that wait, in order of request.
    var waiting = ClaimList()
    var deepClaimCount: Int32 = 0
    var deepWriteClaimCount: Int32 = 0
    var writeClaimCount: Int32 = 0
    /// Claims in this node and below it.
    var claimCountInSubtree: Int32 = 0
    var presenters: [PresenterID] = []
    /// Presenters of this node and of nodes below it.
    var presenterCountInSubtree: Int32 = 0
    /// The next node in the same bucket of the child table.
    var nextInBucket = ItemTree.none
    /// The interest that the journal has told of.
    var journalledInterest: ItemInterest = []
    /// The interest may be another one than the journal has told of.
    var isInterestDirty = false

    subscript(claims isHeld: Bool) -> ClaimList {
      get { isHeld ? held : waiting }
      _modify {
        if isHeld { yield &held } else { yield &waiting }
      }
    }
  }

  /// The ends of a linked list of claims.
  struct ClaimList: Hashable, Sendable {
    var first = ItemTree.none
    var last = ItemTree.none
  }

  struct Claim: Sendable {
    let access: AccessID
    /// The place of its access in the order of requests.
    let sequence: UInt64
    /// Its access is granted, so it's in everybody's way, whoever was first.
    var isHeld: Bool
    /// Which of the access's items this claim belongs to.
    let item: Int32
    let mode: LockMode
    var node: NodeIndex
    var previous = ItemTree.none
    var next = ItemTree.none
  }

  // Written only by the extensions of this type.
  var nodes = Slab<Node>()
  var claims = Slab<Claim>()
  /// Chained hash table from (parent, name) to child.
  var buckets = [NodeIndex](repeating: ItemTree.none, count: 64)
  var journal: InterestJournal
  #if DEBUG
    var seededFaults: Set<SeededFault> = []
    func has(_ fault: SeededFault) -> Bool { !seededFaults.isEmpty && seededFaults.contains(fault) }
  #else
    @inline(__always) func has(_: SeededFault) -> Bool { false }
  #endif
  let root: NodeIndex
  let packageExtensions: [[UInt8]]

  /// Creates a tree in which directories with one of these extensions are packages.
  ///
  /// No extension, no packages.
  init(packageExtensions: [String] = [], fingerprintSeed: UInt64 = 0, tracksInterest: Bool = false) {
    self.packageExtensions = packageExtensions.map { Array($0.utf8) }
    journal = InterestJournal(isKept: tracksInterest)
    root = nodes.insert(
      Node(name: [], fingerprint: .root(seed: fingerprintSeed), parent: ItemTree.none, isPackage: false))
  }
}
