internal import CompactContainers

/// The tree of items that somebody claims or presents, keyed by the components of canonical paths.
///
/// A node lives while a claim or presenter is attached to it or below it. Nodes count the claims and presenters below
/// them, so that a search along a path costs in proportion to its depth, whatever is claimed or presented elsewhere.
///
/// There may be millions of nodes, claims and presenters: they are plain bytes in slabs, linked by indices, without an
/// object of their own.
struct ItemTree: ~Copyable, Sendable {
  typealias NodeIndex = Int32
  typealias ClaimIndex = Int32
  typealias SeatIndex = Int32
  static let none: Int32 = -1

  /// One item.
  ///
  /// Most have one claim or one presenter and nothing below them, and there may be a million of those: data that only
  /// the others need lie in a ``Branch``.
  struct Node: HashedElement {
    /// The kind of `attachment`.
    enum Content: UInt8, Sendable { case nothing, claim, seat, branch }

    let name: NodeName
    /// Of the path, for the child table and for ``InterestChange``; equal ones don't prove equal paths.
    let fingerprint: PathFingerprint
    let parent: NodeIndex
    var nextSibling = ItemTree.none
    var previousSibling = ItemTree.none
    /// Of the child table.
    var link = ItemTree.none
    /// The only claim or seat, or the branch.
    var attachment = ItemTree.none
    var content = Content.nothing
    let isPackage: Bool
    /// The interest that the journal has reported.
    var journalledInterest: ItemInterest = []
    /// The interest may be another one than the journal has reported.
    var isInterestDirty = false

    var hash: UInt64 { fingerprint.rawValue }
  }

  /// The claims and presenters of one item, and the counts below it.
  struct Branch: Hashable, Sendable {
    var firstChild = ItemTree.none
    /// Held claims on this very item.
    var held = ClaimList()
    /// Claims on this very item that wait, in order of request.
    var waiting = ClaimList()
    var deepClaimCount: Int32 = 0
    var deepWriteClaimCount: Int32 = 0
    var writeClaimCount: Int32 = 0
    /// Claims in this node and below it.
    var claimCountInSubtree: Int32 = 0
    /// The first of the presenters of this very item, in the order in which they came; the one before it is the last.
    var firstSeat = ItemTree.none
    /// Presenters of this node and of nodes below it.
    var presenterCountInSubtree: Int32 = 0

    var hasPresenters: Bool { firstSeat != ItemTree.none }

    subscript(claims isHeld: Bool) -> ClaimList {
      get { isHeld ? held : waiting }
      _modify {
        if isHeld { yield &held } else { yield &waiting }
      }
    }

    /// Counts a claim on this very item as one that came or went.
    mutating func count(_ mode: LockMode, by change: Int32) {
      if !mode.isRead { writeClaimCount += change }
      if mode.isDeep { deepClaimCount += change }
      if mode == .deepWrite { deepWriteClaimCount += change }
    }
  }

  /// The ends of a linked list of claims.
  struct ClaimList: Hashable, Sendable {
    var first = ItemTree.none
    var last = ItemTree.none

    var isEmpty: Bool { first == ItemTree.none }
  }

  struct Claim: Sendable {
    let access: AccessID
    /// The place of its access in the order of requests.
    let sequence: UInt64
    var node: NodeIndex
    var previous = ItemTree.none
    var next = ItemTree.none
    /// From the lowest: whether it's held, two bits for the mode, the item.
    private var bits: UInt32

    /// How many items one access may have, so that their numbers fit.
    static let itemCountMax = 1 << 29

    init(access: AccessID, sequence: UInt64, item: Int32, node: NodeIndex, mode: LockMode, isHeld: Bool) {
      precondition(item < Claim.itemCountMax, "\(access) accesses too many items")
      self.access = access
      self.sequence = sequence
      self.node = node
      bits = UInt32(item) << 3 | UInt32(mode.rawValue) << 1 | (isHeld ? 1 : 0)
    }

    /// Which of the access's items this claim belongs to.
    var item: Int32 { Int32(bits >> 3) }

    var mode: LockMode { LockMode(bits: UInt8(bits >> 1 & 3)) }

    /// Its access is granted, so it's in the way of all others, whichever was first.
    var isHeld: Bool {
      get { bits & 1 != 0 }
      set { bits = bits & ~1 | (newValue ? 1 : 0) }
    }
  }

  /// Where a presenter is.
  struct Seat: Sendable {
    let presenter: PresenterID
    var previous = ItemTree.none
    var next = ItemTree.none
  }

  // Written only by the extensions of this type.
  /// Found by the fingerprint of parent and name.
  var nodes = HashedSlab<Node>()
  var branches = Slab<Branch>()
  var names = NodeNameStore()
  var claims = Slab<Claim>()
  var seats = Slab<Seat>()
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
    let root = Node(
      name: NodeName(), fingerprint: .root(seed: fingerprintSeed), parent: ItemTree.none, isPackage: false)
    self.root = nodes.insert(root)
    // Everything is below it.
    nodes[self.root].attachment = branches.insert(Branch())
    nodes[self.root].content = .branch
  }
}

extension ItemTree {
  var reservedByteCount: Int {
    nodes.reservedByteCount + branches.reservedByteCount + names.reservedByteCount + claims.reservedByteCount
      + seats.reservedByteCount
  }
}

extension ItemTree: Boxed {
  func duplicate() -> ItemTree { ItemTree(copying: self) }

  private init(copying other: borrowing ItemTree) {
    nodes = other.nodes
    branches = other.branches
    names = other.names
    claims = other.claims
    seats = other.seats
    journal = other.journal
    root = other.root
    packageExtensions = other.packageExtensions
    #if DEBUG
      seededFaults = other.seededFaults
    #endif
  }
}
