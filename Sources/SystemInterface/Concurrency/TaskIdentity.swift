internal import CSystemShims

/// Which task is running.
package enum TaskIdentity {
  /// A number that no other living task has; zero outside of tasks.
  ///
  /// What `withUnsafeCurrentTask(body:)` finds, asked of the runtime directly: 2 ns instead of 40, because no optional value
  /// has to pass through generic code.
  package static var current: UInt { UInt(shim_current_task()) }

  /// Whether the running task is cancelled.
  ///
  /// - Parameter task: The number of the running task; zero, which is no task, isn't cancelled.
  /// - Returns: Whether it is.
  package static func isCancelled(_ task: UInt) -> Bool { task != 0 && shim_is_task_cancelled(task) }
}
