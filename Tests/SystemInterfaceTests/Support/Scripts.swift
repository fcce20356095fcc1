import Synchronization

@testable import SystemInterface

extension ScriptedFileSystem {
  /// Makes the call with this number fail.
  static func failing(call number: Int, with errno: Int32) -> ScriptedFileSystem {
    ScriptedFileSystem { $0.number == number ? .fail(errno) : .proceed }
  }

  /// Ends the process at the call with this number.
  static func killing(atCall number: Int) -> ScriptedFileSystem {
    ScriptedFileSystem { $0.number == number ? .killProcess : .proceed }
  }

  /// Makes some of the calls of one kind fail, counted from 1.
  static func failing(
    _ call: SystemCall, times: Set<Int>, with errno: Int32
  ) -> ScriptedFileSystem {
    let seen = Mutex(0)
    return ScriptedFileSystem { scripted in
      guard scripted.call == call else { return .proceed }
      let number = seen.withLock { count in
        count += 1
        return count
      }
      return times.contains(number) ? .fail(errno) : .proceed
    }
  }

  /// A door that only counts.
  static func watching() -> ScriptedFileSystem {
    ScriptedFileSystem { _ in .proceed }
  }
}

/// An operation on a fresh sandbox, run once to learn how many calls it makes: the numbers at which it can be made to
/// fail.
func callNumbers(
  of operation: (Sandbox, any FileSystem) throws -> Void, prepared prepare: (Sandbox) throws -> Void
) async throws -> ClosedRange<Int> {
  try await withTemporaryDirectory { sandbox in
    try prepare(sandbox)
    let door = ScriptedFileSystem.watching()
    try operation(sandbox, door)
    return 1...door.log.count
  }
}

extension ScriptedFileSystem {
  /// How many descriptors were opened and not closed, given the number of the call that failed by script.
  func openDescriptors(failedCall: Int) -> Int {
    log.reduce(0) { count, entry in
      switch entry.call {
      case .open, .openWithoutSymbolicLinks: entry.number == failedCall ? count : count + 1
      case .close: count - 1
      default: count
      }
    }
  }
}

/// The error that a call through the door throws; `nil` when it succeeds.
func errorThrown(by body: () throws(SystemError) -> Void) -> SystemError? {
  do {
    try body()
    return nil
  } catch {
    return error
  }
}
