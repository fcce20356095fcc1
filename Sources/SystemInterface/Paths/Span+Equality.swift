internal import Glibc

extension Span<UInt8> {
  /// Whether the bytes are those of another span, see memcmp(3).
  package func hasSameBytes(as other: Span<UInt8>) -> Bool {
    if count != other.count { return false }
    return unsafe withUnsafeBytes { left in
      unsafe other.withUnsafeBytes { right in
        guard let left = left.baseAddress, let right = right.baseAddress else { return true }
        return unsafe memcmp(left, right, count) == 0
      }
    }
  }
}
