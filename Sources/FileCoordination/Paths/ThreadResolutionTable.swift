internal import Synchronization
internal import SystemInterface

/// The items that a thread asked for lately, in memory that only this thread touches: a hit costs no lock, no reference
/// count and no allocation.
///
/// One table per thread, for all domains, made at the first use and freed with the thread. Each entry keeps its item
/// alive. While an entry is pinned it isn't replaced, so that the item can be passed on without counting a reference.
@safe
struct ThreadResolutionTable {
  /// The place for one item; another one with the same remainder of its hash replaces it.
  @safe
  struct Entry {
    var hash: UInt64 = 0
    /// The cache that the item belongs to; numbers of caches aren't used twice.
    var cache: UInt64 = 0
    /// Inside of the item.
    var key = unsafe UnsafeBufferPointer<UInt8>(start: nil, count: 0)
    /// Inside of the validity that the item keeps alive.
    var validity: UnsafeMutablePointer<Atomic<UInt32>>?
    var item: Unmanaged<ResolvedItem>?
    var pinCount = 0
  }

  static let entryCount = 64

  /// Copied by each cache, as a global costs a check whether it's initialised.
  static let ofThread = unsafe ThreadSpecific { memory in
    guard let memory = unsafe memory else { return }
    let entries = unsafe memory.assumingMemoryBound(to: Entry.self)
    for index in 0..<entryCount { unsafe entries[index].item?.release() }
    unsafe memory.deallocate()
  }

  /// The entry for a hash on the calling thread.
  @inline(__always)
  static func entry(for hash: UInt64, _ ofThread: ThreadSpecific) -> UnsafeMutablePointer<Entry> {
    let memory = unsafe ofThread.pointer ?? make()
    let entries = unsafe memory.assumingMemoryBound(to: Entry.self)
    return unsafe entries + Int(truncatingIfNeeded: hash % UInt64(entryCount))
  }

  @inline(never)
  private static func make() -> UnsafeMutableRawPointer {
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: entryCount * MemoryLayout<Entry>.stride, alignment: 64)
    unsafe memory.bindMemory(to: Entry.self, capacity: entryCount).initialize(repeating: Entry(), count: entryCount)
    unsafe ofThread.pointer = memory
    return unsafe memory
  }

  /// Puts an item in its place, unless a caller further up on this thread is using the entry.
  static func remember(_ item: ResolvedItem, _ hash: UInt64, cache: UInt64) {
    let entry = unsafe entry(for: hash, ofThread)
    if unsafe entry.pointee.pinCount > 0 { return }
    let old = unsafe entry.pointee.item
    unsafe entry.pointee = Entry(
      hash: hash, cache: cache, key: item.key, validity: item.validityWord, item: Unmanaged.passRetained(item))
    unsafe old?.release()
  }
}

extension ThreadResolutionTable.Entry {
  @inline(__always)
  func matches(_ hash: UInt64, _ cache: UInt64, _ key: UnsafeBufferPointer<UInt8>) -> Bool {
    unsafe self.hash == hash && self.cache == cache && ResolutionKey.areSame(self.key, key)
  }
}
