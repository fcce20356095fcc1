extension MetadataQuery {
  /// Calls a closure with each batch of changes, instead of ``changes``.
  ///
  /// It's a reader like a loop over ``changes``: the first batch contains the existing results, one call is over before
  /// the next, and a slow closure gets fewer and larger batches. There's one reader at a time. Ends with ``stop()``,
  /// when another reader begins, and with the observation; at once if the query isn't started. Doesn't keep the query
  /// alive.
  ///
  /// - Parameters:
  ///   - executor: Where the closure runs, unless it's isolated to an actor, where it runs then; the usual threads of tasks by default. It has to
  ///     outlive the calls.
  ///   - handler: Gets the query and the batch.
  /// - Returns: An object that ends the calls, when asked to or when it's released.
  /// - Note: Rules Q20 and Q21.
  public func observe(
    on executor: (any TaskExecutor)? = nil,
    _ handler: @escaping @Sendable (_ query: MetadataQuery, _ change: MetadataQueryChange) async -> Void
  ) -> MetadataQueryObservation {
    let weakly = WeakQuery(query: self)
    // The reader begins here, not when the task does, so that an observation after another one misses nothing.
    let iterator = Iterator(self, keepsQuery: false)
    let task = Task.detached(executorPreference: executor) {
      var iterator = iterator
      while let change = await iterator.next() {
        guard let query = weakly.query, !Task.isCancelled else { return }
        await handler(query, change)
      }
    }
    return MetadataQueryObservation(task)
  }

  private struct WeakQuery: Sendable {
    weak let query: MetadataQuery?
  }
}

/// Calls that go on as long as this object exists.
public final class MetadataQueryObservation: Sendable {
  private let task: Task<Void, Never>

  init(_ task: Task<Void, Never>) { self.task = task }

  deinit { task.cancel() }

  /// Ends the calls: none begins afterwards, one that goes on is cancelled as a task is.
  public func cancel() { task.cancel() }

  /// Waits until nothing is called any more: the query has ended, another reader has begun, or it was called off.
  public func waitUntilEnd() async { await task.value }
}
