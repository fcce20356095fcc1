internal import Synchronization
internal import SystemInterface

/// A number by which the fast tier decides whether it may grant a claim: because the domain is of one process, or
/// because a delegation of this process covers the item.
///
/// Each item records the number under which it was last found to be covered. The return of a delegation first takes a
/// new number and then searches for claims; a claim is first shown and then compares the number.
///
/// The number is in memory that the service can write too. A process that was stopped for so long that its delegations
/// were given to others finds it ``revoked`` at its next claim, before it has read a word of the service's messages.
/// One that was disconnected finds it ``expelled``, and trusts nothing that it reads from the old connection.
///
/// Plain memory, so that reading it counts no references.
struct DelegationCoverage: Sendable {
  private let address: Int
  private static let lastNumber = Atomic<UInt64>(0)

  /// Written by the service: nothing is covered until this process has read the reason.
  ///
  /// No item has recorded it, as it's odd.
  static let revoked = UInt64.max
  /// The same, and no earlier message counts.
  static let expelled = UInt64.max - 2

  /// - Parameter word: Where the number is, kept by the owner of this value; `nil` in domains of one process, which
  ///   need none.
  init(in word: SharedWord?) {
    address = word?.address ?? Self.zero
    if word != nil { reset() }
  }

  /// The number of all domains of one process.
  private static let zero = ProcessMemory().allocate(wordCount: 1)

  /// Lets the service write the number from now on.
  func attach(_ word: SharedWord?, to session: HeldLock) throws(SystemError) {
    // Not zero, even for a moment: that would allow everything.
    try word?.attach(to: session, initially: Self.revoked)
    reset()
  }

  /// Zero in domains of one process, where every claim without an obstacle may be granted.
  ///
  /// Otherwise an even number that no domain ever had before, or ``revoked``.
  @inline(__always)
  var current: UInt64 { ProcessMemory().load(address) }

  var isRevoked: Bool { Self.isRevoked(current) }

  /// Written by the service.
  static func isRevoked(_ number: UInt64) -> Bool { !number.isMultiple(of: 2) }

  var isExpelled: Bool { current == Self.expelled }

  /// From now on no item is covered.
  func renew() {
    let current = current
    // If the service writes meanwhile, that stands.
    if !Self.isRevoked(current) { _ = ProcessMemory().compareExchange(current, Self.newNumber(), at: address) }
  }

  /// This process has returned every delegation because of ``revoked``.
  ///
  /// The service may expel it at the same moment, which stands.
  func acknowledgeRevocation() { _ = ProcessMemory().compareExchange(Self.revoked, Self.newNumber(), at: address) }

  /// A service has accepted this process, which has no delegation of it yet.
  ///
  /// - Returns: Whether an earlier one, or this one before, had expelled it.
  @discardableResult
  func reset() -> Bool { ProcessMemory().exchange(Self.newNumber(), at: address) == Self.expelled }

  private static func newNumber() -> UInt64 { lastNumber.wrappingAdd(2, ordering: .relaxed).newValue }

  @inline(__always)
  func allows(_ item: ResolvedItem, isWrite: Bool) -> Bool {
    let current = current
    return current == 0 || item.isCovered(in: current, isWrite: isWrite)
  }
}
