extension String {
  /// The text, or its beginning if it has more bytes than that; no character of it is cut in two.
  ///
  /// - Parameter byteCount: How many bytes of UTF-8 there's room for.
  /// - Returns: The part that fits.
  /// - Complexity: O(1) for a text that fits, else O(*byteCount*).
  package func fitting(_ byteCount: Int) -> String {
    if utf8.count <= byteCount { return self }
    var end = utf8.index(startIndex, offsetBy: byteCount)
    while end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
    return String(self[..<end])
  }
}
