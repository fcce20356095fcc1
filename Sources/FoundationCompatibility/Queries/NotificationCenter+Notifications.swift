#if !canImport(ObjectiveC)
  public import Foundation
  internal import SystemInterface

  extension NotificationCenter {
    /// Notifications of one name, as they are posted; Foundation on Linux hasn't got this sequence.
    ///
    /// Observation begins when the sequence is made. Each loop over it has a queue of its own; the first one also gets
    /// notifications from before it began. A reader that is more than ``bufferedCountMax`` notifications behind loses
    /// the oldest. A loop ends when its task is cancelled, and otherwise never.
    ///
    /// | state | guarded by | why |
    /// | --- | --- | --- |
    /// | `first` | its lock | any task may begin a loop |
    public final class Notifications: AsyncSequence, @unchecked Sendable {
      /// The elements of a loop.
      public typealias Element = Notification
      /// No loop fails.
      public typealias Failure = Never

      /// How many notifications wait for a reader.
      public static let bufferedCountMax = 1_024

      private let make: @Sendable () -> Observation
      private let first: Guarded<Observation?>

      fileprivate init(_ make: @escaping @Sendable () -> Observation) {
        self.make = make
        first = Guarded(make())
      }

      /// Begins a loop.
      public func makeAsyncIterator() -> Iterator {
        let waiting = first.withLock { first in
          let taken = first
          first = nil
          return taken
        }
        return Iterator(waiting ?? make())
      }

      /// One loop.
      public struct Iterator: AsyncIteratorProtocol {
        private let observation: Observation
        private var notes: AsyncStream<Posted>.AsyncIterator

        fileprivate init(_ observation: Observation) {
          self.observation = observation
          notes = observation.stream.makeAsyncIterator()
        }

        /// The next notification; `nil` when the task is cancelled.
        public mutating func next() async -> Notification? { await next(isolation: #isolation) }

        /// The next notification; `nil` when the task is cancelled.
        ///
        /// - Parameter actor: Where the loop runs.
        /// - Returns: The notification.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Notification? {
          await notes.next(isolation: actor)?.notification
        }
      }
    }

    /// Notifications of one name, as they are posted.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - object: Only those that this object posts; those of all objects if it's `nil`. It isn't kept alive.
    /// - Returns: The sequence.
    public func notifications(named name: Notification.Name, object: AnyObject? = nil) -> Notifications {
      let source = Source(center: self, object: object)
      return Notifications { Observation(source, name) }
    }
  }

  /// Code that posts notifications on a thread of its own may send them between tasks; so may this.
  private struct Posted: @unchecked Sendable {
    let notification: Notification
  }

  /// Where notifications come from.
  private final class Source: @unchecked Sendable {
    let center: NotificationCenter
    private weak var object: AnyObject?
    private let isOfAll: Bool

    init(center: NotificationCenter, object: AnyObject?) {
      self.center = center
      self.object = object
      isOfAll = object == nil
    }

    func observe(_ name: Notification.Name, _ receive: @escaping @Sendable (Notification) -> Void) -> (
      any NSObjectProtocol
    )? {
      // An object that's gone posts nothing any more.
      if !isOfAll, object == nil { return nil }
      return center.addObserver(forName: name, object: object, queue: nil, using: receive)
    }
  }

  /// One observer, removed with the loop that it's for.
  private final class Observation: @unchecked Sendable {
    let stream: AsyncStream<Posted>
    private let center: NotificationCenter
    private let token: (any NSObjectProtocol)?

    init(_ source: Source, _ name: Notification.Name) {
      let (stream, continuation) = AsyncStream.makeStream(
        of: Posted.self, bufferingPolicy: .bufferingNewest(NotificationCenter.Notifications.bufferedCountMax))
      self.stream = stream
      center = source.center
      token = source.observe(name) { continuation.yield(Posted(notification: $0)) }
    }

    deinit { if let token { center.removeObserver(token) } }
  }
#endif
