/// An array with holes that are used again, so that an index stays valid while its element lives.
struct Slab<Element: Sendable>: Sendable {
  private var elements: [Element?] = []
  private var free: [Int32] = []

  var count: Int { elements.count - free.count }

  mutating func insert(_ element: Element) -> Int32 {
    if let index = free.popLast() {
      elements[Int(index)] = element
      return index
    }
    elements.append(element)
    return Int32(elements.count - 1)
  }

  mutating func remove(_ index: Int32) {
    precondition(elements[Int(index)] != nil, "slab index \(index) is free already")
    elements[Int(index)] = nil
    free.append(index)
  }

  func contains(_ index: Int32) -> Bool { elements[Int(index)] != nil }

  subscript(index: Int32) -> Element {
    get {
      guard let element = elements[Int(index)] else { preconditionFailure("slab index \(index) is free") }
      return element
    }
    _modify {
      guard elements[Int(index)] != nil else { preconditionFailure("slab index \(index) is free") }
      yield &elements[Int(index)].unsafelyPresent
    }
  }

  var indices: [Int32] {
    elements.indices.compactMap { elements[$0] == nil ? nil : Int32($0) }
  }
}

extension Optional {
  /// In-place access to a value that the caller has just checked to be there.
  fileprivate var unsafelyPresent: Wrapped {
    get {
      guard let self else { preconditionFailure("absent") }
      return self
    }
    _modify {
      guard var value = take() else { preconditionFailure("absent") }
      defer { self = value }
      yield &value
    }
  }
}

/// A dictionary whose keys are known to be there: a missing one is a broken invariant, not a case to handle.
struct Table<Key: Hashable & Comparable & Sendable, Value: Sendable>: Sendable {
  private var storage: [Key: Value] = [:]

  var count: Int { storage.count }
  var isEmpty: Bool { storage.isEmpty }
  /// All keys in ascending order, so that nothing depends on the order of hashing.
  var sortedKeys: [Key] { storage.keys.sorted() }

  subscript(key: Key) -> Value {
    get { storage[key, default: Table.missing(key)] }
    _modify { yield &storage[key, default: Table.missing(key)] }
  }

  func find(_ key: Key) -> Value? { storage[key] }
  func contains(_ key: Key) -> Bool { storage[key] != nil }

  mutating func insert(_ value: Value, for key: Key) {
    let previous = storage.updateValue(value, forKey: key)
    precondition(previous == nil, "\(key) exists already")
  }

  @discardableResult
  mutating func remove(_ key: Key) -> Value {
    guard let value = storage.removeValue(forKey: key) else { return Table.missing(key) }
    return value
  }

  private static func missing(_ key: Key) -> Value { preconditionFailure("no \(key)") }
}
