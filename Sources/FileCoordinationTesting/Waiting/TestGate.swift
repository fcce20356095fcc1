internal import SystemInterface

/// A gate that holds every task or thread until it's opened: an accessor, or a presenter's answer.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `isOpen` | its own lock | opened on any thread, awaited by many tasks |
/// | `event` | itself | the same for threads |
public final class TestGate: Sendable {
  private struct State {
    var isOpen = false
    var arrivalCount = 0
  }

  private let state = Watched(State())
  private let event = ThreadEvent()

  /// Creates a closed gate.
  public init() {}

  /// Lets all arrivals through, now and later.
  ///
  /// Doing it twice does nothing.
  public func open() {
    state.update { $0.isOpen = true }
    event.signal()
  }

  /// Whether the gate is open.
  public var isOpen: Bool { state.value.isOpen }

  /// How many tasks and threads have come to the gate.
  public var arrivalCount: Int { state.value.arrivalCount }

  /// Suspends until the gate is open.
  ///
  /// - Throws: `CancellationError` when the task is cancelled first.
  public func pass() async throws {
    state.update { $0.arrivalCount += 1 }
    try await state.waitUntil(\.isOpen)
  }

  /// Blocks the calling thread until the gate is open.
  ///
  /// Never on a thread of the cooperative pool.
  @available(*, noasync, message: "blocks the thread; use 'try await gate.pass()'")
  public func passBlocking() {
    state.update { $0.arrivalCount += 1 }
    event.wait()
  }

  /// Suspends until a task or thread has come to the gate.
  ///
  /// - Parameter count: How many are awaited.
  /// - Throws: `CancellationError` when the task is cancelled first.
  public func waitForArrival(count: Int = 1) async throws {
    try await state.waitUntil { $0.arrivalCount >= count }
  }
}
