internal import SystemInterface

/// The bytes of names, one after the other, each with its length before it.
///
/// Names are at most 255 bytes long, as the kernel has it, and never cross the border of a block; so a place is 32 bits and copies
/// share all blocks but the last.
@usableFromInline
package struct NameStore: Sendable {
  /// A little less than 16 bits can say: an array that grows has room for so many, and would double for the last few.
  private static let blockSize = (1 << 16) - 64

  @usableFromInline var blocks: [[UInt8]] = []
  /// How many bytes names take, with their lengths.
  private(set) var byteCount = 0
  var allocatedByteCount: Int { blocks.reduce(0) { $0 + $1.capacity } }

  /// - Returns: The place of the name; `nil` when four gigabytes are used.
  mutating func append(_ name: Span<UInt8>) -> UInt32? {
    precondition(name.count <= 255, "a name of \(name.count) bytes")
    if blocks.isEmpty || blocks[blocks.count - 1].count + name.count + 1 > Self.blockSize {
      if blocks.count == 1 << 16 { return nil }
      blocks.append([])
    }
    let block = blocks.count - 1
    let place = UInt32(block) << 16 | UInt32(blocks[block].count)
    blocks[block].append(UInt8(name.count))
    unsafe name.withUnsafeBufferPointer { unsafe blocks[block].append(contentsOf: $0) }
    byteCount += name.count + 1
    return place
  }

  /// Calls `body` with the bytes of a name.
  @inlinable @inline(__always)
  package func withName<Result>(at place: UInt32, _ body: (Span<UInt8>) -> Result) -> Result {
    let block = blocks[Int(place >> 16)]
    let start = Int(place & 0xFFFF) + 1
    return body(block.span.extracting(start..<(start + Int(block[start - 1]))))
  }

  /// Whether a name is the one at a place.
  @inline(__always)
  package func isName(_ name: Span<UInt8>, at place: UInt32) -> Bool {
    withName(at: place) { $0.hasSameBytes(as: name) }
  }

  /// How long the name at a place is.
  package func count(at place: UInt32) -> Int { Int(blocks[Int(place >> 16)][Int(place & 0xFFFF)]) }

  package subscript(place: UInt32) -> ArraySlice<UInt8> {
    let block = blocks[Int(place >> 16)]
    let start = Int(place & 0xFFFF) + 1
    return block[start..<(start + Int(block[start - 1]))]
  }
}

/// Finds names that were stored a short time ago, so that a name that's in many directories takes its bytes once.
///
/// A table of fixed size: an old name gives way to a new one.
struct RecentNames: Sendable {
  private static let count = 4096

  /// Places, plus one.
  private var places = [UInt32](repeating: 0, count: Self.count)

  var byteCount: Int { places.count * MemoryLayout<UInt32>.stride }

  /// - Returns: The place of the name; `nil` when there's no room.
  mutating func place(of name: Span<UInt8>, _ hash: NameHash, in store: inout NameStore) -> UInt32? {
    let slot = hash.place(in: Self.count)
    if places[slot] != 0, store.isName(name, at: places[slot] - 1) { return places[slot] - 1 }
    guard let place = store.append(name) else { return nil }
    places[slot] = place &+ 1
    return place
  }
}
