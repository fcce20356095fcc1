internal import MetadataPredicates
internal import SystemInterface

/// Looks into files, a few at a time, in the order in which they were requested.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock | the engine adds files, tasks take them out, and the end cancels the tasks |
final class AttributeExtraction: Sendable {
  /// A file to look into.
  struct Request: Sendable {
    let want: ProvidedAttributes.Want
    let path: SystemPath
  }

  private struct State: Sendable {
    var requests: [Request] = []
    /// How many of them have been taken out.
    var takenCount = 0
    var tasks: [Int: Task<Void, Never>] = [:]
    var taskCount = 0
    var isEnded = false

    mutating func take() -> Request? {
      if takenCount == requests.count {
        requests = []
        takenCount = 0
        return nil
      }
      takenCount += 1
      return requests[takenCount - 1]
    }
  }

  /// How many files of one scope are looked into at a time.
  static let taskCountMax = 4
  /// Threads that may block.
  private static let threads = ElasticThreadPool(threadCountMax: 16)

  private let state = Guarded(State())
  private let deliver: @Sendable (ProvidedAttributes.Want, [String: MetadataValue]?) -> Void

  /// - Parameter deliver: Called for each file, on a thread of its own, with the values, or `nil` if it's another one by now.
  init(_ deliver: @escaping @Sendable (ProvidedAttributes.Want, [String: MetadataValue]?) -> Void) {
    self.deliver = deliver
  }

  func add(_ requests: [Request]) {
    state.withLock { state in
      if state.isEnded { return }
      state.requests += requests
      let count = min(Self.taskCountMax - state.tasks.count, requests.count)
      for _ in 0..<max(0, count) {
        state.taskCount += 1
        let number = state.taskCount
        state.tasks[number] = Task.detached(executorPreference: Self.threads) { [self] in work(number) }
      }
    }
  }

  /// Cancels the running tasks, and does nothing more.
  func end() {
    let tasks = state.withLock { state in
      state.isEnded = true
      state.requests = []
      state.takenCount = 0
      return Array(state.tasks.values)
    }
    for task in tasks { task.cancel() }
  }

  private func work(_ number: Int) {
    while let request = next(number) {
      deliver(request.want, request.want.provider.values(of: request.want.version, at: request.path))
    }
  }

  /// - Returns: The file to look into; `nil` when there's none left, and the task is over.
  private func next(_ number: Int) -> Request? {
    state.withLock { state in
      if let request = state.take() { return request }
      state.tasks[number] = nil
      return nil
    }
  }
}
