#if !canImport(ObjectiveC)
  internal import Foundation

  /// An operation that runs even if its queue's operations are cancelled: another thread waits for its work.
  ///
  /// `@unchecked Sendable` because `Operation` says nothing of it; there's one constant.
  final class SteadfastOperation: Operation, @unchecked Sendable {
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    override func main() { body() }

    /// Does nothing.
    override func cancel() {}
  }
#endif
