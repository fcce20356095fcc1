internal import Glibc

/// One call on its way to the kernel.
public struct ScriptedCall: Hashable, Sendable {
  /// The number of the call, counted from 1 over all calls of one ``ScriptedFileSystem``.
  public let number: Int
  /// Which call it is.
  public let call: SystemCall
  /// The paths given to it; empty for calls on a descriptor.
  public let paths: [SystemPath]
}

/// What becomes of a call.
public enum ScriptedAction: Hashable, Sendable {
  /// The call is made.
  case proceed
  /// The call isn't made, and fails with this error number. A failing `close` closes all the same, as close(2) does.
  case fail(Int32)
  /// The process ends by SIGKILL before the call is made.
  case killProcess
  /// A read, write or copy moves at most this many bytes (at least one); any other call is made as it is.
  case shortWrite(Int)
}

/// A door that asks a script before each call: the twin that makes the *n*-th call fail, or the process die there.
///
/// Calls may come from several threads; numbers follow the order in which they arrive, and the script runs on the
/// caller's thread, under no lock.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | the log | a mutex | the number of a call is its place in the log |
public final class ScriptedFileSystem: FileSystem {
  private let base: any FileSystem
  private let script: @Sendable (ScriptedCall) -> ScriptedAction
  private let calls = Guarded<[ScriptedCall]>([])

  /// Creates a door in front of another one.
  ///
  /// - Parameters:
  ///   - base: The door that makes the calls which proceed.
  ///   - script: Says what becomes of a call. It must not use this door.
  public init(
    _ base: any FileSystem = HostFileSystem(), script: @escaping @Sendable (ScriptedCall) -> ScriptedAction
  ) {
    self.base = base
    self.script = script
  }

  /// Every call so far, in order, those that failed by script included.
  ///
  /// - Complexity: O(1); the log grows by one entry per call for as long as the door lives.
  public var log: [ScriptedCall] {
    calls.withLock { $0 }
  }

  /// Logs a call, asks the script and makes the call on the base with a limit for the bytes it moves.
  func run<Result>(
    _ call: SystemCall, _ paths: [SystemPath] = [],
    _ body: (_ base: any FileSystem, _ limit: Int) throws(SystemError) -> Result
  ) throws(SystemError) -> Result {
    let entry = calls.withLock { log in
      let entry = ScriptedCall(number: log.count + 1, call: call, paths: paths)
      log.append(entry)
      return entry
    }
    switch script(entry) {
    case .proceed: return try body(base, .max)
    case .shortWrite(let count): return try body(base, max(count, 1))
    case .fail(let code):
      if call == .close { _ = try? body(base, .max) }
      throw SystemError(call, paths: paths, errno: code)
    case .killProcess:
      kill(getpid(), SIGKILL)
      fatalError("SIGKILL can't be ignored")
    }
  }
}
