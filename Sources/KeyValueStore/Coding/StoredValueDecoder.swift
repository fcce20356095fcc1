internal import KeyValueReplicas

extension Decodable {
  /// Reads a value of a key.
  init(_ stored: StoredValue, of key: String) throws(KeyValueStoreError) {
    do { self = try ValueDecoder.Single(codingPath: [], value: stored).decode(Self.self) } catch {
      throw KeyValueStoreError(.typeMismatch, "the value of '\(key)' isn't a \(Self.self): \(error)")
    }
  }
}

private struct ValueDecoder: Decoder {
  var codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }
  let value: StoredValue

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard case .dictionary(let members) = value else { throw mismatch([String: StoredValue].self, codingPath) }
    return KeyedDecodingContainer(Keyed(codingPath: codingPath, members: members))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard case .array(let elements) = value else { throw mismatch([StoredValue].self, codingPath) }
    return Unkeyed(codingPath: codingPath, elements: elements)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { Single(codingPath: codingPath, value: value) }

  struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
    var codingPath: [any CodingKey]
    let members: [String: StoredValue]

    var allKeys: [Key] { members.keys.sorted().compactMap(Key.init(stringValue:)) }

    func contains(_ key: Key) -> Bool { members[key.stringValue] != nil }

    private func member(_ key: Key) throws -> StoredValue {
      guard let value = members[key.stringValue] else {
        throw DecodingError.keyNotFound(key, .init(codingPath: codingPath, debugDescription: "it's missing"))
      }
      return value
    }

    func decodeNil(forKey key: Key) -> Bool { !contains(key) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
      try Single(codingPath: codingPath + [key], value: member(key)).decode(type)
    }

    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
      try ValueDecoder(codingPath: codingPath + [key], value: member(key)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
      try ValueDecoder(codingPath: codingPath + [key], value: member(key)).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
      ValueDecoder(codingPath: codingPath, value: members["super"] ?? .dictionary([:]))
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
      ValueDecoder(codingPath: codingPath + [key], value: try member(key))
    }
  }

  struct Unkeyed: UnkeyedDecodingContainer {
    var codingPath: [any CodingKey]
    let elements: [StoredValue]
    var currentIndex = 0

    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex == elements.count }

    private mutating func element(_ type: Any.Type) throws -> StoredValue {
      guard !isAtEnd else {
        throw DecodingError.valueNotFound(type, .init(codingPath: codingPath, debugDescription: "the array has ended"))
      }
      defer { currentIndex += 1 }
      return elements[currentIndex]
    }

    mutating func decodeNil() -> Bool { false }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
      try Single(codingPath: codingPath, value: element(type)).decode(type)
    }

    mutating func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
      try ValueDecoder(codingPath: codingPath, value: element(type)).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
      try ValueDecoder(codingPath: codingPath, value: element([StoredValue].self)).unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder {
      ValueDecoder(codingPath: codingPath, value: try element(Any.self))
    }
  }

  struct Single: SingleValueDecodingContainer {
    var codingPath: [any CodingKey]
    let value: StoredValue

    func decodeNil() -> Bool { false }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
      if let simple = simple(type), let value = simple as? Value { return value }
      if type is any FixedWidthInteger.Type || type == Bool.self || type == String.self || type == Double.self
        || type == Float.self
      {
        throw mismatch(type, codingPath)
      }
      return try Value(from: ValueDecoder(codingPath: codingPath, value: value))
    }

    private func simple(_ type: Any.Type) -> Any? {
      switch (value, type) {
      case (.data(let value), is [UInt8].Type): value
      case (.boolean(let value), is Bool.Type): value
      case (.string(let value), is String.Type): value
      case (.real(let value), is Double.Type): value
      case (.integer(let value), is Double.Type): Double(exactly: value)
      case (.real(let value), is Float.Type): Float(value)
      case (.integer(let value), let type as any FixedWidthInteger.Type): type.init(exactly: value)
      default: nil
      }
    }
  }
}

private func mismatch(_ type: Any.Type, _ path: [any CodingKey]) -> DecodingError {
  .typeMismatch(type, .init(codingPath: path, debugDescription: "the stored value is of another kind"))
}
