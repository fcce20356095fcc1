/// A value that decides what is watched and looked at: it gives orders, and takes the outcome of each.
///
/// Three cores have this form: `ScopeCore` follows trees, `ChangeCore` of the target FileCoordination follows single
/// items, and its `PlaceCore` follows the names on the way to an item. They share one rule: *watch, then look*. A place
/// is watched before its contents are requested, so a change is either in the outcome of the look, or its event is in
/// the queue that is taken afterwards.
///
/// Anything may occur in the file system between an order and its outcome. Everything else that a core has to record is
/// reported to it between two runs of ``carryOutOrders(by:)``.
///
/// `@usableFromInline` lets other targets specialize the loop for their core and hands.
@usableFromInline
package protocol WatchingCore {
  /// A request of the core: a few calls of the system.
  associatedtype Order
  /// The result of an order.
  associatedtype Outcome

  /// The next order; `nil` if there's nothing to do until something is reported.
  ///
  /// Pass its outcome to ``take(_:)`` before the next call.
  mutating func next() -> Order?

  /// Takes the outcome of the last order.
  mutating func take(_ outcome: Outcome)
}

/// Carries out the orders of a ``WatchingCore``, and decides nothing.
@usableFromInline
package protocol WatchingHands {
  associatedtype Order
  associatedtype Outcome

  /// Carries out an order, which may block as long as the file system does.
  mutating func carryOut(_ order: Order) -> Outcome
}

extension WatchingCore {
  /// Has all orders carried out that are due, one after the other, until the core has nothing more to do.
  ///
  /// Each core bounds the number of its orders, and its exploration shows that it ends.
  ///
  /// - Parameter hands: Carries the orders out.
  @inlinable
  package mutating func carryOutOrders<Hands: WatchingHands>(by hands: inout Hands)
  where Hands.Order == Order, Hands.Outcome == Outcome {
    while let order = next() { take(hands.carryOut(order)) }
  }
}
