/// Multiplications that mix the bits of a hash.
public enum Mixing {
  /// 2⁶⁴ divided by the golden ratio, and odd.
  @inlinable public static var goldenFactor: UInt64 { 0x9e37_79b9_7f4a_7c15 }

  /// Both halves of the full product, as in wyhash: every bit of the result depends on every bit of the factors.
  @inlinable @inline(__always)
  public static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let product = left.multipliedFullWidth(by: right)
    return product.high ^ product.low
  }

  /// Numbers of any pattern spread over the low bits; for keys that nobody else can choose.
  @inlinable @inline(__always)
  public static func spread(_ value: UInt64) -> UInt64 {
    let product = value &* goldenFactor
    return product ^ product >> 32
  }
}
