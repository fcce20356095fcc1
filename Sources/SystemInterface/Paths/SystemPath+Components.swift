extension SystemPath {
  package static let separator = UInt8(ascii: "/")

  /// The root directory.
  public static let root = SystemPath(bytes: [separator])

  /// Whether the path starts at the root directory.
  public var isAbsolute: Bool {
    bytes.first == Self.separator
  }

  /// The directory that holds the last component: `/` for `/` and `/a`, `.` for `a`.
  ///
  /// Works on the bytes alone: it reads no file, so `..` and symbolic links are not resolved.
  ///
  /// - Complexity: O(*n*) in the number of bytes.
  public var parent: SystemPath {
    let trimmed = bytes[..<endOfLastComponent]
    guard let slash = trimmed.lastIndex(of: Self.separator) else {
      return isAbsolute ? .root : SystemPath(".")
    }
    let end = Self.trimmingSlashes(trimmed[..<slash])
    return end.isEmpty ? .root : SystemPath(bytes: end)
  }

  /// The last component, without slashes around it; empty for `/`.
  ///
  /// - Complexity: O(*n*) in the number of bytes.
  public var lastComponent: SystemPath {
    let trimmed = bytes[..<endOfLastComponent]
    guard let slash = trimmed.lastIndex(of: Self.separator) else { return SystemPath(bytes: trimmed) }
    return SystemPath(bytes: trimmed[trimmed.index(after: slash)...])
  }

  /// The part behind the last dot of the last component; `nil` if there's nothing before the dot, or nothing behind it.
  ///
  /// Bytes that aren't UTF-8 show as U+FFFD.
  ///
  /// - Complexity: O(*n*) in the number of bytes.
  public var pathExtension: String? {
    let name = lastComponent.bytes
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > 0, dot < name.count - 1 else { return nil }
    return String(decoding: name[(dot + 1)...], as: UTF8.self)
  }

  /// The path of something inside this directory.
  ///
  /// - Parameter component: One or more components. An absolute path replaces the receiver, as in openat(2).
  /// - Returns: Both paths with exactly one slash between them.
  /// - Complexity: O(*n*) in the number of bytes.
  public func appending(_ component: SystemPath) -> SystemPath {
    if component.isAbsolute || bytes.isEmpty { return component }
    var joined = bytes
    joined.reserveCapacity(bytes.count + 1 + component.bytes.count)
    if joined.last != Self.separator { joined.append(Self.separator) }
    joined.append(contentsOf: component.bytes)
    return SystemPath(bytes: joined)
  }

  /// The path of something inside this directory.
  ///
  /// - Parameter component: One or more components.
  /// - Returns: Both paths with exactly one slash between them.
  /// - Complexity: O(*n*) in the number of bytes.
  public func appending(_ component: String) -> SystemPath {
    appending(SystemPath(component))
  }

  /// Whether the path names something strictly below `ancestor`, judged by the bytes of two canonical paths.
  package func isInside(_ ancestor: SystemPath) -> Bool {
    guard bytes.count > ancestor.bytes.count, bytes.starts(with: ancestor.bytes) else { return false }
    return ancestor == .root || bytes[ancestor.bytes.count] == Self.separator
  }

  private var endOfLastComponent: Int {
    Self.trimmingSlashes(bytes[...]).endIndex
  }

  private static func trimmingSlashes(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var rest = bytes
    while rest.last == separator { rest.removeLast() }
    return rest
  }
}
