internal import SystemInterface

// Taking edits back, and making them again.

extension FileDocument {
  /// Takes back the last step of edits.
  ///
  /// Needs ``DocumentOptions/undo``. Waits while contents can't be edited. Contents that are as they were saved count as saved.
  ///
  /// Steps are forgotten when the contents are read from a file again or merged, from any cause: they'd undo the work of others.
  ///
  /// - Parameter deadline: How long to wait; that of the options unless stated.
  /// - Returns: Whether there was a step.
  /// - Throws: ``DocumentError`` with code `.notOpen`, `.cancelled` or `.timedOut`; nothing has changed then.
  /// - Complexity: O(1), and of the comparison-free exchange of two values.
  /// - Note: Rules CD-10 and CD-11.
  @discardableResult
  public func undo(within deadline: Duration? = nil) async throws(DocumentError) -> Bool {
    try await waitForEditing(within: deadline)
    return try undoNow()
  }

  /// Makes the last step again that was taken back.
  ///
  /// - Parameter deadline: How long to wait; that of the options unless stated.
  /// - Returns: Whether there was a step.
  /// - Throws: As of ``undo(within:)``.
  /// - Note: Rules CD-10 and CD-11.
  @discardableResult
  public func redo(within deadline: Duration? = nil) async throws(DocumentError) -> Bool {
    try await waitForEditing(within: deadline)
    return try redoNow()
  }

  /// Takes back the last step without waiting: for code that runs on the document's actor, such as the handler of a key.
  ///
  /// - Returns: Whether there was a step.
  /// - Throws: ``DocumentError`` with code `.notOpen`, or `.editingDisabled` with the reason.
  @discardableResult
  public func undoNow() throws(DocumentError) -> Bool { try step(.undo, .undone) }

  /// Makes the last step again that was taken back, without waiting.
  ///
  /// - Returns: Whether there was a step.
  /// - Throws: ``DocumentError`` with code `.notOpen`, or `.editingDisabled` with the reason.
  @discardableResult
  public func redoNow() throws(DocumentError) -> Bool { try step(.redo, .redone) }

  private func step(
    _ direction: UndoDirection, _ edit: DocumentEdit
  ) throws(DocumentError) -> Bool {
    if let error = core.editingError { throw error }
    guard var contents = memory.contents else { throw .notOpen }
    guard let count = undoSteps.step(direction, &contents) else { return false }
    memory.contents = contents
    // Each changes the state alone; a save that began between two of them would only be made once more.
    for number in 1...max(count, 1) { receive(.editedRegardless(edit, size: number == count ? 1 : 0)) }
    return true
  }
}
