/// An array with holes that are used again, so that an index stays valid while its element lives.
///
/// The elements lie in chunks. So a slab never moves what it holds, however it grows, and gives back a chunk that has
/// become empty; only one empty chunk is kept, so that coming and going costs no allocation. Each access checks that its
/// index is in use: a stale index traps.
///
/// Chunks are raw memory because an array copies an element to read a part of it, and keeps all that the element refers
/// to alive meanwhile; here reading a part of an element is a load.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | chunks | the uniqueness of `owner` | copies share them, and a slab copies them before it changes what is shared |
@safe struct Slab<Element: Sendable>: @unchecked Sendable {
  /// As many elements as a chunk has bits.
  fileprivate static var chunkSize: Int { 64 }

  @unsafe fileprivate struct Chunk {
    /// Absent while nothing is in the chunk; elements are initialized where `live` has a bit.
    var places: UnsafeMutablePointer<Element>?
    var live: UInt64 = 0
  }

  private var owner: SlabOwner<Element>
  /// The owner's, kept here as well so that reading needs no look at the owner.
  private var chunks: UnsafeMutablePointer<Chunk>
  private var chunkCount = 0
  private(set) var count = 0
  /// The chunks with room, each of them once; the last one is filled first.
  private var open: [Int32] = []
  /// The chunk that is empty and kept for the next element, if there is one.
  private var spare: Int32?

  init() {
    owner = SlabOwner(capacity: 1)
    unsafe chunks = unsafe owner.chunks
  }

  @inline(__always)
  func contains(_ index: Int32) -> Bool {
    // Negative indices are behind the end as well.
    let index = UInt(UInt32(bitPattern: index))
    let chunk = Int(index / UInt(Self.chunkSize))
    return unsafe chunk < chunkCount && chunks[chunk].live & (1 << UInt64(index % UInt(Self.chunkSize))) != 0
  }

  subscript(index: Int32) -> Element {
    @inline(__always) unsafeAddress { unsafe address(of: index) }
    @inline(__always) unsafeMutableAddress { unsafe mutableAddress(of: index) }
  }

  /// Where the element is until the slab changes.
  @inline(__always)
  func address(of index: Int32) -> UnsafePointer<Element> { unsafe UnsafePointer(place(index)) }

  @inline(__always)
  mutating func mutableAddress(of index: Int32) -> UnsafeMutablePointer<Element> {
    makeUnique()
    return unsafe place(index)
  }

  @inline(__always)
  private func place(_ index: Int32) -> UnsafeMutablePointer<Element> {
    guard contains(index), let places = unsafe chunks[Int(index) / Self.chunkSize].places else {
      preconditionFailure("slab index \(index) is free")
    }
    return unsafe places + Int(index) % Self.chunkSize
  }

  /// The indices of all elements, in ascending order.
  var indices: [Int32] {
    var result: [Int32] = []
    result.reserveCapacity(count)
    for chunk in 0..<chunkCount {
      var live = unsafe chunks[chunk].live
      while live != 0 {
        result.append(Int32(chunk * Self.chunkSize + live.trailingZeroBitCount))
        live &= live - 1
      }
    }
    return result
  }
}

// MARK: - Coming and going

extension Slab {
  /// - Complexity: O(1) amortized.
  mutating func insert(_ element: Element) -> Int32 {
    makeUnique()
    if open.isEmpty { addChunk() }
    let chunk = open[open.count - 1]
    let place = unsafe (~chunks[Int(chunk)].live).trailingZeroBitCount
    let places = unsafe chunks[Int(chunk)].places ?? .allocate(capacity: Self.chunkSize)
    unsafe chunks[Int(chunk)].places = unsafe places
    unsafe (places + place).initialize(to: element)
    unsafe chunks[Int(chunk)].live |= 1 << UInt64(place)
    if unsafe chunks[Int(chunk)].live == UInt64.max { open.removeLast() }
    if spare == chunk { spare = nil }
    count += 1
    return chunk * Int32(Self.chunkSize) + Int32(place)
  }

  /// - Complexity: O(1)
  mutating func remove(_ index: Int32) {
    makeUnique()
    unsafe place(index).deinitialize(count: 1)
    let chunk = Int(index) / Self.chunkSize
    if unsafe chunks[chunk].live == UInt64.max { open.append(Int32(chunk)) }
    unsafe chunks[chunk].live &= ~(1 << UInt64(Int(index) % Self.chunkSize))
    count -= 1
    if unsafe chunks[chunk].live == 0 { giveBack(Int32(chunk)) }
  }

  private mutating func giveBack(_ chunk: Int32) {
    if let spare {
      unsafe chunks[Int(spare)].places?.deallocate()
      unsafe chunks[Int(spare)].places = nil
    }
    spare = chunk
    if count > 0 || chunkCount == 1 { return }
    // Nothing lives: no need to remember a thousand chunks.
    self = Slab()
  }

  private mutating func addChunk() {
    if chunkCount == owner.capacity { unsafe chunks = unsafe owner.grow() }
    unsafe (chunks + chunkCount).initialize(to: Chunk())
    open.append(Int32(chunkCount))
    chunkCount += 1
    owner.count = chunkCount
  }

  @inline(__always)
  private mutating func makeUnique() {
    if !isKnownUniquelyReferenced(&owner) { copyChunks() }
  }

  private mutating func copyChunks() {
    owner = owner.copy()
    unsafe chunks = unsafe owner.chunks
  }
}

/// Owns the chunks of a slab and of its copies.
@safe private final class SlabOwner<Element: Sendable> {
  typealias Chunk = Slab<Element>.Chunk

  private(set) var chunks: UnsafeMutablePointer<Chunk>
  private(set) var capacity: Int
  var count = 0

  init(capacity: Int) {
    self.capacity = capacity
    unsafe chunks = .allocate(capacity: capacity)
  }

  deinit {
    for chunk in 0..<count {
      guard let places = unsafe chunks[chunk].places else { continue }
      forEachPlace(of: chunk) { unsafe (places + $0).deinitialize(count: 1) }
      unsafe places.deallocate()
    }
    unsafe chunks.deallocate()
  }

  func grow() -> UnsafeMutablePointer<Chunk> {
    let larger = UnsafeMutablePointer<Chunk>.allocate(capacity: capacity * 2)
    unsafe larger.moveInitialize(from: chunks, count: count)
    unsafe chunks.deallocate()
    unsafe chunks = unsafe larger
    capacity *= 2
    return unsafe larger
  }

  func copy() -> SlabOwner {
    let other = SlabOwner(capacity: capacity)
    other.count = count
    for chunk in 0..<count {
      var fresh = unsafe Chunk(places: nil, live: chunks[chunk].live)
      if let places = unsafe chunks[chunk].places {
        let target = UnsafeMutablePointer<Element>.allocate(capacity: Slab<Element>.chunkSize)
        forEachPlace(of: chunk) { unsafe (target + $0).initialize(to: places[$0]) }
        unsafe fresh.places = unsafe target
      }
      unsafe (other.chunks + chunk).initialize(to: fresh)
    }
    return other
  }

  private func forEachPlace(of chunk: Int, _ body: (Int) -> Void) {
    var live = unsafe chunks[chunk].live
    while live != 0 {
      body(live.trailingZeroBitCount)
      live &= live - 1
    }
  }
}
