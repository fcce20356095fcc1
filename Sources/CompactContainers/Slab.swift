// Public for the other targets of this package alone, which get specialized code for it; no product offers it.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// An array with holes that are used again, so that an index stays valid while its element lives.
///
/// The elements lie in chunks. So a slab never moves its elements, however it grows, and gives back a chunk that has
/// become empty; only one empty chunk is kept, so that coming and going costs no allocation.
///
/// A large slab gets and gives back its chunks sixty-four at a time: such a *block* has whole pages of its own, which the
/// kernel gets back also when others have allocated around it meanwhile.
///
/// | elements        | memory                                | memory that is kept when it's empty                        |
/// | --------------- | ------------------------------------- | ---------------------------------------------------------- |
/// | 0 to 4,095      | a chunk for each 64 of them           | one chunk                                                  |
/// | from 4,096 on   | a block for each 4,096 of them        | one block, while there are more than 2,048 elements        |
///
/// Each access checks that its index is in use: a stale index traps.
///
/// Chunks are raw memory because an array copies an element to read a part of it, and keeps all that the element refers
/// to alive meanwhile; here reading a part of an element is a load.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | chunks | the uniqueness of `owner` | copies share them, and a slab copies them before it changes shared ones |
///
/// `@unchecked Sendable` for the pointer and the object: they lead to sendable elements that nobody changes while they're shared.
@safe public struct Slab<Element: Sendable>: @unchecked Sendable {
  /// As many elements as a chunk has bits.
  @inlinable public static var chunkSize: Int { 64 }
  /// How many chunks a block has, and how many there are before the first block.
  @inlinable public static var blockSize: Int { 64 }
  /// With so few elements an empty block isn't kept.
  @inlinable public static var smallCount: Int { chunkSize * blockSize / 2 }

  @unsafe public struct Chunk {
    /// Absent while nothing is in the chunk or block; elements are initialized where `live` has a bit.
    @usableFromInline var places: UnsafeMutablePointer<Element>?
    @usableFromInline var live: UInt64

    @inlinable public init(places: UnsafeMutablePointer<Element>? = nil, live: UInt64 = 0) {
      unsafe self.places = unsafe places
      unsafe self.live = live
    }
  }

  @usableFromInline var owner: SlabOwner<Element>
  /// The owner's, kept here as well so that reading needs no look at the owner.
  @usableFromInline var chunks: UnsafeMutablePointer<Chunk>
  @usableFromInline var chunkCount = 0
  @usableFromInline var elementCount = 0
  @inlinable public var count: Int { elementCount }
  /// The chunks with room, each of them once; the last one is filled first.
  @usableFromInline var open: [Int32] = []
  /// The chunk before the first block that is empty and kept for the next element, if there is one.
  @usableFromInline var spare: Int32?
  /// How many chunks of each block aren't empty.
  @usableFromInline var usedChunkCounts: [Int32] = []
  /// The block that is empty and kept, if there is one.
  @usableFromInline var spareBlock: Int?
  /// The blocks without memory.
  @usableFromInline var absentBlocks: [Int] = []

  @inlinable public init() {
    owner = SlabOwner(capacity: 1)
    unsafe chunks = unsafe owner.chunks
  }

  @inline(__always)
  @inlinable public func contains(_ index: Int32) -> Bool {
    // Negative indices are behind the end as well.
    let index = UInt(UInt32(bitPattern: index))
    let chunk = Int(index / UInt(Self.chunkSize))
    return unsafe chunk < chunkCount && chunks[chunk].live & (1 << UInt64(index % UInt(Self.chunkSize))) != 0
  }

  @inlinable public subscript(index: Int32) -> Element {
    @inline(__always) unsafeAddress { unsafe address(of: index) }
    @inline(__always) unsafeMutableAddress { unsafe mutableAddress(of: index) }
  }

  /// Where the element is until the slab changes.
  @inline(__always)
  @inlinable public func address(of index: Int32) -> UnsafePointer<Element> { unsafe UnsafePointer(place(index)) }

  @inline(__always)
  @inlinable public mutating func mutableAddress(of index: Int32) -> UnsafeMutablePointer<Element> {
    makeUnique()
    return unsafe place(index)
  }

  @inline(__always)
  @inlinable public func place(_ index: Int32) -> UnsafeMutablePointer<Element> {
    guard contains(index), let places = unsafe chunks[Int(index) / Self.chunkSize].places else {
      preconditionFailure("slab index \(index) is free")
    }
    return unsafe places + Int(index) % Self.chunkSize
  }

  /// The indices of all elements, in ascending order.
  @inlinable public var indices: [Int32] {
    var result: [Int32] = []
    result.reserveCapacity(elementCount)
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
  @inlinable public mutating func insert(_ element: Element) -> Int32 {
    makeUnique()
    if open.isEmpty { addRoom() }
    let chunk = open[open.count - 1]
    let live = unsafe chunks[Int(chunk)].live
    if live == 0 { beginUse(of: Int(chunk)) }
    let place = (~live).trailingZeroBitCount
    let places = unsafe chunks[Int(chunk)].places ?? .allocate(capacity: Self.chunkSize)
    unsafe chunks[Int(chunk)].places = unsafe places
    unsafe (places + place).initialize(to: element)
    unsafe chunks[Int(chunk)].live |= 1 << UInt64(place)
    if unsafe chunks[Int(chunk)].live == UInt64.max { open.removeLast() }
    elementCount += 1
    return chunk * Int32(Self.chunkSize) + Int32(place)
  }

  /// - Complexity: O(1) amortized.
  @inlinable public mutating func remove(_ index: Int32) {
    makeUnique()
    unsafe place(index).deinitialize(count: 1)
    let chunk = Int(index) / Self.chunkSize
    if unsafe chunks[chunk].live == UInt64.max { open.append(Int32(chunk)) }
    unsafe chunks[chunk].live &= ~(1 << UInt64(Int(index) % Self.chunkSize))
    elementCount -= 1
    if unsafe chunks[chunk].live == 0 { endUse(of: chunk) }
  }

  @inlinable public mutating func beginUse(of chunk: Int) {
    if chunk < Self.blockSize {
      if spare == Int32(chunk) { spare = nil }
    } else {
      let block = chunk / Self.blockSize - 1
      usedChunkCounts[block] += 1
      if spareBlock == block { spareBlock = nil }
    }
  }

  @inlinable public mutating func endUse(of chunk: Int) {
    if chunk < Self.blockSize {
      if let spare {
        unsafe chunks[Int(spare)].places?.deallocate()
        unsafe chunks[Int(spare)].places = nil
      }
      spare = Int32(chunk)
    } else {
      let block = chunk / Self.blockSize - 1
      usedChunkCounts[block] -= 1
      if usedChunkCounts[block] == 0 {
        if let spareBlock { giveBack(block: spareBlock) }
        spareBlock = block
      }
    }
    if elementCount <= Self.smallCount, let block = spareBlock {
      giveBack(block: block)
      spareBlock = nil
    }
    // Nothing lives: no need to remember a thousand chunks.
    if elementCount == 0, chunkCount > 1 { self = Slab() }
  }

  @inlinable public mutating func addRoom() {
    if chunkCount < Self.blockSize {
      open.append(Int32(addChunk()))
    } else {
      let block = absentBlocks.popLast() ?? addBlock()
      owner.allocate(block: block)
      open += Self.chunks(of: block).reversed().map { Int32($0) }
    }
  }

  @inlinable public mutating func addChunk() -> Int {
    if chunkCount == owner.capacity { unsafe chunks = unsafe owner.grow() }
    unsafe (chunks + chunkCount).initialize(to: Chunk())
    chunkCount += 1
    owner.count = chunkCount
    return chunkCount - 1
  }

  @inlinable public mutating func addBlock() -> Int {
    for _ in 0..<Self.blockSize { _ = addChunk() }
    usedChunkCounts.append(0)
    return usedChunkCounts.count - 1
  }

  /// - Complexity: O(chunks with room), once for all elements of a block.
  @inlinable public mutating func giveBack(block: Int) {
    let gone = Self.chunks(of: block)
    owner.deallocate(block: block)
    open.removeAll { gone.contains(Int($0)) }
    absentBlocks.append(block)
  }

  @inlinable public static func chunks(of block: Int) -> Range<Int> {
    (block + 1) * blockSize..<(block + 2) * blockSize
  }

  /// How much memory it has, used or not, without what the elements refer to.
  @inlinable public var reservedByteCount: Int {
    var chunkCount = 0
    for chunk in 0..<self.chunkCount where unsafe chunks[chunk].places != nil { chunkCount += 1 }
    return unsafe chunkCount * Self.chunkSize * MemoryLayout<Element>.stride + owner.capacity
      * MemoryLayout<Chunk>.stride
      + (open.capacity + usedChunkCounts.capacity) * MemoryLayout<Int32>.stride
  }

  @inline(__always)
  @inlinable public mutating func makeUnique() {
    if !isKnownUniquelyReferenced(&owner) { copyChunks() }
  }

  @inlinable public mutating func copyChunks() {
    owner = owner.copy()
    unsafe chunks = unsafe owner.chunks
  }
}

/// Owns the chunks of a slab and of its copies.
@safe public final class SlabOwner<Element: Sendable> {
  public typealias Chunk = Slab<Element>.Chunk

  @usableFromInline var chunks: UnsafeMutablePointer<Chunk>
  @usableFromInline var capacity: Int
  @usableFromInline var count = 0

  @inlinable public init(capacity: Int) {
    self.capacity = capacity
    unsafe chunks = .allocate(capacity: capacity)
  }

  @inlinable deinit {
    for chunk in 0..<count {
      guard let places = unsafe chunks[chunk].places else { continue }
      forEachPlace(of: chunk) { unsafe (places + $0).deinitialize(count: 1) }
    }
    for chunk in 0..<min(count, Slab<Element>.blockSize) { unsafe chunks[chunk].places?.deallocate() }
    for block in 0..<blockCount { deallocate(block: block) }
    unsafe chunks.deallocate()
  }

  @inlinable public var blockCount: Int { max(count / Slab<Element>.blockSize - 1, 0) }

  /// Gives the chunks of a block memory of their own pages.
  @inlinable public func allocate(block: Int) {
    let capacity = Slab<Element>.chunkSize * Slab<Element>.blockSize
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: capacity * MemoryLayout<Element>.stride, alignment: Self.blockAlignment)
    let places = unsafe memory.bindMemory(to: Element.self, capacity: capacity)
    for (position, chunk) in Slab<Element>.chunks(of: block).enumerated() {
      unsafe chunks[chunk].places = unsafe places + position * Slab<Element>.chunkSize
    }
  }

  /// Takes the memory of a block in which nothing lives, if it has any.
  @inlinable public func deallocate(block: Int) {
    let gone = Slab<Element>.chunks(of: block)
    guard let places = unsafe chunks[gone.lowerBound].places else { return }
    unsafe UnsafeMutableRawPointer(places).deallocate()
    for chunk in gone { unsafe chunks[chunk].places = nil }
  }

  /// Pages of the machines that we know have 4 KiB or a multiple.
  @inlinable public static var blockAlignment: Int { 4096 }

  @inlinable public func grow() -> UnsafeMutablePointer<Chunk> {
    let larger = UnsafeMutablePointer<Chunk>.allocate(capacity: capacity * 2)
    unsafe larger.moveInitialize(from: chunks, count: count)
    unsafe chunks.deallocate()
    unsafe chunks = unsafe larger
    capacity *= 2
    return unsafe larger
  }

  @inlinable public func copy() -> SlabOwner {
    let other = SlabOwner(capacity: capacity)
    for chunk in 0..<count {
      unsafe (other.chunks + chunk).initialize(to: Chunk(places: nil, live: chunks[chunk].live))
    }
    other.count = count
    for block in 0..<blockCount where unsafe chunks[Slab<Element>.chunks(of: block).lowerBound].places != nil {
      other.allocate(block: block)
    }
    for chunk in 0..<count {
      guard let places = unsafe chunks[chunk].places else { continue }
      let target = unsafe other.chunks[chunk].places ?? .allocate(capacity: Slab<Element>.chunkSize)
      unsafe other.chunks[chunk].places = unsafe target
      forEachPlace(of: chunk) { unsafe (target + $0).initialize(to: places[$0]) }
    }
    return other
  }

  @inlinable public func forEachPlace(of chunk: Int, _ body: (Int) -> Void) {
    var live = unsafe chunks[chunk].live
    while live != 0 {
      body(live.trailingZeroBitCount)
      live &= live - 1
    }
  }
}
