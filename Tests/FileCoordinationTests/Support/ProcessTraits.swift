import Testing

/// Runs each test a second time with each party in a process of its own: in domain objects that have contact only
/// through the service.
struct BetweenProcesses: SuiteTrait, TestTrait, TestScoping {
  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    try await function()
    if testCase == nil || test.traits.contains(where: { $0 is WithinOneProcess }) { return }
    try await Sandbox.$hasManyProcesses.withValue(true) { try await function() }
  }
}

/// A requirement of a test that exists only within one process.
struct WithinOneProcess: TestTrait {
  let reason: String
}

extension Trait where Self == BetweenProcesses {
  static var betweenProcesses: Self { Self() }
}

extension Trait where Self == WithinOneProcess {
  static func withinOneProcess(_ reason: String) -> Self { Self(reason: reason) }
}
