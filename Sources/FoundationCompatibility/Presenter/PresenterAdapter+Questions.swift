#if !canImport(ObjectiveC)
  internal import FileCoordination
  internal import Foundation

  // Messages for whose answers an access waits.

  extension PresenterAdapter {
    private typealias Handler = @Sendable ((any Error)?) -> Void

    func relinquishPresentedItem(toReader origin: AccessOrigin) async throws -> FileReacquirer? {
      try await relinquish(.relinquishToReader) { $0.relinquishPresentedItem(toReader: $1) }
    }

    func relinquishPresentedItem(toWriter origin: AccessOrigin) async throws -> FileReacquirer? {
      try await relinquish(.relinquishToWriter) { $0.relinquishPresentedItem(toWriter: $1) }
    }

    private func relinquish(
      _ callback: WrittenCallbacks,
      _ body: @escaping @Sendable (any NSFilePresenter, @escaping @Sendable ((@Sendable () -> Void)?) -> Void) -> Void
    ) async throws -> FileReacquirer? {
      if unwritten.contains(callback) { return nil }
      return try await ask(callback, absent: nil) { [self] presenter, answer in
        let queue = SharedReference(presenter.presentedItemOperationQueue)
        body(presenter) { [self] takeBack in answer.succeed(takeBack.map { reacquirer($0, on: queue) }) }
      }
    }

    func savePresentedItemChanges(origin: AccessOrigin) async throws {
      try await ask(.save, .saveAsync) {
        $0.savePresentedItemChanges(completionHandler: $1)
      } suspending: {
        try await $0.savePresentedItemChanges()
      }
    }

    func accommodatePresentedItemDeletion(origin: AccessOrigin) async throws {
      try await ask(.deletion, .deletionAsync) {
        $0.accommodatePresentedItemDeletion(completionHandler: $1)
      } suspending: {
        try await $0.accommodatePresentedItemDeletion()
      }
    }

    func accommodatePresentedItemEviction(origin: AccessOrigin) async throws {
      try await ask(.eviction, .evictionAsync) {
        $0.accommodatePresentedItemEviction(completionHandler: $1)
      } suspending: {
        try await $0.accommodatePresentedItemEviction()
      }
    }

    func accommodatePresentedSubitemDeletion(at url: URL, origin: AccessOrigin) async throws {
      try await ask(.subitemDeletion, .subitemDeletionAsync) {
        $0.accommodatePresentedSubitemDeletion(at: url, completionHandler: $1)
      } suspending: {
        try await $0.accommodatePresentedSubitemDeletion(at: url)
      }
    }

    /// Which way a method is called.
    private enum Form: Sendable {
      case answered
      case suspending
    }

    /// Asks in the form that the presenter's class has written, if any.
    ///
    /// The form with a completion handler is tried first. If its default implementation runs, the class hasn't written
    /// it, and the default's answer doesn't count.
    private func ask(
      _ callback: WrittenCallbacks, _ asyncCallback: WrittenCallbacks,
      handler body: @escaping @Sendable (any NSFilePresenter, @escaping Handler) -> Void,
      suspending: @Sendable (any NSFilePresenter) async throws -> Void
    ) async throws {
      let known = unwritten
      if known.isSuperset(of: [callback, asyncCallback]) { return }
      let form = try await ask(callback, absent: Form.answered) { presenter, answer in
        if known.contains(callback) { return answer.succeed(.suspending) }
        let target = WeakPresenter(presenter)
        let unwritten = { @Sendable in
          target.presenter.map { UnwrittenCallbacks.shared.of($0).contains(callback) } ?? false
        }
        body(presenter) { error in
          if unwritten() { return }
          if let error { answer.fail(error) } else { answer.succeed(.answered) }
        }
        if unwritten() { answer.succeed(.suspending) }
      }
      if form == .suspending, isRegistered, let presenter = target.presenter {
        defer { UnwrittenCallbacks.shared.noteCall(of: asyncCallback, presenter) }
        try await suspending(presenter)
      }
    }
  }
#endif
