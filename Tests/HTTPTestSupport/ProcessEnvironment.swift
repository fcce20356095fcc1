import CTestShims

/// The environment of the test process.
package enum ProcessEnvironment {
  /// Sets a variable; no other thread may read the environment meanwhile.
  package static func set(_ name: String, _ value: String) { _ = test_set_environment(name, value) }
}
