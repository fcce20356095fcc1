internal import Glibc

/// One call on its way to the kernel.
package struct ScriptedCall: Hashable, Sendable {
  /// The number of the call, counted from 1 over all calls of one ``ScriptedFileSystem``.
  package let number: Int
  /// Which call it is.
  package let call: SystemCall
  /// The paths given to it; empty for calls on a descriptor.
  package let paths: [SystemPath]
  /// The directories that the paths are relative to.
  package let directories: [FileDescriptor]
  /// For a call on a descriptor, the path it was opened by; of two descriptors the one that's written.
  package let openedPath: SystemPath?
  /// The other arguments of a call that changes an owner or deals with an extended attribute.
  package let argument: Argument?

  /// The other arguments of a call.
  package enum Argument: Hashable, Sendable {
    /// A new owner and group; `UInt32.max` leaves one as it is.
    case owner(UInt32, group: UInt32)
    /// The name of an extended attribute.
    case attribute(ExtendedAttributeName)
  }
}

/// The result that a script gives a call.
package enum ScriptedAction: Hashable, Sendable {
  /// The call is made.
  case proceed
  /// The call isn't made, and fails with this error number. A failing `close` closes all the same, as close(2) does.
  case fail(Int32)
  /// The process ends by SIGKILL before the call is made.
  case killProcess
  /// A read, write or copy moves at most this many bytes (at least one); any other call is made as it is.
  case shortWrite(Int)
  /// A call that returns nothing isn't made, and succeeds; any other call is made as it is.
  case skip
  /// The call is made with these paths instead: as many as it was given. Any other call is made as it is.
  case redirect([SystemPath])
}

/// A door that asks a script before each call: the twin that makes the *n*-th call fail, or the process die there.
///
/// Calls may come from several threads; numbers follow the order in which they arrive, and the script runs on the
/// caller's thread, under no lock.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | the log | a mutex | the number of a call is its place in the log |
/// | the paths of open descriptors | a mutex | calls on a descriptor are logged with its path |
package final class ScriptedFileSystem: FileSystem {
  private let base: any FileSystem
  private let script: @Sendable (ScriptedCall) -> ScriptedAction
  private let calls = Guarded<[ScriptedCall]>([])
  private let openPaths = Guarded<[FileDescriptor: SystemPath]>([:])

  /// Creates a door in front of another one.
  ///
  /// - Parameters:
  ///   - base: The door that makes the calls which proceed.
  ///   - script: Says what becomes of a call. It must not use this door.
  package init(
    _ base: any FileSystem = HostFileSystem(), script: @escaping @Sendable (ScriptedCall) -> ScriptedAction
  ) {
    self.base = base
    self.script = script
  }

  /// Every call so far, in order, those that failed by script included.
  ///
  /// - Complexity: O(1); the log grows by one entry per call for as long as the door lives.
  package var log: [ScriptedCall] {
    calls.withLock { $0 }
  }

  /// Logs a call, asks the script and makes the call on the base with a limit for the bytes it moves.
  func run<Result>(
    _ call: SystemCall, _ names: [(path: SystemPath, directory: FileDescriptor)] = [],
    on descriptor: FileDescriptor? = nil, _ argument: ScriptedCall.Argument? = nil,
    _ body: (_ base: any FileSystem, _ paths: [SystemPath], _ limit: Int) throws(SystemError) -> Result
  ) throws(SystemError) -> Result {
    let openedPath = descriptor.flatMap { descriptor in openPaths.withLock { $0[descriptor] } }
    let paths = names.map(\.path)
    let entry = calls.withLock { log in
      let entry = ScriptedCall(
        number: log.count + 1, call: call, paths: paths, directories: names.map(\.directory), openedPath: openedPath,
        argument: argument)
      log.append(entry)
      return entry
    }
    switch script(entry) {
    case .proceed: return try body(base, paths, .max)
    case .skip:
      if let nothing = () as? Result { return nothing }
      return try body(base, paths, .max)
    case .redirect(let others): return try body(base, others.count == paths.count ? others : paths, .max)
    case .shortWrite(let count): return try body(base, paths, max(count, 1))
    case .fail(let code):
      if call == .close { _ = try? body(base, paths, .max) }
      throw SystemError(call, paths: paths, errno: code)
    case .killProcess:
      kill(getpid(), SIGKILL)
      fatalError("SIGKILL can't be ignored")
    }
  }

  /// Remembers by which path a descriptor was opened; `nil` when it's about to be closed.
  func note(_ descriptor: FileDescriptor, openedBy path: SystemPath?) {
    openPaths.withLock { $0[descriptor] = path }
  }
}
