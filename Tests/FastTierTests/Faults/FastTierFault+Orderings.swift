import SeededRandom

@testable import FileCoordination

// Orderings that are weaker than those of the tier, one operation each. On x86 they make no difference: only a memory
// where loads may be stale shows them. Each is too weak: a load that fails when it's acquiring has to be sequentially
// consistent; an update that fails when it's acquiring has to release, one that fails when it's releasing to acquire.

extension FastTierFault {
  static let weakenedReads: [FastTierFault] = [
    // A reader may look for obstacles before others can see its claim.
    FastTierFault("shownRead", weakenedTo: .acquiringAndReleasing, .readerAndHostWriter) {
      $0.is(.exchange, in: .read) && $0.isOnSlot
    },
    // It may overlook what was there before.
    FastTierFault("counterAtRead", weakenedTo: .acquiring, .readerAndWriter) {
      $0.is(.load, in: .read) && $0.place == .strongCounter
    },
    FastTierFault("tableAtRead", weakenedTo: .acquiring, .smallTable) {
      $0.is(.load, in: .read) && $0.place == .tablePointer
    },
    FastTierFault("keyAtRead", weakenedTo: .acquiring, .readerAndHostWriter) {
      $0.is(.load, in: .read) && $0.place == .interestKey
    },
    FastTierFault("countsAtRead", weakenedTo: .acquiring, .readerAndHostWriter) {
      $0.is(.load, in: .read) && $0.place == .interestCounts
    },
    FastTierFault("countBelowAtRead", weakenedTo: .acquiring, .readerInMovedDirectory) {
      $0.is(.load, in: .read) && $0.place == .readingBelowCount
    },
    // The work under a claim may be missed by the next claim.
    FastTierFault("end", weakenedTo: .acquiring, .readerAndHostWriter) {
      $0.is(.compareExchange, in: .end) && $0.isOnSlot
    },
    // The first claim of a slot or thread may be overlooked.
    FastTierFault("announcedSlot", weakenedTo: .acquiringAndReleasing, .secondSlot) {
      $0.operation.kind == .exchange && $0.isOnUsedSlots
    },
    FastTierFault("announcedShard", weakenedTo: .acquiringAndReleasing, .firstClaims) {
      $0.operation.kind == .compareExchange && $0.place == .shardCount
    },
  ]

  static let weakenedWrites: [FastTierFault] = [
    FastTierFault("shownWrite", weakenedTo: .acquiringAndReleasing, .writerAndHostReader) {
      $0.is(.exchange, in: .write) && $0.isOnSlot && $0.next.has(SlotState.isTentative)
    },
    FastTierFault("raisedCounter", weakenedTo: .acquiringAndReleasing, .readerAndWriter) {
      $0.is(.add, in: .write) && $0.place == .strongCounter && $0.operation.first == 1
    },
    FastTierFault("loweredCounter", weakenedTo: .acquiring, .readerAndPatientWriter) {
      $0.is(.add, in: .end) && $0.place == .strongCounter
    },
    FastTierFault("tableAtWrite", weakenedTo: .acquiring, .smallTableAndWriter) {
      $0.is(.load, in: .write) && $0.place == .tablePointer
    },
    FastTierFault("keyAtWrite", weakenedTo: .acquiring, .writerAndHostReader) {
      $0.is(.load, in: .write) && $0.place == .interestKey
    },
    FastTierFault("countsAtWrite", weakenedTo: .acquiring, .writerAndHostReader) {
      $0.is(.load, in: .write) && $0.place == .interestCounts
    },
    FastTierFault("countBelowAtWrite", weakenedTo: .acquiring, .writerInMovedDirectory) {
      $0.is(.load, in: .write) && $0.place == .writingBelowCount
    },
    FastTierFault("shardCountAtWrite", weakenedTo: .acquiring, .lateHighShard) {
      $0.is(.load, in: .write) && $0.place == .shardCount
    },
    FastTierFault("usedSlotsAtWrite", weakenedTo: .acquiring, .lateLowShard) {
      $0.is(.load, in: .write) && $0.isOnUsedSlots
    },
    FastTierFault("stateAtWrite", weakenedTo: .acquiring, .readerAndWriter) {
      $0.is(.load, in: .write) && $0.isOnForeignSlot
    },
    FastTierFault("slotKeyAtWrite", weakenedTo: .relaxed, .slotUsedAgain) {
      $0.is(.load, in: .write) && $0.isOnForeignKey
    },
    FastTierFault("filledKeyAtWrite", weakenedTo: .relaxed, .again) {
      $0.is(.store, in: .write) && $0.place == .slotKey(shard: $0.thread)
    },
    FastTierFault("ownStateAtWrite", weakenedTo: .relaxed, .writeHandedOver) {
      $0.is(.load, in: .write) && $0.isOnOwnSlot
    },
  ]

  static let weakenedSteps: [FastTierFault] = [
    FastTierFault("raisedKey", weakenedTo: .acquiringAndReleasing, .readerAndHostWriter) {
      $0.is(.exchange, in: .arbiterStep) && $0.place == .interestKey
    },
    FastTierFault("raisedCounts", weakenedTo: .acquiringAndReleasing, .readerAndHostWriter) {
      $0.is(.exchange, in: .arbiterStep) && $0.place == .interestCounts
    },
    FastTierFault("raisedReadingBelow", weakenedTo: .acquiringAndReleasing, .readerInMovedDirectory) {
      $0.is(.add, in: .arbiterStep) && $0.place == .readingBelowCount
    },
    FastTierFault("raisedWritingBelow", weakenedTo: .acquiringAndReleasing, .writerInMovedDirectory) {
      $0.is(.add, in: .arbiterStep) && $0.place == .writingBelowCount
    },
    FastTierFault("replacedTable", weakenedTo: .acquiring, .smallTable) {
      $0.is(.exchange, in: .arbiterStep) && $0.place == .tablePointer
    },
    FastTierFault("shardCountAtStep", weakenedTo: .acquiring, .firstClaimAndHostWriter) {
      $0.is(.load, in: .arbiterStep) && $0.place == .shardCount
    },
    FastTierFault("usedSlotsAtStep", weakenedTo: .acquiring, .lateLowShardAndHostWriter) {
      $0.is(.load, in: .arbiterStep) && $0.isOnUsedSlots
    },
    FastTierFault("stateAtStep", weakenedTo: .acquiring, .readerAndHostWriter) {
      $0.is(.load, in: .arbiterStep) && $0.isOnForeignSlot
    },
    FastTierFault("slotKeyAtStep", weakenedTo: .relaxed, .slotUsedAgainAndHostWriter) {
      $0.is(.load, in: .arbiterStep) && $0.isOnForeignKey
    },
    FastTierFault("releasedRead", weakenedTo: .relaxed, .movedElsewhereWhileRead) {
      $0.is(.store, in: .arbiterStep) && $0.isOnSlot && $0.isUnfreezing && !$0.next.has(SlotState.isWrite)
    },
    FastTierFault("releasedWrite", weakenedTo: .relaxed, .movedElsewhereWhileWritten) {
      $0.is(.store, in: .arbiterStep) && $0.isOnSlot && $0.isUnfreezing && $0.next.has(SlotState.isWrite)
    },
  ]

  /// In models that take longer.
  static let weakenedInLargerModels: [FastTierFault] = [
    // A table may be freed while a reader that retreats still looks at it.
    FastTierFault("retreat", weakenedTo: .acquiring, .shrinkingTable) {
      $0.is(.compareExchange, in: .read) && $0.isOnSlot
    },
    FastTierFault("shrunkTable", weakenedTo: .acquiringAndReleasing, .shrinkingTable) {
      $0.is(.exchange, in: .arbiterStep) && $0.place == .tablePointer
    },
    FastTierFault("takenBack", weakenedTo: .acquiring, .shrinkingTableAndWriter) {
      $0.is(.exchange, in: .write) && $0.isOnSlot && $0.next.isFree
    },
    FastTierFault("shownLook", weakenedTo: .acquiringAndReleasing, .patientReader) {
      $0.is(.exchange, in: .look) && $0.isOnSlot && $0.next.has(SlotState.isLooking)
    },
    FastTierFault("hiddenLook", weakenedTo: .acquiring, .patientReader) {
      $0.is(.exchange, in: .look) && $0.isOnSlot && $0.next.isFree
    },
    FastTierFault("tableAtLook", weakenedTo: .acquiring, .patientReader) {
      $0.is(.load, in: .look) && $0.place == .tablePointer
    },
    FastTierFault("endAfterLook", weakenedTo: .acquiring, .lookedAt) {
      $0.is(.exchange, in: .free) && $0.isOnSlot
    },
    FastTierFault("counterAfterLook", weakenedTo: .acquiring, .lookedAt) {
      $0.is(.add, in: .free) && $0.place == .strongCounter
    },
    FastTierFault("lookKey", weakenedTo: .relaxed, .slotLooksAgain) {
      $0.is(.store, in: .look) && $0.place == .slotKey(shard: $0.thread)
    },
  ]

  static let weakened =
    weakenedReads + weakenedWrites + weakenedSteps + (Budget.isLong ? weakenedInLargerModels : [])
}

/// An ordering of the tier that is stronger than any model needs; it stays, as it costs nothing on x86.
///
/// A plain load or store of x86 is acquiring or releasing, and each update is a fence.
struct UnneededOrdering: Sendable, CustomStringConvertible {
  /// The weaker one that changes nothing.
  let weaker: FastTierFault
  let reason: String

  var description: String { "\(weaker): \(reason)" }

  init(
    _ name: String, weakenedTo ordering: Ordering = .relaxed, _ model: Model, _ reason: String,
    where isConcerned: @escaping @Sendable (TierOperation) -> Bool
  ) {
    weaker = FastTierFault(name, weakenedTo: ordering, model, where: isConcerned)
    self.reason = reason
  }

  static let claims: [UnneededOrdering] = [
    UnneededOrdering(
      "ownStateAtRead", weakenedTo: .acquiring, .lateLook,
      "a reader that was refused meets an obstacle, or acquires the refusal from a word that was lowered after it"
    ) { $0.is(.load, in: .read) && $0.isOnOwnSlot },
    UnneededOrdering(
      "regain", weakenedTo: .acquiringAndReleasing, .writerAfterWriter,
      "it's an update of the word that writers update, so that one of both comes first"
    ) { $0.is(.compareExchange, in: .read) && $0.place == .strongCounter },
    UnneededOrdering("shardCountAtAnnouncement", .firstClaims, "who has announced as many did it in order") {
      $0.is(.load, in: .read) && $0.place == .shardCount
    },
    UnneededOrdering("busyCounter", .readerAndWriter, "an update continues the release sequence of those before it") {
      $0.is(.add, in: .write) && $0.place == .strongCounter && $0.operation.first != 1
    },
    UnneededOrdering("confirmation", .writerAndHostReader, "it continues the release sequence that shows the claim") {
      $0.is(.compareExchange, in: .write) && $0.isOnSlot
    },
    UnneededOrdering("version", .writerInRememberedDirectory, "it's raised before a count that writers look at first") {
      $0.place == .version
    },
    UnneededOrdering("look", .readerAndPatientWriter, "the answer is a hint: the attempt that follows decides") {
      $0.is(.load, in: .look) && $0.place != .tablePointer
    },
  ]

  static let steps: [UnneededOrdering] = [
    UnneededOrdering("interestsAtStep", .readerAndHostWriter, "they change under the host's lock, which orders them") {
      guard $0.is(.load, in: .arbiterStep) else { return false }
      return $0.place == .tablePointer || $0.place == .interestKey || $0.place == .interestCounts
    },
    UnneededOrdering("ownStateAtStep", .movedByItsReader, "a thread knows its own slots") {
      $0.is(.load, in: .arbiterStep) && $0.isOnOwnSlot
    },
    UnneededOrdering("frozen", .readerAndHostWriter, "the load before it acquires, and it continues a release sequence")
    {
      $0.is(.compareExchange, in: .arbiterStep) && $0.isOnSlot && $0.next.has(SlotState.isFrozen)
    },
    UnneededOrdering(
      "challenged", .writerAndHostReader, "the writer that it meets gives up, without having done anything"
    ) {
      $0.is(.compareExchange, in: .arbiterStep) && $0.isOnSlot && $0.next.has(SlotState.isChallenged)
    },
    UnneededOrdering("decided", .readerAndHostWriter, "an adopted or refused claim ends under the host's lock") {
      $0.is(.store, in: .arbiterStep) && $0.isOnSlot && !$0.isUnfreezing
    },
    UnneededOrdering("concluded", .lateLook, "under the host's lock, like all that it concerns") {
      $0.step == .conclude
    },
  ]

  static let all = claims + steps
}
