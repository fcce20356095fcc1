internal import Synchronization

/// A number by which the fast tier tells whether it may grant a claim: because the domain is of one process, or because the
/// item is in a directory that this process was lent.
///
/// Each item notes the number under which it was last found to be covered. Whoever gives a loan back takes a new number
/// first and looks for claims then; who claims is shown first and looks at the number then.
///
/// Plain memory, so that nobody counts references to look at it.
struct LoanCoverage: Sendable {
  private let address: Int
  private static let lastNumber = Atomic<UInt64>(0)

  init(ofManyProcesses isOfMany: Bool) {
    address = ProcessMemory().allocate(wordCount: 1)
    if isOfMany { renew() }
  }

  func deallocate() { ProcessMemory().free(address, wordCount: 1) }

  /// Zero in domains of one process, where every claim may be granted that nobody objects to.
  ///
  /// Otherwise an even number that no domain ever had before.
  @inline(__always)
  var current: UInt64 { ProcessMemory().load(address) }

  /// No item is known to be covered any more.
  func renew() {
    _ = ProcessMemory().exchange(Self.lastNumber.wrappingAdd(2, ordering: .relaxed).newValue, at: address)
  }

  @inline(__always)
  func allows(_ item: ResolvedItem, isWrite: Bool) -> Bool {
    let current = current
    return current == 0 || item.isCovered(in: current, isWrite: isWrite)
  }
}
