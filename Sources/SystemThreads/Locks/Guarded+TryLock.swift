internal import Synchronization

extension Guarded where State: ~Copyable {
  /// Runs `body` on the value while holding the lock, unless another thread holds it.
  ///
  /// - Parameter body: A piece of work that doesn't use the same guarded value again.
  /// - Returns: The result of `body`; `nil` when it didn't run.
  /// - Throws: The error of `body`.
  package func withLockIfFree<Result, Failure: Error>(
    _ body: (inout sending State) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result? {
    let exchange = unsafe word.address.pointee.compareExchange(
      expected: 0, desired: 1, successOrdering: .acquiring, failureOrdering: .relaxed)
    guard exchange.exchanged else { return nil }
    defer { word.unlock() }
    return try unsafe body(&state.pointee)
  }
}
