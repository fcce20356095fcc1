/// Integers as bytes, the lowest first.
extension [UInt8] {
  /// Appends the bytes of an integer.
  @inlinable @inline(__always)
  public mutating func append<Number: FixedWidthInteger & BitwiseCopyable>(littleEndian number: Number) {
    unsafe Swift.withUnsafeBytes(of: number.littleEndian) { unsafe append(contentsOf: $0) }
  }
}

extension RawSpan {
  /// The integer whose bytes begin at an offset.
  ///
  /// - Precondition: All its bytes are in the span.
  @inlinable @inline(__always)
  public func integer<Number: FixedWidthInteger & BitwiseCopyable>(
    littleEndianAt offset: Int, as type: Number.Type = Number.self
  ) -> Number {
    // Any bytes are an integer.
    Number(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: Number.self))
  }

  /// Eight bytes from `offset` on, the first one lowest; zeros stand for what lies behind the end.
  @inlinable @inline(__always)
  public func word(at offset: Int) -> UInt64 {
    if offset &+ 8 <= byteCount {
      return UInt64(littleEndian: unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self))
    }
    var word: UInt64 = 0
    var index = byteCount
    while index > offset {
      index &-= 1
      word = word << 8 | UInt64(unsafe unsafeLoad(fromUncheckedByteOffset: index, as: UInt8.self))
    }
    return word
  }
}
