#if !canImport(ObjectiveC)
  internal import FileCoordination
  internal import FileDocuments
  internal import Foundation
  internal import SystemInterface

  /// The completion handler of a call that's handed to a method of a document's class, which the program may have overridden.
  ///
  /// The first call counts. If it's dropped without having been called, the call ends without success, and that's reported. If it's
  /// kept for long, that's reported as well: something may wait for it. When it's kept beyond the document's
  /// ``UIDocument/waitingForAnswers``, the call ends with an error, and an answer that comes later is reported and changes nothing.
  ///
  /// | state | guarded by | why |
  /// | --- | --- | --- |
  /// | `state` | its lock | taking the end out makes the first call the only one, on any thread |
  final class AwaitedHandler: Sendable {
    private struct State: Sendable {
      var end: (@Sendable (Bool) -> Void)?
      var reminder: ScheduledAction?
      var expiry: ScheduledAction?
      /// The error with which the call has ended, until an answer comes all the same.
      var lateness: DocumentError?
      var isPostponed = false
    }

    /// How long it may be kept: as long as presenters may take to answer.
    static let patience = AccessDeadlines.standard.waitingForAnswers ?? .seconds(60)

    private weak let document: UIDocument?
    private let clock: any CoordinationClock
    private let deadline: Duration?
    /// For reports.
    private let handler: String
    private let state: Guarded<State>
    private let fail: (@Sendable (DocumentError) -> Void)?

    /// - Parameters:
    ///   - call: The call whose form with a handler gets it.
    ///   - document: The document.
    ///   - clock: When it's kept for too long.
    ///   - fail: Gets the error if it's kept too long, and `end` doesn't get anything then; by default the document handles the error, and the
    ///     call has no success.
    ///   - end: Gets whether the call has succeeded, once, on any thread.
    init(
      of call: DocumentForms.Call, _ document: UIDocument,
      _ clock: any CoordinationClock = CompatibilityDomain.current.configuration.clock,
      failing fail: (@Sendable (DocumentError) -> Void)? = nil,
      _ end: @escaping @Sendable (Bool) -> Void
    ) {
      self.document = document
      self.clock = clock
      self.fail = fail
      deadline = document.waitingForAnswers
      handler = "the completion handler of '\(type(of: document)).\(call.handlerForm)'"
      state = Guarded(State(end: end))
      document.awaited.withLock { $0.append(ObjectIdentifier(self)) }
      let reminder = clock.schedule(at: clock.now.advanced(by: Self.patience)) { [weak self] in self?.remind() }
      state.withLock { $0.reminder = reminder }
      scheduleExpiry()
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

    func callAsFunction(_ isDone: Bool) {
      if let end = take() { return end(isDone) }
      if let error = state.withLock({ $0.lateness.take() }) {
        Misuse.report("\(handler) was called after the document had given up: \(error.message)")
      }
    }

    private func take() -> (@Sendable (Bool) -> Void)? {
      let (end, reminder, expiry) = state.withLock { state in
        (state.end.take(), state.reminder.take(), state.expiry.take())
      }
      reminder?.cancel()
      expiry?.cancel()
      if end != nil, let document {
        let own = ObjectIdentifier(self)
        document.awaited.withLock { $0.removeAll { $0 == own } }
      }
      return end
    }

    private func remind() {
      if state.withLock({ $0.end == nil }) { return }
      Misuse.report("\(handler) wasn't called within \(Self.patience): something may wait for it")
    }

    private func scheduleExpiry() {
      guard let deadline else { return }
      let expiry = clock.schedule(at: clock.now.advanced(by: deadline)) { [weak self] in self?.expire() }
      let isOver = state.withLock { state in
        if state.end != nil { state.expiry = expiry }
        return state.end == nil
      }
      if isOver { expiry.cancel() }
    }

    /// Ends the call, unless the document still makes progress.
    ///
    /// An access of the document that still runs counts as that. A handler that waits for a younger one leaves the error to that.
    private func expire() {
      guard let document, let deadline else { return }
      let isYoungest = document.awaited.withLock { $0.last } == ObjectIdentifier(self)
      let isWorking = document.accessQueue.operationCount > 0
      let waits = state.withLock { state in
        defer { state.isPostponed = !isWorking && !isYoungest }
        return isWorking || !isYoungest && !state.isPostponed
      }
      if waits { return scheduleExpiry() }
      guard let end = take() else { return }
      let error = DocumentError(
        .timedOut,
        "\(handler) wasn't called within \(deadline), so the call has failed. Call it in any case, or hand it to 'super'; let long work run "
          + "in 'performAsynchronousFileAccess(_:)', or set 'waitingForAnswers'.")
      state.withLock { $0.lateness = error }
      if let fail { return fail(error) }
      MainTurns.enter {
        document.runner.report(error)
        end(false)
      }
    }
  }

  extension UIDocument {
    /// How long the document waits for an override that keeps a completion handler without calling it; ten minutes, and `nil` waits for ever.
    ///
    /// Then the call fails, ``handleError(_:userInteractionPermitted:)`` gets an error that names the method, readers that waited for a save
    /// get it as well, and a later call of the handler is reported and changes nothing. An override that writes the file by itself may have
    /// left a part of it there. The time begins anew as long as blocks of ``performAsynchronousFileAccess(_:)`` run or wait, so a save that
    /// takes hours in such a block isn't affected. May be read and set on any thread; a handler that's out has the value of its call.
    ///
    /// - Note: Rule PP-10. The term is that of `AccessDeadlines`, whose minute is for presenters.
    public nonisolated var waitingForAnswers: Duration? {
      get { answerPatience.withLock { $0 } }
      set { answerPatience.withLock { $0 = newValue } }
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
