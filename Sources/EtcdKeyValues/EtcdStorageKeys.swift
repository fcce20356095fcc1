package import EtcdClient
package import KeyValueReplicas

/// The keys of one store at etcd: `/kvs/<account>/<store>/`, and below it `k/<key>` for each value and each removed key,
/// `a/<replica>` for acknowledgements, and `q` for the quota.
package struct EtcdStorageKeys: Hashable, Sendable {
  /// The meaning of a key.
  package enum Meaning: Hashable, Sendable {
    case value(key: String)
    /// A value's key that's no text.
    case damaged
    /// The acknowledgement of a replica, by its number in hexadecimal.
    case acknowledgement(String)
    case quota
    /// Something that another program has put there, or a newer version of this package.
    case other
  }

  /// All keys begin with it.
  package let prefix: EtcdBytes
  private let replica: String

  /// The keys of a store.
  ///
  /// - Parameters:
  ///   - account: The name of the account, any text.
  ///   - store: The name of the store, any text.
  ///   - replica: The replica whose acknowledgement counts.
  package init(account: String, store: String, replica: ReplicaID) {
    prefix = EtcdBytes("/kvs/\(Self.escaped(account))/\(Self.escaped(store))/")
    self.replica = String(replica.rawValue, radix: 16)
  }

  package var values: EtcdBytes { prefix + "k/" }
  package var acknowledgement: EtcdBytes { prefix + EtcdBytes("a/\(replica)") }
  package var quota: EtcdBytes { prefix + "q" }

  /// The key of a value.
  package func value(_ key: String) -> EtcdBytes { values + EtcdBytes(key) }

  /// Whether an acknowledgement is that of the replica.
  package func isOwn(_ replica: String) -> Bool { replica == self.replica }

  package func meaning(of key: EtcdBytes) -> Meaning {
    if key == quota { return .quota }
    if key.bytes.starts(with: values.bytes) {
      let name = key.bytes.dropFirst(values.bytes.count)
      return String(validating: name, as: UTF8.self).map { .value(key: $0) } ?? .damaged
    }
    let acknowledgements = prefix + "a/"
    if key.bytes.starts(with: acknowledgements.bytes) {
      return .acknowledgement(String(decoding: key.bytes.dropFirst(acknowledgements.bytes.count), as: UTF8.self))
    }
    return .other
  }

  /// A text without slashes: everything but letters, digits, `-`, `.` and `_` of ASCII by its bytes, as in addresses.
  private static func escaped(_ text: String) -> String {
    var result = ""
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
        result.unicodeScalars.append(Unicode.Scalar(byte))
      default: result += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }
    return result
  }
}
