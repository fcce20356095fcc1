internal import Synchronization

/// A reference that is stored once, by the first thread that has one, and read without a lock.
///
/// `Synchronization.AtomicLazyReference` does the same, but its code isn't specialized outside of the standard library: a
/// look at it takes about a microsecond, this one a nanosecond.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `address` | itself: stored once, releasing, and loaded acquiring | the instance was written before its address |
@safe
struct LazyReference<Instance: AnyObject & Sendable>: ~Copyable, Sendable {
  /// Zero until there's an instance, which is retained from then on.
  private let address = Atomic<Int>(0)

  deinit { unsafe reference(address.load(ordering: .relaxed))?.release() }

  /// The instance, if one has been stored.
  func load() -> Instance? { unsafe reference(address.load(ordering: .acquiring))?.takeUnretainedValue() }

  /// Stores an instance unless one is there.
  ///
  /// - Returns: The one that's there afterwards.
  func storeIfNil(_ instance: Instance) -> Instance {
    let retained = unsafe Unmanaged.passRetained(instance)
    let exchange = address.compareExchange(
      expected: 0, desired: Int(bitPattern: unsafe retained.toOpaque()), ordering: .acquiringAndReleasing)
    if exchange.exchanged { return instance }
    unsafe retained.release()
    return unsafe reference(exchange.original)?.takeUnretainedValue() ?? instance
  }

  private func reference(_ address: Int) -> Unmanaged<Instance>? {
    unsafe UnsafeRawPointer(bitPattern: address).map { unsafe Unmanaged.fromOpaque($0) }
  }
}
