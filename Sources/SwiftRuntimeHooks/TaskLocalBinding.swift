internal import CRuntimeShims

/// Binds a task-local to objects without a call of `withValue`, which costs an asynchronous function more than all the
/// rest of an uncontended access: at each return from one the runtime checks whether it's still on the right executor.
///
/// Only where ``RuntimeHooks/areTested`` says so; otherwise `withValue` is the way.
///
/// `@unchecked Sendable` because the pointers lead to the task-local itself, which lives as long as the process if it's a static
/// property, and to metadata of the runtime.
@safe
package struct TaskLocalBinding: @unchecked Sendable {
  private let key: UnsafeRawPointer
  private let type: UnsafeRawPointer

  /// Prepares bindings of a static task-local.
  package init<Object: AnyObject & Sendable>(_ key: TaskLocal<Object?>) {
    unsafe self.key = UnsafeRawPointer(Unmanaged.passUnretained(key).toOpaque())
    unsafe type = unsafeBitCast(Object?.self as Any.Type, to: UnsafeRawPointer.self)
  }

  /// Binds an object until ``pop()``, for the running task and the tasks that it starts.
  ///
  /// Bindings are a stack: each is followed by one ``pop()`` in the same task, in a `defer`. Not generic, because looking up
  /// metadata would cost more than the rest.
  ///
  /// - Parameter object: Of the class that the task-local was declared with.
  package func push(_ object: consuming any AnyObject & Sendable) {
    // The runtime takes the reference out of this variable.
    var reference = unsafe Unmanaged<AnyObject>.passRetained(object).toOpaque()
    unsafe shim_push_task_local(key, &reference, type)
  }

  /// Ends the binding that was made last.
  package func pop() { shim_pop_task_local() }
}
