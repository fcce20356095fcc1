/// The orders of a ``WatchingCore`` that haven't been given yet; giving the first one takes the same time however many
/// there are.
@usableFromInline
package struct OrderQueue<Order: Hashable & Sendable>: Hashable, Sendable {
  @usableFromInline var orders: [Order] = []
  @usableFromInline var position = 0

  @inlinable package init() {}

  /// Whether all have been given.
  @inlinable package var isEmpty: Bool { position == orders.count }

  /// Adds an order behind all others.
  @inlinable package mutating func append(_ order: Order) { orders.append(order) }

  /// Adds orders behind all others.
  @inlinable package static func += (queue: inout Self, orders: some Sequence<Order>) {
    queue.orders.append(contentsOf: orders)
  }

  /// Takes the first order out.
  @inlinable package mutating func takeFirst() -> Order? {
    if isEmpty { return nil }
    let order = orders[position]
    position += 1
    if isEmpty {
      orders.removeAll(keepingCapacity: true)
      position = 0
    }
    return order
  }

  @inlinable package static func == (first: Self, second: Self) -> Bool {
    first.orders[first.position...] == second.orders[second.position...]
  }

  @inlinable package func hash(into hasher: inout Hasher) { hasher.combine(orders[position...]) }
}
