#if !canImport(ObjectiveC)
  internal import Foundation

  /// Work for the main queue, where documents live.
  ///
  /// While the main thread is blocked because the program waits for an access there, that thread does the work: the access may wait for
  /// it.
  enum MainTurns {
    private static let mark: DispatchSpecificKey<Bool> = {
      let mark = DispatchSpecificKey<Bool>()
      DispatchQueue.main.setSpecific(key: mark, value: true)
      return mark
    }()

    /// Whether this is a turn of the main queue.
    static var isCurrent: Bool { Thread.isMainThread || DispatchQueue.getSpecific(key: mark) == true }

    /// Runs `body` later.
    static func later(_ body: @escaping @MainActor @Sendable () -> Void) {
      PresenterTurns.shared.ask(on: .main) { MainActor.assumeIsolated { body() } }
    }

    /// Runs `body` at once if this is a turn of the main queue, and otherwise later.
    static func enter(_ body: @escaping @MainActor @Sendable () -> Void) {
      if isCurrent { MainActor.assumeIsolated { body() } } else { later(body) }
    }

    /// Runs `body` and waits for its end.
    static func wait(_ body: @escaping @MainActor @Sendable () throws -> Void) throws {
      if isCurrent { return try MainActor.assumeIsolated { try body() } }
      let end = DispatchSemaphore(value: 0)
      let problem = SharedReference(ProblemBox())
      later {
        do { try body() } catch { problem.value.error = error }
        end.signal()
      }
      end.wait()
      if let error = problem.value.error { throw error }
    }

    /// Written before a semaphore is signalled, and read after that.
    private final class ProblemBox { var error: (any Error)? }
  }
#endif
