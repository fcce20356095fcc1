import Glibc

/// Nanoseconds on the monotonic clock, which costs some 23 ns to read.
@inline(__always)
func monotonicNanoseconds() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
}

extension Duration {
  var nanoseconds: UInt64 {
    UInt64(components.seconds) * 1_000_000_000 + UInt64(components.attoseconds / 1_000_000_000)
  }
}

/// Marsaglia's xorshift: decides between read and write in about 2 ns.
struct XorShift {
  private var state: UInt64

  init(seed: Int) { state = 0x9E37_79B9_7F4A_7C15 &* UInt64(seed + 1) }

  @inline(__always)
  mutating func next() -> UInt32 {
    state ^= state &<< 13
    state ^= state &>> 7
    state ^= state &<< 17
    return UInt32(truncatingIfNeeded: state &>> 16)
  }
}
