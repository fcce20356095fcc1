internal import FileAccessArbiter
internal import SwiftRuntimeHooks
internal import SystemInterface

/// The surroundings of a task's code, carried to a thread that does the task's work while the task waits.
///
/// Accesses that the thread makes then belong to the accessor or callback, as if the task made them.
package struct CarriedNesting: Sendable {
  private let lineage: Lineage?

  /// Takes the surroundings of the running code.
  package init() { lineage = Lineage.current }

  /// Runs `body` inside of it, on the calling thread.
  ///
  /// - Parameter body: The work.
  /// - Returns: The result of `body`.
  package func run<Result>(_ body: () throws -> Result) rethrows -> Result {
    guard let lineage else { return try body() }
    let thread = ThreadRecord.current
    let task = CurrentTask.number
    let inner = Lineage(
      lineage.context, ofHost: lineage.hostNumber, in: .current(thread, task: task), task: task)
    return try withExtendedLifetime(inner) { try thread.nested(in: Nesting(inner), body) }
  }
}
