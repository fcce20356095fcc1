import FileCoordination

/// The memory of a model: an operation is looked up in the log of a replay, done at once before the model starts, or
/// else ends the thread's turn.
///
/// `@unchecked Sendable`: a model runs on one thread.
final class ModelMemory: AtomicMemory, @unchecked Sendable {
  typealias Failure = TurnOver

  /// A mistake in the tier's operations, if any.
  let fault: FastTierFault?
  /// Where the tier's words are, once there is one.
  var places: TierPlaces?
  /// The thread whose program runs.
  var thread = 0
  /// The step of the tier that it's calling right now, if any.
  var step: TierStep?
  /// The results of earlier operations, oldest first.
  var log: [UInt64] = []
  var logIndex = 0
  /// The operation that ended the turn.
  var pending = Operation(kind: .done)
  /// Everything that the thread's further work depends on, if it has stated that since its last operation.
  var checkpoint: [UInt64]?
  /// Does operations at once, before the model starts and after it has ended.
  var performer: ((Operation) -> UInt64)?
  /// The values that the host's lock guards, by number.
  private(set) var guardedValues: [ModelHost] = []
  private var guardedNumbers: [ModelHost: Int] = [:]
  private(set) var messages: [String] = []

  init(fault: FastTierFault? = nil) {
    self.fault = fault
  }

  @discardableResult
  func perform(_ operation: Operation) throws(TurnOver) -> UInt64 {
    if let performer { return performer(operation) }
    if logIndex < log.count {
      logIndex += 1
      checkpoint = nil
      return log[logIndex - 1]
    }
    pending = operation
    throw TurnOver()
  }

  func number(of value: ModelHost) -> Int {
    if let number = guardedNumbers[value] { return number }
    guardedNumbers[value] = guardedValues.count
    guardedValues.append(value)
    return guardedValues.count - 1
  }

  // MARK: Memory

  /// Does an operation of the tier, or what a mistake makes of it.
  @discardableResult
  private func access(_ operation: Operation) throws(TurnOver) -> UInt64 {
    guard performer == nil, let fault, let step, let places,
      let change = fault.change(TierOperation(operation, in: step, by: thread, places))
    else { return try perform(operation) }
    var operation = operation
    switch change {
    case .unfenced:
      return try perform(
        Operation(kind: .store, address: operation.address, first: operation.first, ordering: .releasing))
    case .unconditional:
      try perform(Operation(kind: .exchange, address: operation.address, first: operation.second))
      return 1
    case .leftOut: return 0
    case .mistaken(let view): return view(try perform(operation))
    case .storing(let value): operation.first = value
    case .storingWord(at: let address): operation.first = try perform(Operation(kind: .load, address: address))
    case .after(let earlier): try perform(earlier)
    case .ordered(let ordering): operation.ordering = ordering
    }
    return try perform(operation)
  }

  func load(_ address: Int) throws(TurnOver) -> UInt64 { try access(Operation(kind: .load, address: address)) }

  func loadRelaxed(_ address: Int) throws(TurnOver) -> UInt64 {
    try access(Operation(kind: .load, address: address, ordering: .relaxed))
  }

  func storeRelaxed(_ value: UInt64, at address: Int) throws(TurnOver) {
    try access(Operation(kind: .store, address: address, first: value, ordering: .relaxed))
  }

  func storeReleasing(_ value: UInt64, at address: Int) throws(TurnOver) {
    try access(Operation(kind: .store, address: address, first: value, ordering: .releasing))
  }

  func exchange(_ value: UInt64, at address: Int) throws(TurnOver) -> UInt64 {
    try access(Operation(kind: .exchange, address: address, first: value))
  }

  func compareExchange(_ expected: UInt64, _ desired: UInt64, at address: Int) throws(TurnOver) -> Bool {
    try access(Operation(kind: .compareExchange, address: address, first: expected, second: desired)) != 0
  }

  func add(_ value: UInt64, at address: Int) throws(TurnOver) -> UInt64 {
    try access(Operation(kind: .add, address: address, first: value))
  }

  func allocate(wordCount: Int) throws(TurnOver) -> Int {
    Int(try access(Operation(kind: .allocate, first: UInt64(wordCount))))
  }

  func free(_ address: Int, wordCount: Int) throws(TurnOver) {
    try access(Operation(kind: .free, address: address, first: UInt64(wordCount)))
  }

  // MARK: Beyond memory

  /// Takes the host's lock.
  ///
  /// - Returns: The value that it guards.
  func lock() throws(TurnOver) -> ModelHost { guardedValues[Int(try perform(Operation(kind: .lock)))] }

  func unlock(_ value: ModelHost) throws(TurnOver) {
    try perform(Operation(kind: .unlock, first: UInt64(number(of: value))))
  }

  func sleep() throws(TurnOver) { try perform(Operation(kind: .sleep)) }
  func wake(_ thread: Int) throws(TurnOver) { try perform(Operation(kind: .wake, first: UInt64(thread))) }

  func say(_ kind: Operation.Kind, _ first: UInt64, _ second: UInt64 = 0) throws(TurnOver) {
    try perform(Operation(kind: kind, first: first, second: second))
  }

  func violation(_ message: String) throws(TurnOver) {
    if !messages.contains(message) { messages.append(message) }
    let index = messages.firstIndex(of: message) ?? 0
    try perform(Operation(kind: .violation, first: UInt64(index)))
  }

  /// Says that all that the thread still does follows from these words: how it came here is forgotten.
  func forget(allBut words: [UInt64]) { checkpoint = words }
}
