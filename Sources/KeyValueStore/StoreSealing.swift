internal import KeyValueReplicas

/// The functions that encrypt values before they leave the memory of a program.
///
/// The disk and the place that devices share then have the result of ``seal``, as data. Keys aren't sealed, and limits count the
/// sealed bytes. All programs and devices of the store need functions that fit together. Sealed values are merged by the later write alone, for
/// nothing else can be told of them.
///
/// A value that can't be opened counts as none for readers, and stays. A transaction that has read its key writes nothing and fails with
/// `notSealed`; to set or remove the key alone is possible. Sealing doesn't notice if somebody who may write to the place that devices share removes
/// a value there, or puts an earlier value of the same key in the place of a later one.
///
/// The functions run on any thread, some of them while the store is locked: they mustn't use it. The package has no cipher of its own; take
/// one of a library that's meant for that, which also notices altered bytes.
public struct StoreSealing: Sendable {
  /// Encrypts a value's bytes.
  ///
  /// The name of the key may be bound to them.
  public var seal: @Sendable (_ bytes: [UInt8], _ key: String) throws -> [UInt8]
  /// Decrypts what `seal` has made; throws if it's something else.
  public var open: @Sendable (_ bytes: [UInt8], _ key: String) throws -> [UInt8]

  /// Functions that encrypt.
  ///
  /// - Parameters:
  ///   - seal: Encrypts a value's bytes.
  ///   - open: Decrypts what `seal` has made; throws if it's something else.
  public init(
    seal: @escaping @Sendable (_ bytes: [UInt8], _ key: String) throws -> [UInt8],
    open: @escaping @Sendable (_ bytes: [UInt8], _ key: String) throws -> [UInt8]
  ) {
    (self.seal, self.open) = (seal, open)
  }

  func sealed(_ write: KeyWrite) throws(KeyValueStoreError) -> KeyWrite {
    guard let value = write.value else { return write }
    do { return KeyWrite(write.key, .data(try seal(value.bytes, write.key))) } catch {
      throw KeyValueStoreError(.notSealed, "the value of '\(write.key)' can't be sealed: \(error); nothing was written")
    }
  }

  func opened(_ value: StoredValue?, of key: String) throws(KeyValueStoreError) -> StoredValue? {
    guard let value else { return nil }
    do {
      if case .data(let bytes) = value, let opened = StoredValue(bytes: try open(bytes, key)) { return opened }
    } catch {
      throw KeyValueStoreError(.notSealed, "the value of '\(key)' can't be opened: \(error); it stays as it is")
    }
    throw KeyValueStoreError(.notSealed, "the value of '\(key)' isn't sealed; another program has written it without")
  }
}
