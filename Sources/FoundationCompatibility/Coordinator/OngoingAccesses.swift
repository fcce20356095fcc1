#if !canImport(ObjectiveC)
  internal import FileCoordination
  internal import Foundation
  internal import SystemInterface

  /// The accesses of one coordinator whose accessors run: for moves that are announced to the coordinator, and for its
  /// list of presenters that didn't answer.
  ///
  /// | state | guarded by | why |
  /// | --- | --- | --- |
  /// | `state` | its lock | one coordinator may be used by several threads |
  final class OngoingAccesses: Sendable {
    private struct Access {
      let number: UInt64
      /// `nil` of a preparation, which covers no move.
      let announcer: MoveAnnouncer?
      let unanswered: [String]
    }

    private struct State {
      var last: UInt64 = 0
      /// The latest comes last.
      var accesses: [Access] = []
    }

    private let state = Guarded(State())

    /// Runs an accessor whose access can announce moves meanwhile, and did without some answers.
    func during<Result>(
      _ announcer: MoveAnnouncer?, without unanswered: [String], _ accessor: () throws -> Result
    ) rethrows -> Result {
      let number = begin(announcer, without: unanswered)
      defer { end(number) }
      return try accessor()
    }

    private func begin(_ announcer: MoveAnnouncer?, without unanswered: [String]) -> UInt64 {
      state.withLock { state in
        state.last += 1
        state.accesses.append(Access(number: state.last, announcer: announcer, unanswered: unanswered))
        return state.last
      }
    }

    private func end(_ number: UInt64) {
      state.withLock { state in state.accesses.removeAll { $0.number == number } }
    }

    /// The presenters whose answers the accesses did without, each once.
    var unanswered: [String] {
      state.withLock { state in
        state.accesses.flatMap(\.unanswered).reduce(into: []) { names, name in
          if !names.contains(name) { names.append(name) }
        }
      }
    }

    /// Lets the accesses announce something, the latest first, until one of them does.
    ///
    /// - Returns: Why none did; `nil` if one did.
    func announce(_ body: (MoveAnnouncer) throws -> Void) -> (any Error)? {
      let announcers = state.withLock { $0.accesses.compactMap(\.announcer) }
      var problem: any Error = NoAccess()
      for announcer in announcers.reversed() {
        do {
          try body(announcer)
          return nil
        } catch { problem = error }
      }
      return problem
    }

    private struct NoAccess: Error, CustomStringConvertible {
      var description: String {
        "no access of this coordinator is under way. Announce moves inside the write that made them."
      }
    }
  }
#endif
