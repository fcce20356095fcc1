internal import SystemInterface

/// Does work on a thread that would only wait for access.
///
/// For presenters whose callbacks run on a queue to which the waiting thread belongs: only there can their questions be
/// answered.
package protocol BlockedThreadServer: AnyObject, Sendable {
  /// Does the queue's work on the calling thread, until `end` is called.
  ///
  /// - Parameter arrange: Gets `end`, which may be called on any thread, at once too.
  func serve(until arrange: (_ end: @escaping @Sendable () -> Void) -> Void)
}

extension FileCoordinator {
  /// The verbs that block the calling thread, which serves while it would only wait.
  ///
  /// - Parameter server: The work of the waiting thread; none unless stated.
  /// - Returns: The verbs.
  package func blocking(serving server: (any BlockedThreadServer)?) -> BlockingFileCoordinator {
    BlockingFileCoordinator(self, serving: server)
  }
}

/// The end of a wait that blocks its thread.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `listener` | its lock | the end may come while the thread is about to serve |
final class WaitEnd: Sendable {
  private let event = ThreadEvent()
  private let listener = Guarded<(@Sendable () -> Void)?>(nil)

  /// Lets the waiting thread go on.
  func come() {
    event.signal()
    listener.withLock { $0.take() }?()
  }

  /// Blocks the calling thread.
  func wait(serving server: (any BlockedThreadServer)?) {
    guard let server else { return event.wait() }
    server.serve { end in
      listener.withLock { $0 = end }
      if event.isSignaled { listener.withLock { $0.take() }?() }
    }
  }
}
