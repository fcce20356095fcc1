#if !canImport(ObjectiveC)
  internal import Foundation

  /// Lets the undo manager of a document drive its count of changes.
  ///
  /// A group counts when it's opened, so that a registration is noticed at once.
  @MainActor final class DocumentUndo {
    let manager: UndoManager
    private weak var document: UIDocument?
    private var tokens: [any NSObjectProtocol] = []

    init(_ manager: UndoManager, of document: UIDocument) {
      self.manager = manager
      self.document = document
      observe(.NSUndoManagerDidOpenUndoGroup) { $0.noteOpened() }
      observe(.NSUndoManagerDidCloseUndoGroup) { $0.noteClosed() }
      observe(.NSUndoManagerDidUndoChange) { $0.document?.updateChangeCount(.undone) }
      observe(.NSUndoManagerDidRedoChange) { $0.document?.updateChangeCount(.redone) }
    }

    isolated deinit { for token in tokens { NotificationCenter.default.removeObserver(token) } }

    private func observe(_ name: Notification.Name, _ note: @escaping @MainActor @Sendable (DocumentUndo) -> Void) {
      tokens.append(
        NotificationCenter.default.addObserver(forName: name, object: manager, queue: nil) { [weak self] _ in
          MainTurns.enter { [weak self] in if let self { note(self) } }
        })
    }

    private var isRecording: Bool { !manager.isUndoing && !manager.isRedoing }

    private func noteOpened() {
      if isRecording, manager.groupingLevel == 1 { document?.updateChangeCount(.done) }
    }

    /// Counts handlers that were registered after a save in the middle of the group: their changes are unsaved, too.
    private func noteClosed() {
      guard isRecording, manager.groupingLevel == 0, let document, !document.runner.hasUnsavedChanges else { return }
      document.updateChangeCount(.done)
    }
  }
#endif
