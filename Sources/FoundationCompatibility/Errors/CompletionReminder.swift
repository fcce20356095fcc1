#if !canImport(ObjectiveC)
  internal import Foundation

  /// Notifies the program's author when the completion handler of `prepare` isn't called for long.
  struct CompletionReminder {
    private let timer: any DispatchSourceTimer
    private let patience: Duration?

    init(_ label: String, after patience: Duration?) {
      self.patience = patience
      timer = DispatchSource.makeTimerSource(queue: .global())
      guard let patience else { return }
      timer.setEventHandler {
        Misuse.report(
          "'\(label)' waits for the completion handler of prepare(), not called within \(patience) after the accessor returned"
        )
      }
    }

    /// The accessor has returned.
    func start() {
      if let patience { timer.schedule(deadline: .now() + patience / .seconds(1)) }
      timer.activate()
    }

    /// The wait is over.
    func cancel() {
      // One that was never activated can't be let go.
      timer.activate()
      timer.cancel()
    }
  }
#endif
