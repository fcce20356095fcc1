internal import SystemInterface

/// The bytes of names, one after the other, each with its length before it.
///
/// Names are at most 255 bytes long, as the kernel has it, and never cross the border of a block; so a place is 32 bits and copies
/// share all blocks but the last. That one is copied for the next name, which is why blocks are small.
@usableFromInline
package struct NameStore: Sendable {
  /// How many bits of a place say where in its block a name is.
  @usableFromInline static var offsetBitCount: Int { 14 }
  @usableFromInline static var offsetMask: UInt32 { 1 << offsetBitCount - 1 }
  private static let blockCountMax = 1 << (32 - offsetBitCount)
  /// A little less than the bits can say: an array that grows has room for so many, and would double for the last few.
  private static let blockSize = 1 << offsetBitCount - 64

  @usableFromInline var blocks: [[UInt8]] = []
  /// How many bytes names take, with their lengths.
  private(set) var byteCount = 0
  var allocatedByteCount: Int { blocks.reduce(0) { $0 + $1.capacity } }

  @inlinable static func block(of place: UInt32) -> Int { Int(place) >> offsetBitCount }
  @inlinable static func offset(of place: UInt32) -> Int { Int(place & offsetMask) }

  /// - Returns: The place of the name; `nil` when four gigabytes are used.
  mutating func append(_ name: Span<UInt8>) -> UInt32? {
    precondition(name.count <= 255, "a name of \(name.count) bytes")
    if blocks.isEmpty || blocks[blocks.count - 1].count + name.count + 1 > Self.blockSize {
      if blocks.count == Self.blockCountMax { return nil }
      blocks.append([])
    }
    let block = blocks.count - 1
    let place = UInt32(block) << UInt32(Self.offsetBitCount) | UInt32(blocks[block].count)
    blocks[block].append(UInt8(name.count))
    unsafe name.withUnsafeBufferPointer { unsafe blocks[block].append(contentsOf: $0) }
    byteCount += name.count + 1
    return place
  }

  /// Calls `body` with the bytes of a name.
  @inlinable @inline(__always)
  package func withName<Result>(at place: UInt32, _ body: (Span<UInt8>) -> Result) -> Result {
    let block = blocks[Self.block(of: place)]
    let start = Self.offset(of: place) + 1
    return body(block.span.extracting(start..<(start + Int(block[start - 1]))))
  }

  /// Whether a name is the one at a place.
  @inline(__always)
  package func isName(_ name: Span<UInt8>, at place: UInt32) -> Bool {
    withName(at: place) { $0.hasSameBytes(as: name) }
  }

  /// How long the name at a place is.
  package func count(at place: UInt32) -> Int { Int(blocks[Self.block(of: place)][Self.offset(of: place)]) }

  package subscript(place: UInt32) -> ArraySlice<UInt8> {
    let block = blocks[Self.block(of: place)]
    let start = Self.offset(of: place) + 1
    return block[start..<(start + Int(block[start - 1]))]
  }
}

/// Reads names one after the other, most of which are in the same block as the one before: counts no reference for each.
@usableFromInline
package struct NameReader: ~Copyable {
  @usableFromInline let names: NameStore
  @usableFromInline var number = -1
  @usableFromInline var block: [UInt8] = []

  @inlinable
  package init(_ names: NameStore) { self.names = names }

  /// Calls `body` with the bytes of a name.
  @inlinable @inline(__always)
  package mutating func withName<Result>(at place: UInt32, _ body: (Span<UInt8>) -> Result) -> Result {
    let wanted = NameStore.block(of: place)
    if wanted != number {
      block = names.blocks[wanted]
      number = wanted
    }
    let start = NameStore.offset(of: place) + 1
    return body(block.span.extracting(start..<(start + Int(block[start - 1]))))
  }
}

/// Finds names that were stored a short time ago, so that an equal name in many directories takes its bytes once.
///
/// A table of fixed size: an old name gives way to a new one.
struct RecentNames: Sendable {
  private static let count = 4096

  /// A place, and a part of the hash of the name there: another name is seldom compared in vain.
  private struct Slot {
    var place: UInt32 = 0
    var tag: UInt32 = 0
  }

  /// A tag of 0 stands for none.
  private var slots = [Slot](repeating: Slot(), count: Self.count)

  var byteCount: Int { slots.count * MemoryLayout<Slot>.stride }

  /// - Returns: The place of the name; `nil` when there's no room.
  mutating func place(of name: Span<UInt8>, _ hash: NameHash, in store: inout NameStore) -> UInt32? {
    let slot = hash.place(in: Self.count)
    let tag = hash.tag
    if slots[slot].tag == tag, store.isName(name, at: slots[slot].place) { return slots[slot].place }
    guard let place = store.append(name) else { return nil }
    slots[slot] = Slot(place: place, tag: tag)
    return place
  }
}
