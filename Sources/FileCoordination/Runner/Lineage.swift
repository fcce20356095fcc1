internal import FileAccessArbiter
internal import SystemInterface

/// What the current code runs inside of: an accessor or a presenter's callback.
///
/// Carried by a task-local, which outside of tasks is a thread-local. Child tasks inherit it; so do unstructured ones,
/// which may outlive the accessor. Therefore ``isSameExecutor`` tells whether the asking code is the accessor itself.
final class Lineage: Sendable {
  @TaskLocal static var current: Lineage?

  let host: ObjectIdentifier
  let context: ExecutionContext
  private let outer: Lineage?
  private let executor: ExecutorIdentity

  init(_ context: ExecutionContext, of host: ArbiterHost, outer: Lineage?) {
    self.context = context
    self.host = ObjectIdentifier(host)
    self.outer = outer
    executor = .current
  }

  /// The innermost context that belongs to `host`.
  static func context(in host: ArbiterHost) -> (context: ExecutionContext, isAwaited: Bool)? {
    var lineage = current
    while let candidate = lineage {
      if candidate.host == ObjectIdentifier(host) {
        return (candidate.context, candidate.executor == .current)
      }
      lineage = candidate.outer
    }
    return nil
  }
}

/// The task, or outside of tasks the thread, that runs the current code.
private enum ExecutorIdentity: Hashable, Sendable {
  case task(Int)
  case thread(UInt64)

  static var current: ExecutorIdentity {
    unsafe withUnsafeCurrentTask { task in
      if let task = unsafe task { return unsafe .task(task.hashValue) }
      return .thread(ThreadIdentity.current)
    }
  }
}
