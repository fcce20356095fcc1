/// Orders that are carried out when the index contains everything that was done before they were given.
///
/// Orders that come during a check wait for the next one: so no check is begun anew again and again, and each order has
/// at most two checks before it.
package struct PendingOrders<Order> {
  private var current: [Order] = []
  private var later: [Order] = []

  package init() {}

  package var isEmpty: Bool { current.isEmpty && later.isEmpty }

  /// - Returns: Whether a check has to begin.
  package mutating func add(_ order: Order) -> Bool {
    if current.isEmpty {
      current.append(order)
      return true
    }
    later.append(order)
    return false
  }

  /// The check is over.
  ///
  /// - Parameter carryOut: Carries out an order, and returns whether that's done; otherwise it's called again after the
  ///   next check.
  /// - Returns: Whether another check has to begin.
  package mutating func finish(_ carryOut: (Order) -> Bool) -> Bool {
    let left = current.filter { !carryOut($0) }
    let isNeeded = !later.isEmpty
    current = left + later
    later = []
    return isNeeded
  }

  /// Takes some of them, when they aren't needed any more.
  package mutating func take(where isTaken: (Order) -> Bool) -> [Order] {
    let taken = (current + later).filter(isTaken)
    current.removeAll(where: isTaken)
    later.removeAll(where: isTaken)
    return taken
  }

  /// Takes all of them, when they can't be carried out any more.
  package mutating func takeAll() -> [Order] {
    defer { (current, later) = ([], []) }
    return current + later
  }
}
