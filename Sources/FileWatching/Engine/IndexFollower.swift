package import SystemInterface

/// What an engine is asked for.
package protocol IndexOrder: Sendable {
  /// Runs on the engine's thread, before events are looked at.
  func carryOut(on loop: IndexLoop)

  /// Nobody carries it out; runs on any thread.
  func end()
}

/// Somebody who is told what happens to an index: for the engine's thread alone.
package protocol IndexFollower: AnyObject {
  /// Nobody is interested any more.
  var isOver: Bool { get }
  /// Whether somebody waits for what is current.
  var isAwaiting: Bool { get }
  /// Whether it compares no former state with what there is.
  var isCurrent: Bool { get }
  /// The former states that it compares.
  var comparedTables: [FileTable] { get }
  /// When to call ``passTime(at:)`` at the latest.
  var deadline: MonotonicTime? { get }

  /// Takes in what a turn has brought; nothing may be done to the index.
  func follow(_ turn: IndexTurn)

  /// Does what it's time for; in each turn, after all have followed.
  func passTime(at now: MonotonicTime)

  /// The engine doesn't tell it anything any more.
  ///
  /// - Parameter error: Why, if it's not because it's over.
  func end(_ error: SystemError?)
}

/// What one turn of an engine has brought.
package struct IndexTurn {
  package let changes: IndexChanges
  /// The index with them.
  package let table: FileTable
  package let health: ScopeHealth
  /// There was nothing to read: all that was done before the turn is in the index, and what comes is in further turns.
  package let isIdle: Bool
  /// All that was done before the turn is in the index.
  package let isSettled: Bool
  /// When it was taken in.
  package let time: MonotonicTime
}
