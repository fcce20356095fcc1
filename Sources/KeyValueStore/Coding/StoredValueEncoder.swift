public import KeyValueReplicas

extension StoredValue {
  /// Makes a property-list value of any encodable one.
  ///
  /// Numbers become whole numbers or fractions, `[UInt8]` data, optionals that are `nil` aren't written in dictionaries.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - key: The key, for the error.
  /// - Throws: ``KeyValueStoreError`` with the code `typeMismatch`.
  public init(encoding value: some Encodable, as key: String) throws(KeyValueStoreError) {
    do {
      let box = Box()
      try ValueEncoder.Single(codingPath: [], box: box).encode(value)
      guard let made = box.value else {
        throw EncodingError.invalidValue(value, .init(codingPath: [], debugDescription: "it encodes nothing"))
      }
      self = made
    } catch {
      throw KeyValueStoreError(
        .typeMismatch,
        "the value of '\(key)' can't be kept: \(error). Use numbers, texts, data, arrays and dictionaries.")
    }
  }
}

/// A place for a value that's being made.
private final class Box {
  enum Contents {
    case none
    case value(StoredValue)
    case array([Box])
    case dictionary([(key: String, box: Box)])
  }

  var contents = Contents.none

  var value: StoredValue? {
    switch contents {
    case .none: nil
    case .value(let value): value
    case .array(let boxes): .array(boxes.compactMap(\.value))
    case .dictionary(let members):
      .dictionary(
        Dictionary(members.compactMap { member in member.box.value.map { (member.key, $0) } }) { $1 })
    }
  }

  func member(_ key: String) -> Box {
    let box = Box()
    guard case .dictionary(let members) = contents else { return box }
    contents = .dictionary(members + [(key, box)])
    return box
  }

  func element() -> Box {
    let box = Box()
    guard case .array(let boxes) = contents else { return box }
    contents = .array(boxes + [box])
    return box
  }
}

private struct ValueEncoder: Encoder {
  var codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }
  var box = Box()

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    if case .dictionary = box.contents {} else { box.contents = .dictionary([]) }
    return KeyedEncodingContainer(Keyed(codingPath: codingPath, box: box))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    if case .array = box.contents {} else { box.contents = .array([]) }
    return Unkeyed(codingPath: codingPath, box: box)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { Single(codingPath: codingPath, box: box) }

  struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
    var codingPath: [any CodingKey]
    let box: Box

    func encodeNil(forKey key: Key) throws {}

    func encode(_ value: some Encodable, forKey key: Key) throws {
      try Single(codingPath: codingPath + [key], box: box.member(key.stringValue)).encode(value)
    }

    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
      ValueEncoder(codingPath: codingPath + [key], box: box.member(key.stringValue)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
      ValueEncoder(codingPath: codingPath + [key], box: box.member(key.stringValue)).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { ValueEncoder(codingPath: codingPath, box: box.member("super")) }

    func superEncoder(forKey key: Key) -> any Encoder {
      ValueEncoder(codingPath: codingPath + [key], box: box.member(key.stringValue))
    }
  }

  struct Unkeyed: UnkeyedEncodingContainer {
    var codingPath: [any CodingKey]
    let box: Box

    var count: Int { if case .array(let boxes) = box.contents { boxes.count } else { 0 } }

    func encodeNil() throws {
      throw EncodingError.invalidValue(
        Any?.none as Any, .init(codingPath: codingPath, debugDescription: "arrays have no place for nil"))
    }

    func encode(_ value: some Encodable) throws {
      try Single(codingPath: codingPath, box: box.element()).encode(value)
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
      ValueEncoder(codingPath: codingPath, box: box.element()).container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
      ValueEncoder(codingPath: codingPath, box: box.element()).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { ValueEncoder(codingPath: codingPath, box: box.element()) }
  }

  struct Single: SingleValueEncodingContainer {
    var codingPath: [any CodingKey]
    let box: Box

    func encodeNil() throws {
      throw EncodingError.invalidValue(
        Any?.none as Any, .init(codingPath: codingPath, debugDescription: "nil has no place here"))
    }

    func encode(_ value: some Encodable) throws {
      switch value {
      case let value as Bool: box.contents = .value(.boolean(value))
      case let value as String: box.contents = .value(.string(value))
      case let value as Double: box.contents = .value(.real(value))
      case let value as Float: box.contents = .value(.real(Double(value)))
      case let value as any FixedWidthInteger:
        guard let number = Int64(exactly: value) else {
          throw EncodingError.invalidValue(
            value, .init(codingPath: codingPath, debugDescription: "the number is too large"))
        }
        box.contents = .value(.integer(number))
      case let value as [UInt8]: box.contents = .value(.data(value))
      default: try value.encode(to: ValueEncoder(codingPath: codingPath, box: box))
      }
    }
  }
}
