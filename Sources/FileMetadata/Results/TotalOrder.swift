/// Says which of two elements comes first; of two different ones always one does.
package protocol TotalOrder<Element>: Sendable {
  associatedtype Element: Sendable

  /// Whether one element comes before another.
  func precedes(_ left: Element, _ right: Element) -> Bool
}
