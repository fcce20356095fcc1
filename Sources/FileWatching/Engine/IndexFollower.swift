package import SystemInterface

/// An order to an engine.
package protocol IndexOrder: Sendable {
  /// Runs on the engine's thread, before events are processed.
  func carryOut(on loop: IndexLoop)

  /// It isn't carried out; runs on any thread.
  func end()
}

/// An object that is notified of the changes of an index: for the engine's thread alone.
package protocol IndexFollower: AnyObject {
  /// It needs no more notifications.
  var isOver: Bool { get }
  /// Whether any caller waits for the current state.
  var isAwaiting: Bool { get }
  /// Whether it compares no former state with the present one.
  var isCurrent: Bool { get }
  /// The former states that it compares.
  var comparedTables: [FileTable] { get }
  /// When to call ``passTime(at:)`` at the latest.
  var deadline: MonotonicTime? { get }

  /// Takes in the changes of a turn; it mustn't change the index.
  func follow(_ turn: IndexTurn)

  /// Does the work that is due; in each turn, after all have followed.
  func passTime(at now: MonotonicTime)

  /// The engine notifies it of nothing any more.
  ///
  /// - Parameter error: The reason, unless it's over.
  func end(_ error: SystemError?)
}

/// The results of one turn of an engine.
package struct IndexTurn {
  package let changes: IndexChanges
  /// The index with them.
  package let table: FileTable
  package let health: ScopeHealth
  /// There was nothing to read: all that was done before the turn is in the index, and later changes are in further
  /// turns.
  package let isIdle: Bool
  /// All that was done before the turn is in the index.
  package let isComplete: Bool
  /// When it was taken in.
  package let time: MonotonicTime
}
