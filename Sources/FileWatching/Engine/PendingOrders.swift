/// Orders that are carried out when everything is known that was done before they were given.
///
/// Those that come while others are looked for wait for the next look: so no look is begun anew again and again, and each order has
/// at most two of them before it.
package struct PendingOrders<Order> {
  private var current: [Order] = []
  private var later: [Order] = []

  package init() {}

  package var isEmpty: Bool { current.isEmpty && later.isEmpty }

  /// - Returns: Whether a look has to begin.
  package mutating func add(_ order: Order) -> Bool {
    if current.isEmpty {
      current.append(order)
      return true
    }
    later.append(order)
    return false
  }

  /// The look is over.
  ///
  /// - Parameter carryOut: Carries out an order, and says whether that's done; otherwise it's asked again after the next look.
  /// - Returns: Whether another look has to begin.
  package mutating func finish(_ carryOut: (Order) -> Bool) -> Bool {
    let left = current.filter { !carryOut($0) }
    let isNeeded = !later.isEmpty
    current = left + later
    later = []
    return isNeeded
  }

  /// Takes some of them, when nobody wants them any more.
  package mutating func take(where isTaken: (Order) -> Bool) -> [Order] {
    let taken = (current + later).filter(isTaken)
    current.removeAll(where: isTaken)
    later.removeAll(where: isTaken)
    return taken
  }

  /// Takes all of them, when nobody carries out any more.
  package mutating func takeAll() -> [Order] {
    defer { (current, later) = ([], []) }
    return current + later
  }
}
