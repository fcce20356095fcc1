/// How the memory of a model orders what its threads do.
enum MemoryModel: Hashable, Sendable, CustomStringConvertible {
  /// x86-TSO: a store waits in a buffer of its thread, whose oldest entry reaches the memory as a step of its own.
  case storeBuffers
  /// C++20: an operation may miss what others have done; see ``MessageMemory``.
  ///
  /// - Parameter lateCountMax: How often threads may miss something, all together; `nil` for any number.
  case messages(lateCountMax: Int?)

  var hasMessages: Bool { self != .storeBuffers }
  var lateCountMax: Int? {
    if case .messages(let count) = self { count } else { nil }
  }

  var description: String {
    switch self {
    case .storeBuffers: "store buffers"
    case .messages(lateCountMax: nil): "messages, any number missed"
    case .messages(lateCountMax: let count?): "messages, at most \(count) missed"
    }
  }
}

/// The events of ``MessageMemory``: a bit for each.
///
/// They show whether accesses that mustn't meet are ordered by what threads acquire and release, not only by luck: of the
/// files that are claimed, of notes, of tables that are freed.
enum ModelEvents {
  private static let claimCountMax = 24
  private static let slotCountMax = 8
  /// Regions share events; that can only make an order seem to be missing.
  private static let regionClassCount = 4
  private static let userCountMax = 5

  private static let noteWrites = claimCountMax
  private static let noteReads = noteWrites + slotCountMax
  private static let makings = noteReads + slotCountMax
  private static let uses = makings + regionClassCount

  /// The ends of claims, given as a mask.
  static func ends(ofClaims mask: UInt64) -> UInt64 {
    precondition(mask >> UInt64(claimCountMax) == 0, "there are too many claims")
    return mask
  }

  static func noteWrite(slot: Int) -> UInt64 { 1 << UInt64(noteWrites + checked(slot, slotCountMax)) }
  static func noteRead(slot: Int) -> UInt64 { 1 << UInt64(noteReads + checked(slot, slotCountMax)) }
  static func making(region: Int) -> UInt64 { 1 << UInt64(makings + region % regionClassCount) }
  static func use(region: Int, by thread: Int) -> UInt64 {
    1 << UInt64(uses + region % regionClassCount * userCountMax + checked(thread, userCountMax))
  }
  static func uses(region: Int) -> UInt64 {
    (1 << UInt64(userCountMax) - 1) << UInt64(uses + region % regionClassCount * userCountMax)
  }

  private static func checked(_ number: Int, _ countMax: Int) -> Int {
    precondition(number < countMax, "there are no events for number \(number)")
    return number
  }
}
