/// How many writers claim items of one counter, and whether readers have been kept out since the last one.
///
///     unbiased ──▶ written ──▶ unbiased | biased        a writer, which searches all slots for readers
///     biased ──▶ written, biased ──▶ biased             a writer, which needn't search
///     biased ──▶ unbiased                               a reader, before it's granted
///
/// A writer that has searched all slots, and found no claim of any item of the counter, leaves it biased: no reader is granted
/// before it has taken the bias away, which fails while a writer is there. So the next writer needs no look at slots, which are
/// in the caches of other processors. Two threads that write different items don't disturb each other then; a reader pays for
/// the change once, after a write.
///
/// Biased locking has been described for one owner, and for readers by Dice and Kogan ("BRAVO", USENIX ATC 2019); here the
/// bias is that of writers.
struct StrongCounter: Hashable, Sendable {
  let rawValue: UInt64

  static let bias: UInt64 = 1 << 63

  @inline(__always)
  init(_ rawValue: UInt64) { self.rawValue = rawValue }

  @inline(__always)
  var isZero: Bool { rawValue == 0 }
  @inline(__always)
  var hasWriters: Bool { rawValue & ~Self.bias != 0 }
  @inline(__always)
  var keepsReadersOut: Bool { rawValue & Self.bias != 0 }
}
