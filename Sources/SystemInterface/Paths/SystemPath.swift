/// The name of a file as the kernel sees it: any bytes except NUL, never normalised.
///
/// Two paths are equal when their bytes are. A value, so it can be shared freely between threads.
///
/// - Note: path_resolution(7).
public struct SystemPath: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The bytes of the path, without a terminating NUL.
  public let bytes: [UInt8]

  /// Whether this names an item of a directory, and nothing else.
  package var isSingleName: Bool {
    let dot = UInt8(ascii: ".")
    return !bytes.isEmpty && !bytes.contains(Self.separator) && !bytes.contains(0) && bytes != [dot]
      && bytes != [dot, dot]
  }

  /// Creates a path from its bytes, which are kept as they are.
  ///
  /// - Parameter bytes: The bytes of the path. An embedded NUL is refused later, by the call that uses the path.
  /// - Complexity: O(*n*) in the number of bytes.
  public init(bytes: some Sequence<UInt8>) {
    self.bytes = Array(bytes)
  }

  /// Creates a path from its bytes.
  package init(bytes: Span<UInt8>) {
    self.bytes = unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) }
  }

  /// Creates a path from the UTF-8 form of a string.
  ///
  /// - Parameter string: The path. It isn't normalised: two spellings of `é` are two names.
  /// - Complexity: O(*n*) in the number of bytes.
  public init(_ string: String) {
    self.bytes = Array(string.utf8)
  }

  /// Feeds the bytes to `hasher` in one go.
  ///
  /// - Parameter hasher: The hasher to feed.
  /// - Complexity: O(*n*) in the number of bytes, without the per-element cost of hashing an array.
  public func hash(into hasher: inout Hasher) {
    unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
  }

  /// Orders paths by their bytes.
  ///
  /// - Parameters:
  ///   - left: The path that comes first when the result is `true`.
  ///   - right: The path to compare with.
  /// - Returns: Whether `left` comes before `right`.
  public static func < (left: SystemPath, right: SystemPath) -> Bool {
    left.bytes.lexicographicallyPrecedes(right.bytes)
  }

  /// The path as text; bytes that aren't UTF-8 show as U+FFFD, so use it for messages only.
  public var description: String {
    String(decoding: bytes, as: UTF8.self)
  }
}
