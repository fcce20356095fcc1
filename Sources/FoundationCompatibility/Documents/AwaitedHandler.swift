#if !canImport(ObjectiveC)
  internal import FileCoordination
  internal import Foundation
  internal import SystemInterface

  /// The completion handler of a call that's handed to a method of a document's class, which the program may have overridden.
  ///
  /// The first call counts. If it's dropped without having been called, the call ends without success, and that's reported. If it's
  /// kept for long, that's reported as well: something may wait for it.
  ///
  /// | state | guarded by | why |
  /// | --- | --- | --- |
  /// | `state` | its lock | taking the end out makes the first call the only one, on any thread |
  final class AwaitedHandler: Sendable {
    private struct State: Sendable {
      var end: (@Sendable (Bool) -> Void)?
      var reminder: ScheduledAction?
    }

    /// How long it may be kept: as long as presenters may take to answer.
    static let patience = AccessDeadlines.standard.waitingForAnswers ?? .seconds(60)

    private weak let document: UIDocument?
    /// For reports.
    private let handler: String
    private let state: Guarded<State>

    /// - Parameters:
    ///   - call: The call whose form with a handler gets it.
    ///   - document: The document.
    ///   - clock: When it's kept for too long.
    ///   - end: Gets whether the call has succeeded, once, on any thread.
    init(
      of call: DocumentForms.Call, _ document: UIDocument,
      _ clock: any CoordinationClock = CompatibilityDomain.current.configuration.clock,
      _ end: @escaping @Sendable (Bool) -> Void
    ) {
      self.document = document
      handler = "the completion handler of '\(type(of: document)).\(call.handlerForm)'"
      state = Guarded(State(end: end))
      let reminder = clock.schedule(at: clock.now.advanced(by: Self.patience)) { [weak self] in self?.remind() }
      state.withLock { $0.reminder = reminder }
    }

    deinit {
      guard let end = take() else { return }
      // The calls of a document that's gone end with it.
      if document != nil {
        Misuse.report(
          "\(handler) was dropped without having been called, so the call has failed. Call it in any case, or hand it to 'super'"
        )
      }
      end(false)
    }

    func callAsFunction(_ isDone: Bool) { take()?(isDone) }

    private func take() -> (@Sendable (Bool) -> Void)? {
      let (end, reminder) = state.withLock { state in (state.end.take(), state.reminder.take()) }
      reminder?.cancel()
      return end
    }

    private func remind() {
      if state.withLock({ $0.end == nil }) { return }
      Misuse.report("\(handler) wasn't called within \(Self.patience): something may wait for it")
    }
  }

  extension DocumentForms.Call {
    /// The name of its form with a handler.
    fileprivate var handlerForm: String {
      switch self {
      case .open: "open(completionHandler:)"
      case .close: "close(completionHandler:)"
      case .revert: "revert(toContentsOf:completionHandler:)"
      case .save: "save(to:for:completionHandler:)"
      case .autosave: "autosave(completionHandler:)"
      }
    }
  }
#endif
