/// Why bytes are no frame, or a value can't become one.
package struct WireError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: String, Hashable, Sendable, CaseIterable {
    /// A value goes beyond the end of its frame.
    case truncated
    /// The frame goes on behind its last value.
    case trailingBytes
    case frameTooLong
    case unknownTag
    /// A byte that must be 0 or 1 is neither.
    case invalidFlag
    case invalidText
    case textTooLong
    /// A path isn't canonical, or too long.
    case invalidPath
    case numberOutOfRange
    case listTooLong
    /// The elements of a set are not in strictly ascending order.
    case unorderedSet
  }

  package let code: Code
  /// Where in the frame, counted from the first byte of its length.
  package let offset: Int
  /// For people.
  package let explanation: String

  package var description: String { "\(code): \(explanation) (byte \(offset) of the frame)" }

  init(_ code: Code, at offset: Int, _ explanation: String) {
    self.code = code
    self.offset = offset
    self.explanation = explanation
  }
}
