#if !canImport(ObjectiveC)
  internal import FileCoordination
  internal import Foundation
  internal import SystemInterface

  /// The accesses of one coordinator whose accessors run, for moves that are announced to the coordinator.
  ///
  /// | state | guarded by | why |
  /// | --- | --- | --- |
  /// | `state` | its lock | one coordinator may be used by several threads |
  final class OngoingAccesses: Sendable {
    private struct State {
      var last: UInt64 = 0
      /// The latest comes last.
      var announcers: [(number: UInt64, announcer: MoveAnnouncer)] = []
    }

    private let state = Guarded(State())

    /// Runs an accessor whose access can announce moves meanwhile.
    func during<Result>(_ announcer: MoveAnnouncer, _ accessor: () throws -> Result) rethrows -> Result {
      let number = begin(announcer)
      defer { end(number) }
      return try accessor()
    }

    func begin(_ announcer: MoveAnnouncer) -> UInt64 {
      state.withLock { state in
        state.last += 1
        state.announcers.append((state.last, announcer))
        return state.last
      }
    }

    func end(_ number: UInt64) {
      state.withLock { state in state.announcers.removeAll { $0.number == number } }
    }

    /// Lets the accesses announce something, the latest first, until one of them does.
    ///
    /// - Returns: Why none did; `nil` if one did.
    func announce(_ body: (MoveAnnouncer) throws -> Void) -> (any Error)? {
      let announcers = state.withLock { $0.announcers.map(\.announcer) }
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
