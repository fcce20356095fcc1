@testable import FileCoordination

/// A mistake that is built into the fast tier from outside, or into how the host uses it, to show that the exploration
/// finds it.
///
/// Where an operation is wrong, the model's memory does another. Where the order is wrong, one of the steps is replaced
/// by one that is made of the same parts.
struct FastTierFault: Sendable, CustomStringConvertible {
  let name: String
  /// Where the mistake shows.
  let models: [Model]
  /// The memory in which it shows.
  var memoryModel = MemoryModel.storeBuffers
  /// The change of an operation of the tier; `nil` if it stays as it is.
  var change: @Sendable (TierOperation) -> OperationChange? = { _ in nil }
  /// Replaces steps.
  var replaceSteps: @Sendable (inout ModelSteps) -> Void = { _ in }

  var description: String { name }

  /// A mistake in operations.
  init(_ name: String, _ models: Model..., change: @escaping @Sendable (TierOperation) -> OperationChange?) {
    self.name = name
    self.models = models
    self.change = change
  }

  /// A mistake in a step.
  init(_ name: String, _ models: Model..., replaceSteps: @escaping @Sendable (inout ModelSteps) -> Void) {
    self.name = name
    self.models = models
    self.replaceSteps = replaceSteps
  }

  /// An ordering that's too weak.
  init(
    _ name: String, weakenedTo ordering: Ordering, _ models: Model...,
    where isConcerned: @escaping @Sendable (TierOperation) -> Bool
  ) {
    self.name = "\(name), weakened to \(ordering)"
    self.models = models
    memoryModel = .messages(lateCountMax: nil)
    change = { isConcerned($0) ? .ordered(ordering) : nil }
  }

  static let all = readers + writers + adoption + interests + orders + biases + tables + hosts
}
