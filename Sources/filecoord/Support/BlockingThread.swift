import Glibc

/// A thread for work that blocks, so that no thread of the cooperative pool does.
enum BlockingThread {
  private final class Work {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Runs `body` on a thread of its own, which ends with it.
  static func start(_ body: @escaping @Sendable () -> Void) {
    let work = Unmanaged.passRetained(Work(body))
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    var thread = pthread_t()
    let result = pthread_create(
      &thread, &attributes,
      { context in
        if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body() }
        return nil
      }, work.toOpaque())
    precondition(result == 0, "no thread could be started: \(String(cString: strerror(result)))")
  }

  /// Suspends until `body` has run on a thread of its own.
  static func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
      start { continuation.resume(returning: body()) }
    }
  }
}
