import SystemInterface
package import Testing

/// Runs tests that block their thread, for other processes for example, on threads that may block.
///
/// All others share a few threads, and would have to wait until they have their turn again.
package struct BlockingTests: SuiteTrait, TestTrait, TestScoping {
  private static let threads = ElasticThreadPool(threadCountMax: 8)

  package var isRecursive: Bool { true }

  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    if testCase == nil { return try await function() }
    try await withTaskExecutorPreference(Self.threads) { try await function() }
  }
}

extension Trait where Self == BlockingTests {
  /// The tests block their thread.
  package static var blocking: Self { Self() }
}
