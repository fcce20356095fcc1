/// A list that mostly has one element, and then lies where it is.
struct ShortList<Element: Sendable>: Sendable, RandomAccessCollection, MutableCollection, ExpressibleByArrayLiteral {
  private var first: Element?
  /// All elements, when there are several.
  private var several: ContiguousArray<Element> = []

  init() {}
  init(arrayLiteral elements: Element...) { for element in elements { append(element) } }

  var startIndex: Int { 0 }
  var endIndex: Int { first == nil ? several.count : 1 }

  mutating func reserveCapacity(_ capacity: Int) { if capacity > 1 { several.reserveCapacity(capacity) } }

  mutating func append(_ element: Element) {
    if isEmpty, several.capacity == 0 {
      first = element
    } else {
      if let only = first.take() { several.append(only) }
      several.append(element)
    }
  }

  subscript(position: Int) -> Element {
    get {
      if let first {
        precondition(position == 0, "position \(position) in a list of one")
        return first
      }
      return several[position]
    }
    set {
      if first == nil {
        several[position] = newValue
      } else {
        precondition(position == 0, "position \(position) in a list of one")
        first = newValue
      }
    }
  }
}
