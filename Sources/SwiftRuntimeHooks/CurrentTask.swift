internal import CRuntimeShims

/// Which task is running.
package enum CurrentTask {
  /// A number that no other living task has; zero outside of tasks.
  ///
  /// The task that `withUnsafeCurrentTask(body:)` finds, by a direct call of the runtime: 2 ns instead of 40, because no optional value
  /// has to pass through generic code. See ``RuntimeHooks``.
  package static var number: UInt { RuntimeHooks.areTested ? UInt(shim_current_task()) : generalNumber }

  /// The same by the standard library alone.
  static var generalNumber: UInt {
    unsafe withUnsafeCurrentTask { task in
      guard let task = unsafe task else { return 0 }
      return unsafe unsafeBitCast(task, to: UInt.self)
    }
  }

  /// Whether the running task is cancelled.
  ///
  /// - Parameter task: The number of the running task; zero, which is no task, isn't cancelled.
  /// - Returns: Whether it is.
  package static func isCancelled(_ task: UInt) -> Bool {
    if !RuntimeHooks.areTested { return Task.isCancelled }
    return task != 0 && shim_is_task_cancelled(task)
  }
}
