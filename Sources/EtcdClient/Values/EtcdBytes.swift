/// The bytes of a key or value.
///
/// ```swift
/// let key: EtcdBytes = "notes/1"
/// ```
public struct EtcdBytes: Hashable, Comparable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The bytes.
  public var bytes: [UInt8]

  /// Creates bytes.
  ///
  /// - Parameter bytes: The bytes.
  public init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Creates the bytes of a text in UTF-8.
  ///
  /// - Parameter text: The text.
  public init(_ text: String) { bytes = Array(text.utf8) }

  /// Creates the bytes of a text in UTF-8.
  ///
  /// - Parameter text: The text.
  public init(stringLiteral text: String) { self.init(text) }

  /// The text, with U+FFFD for what isn't UTF-8.
  public var description: String { String(decoding: bytes, as: UTF8.self) }

  /// Whether one is before another in the order of the server, which compares bytes.
  public static func < (first: EtcdBytes, second: EtcdBytes) -> Bool {
    first.bytes.lexicographicallyPrecedes(second.bytes)
  }

  /// One after another.
  public static func + (first: EtcdBytes, second: EtcdBytes) -> EtcdBytes { EtcdBytes(first.bytes + second.bytes) }
}

/// A set of keys that are neighbours.
public struct EtcdKeyRange: Hashable, Sendable {
  /// The first key that can be in it.
  public let start: EtcdBytes
  /// The first key behind it; `nil` for a single key, one zero byte for no limit.
  public let end: EtcdBytes?

  private init(_ start: EtcdBytes, _ end: EtcdBytes?) {
    self.start = start
    self.end = end
  }

  /// A single key.
  ///
  /// - Parameter key: The key; not empty.
  /// - Returns: The range.
  public static func key(_ key: EtcdBytes) -> EtcdKeyRange { EtcdKeyRange(key, nil) }

  /// All keys that begin with a prefix.
  ///
  /// - Parameter prefix: The prefix; all keys begin with the empty one.
  /// - Returns: The range.
  public static func prefix(_ prefix: EtcdBytes) -> EtcdKeyRange {
    if prefix.bytes.isEmpty { return all }
    var end = prefix.bytes
    while let last = end.last, last == 255 { end.removeLast() }
    guard let last = end.popLast() else { return EtcdKeyRange(prefix, unlimited) }
    return EtcdKeyRange(prefix, EtcdBytes(end + [last + 1]))
  }

  /// The keys from one on, without another.
  ///
  /// - Parameters:
  ///   - start: The first key.
  ///   - end: The first key behind the range.
  /// - Returns: The range.
  public static func keys(from start: EtcdBytes, upTo end: EtcdBytes) -> EtcdKeyRange { EtcdKeyRange(start, end) }

  /// All keys.
  public static let all = EtcdKeyRange(EtcdBytes([0]), unlimited)

  private static let unlimited = EtcdBytes([0])

  /// The part of it behind a key.
  func behind(_ key: EtcdBytes) -> EtcdKeyRange { EtcdKeyRange(EtcdBytes(key.bytes + [0]), end) }

  /// Whether a key is in it.
  ///
  /// - Parameter key: The key.
  /// - Returns: Whether it is.
  public func contains(_ key: EtcdBytes) -> Bool {
    guard let end else { return key == start }
    return key >= start && (end == Self.unlimited || key < end)
  }
}
