/// A list that loses elements at both ends, each in constant time on average.
struct GroupList<Element> {
  /// The first `goneCount` places are empty: the elements that were there are released.
  private var places: [Element?] = []
  private var goneCount = 0

  var count: Int { places.count - goneCount }

  var last: Element? { count == 0 ? nil : places[places.count - 1] }

  mutating func append(_ element: Element) { places.append(element) }

  @discardableResult
  mutating func removeLast() -> Element? {
    guard count > 0, let element = places.removeLast() else { return nil }
    return element
  }

  mutating func removeFirst(_ number: Int) {
    for _ in 0..<min(number, count) {
      places[goneCount] = nil
      goneCount += 1
    }
    // As many empty places as elements at most: moving them up costs no more than what filled them.
    if goneCount > places.count - goneCount {
      places.removeFirst(goneCount)
      goneCount = 0
    }
  }

  mutating func removeAll() {
    if places.isEmpty { return }
    places = []
    goneCount = 0
  }

  mutating func updateLast(_ change: (inout Element) -> Void) {
    guard count > 0, var element = places.removeLast() else { return }
    change(&element)
    places.append(element)
  }

  mutating func replaceEach(_ replacement: (Element) -> Element?) {
    places = places.dropFirst(goneCount).compactMap { $0 }.compactMap(replacement)
    goneCount = 0
  }

  func contains(where condition: (Element) -> Bool) -> Bool {
    places.dropFirst(goneCount).contains { $0.map(condition) ?? false }
  }
}

extension GroupList: Sendable where Element: Sendable {}
