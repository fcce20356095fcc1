/// Events, in order, across accesses, presenters and threads.
///
/// Tests note events and compare the whole with the order that a rule promises:
///
/// ```swift
/// let timeline = EventTimeline()
/// let presenter = RecordingPresenter(url, label: "P", timeline: timeline)
/// // …
/// #expect(timeline.events == ["P.relinquishToReader", "P.saveChanges", "read"])
/// ```
public final class EventTimeline: Sendable {
  private let state = Watched<[String]>([])

  /// Creates an empty timeline.
  public init() {}

  /// The events so far.
  public var events: [String] { state.value }

  /// Appends an event.
  ///
  /// May be called anywhere.
  ///
  /// - Parameter event: The event.
  public func note(_ event: String) { state.update { $0.append(event) } }

  /// Suspends until an event has been noted a number of times.
  ///
  /// - Parameters:
  ///   - event: The event.
  ///   - count: How often.
  /// - Throws: `CancellationError` when the task is cancelled first.
  public func wait(for event: String, count: Int = 1) async throws {
    try await waitUntil { events in events.count { $0 == event } >= count }
  }

  /// Suspends until the events satisfy a condition, which is checked after each event.
  ///
  /// - Parameter isSatisfied: The condition.
  /// - Throws: `CancellationError` when the task is cancelled first.
  public func waitUntil(_ isSatisfied: ([String]) -> Bool) async throws {
    try await state.waitUntil(isSatisfied)
  }
}
