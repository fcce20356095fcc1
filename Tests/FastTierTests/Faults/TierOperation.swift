@testable import FileCoordination

/// The purpose for which a thread calls the tier.
enum TierStep {
  case read, write, look, conclude, end, free
  /// A step of the arbiter, with all that the holder of the host's lock does around it.
  case arbiterStep
}

/// An operation on memory, and where in the algorithm it is.
struct TierOperation {
  let operation: Operation
  let step: TierStep
  let place: TierPlaces.Place
  let thread: Int
  let places: TierPlaces

  init(_ operation: Operation, in step: TierStep, by thread: Int, _ places: TierPlaces) {
    self.operation = operation
    self.step = step
    self.thread = thread
    self.places = places
    place = places.place(operation.address)
  }

  /// Whether it's of this kind, in this step.
  func `is`(_ kind: Operation.Kind, in step: TierStep) -> Bool { operation.kind == kind && self.step == step }

  var isOnOwnSlot: Bool { place == .slotState(shard: thread) }
  var isOnForeignSlot: Bool {
    if case .slotState(let shard) = place { shard != thread } else { false }
  }
  var isOnForeignKey: Bool {
    if case .slotKey(let shard) = place { shard != thread } else { false }
  }
  var isOnUsedSlots: Bool {
    if case .usedSlots = place { true } else { false }
  }
  /// Whether it lets a claim go on that was only looked at.
  var isUnfreezing: Bool { !next.has(SlotState.isAdopted | SlotState.isChallenged | SlotState.isFrozen) }
  var isOnSlot: Bool { isOnOwnSlot || isOnForeignSlot }

  /// The value that it puts into the word: with a slot, the next state.
  var next: SlotState { SlotState(operation.kind == .compareExchange ? operation.second : operation.first) }
}

/// The change of an operation by a mistake.
enum OperationChange {
  /// The value may stay in the thread's store buffer for a while: a fence is missing.
  case unfenced
  /// The value is put there whatever was there, as if the comparison had shown that it's right.
  case unconditional
  case leftOut
  /// The thread takes what the operation results in for something else.
  case mistaken((UInt64) -> UInt64)
  /// This value is stored.
  case storing(UInt64)
  /// The value that is stored is another word's, at that time.
  case storingWord(at: Int)
  /// It demands less about others.
  case ordered(Ordering)
  /// Another operation is done first.
  case after(Operation)
}
