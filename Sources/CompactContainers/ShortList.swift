// Public for the other targets of this package alone, which get specialized code for it; no product offers it.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// A list that mostly has one element, and then lies where it is.
public struct ShortList<Element: Sendable>: Sendable, RandomAccessCollection, MutableCollection,
  RangeReplaceableCollection, ExpressibleByArrayLiteral
{
  public enum Content: Sendable {
    case one(Element)
    /// None or several; or one, where room for several was asked for.
    case array(ContiguousArray<Element>)
  }

  @usableFromInline var content = Content.array([])

  @inlinable public init() {}
  @inlinable public init(arrayLiteral elements: Element...) { for element in elements { append(element) } }

  @inlinable public var startIndex: Int { 0 }

  @inlinable public var endIndex: Int {
    switch content {
    case .one: 1
    case .array(let elements): elements.count
    }
  }

  /// For how many elements there's room without another allocation.
  @inlinable public var capacity: Int {
    switch content {
    case .one: 1
    case .array(let elements): elements.capacity
    }
  }

  @inlinable public mutating func reserveCapacity(_ capacity: Int) {
    guard capacity > 1 else { return }
    changeArray { $0.reserveCapacity(capacity) }
  }

  @inlinable public mutating func append(_ element: Element) {
    switch content {
    case .array(let elements) where elements.capacity == 0: content = .one(element)
    case .array: changeArray { $0.append(element) }
    case .one(let first):
      var elements = ContiguousArray<Element>()
      elements.reserveCapacity(4)
      elements.append(first)
      elements.append(element)
      content = .array(elements)
    }
  }

  /// The only element of a list of one leaves nothing behind that would have to be freed.
  @discardableResult
  @inlinable public mutating func remove(at position: Int) -> Element {
    if case .one(let element) = content {
      precondition(position == 0, "position \(position) in a list of one")
      content = .array([])
      return element
    }
    let element = self[position]
    changeArray { $0.remove(at: position) }
    return element
  }

  @inlinable public mutating func removeAll(where isUnwanted: (Element) throws -> Bool) rethrows {
    switch content {
    case .one(let element): if try isUnwanted(element) { content = .array([]) }
    case .array(var elements):
      if elements.isEmpty { return }
      content = .array([])
      try elements.removeAll(where: isUnwanted)
      content = .array(elements)
    }
  }

  @inlinable public mutating func replaceSubrange(
    _ range: Range<Int>, with elements: some Collection<Element>
  ) {
    changeArray { $0.replaceSubrange(range, with: elements) }
  }

  /// Changes the elements as an array of which there is only one copy.
  @inlinable public mutating func changeArray(_ body: (inout ContiguousArray<Element>) -> Void) {
    var elements: ContiguousArray<Element>
    switch content {
    case .one(let element): elements = [element]
    case .array(let array): elements = array
    }
    content = .array([])
    body(&elements)
    content = .array(elements)
  }

  @inlinable public subscript(position: Int) -> Element {
    get {
      switch content {
      case .one(let element):
        precondition(position == 0, "position \(position) in a list of one")
        return element
      case .array(let elements): return elements[position]
      }
    }
    set {
      if case .one = content {
        precondition(position == 0, "position \(position) in a list of one")
        content = .one(newValue)
      } else {
        changeArray { $0[position] = newValue }
      }
    }
  }
}

extension ShortList: Equatable where Element: Equatable {
  @inlinable public static func == (left: Self, right: Self) -> Bool { left.elementsEqual(right) }
}

extension ShortList: Hashable where Element: Hashable {
  @inlinable public func hash(into hasher: inout Hasher) {
    hasher.combine(count)
    for element in self { hasher.combine(element) }
  }
}

extension ShortList: CustomStringConvertible {
  /// As an array prints its elements.
  public var description: String { Array(self).description }
}
