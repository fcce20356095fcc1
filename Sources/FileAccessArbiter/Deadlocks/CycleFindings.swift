internal import CompactContainers

/// The results of searches for the suspects of one event, until a decision changes.
///
/// An empty one knows nothing, so everything is examined.
struct CycleFindings {
  /// From so many suspects on, one search for all of them costs less than one for each.
  private static let suspectCountMin = 4
  /// How many waits that search may go through, for each suspect and altogether.
  private static let waitCountMaxOfSuspect = 512
  private static let waitCountMax = 1 << 15

  private var possible: WaitCycles?
  private var likely: WaitCycles?
  private var hasSearched = false
  /// Those that have been examined; the set has the others, because in most events there's one.
  private var first: AccessID?
  private var others: Set<AccessID> = []

  /// Searches for the suspects that are in cycles, once, if there are many.
  mutating func search(_ suspects: ArraySlice<AccessID>, _ arbiter: borrowing FileAccessArbiter) {
    if hasSearched { return }
    hasSearched = true
    if suspects.count < Self.suspectCountMin { return }
    possible = cycles(of: suspects, .possible, arbiter)
    if possible != nil { likely = cycles(of: suspects, .likely, arbiter) }
  }

  private func cycles(
    of suspects: ArraySlice<AccessID>, _ presumption: FileAccessArbiter.Presumption,
    _ arbiter: borrowing FileAccessArbiter
  ) -> WaitCycles? {
    let waitCountMax = min(Self.waitCountMax, Self.waitCountMaxOfSuspect * suspects.count)
    return WaitCycles(from: suspects.lazy.map(WaitNode.access), waitCountMax: waitCountMax) { node, body in
      arbiter.forEachWait(of: node, presumption, body)
    }
  }

  /// - Returns: Whether the suspect hasn't been examined since the last decision.
  mutating func note(_ suspect: AccessID) -> Bool {
    if !hasSearched { return true }
    guard let first else {
      first = suspect
      return true
    }
    return suspect != first && others.insert(suspect).inserted
  }

  /// Whether an access is certain to be in no cycle.
  func excludes(_ id: AccessID, _ presumption: FileAccessArbiter.Presumption) -> Bool {
    switch presumption {
    case .possible: possible?.excludes(.access(id)) ?? false
    case .likely: likely?.excludes(.access(id)) ?? false
    case .lasting: false
    }
  }
}
